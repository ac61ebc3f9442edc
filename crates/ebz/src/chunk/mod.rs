//! Chunks: how an array is cut, how one chunk is encoded and decoded, and the engine that does many.
//!
//! ```text
//! array ─► grid ─► pool of threads ─► engine ─► codec, or the values as they are ─► bodies
//! ```
//!
//! Nothing here knows files. The bytes of a body depend on the chunk's values and the frame's header
//! only, whichever engine and however many threads made it.

mod body;
mod coder;
mod constant;
mod engine;
mod grid;
mod plan;
mod pool;

pub(crate) use body::HEADER_ROOM;
pub use body::{Body, EncodedChunks, Form, Target, Values};
pub(crate) use coder::ChunkCoder;
pub use engine::{Cpu, Engine};
pub use grid::Grid;
pub(crate) use grid::{MAX_CHUNK_BYTES, extents, intersect};
pub use plan::{FrameHeader, FramePlan, WriterVersion};
pub(crate) use pool::{EncodedFrame, Input, Piece, Pool, Stream};
