//! The codecs: one folder each, one row each in [`TABLE`].
//!
//! A codec turns the values of one chunk into bytes and back. It sees nothing of files, frames or
//! threads. The container, the front ends, the tests and the benchmarks all iterate the table, so
//! that a new codec is one folder and one row.

pub mod ceaz;
mod context;
mod de_zfp;
mod fre;
mod fz;
mod interp;
mod params;
mod raw;
mod zfp_v;

pub use context::Context;
pub use params::{Param, Params};

use crate::bound::{BoundKind, Tolerance};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::fill::FillValues;
use std::any::Any;
use std::sync::Arc;

/// Extents of a chunk as a codec sees them, slowest axis first; arrays of fewer axes have leading
/// ones, and further slow axes are merged into the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dims {
    /// Slowest axis.
    pub nz: usize,
    /// Rows per plane.
    pub ny: usize,
    /// Values per row.
    pub nx: usize,
}

impl Dims {
    /// Number of values.
    pub const fn len(self) -> usize {
        self.nz * self.ny * self.nx
    }

    /// No values at all.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Number of axes with more than one value per step: 1, 2 or 3.
    pub const fn axes(self) -> usize {
        if self.nz > 1 {
            3
        } else if self.ny > 1 {
            2
        } else {
            1
        }
    }
}

/// What an encoder is to do with a chunk.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// Extents; their product is the number of values.
    pub dims: Dims,
    /// The guarantee to give for every value.
    pub tolerance: Tolerance,
    /// Values equal to one of these must come back exactly.
    pub fill: FillValues,
    /// The codec's own parameters, already checked by [`Codec::validate`].
    pub params: &'a Params,
    /// What [`Codec::advise`] said about this chunk or one near it.
    pub advice: Option<&'a Advice>,
}

/// What a codec found out about one chunk and may use for those around it; opaque to everybody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice(pub [u8; 16]);

/// A codec. Implementations are zero-sized; [`Entry::of`] makes a table row from one.
pub trait Codec {
    /// Number in the format, name, and what it offers.
    const INFO: Info;

    /// How it likes arrays to be cut where the user does not say.
    const CHUNKS: ChunkShape = ChunkShape::Slab;

    /// Checks parameter values beyond their names.
    fn validate(_params: &Params) -> Result<()> {
        Ok(())
    }

    /// The most bytes of what the chunks of a frame have in common.
    const COMMON: usize = 0;

    /// Appends what the chunks of a frame are to have in common, made from the first of them. It is
    /// stored once, in the frame's header; every chunk decodes with it and without any other.
    fn prepare<T: Element>(
        _first: &[T],
        _task: &Task<'_>,
        _context: &mut Context,
        _out: &mut Vec<u8>,
    ) -> Result<()> {
        Ok(())
    }

    /// Reads what [`Codec::prepare`] appended. The bytes are not trusted.
    fn open(_common: &[u8]) -> Result<Common> {
        Err(Error::corrupt(
            "a frame whose chunks have nothing in common",
        ))
    }

    /// Whether [`Codec::advise`] may have something to say.
    const ADVISES: bool = false;

    /// What is worth knowing when chunks near this one are coded, where finding it out for each chunk
    /// would take too long. It depends on `values` and `task` only.
    fn advise<T: Element>(
        _values: &[T],
        _task: &Task<'_>,
        _context: &mut Context,
    ) -> Result<Option<Advice>> {
        Ok(None)
    }

    /// Appends the coded chunk to `out`.
    ///
    /// Every value must satisfy the tolerance after [`Codec::decode`]; what cannot is stored
    /// exactly. The bytes depend on `values`, `task` and [`Context::common`] only. A result that is not smaller than
    /// the raw values is thrown away by the caller, who stores the chunk raw; so an encoder may
    /// stop as soon as it has appended that much.
    fn encode<T: Element>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()>;

    /// Fills `out`, whose length is `dims.len()`, from the bytes of one coded chunk.
    ///
    /// The bytes have passed their checksum but are not trusted: whatever they are, the result is
    /// `Ok` or `Err`, without a panic and without memory beyond a constant times `out`.
    fn decode<T: Element>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()>;
}

/// What the chunks of a frame have in common, as its codec reads it.
pub type Common = Arc<dyn Any + Send + Sync>;

/// How an array is cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkShape {
    /// Whole rows and planes: contiguous, and read and written at the speed of memory.
    Slab,
    /// Extents of the same order: more neighbours, and a better ratio.
    Box,
}

