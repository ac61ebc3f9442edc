//! Error-bounded compression of floating-point arrays at memory speed.
//!
//! ```text
//! array ─► chunks ─► codec ─► records ─► .ebz stream          (compress)
//! array ◄─ chunks ◄─ codec ◄─ records ◄─ .ebz stream          (decompress)
//! ```

#[cfg(not(target_endian = "little"))]
compile_error!("ebz streams are little-endian and are written as memory holds them");

mod allocate;
mod array;
mod bits;
pub mod bound;
mod chunk;
pub mod codec;
pub mod container;
mod durable;
pub mod element;
pub mod error;
mod fill;
pub mod hdf5;
pub mod metrics;
mod options;
mod parallel;
mod request;
mod search;
pub mod simd;
#[doc(hidden)]
pub mod stage;
mod workspace;

pub use array::{Array, FiniteRange, FoundFill, MAX_AXES, ValueScan, View, ViewMut, element_count};
pub use bound::{Bound, BoundKind, Tolerance};
pub use chunk::{FrameHeader, Grid, WriterVersion};
pub use container::{
    FORMAT_VERSION, Frame, FrameStats, Limits, Reader, StreamReader, Writer, max_compressed_size,
    recover,
};
/// Frames piece by piece, for programs that hold them in parts.
pub mod slab {
    pub use crate::chunk::{Form, FramePlan};
    pub use crate::container::{EncodedSlab, FrameWriter, SlabCoder};
}

/// Who encodes and decodes chunks: the seam for a GPU.
pub mod engine {
    pub use crate::chunk::{Body, Cpu, EncodedChunks, Engine, Form, FramePlan, Target, Values};
}

pub use durable::{sync_file, sync_folder};
pub use element::{Element, ElementType};
pub use error::{Error, Result};
pub use fill::{Fill, FillValues, MAX_FILL_VALUES};
pub use options::Options;
pub use search::{Landing, Searched};

/// Compresses an array to a stream of its own.
pub fn compress<T: Element>(view: &View<'_, T>, options: &Options) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    compress_into(view, options, &mut out)?;
    Ok(out)
}

/// Compresses an array, replacing the contents of `out` but keeping its memory.
pub fn compress_into<T: Element>(
    view: &View<'_, T>,
    options: &Options,
    out: &mut Vec<u8>,
) -> Result<FrameStats> {
    out.clear();
    Writer::write_one(out, options.clone(), view)
}

/// Decompresses the array of a stream, with all cores.
pub fn decompress<T: Element>(bytes: &[u8]) -> Result<Array<T>> {
    Reader::from_source(bytes)?.read()
}

/// Decompresses the array of a stream into memory of the caller, with all cores.
pub fn decompress_into<T: Element>(bytes: &[u8], out: &mut ViewMut<'_, T>) -> Result<()> {
    Reader::from_source(bytes)?.frame(0)?.read_into(out)
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
