//! Error-bounded compression of floating-point arrays at memory speed.
//!
//! ```
//! use ebz::{Bound, Options, View};
//!
//! let values: Vec<f32> = (0..32 * 32).map(|i| (i as f32 * 0.01).sin()).collect();
//! let view = View::new(&values, &[32, 32])?;
//! let bytes = ebz::compress(&view, &Options::new(Bound::Abs(1e-3)))?;
//! let back = ebz::decompress::<f32>(&bytes)?;
//! assert_eq!(back.shape(), [32, 32]);
//! assert!(back.values().iter().zip(&values).all(|(a, b)| (a - b).abs() <= 1e-3));
//! # Ok::<(), ebz::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | compress and decompress arrays in memory | [`compress`], [`decompress`], [`Options`], [`Bound`] |
//! | write a file of one or several arrays, append to it | [`Writer`], [`LockedFile`] |
//! | read an array or a part of it | [`Reader`], [`Frame`]; from a pipe [`StreamReader`] |
//! | list the codecs and their parameters, choose one automatically | [`codec`], [`Favor`], [`choose`] |
//! | measure errors | [`metrics`] |
//! | encode and decode frames slab by slab | [`slab`] |
//! | add a GPU or another device | [`engine`] |
//!
//! The output is byte-identical for every thread count, instruction set and entry point. Decoders
//! never trust their input: any bytes give `Ok` or `Err`, and [`Limits`] cap the memory.

#[cfg(not(target_endian = "little"))]
compile_error!("ebz writes values as they lie in memory, and the format is little-endian");

mod allocate;
mod array;
mod auto;
mod bits;
mod bound;
mod checksum;
mod chunk;
mod clip;
pub mod codec;
mod container;
mod durable;
mod element;
mod error;
mod favor;
mod fill;
pub mod hdf5;
mod huge_pages;
pub mod metrics;
mod options;
mod parallel;
mod request;
mod search;
pub mod simd;
mod stage;
mod workspace;

pub use array::{Array, FiniteRange, FoundFill, MAX_AXES, ValueScan, View, ViewMut, element_count};
pub use auto::Choice;
pub use bound::{Bound, BoundKind, Tolerance};
pub use chunk::{FrameHeader, Grid, WriterVersion};
pub use clip::{Clip, ValueLimits};
pub use container::{
    FORMAT_VERSION, Frame, FrameStats, Limits, LockedFile, Reader, Recovered, Source, StreamReader,
    Writer, choose, max_compressed_size, recover, recover_within,
};
pub use durable::{sync_file, sync_folder};
pub use element::{Element, ElementType, bf16, f16};
pub use error::{Error, Result};
pub use favor::Favor;
pub use fill::{Fill, FillValues, MAX_FILL_VALUES};
pub use options::Options;
pub use search::{SearchOutcome, SearchStats};

/// Encode and decode a frame in slabs, for programs that never hold all of it.
pub mod slab {
    pub use crate::chunk::FramePlan;
    pub use crate::container::{EncodedSlab, FrameWriter, SlabCoder};
    pub use crate::search::OnePass;
}

/// The interface for encoding and decoding chunks on another device, such as a GPU.
pub mod engine {
    pub use crate::chunk::{Body, Cpu, EncodedChunks, Engine, Form, Target, Values};
    pub use crate::workspace::Context;
    /// The parts of codec `fz` that an engine reuses: the library chooses the mode and builds the
    /// side list.
    #[doc(hidden)]
    pub mod fz {
        pub use crate::array::may_be_missing;
        pub use crate::codec::fz::Layout;
        pub use crate::codec::fz::narrow::{
            Coded, Narrow, TILE, UNIT, decode_unit, encode_tile, encode_unit, sampled_places,
            sign_magnitude,
        };
        pub use crate::request::{Dims, Task};
    }
}

/// Used by the project's own tests, benchmarks and tools; not stable.
#[doc(hidden)]
pub mod internals {
    pub use crate::codec::Codec;
    pub use crate::codec::ceaz::{Frequencies, centred_frequencies, frequencies, offline_books};
    pub use crate::element::Float;
    pub use crate::request::{Dims, Task};
    pub use crate::stage::huffman::{Sort, WIDE_ALPHABET, WideBook};
    pub use crate::stage::measure as stages;
    pub use crate::stage::rans;

    /// What `auto` multiplies the bytes of a codec with, if that is one that it may choose.
    pub fn auto_weight(entry: &crate::codec::Entry, favor: crate::Favor) -> Option<f64> {
        entry.quarters.map(|quarters| favor.weight(quarters))
    }
}

/// Compresses an array into a new buffer.
pub fn compress<T: Element>(view: &View<'_, T>, options: &Options) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    compress_into(view, options, &mut out)?;
    Ok(out)
}

/// Compresses an array into `out`, replacing its contents and reusing its allocation.
pub fn compress_into<T: Element>(
    view: &View<'_, T>,
    options: &Options,
    out: &mut Vec<u8>,
) -> Result<FrameStats> {
    out.clear();
    Writer::write_one(out, Some(|out| out), options.clone(), view)
}

/// Decompresses the first array of a stream, on all cores.
pub fn decompress<T: Element>(bytes: &[u8]) -> Result<Array<T>> {
    Reader::from_source(bytes)?.read()
}

/// Decompresses the first array of a stream into the caller's memory, on all cores.
pub fn decompress_into<T: Element>(bytes: &[u8], out: &mut ViewMut<'_, T>) -> Result<()> {
    Reader::from_source(bytes)?.frame(0)?.read_into(out)
}

// Types that callers share between threads.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Options>();
    shared::<Error>();
    shared::<Array<f64>>();
    shared::<Reader<Vec<u8>>>();
    shared::<Writer<Vec<u8>>>();
    shared::<slab::SlabCoder>();
    shared::<slab::FramePlan>();
};

/// Compiles the examples of the README as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