/// What a codec is and offers.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Info {
    /// Number in the format; never reused.
    pub id: u16,
    /// Name as users give it.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The tolerances it can guarantee. `range`, `psnr` and `ratio` need `abs`.
    pub tolerances: &'static [BoundKind],
    /// Its parameters.
    pub params: &'static [Param],
}

type Encode<T> = fn(&[T], &Task<'_>, &mut Context, &mut Vec<u8>) -> Result<()>;
type Advise<T> = fn(&[T], &Task<'_>, &mut Context) -> Result<Option<Advice>>;

/// A codec's functions for one element type.
#[derive(Clone, Copy)]
pub struct Coder<T> {
    advise: Advise<T>,
    prepare: Encode<T>,
    encode: Encode<T>,
    decode: fn(&[u8], Dims, &mut Context, &mut [T]) -> Result<()>,
}

impl<T: Element> Coder<T> {
    const fn of<C: Codec>() -> Self {
        Self {
            prepare: C::prepare::<T>,
            advise: C::advise::<T>,
            encode: C::encode::<T>,
            decode: C::decode::<T>,
        }
    }
}

/// A row of the table: a codec's functions for every element type.
pub struct Entry {
    /// What the codec is and offers.
    pub info: Info,
    /// How it likes arrays to be cut.
    pub chunks: ChunkShape,
    /// See [`Codec::COMMON`].
    pub common: usize,
    /// Whether it has advice for chunks near one that it has seen.
    pub advises: bool,
    validate: fn(&Params) -> Result<()>,
    open: fn(&[u8]) -> Result<Common>,
    pub(crate) f32: Coder<f32>,
    pub(crate) f64: Coder<f64>,
}

/// Every codec.
pub static TABLE: &[Entry] = &[
    Entry::of::<raw::Raw>(),
    Entry::of::<fz::Fz>(),
    Entry::of::<fre::Fre>(),
    Entry::of::<de_zfp::DeZfp>(),
    Entry::of::<zfp_v::ZfpV>(),
    Entry::of::<ceaz::Ceaz>(),
    Entry::of::<interp::Interp>(),
];

/// Number of the codec that stores values as they are.
pub(crate) const RAW: u16 = raw::Raw::INFO.id;

/// The codec used when the user names none, and for exact values where the named one is not exact.
pub const DEFAULT: &str = "fz";

/// The codec with this name.
pub fn by_name(name: &str) -> Result<&'static Entry> {
    TABLE.iter().find(|e| e.info.name == name).ok_or_else(|| {
        let known: Vec<_> = TABLE.iter().map(|e| e.info.name).collect();
        Error::invalid(format!(
            "unknown codec '{name}': use one of {}",
            known.join(", ")
        ))
    })
}

/// The codec with this number.
pub fn by_id(id: u16) -> Result<&'static Entry> {
    TABLE.iter().find(|e| e.info.id == id).ok_or_else(|| {
        Error::unsupported(format!(
            "codec number {id} is unknown to this version of ebz: use a newer one"
        ))
    })
}

impl Entry {
    /// The row of a codec.
    pub const fn of<C: Codec>() -> Self {
        Self {
            info: C::INFO,
            chunks: C::CHUNKS,
            common: C::COMMON,
            advises: C::ADVISES,
            validate: C::validate,
            open: C::open,
            f32: Coder::of::<C>(),
            f64: Coder::of::<C>(),
        }
    }

    /// Whether it can give this guarantee, possibly by way of an absolute bound.
    pub fn offers(&self, kind: BoundKind) -> bool {
        let needed = match kind {
            BoundKind::Range | BoundKind::Psnr | BoundKind::Ratio => BoundKind::Abs,
            other => other,
        };
        self.info.tolerances.contains(&needed)
    }

    /// Checks the names and values of parameters.
    pub fn validate(&self, params: &Params) -> Result<()> {
        params.check_names(&self.info)?;
        (self.validate)(params)
    }

    /// See [`Codec::prepare`].
    pub fn prepare<T: Element>(
        &self,
        first: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        (T::coder(self).prepare)(first, task, context, out)
    }

    /// See [`Codec::open`].
    pub fn open(&self, common: &[u8]) -> Result<Common> {
        (self.open)(common)
    }

    /// See [`Codec::advise`].
    pub fn advise<T: Element>(
        &self,
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
    ) -> Result<Option<Advice>> {
        (T::coder(self).advise)(values, task, context)
    }

    /// See [`Codec::encode`].
    pub fn encode<T: Element>(
        &self,
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        (T::coder(self).encode)(values, task, context, out)
    }

    /// See [`Codec::decode`].
    pub fn decode<T: Element>(
        &self,
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        (T::coder(self).decode)(bytes, dims, context, out)
    }
}
