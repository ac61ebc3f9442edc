//! Chunks: how an array is split, how chunks are encoded and decoded, and the engine interface.
//!
//! ```text
//! array ─► grid ─► thread pool ─► engine ─► codec, raw or constant ─► bodies
//! ```
//!
//! Nothing here knows about files. The bytes of a body depend only on the chunk's values and the
//! frame header, not on the engine or the number of threads.

mod body;
mod coder;
mod constant;
mod engine;
mod grid;
mod plan;
mod pool;

pub use body::{Body, EncodedChunks, Form, Target, Values};
pub(crate) use body::{RESERVED_HEADER_BYTES, chunk_header_len};
pub(crate) use coder::ChunkCoder;
pub(crate) use engine::SharedEngine;
pub use engine::{Cpu, Engine};
pub use grid::Grid;
pub(crate) use grid::{MAX_CHUNK_BYTES, extents, intersect};
pub use plan::{FrameHeader, FramePlan, WriterVersion};
pub(crate) use pool::{EncodedFrame, Input, Piece, Pool, Stream};
