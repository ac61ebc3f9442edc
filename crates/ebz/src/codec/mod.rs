//! The codecs: one folder and one row of [`TABLE`] each.
//!
//! A codec turns the values of one chunk into bytes and back. It knows nothing about files, frames
//! or threads. Container, front ends, tests and benchmarks iterate over the table, so that a new
//! codec needs only a folder and a row.

pub(crate) mod ceaz;
mod de_zfp;
mod fre;
pub(crate) mod fz;
mod interp;
mod narrow;
mod raw;
mod zfp_family;
mod zfp_v;

pub(crate) use crate::request::{Dims, Task};
pub use crate::request::{Param, Params};
pub(crate) use crate::workspace::Context;

use crate::bound::BoundKind;
use crate::element::{Element, Float};
use crate::error::{Error, Result};

/// A codec. Implementations are zero-sized types; [`Entry::of`] makes a table row from one.
#[doc(hidden)]
pub trait Codec {
    /// Id in the format, name and capabilities.
    const INFO: Info;

    /// Chunk shape if the user gives none.
    const CHUNKS: ChunkShape = ChunkShape::Slab;

    /// Whether encoding reports the range of the values in [`Context`], which saves a scan before
    /// it.
    const TELLS_EXTREMES: bool = false;

    /// The time that it takes to compress and decompress, typically, in quarters of a doubling of the fastest
    /// codec's: what `auto` weighs its size with. `auto` leaves codecs without one out.
    const QUARTERS: Option<u32> = None;

    /// Checks parameter values; their names are already checked.
    fn validate(_params: &Params) -> Result<()> {
        Ok(())
    }

    /// Appends the encoded chunk to `out`.
    ///
    /// Every value must meet the tolerance after [`Codec::decode`]; values that cannot are stored
    /// exactly. The bytes depend only on `values` and `task`. If the result is not smaller than the
    /// raw values, the caller discards it and stores the chunk raw, so an encoder may stop at that
    /// size.
    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()>;

    /// Decodes one chunk into `out`, whose length is `dims.len()`.
    ///
    /// The bytes have a valid checksum but are not trusted: any bytes give `Ok` or `Err`, without
    /// panics and without memory beyond a constant times `out`.
    fn decode<T: Float>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()>;
}

/// Default chunk shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkShape {
    /// Whole rows and planes: contiguous, so that copies run at memory bandwidth.
    Slab,
    /// Similar extents along all axes: more neighbours and a better ratio.
    Box,
}

/// Description of a codec.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Info {
    /// Id in the format; never reused.
    pub id: u16,
    /// Name in the front ends.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The tolerances it supports. `range`, `psnr` and `ratio` require `abs`.
    pub tolerances: &'static [BoundKind],
    /// Its parameters.
    pub params: &'static [Param],
    /// Parameters under which compressing decompressed values again with the same bound (`abs` or
    /// `pointwise`) reproduces them bit for bit, even if neighbouring values changed; `None` if
    /// there are none. 16-bit elements may change within the bound.
    pub rewrites_exactly: Option<&'static [(&'static str, &'static str)]>,
}

type Encode<T> = fn(&[T], &Task<'_>, &mut Context, &mut Vec<u8>) -> Result<()>;

/// Functions of a codec for one arithmetic type.
#[derive(Clone, Copy)]
struct Coder<T> {
    encode: Encode<T>,
    decode: fn(&[u8], Dims, &mut Context, &mut [T]) -> Result<()>,
}

impl<T: Float> Coder<T> {
    const fn of<C: Codec>() -> Self {
        Self {
            encode: C::encode::<T>,
            decode: C::decode::<T>,
        }
    }
}

/// A row of the table: a codec's description and functions.
pub struct Entry {
    /// Description.
    pub info: Info,
    /// Default chunk shape.
    pub chunks: ChunkShape,
    /// See [`Codec::TELLS_EXTREMES`].
    pub(crate) tells_extremes: bool,
    /// See [`Codec::QUARTERS`].
    pub(crate) quarters: Option<u32>,
    validate: fn(&Params) -> Result<()>,
    f32: Coder<f32>,
    f64: Coder<f64>,
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

/// Id of the codec that stores raw values.
pub(crate) const RAW: u16 = raw::Raw::INFO.id;

/// The default codec; also the fallback for lossless frames if the requested codec is lossy only.
pub const DEFAULT: &str = "fz";

/// Stands for the codec that suits an array best, see [`Favor`](crate::Favor).
pub const AUTO: &str = "auto";

/// Codec names by purpose.
pub const ALIASES: [(&str, &str); 3] = [("fast", "fz"), ("balanced", "ceaz"), ("small", "interp")];

/// The codec with this name or alias.
pub fn by_name(name: &str) -> Result<&'static Entry> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, name)| name);
    TABLE.iter().find(|e| e.info.name == name).ok_or_else(|| {
        let names = TABLE.iter().map(|e| e.info.name);
        let known: Vec<_> = names.chain(ALIASES.map(|(alias, _)| alias)).collect();
        let known = known.join(", ");
        Error::invalid(match name {
            AUTO => format!(
                "codec auto is chosen by the values of a whole array, which are not known here: use one \
                 of {known}"
            ),
            _ => format!("unknown codec '{name}': use {AUTO} or one of {known}"),
        })
    })
}

/// The codec with this id.
pub fn by_id(id: u16) -> Result<&'static Entry> {
    TABLE.iter().find(|e| e.info.id == id).ok_or_else(|| {
        Error::unsupported(format!("unknown codec id {id}: use a newer version of ebz"))
    })
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entry").field(&self.info.name).finish()
    }
}

impl Entry {
    /// The table row of a codec.
    #[doc(hidden)]
    pub const fn of<C: Codec>() -> Self {
        Self {
            info: C::INFO,
            chunks: C::CHUNKS,
            tells_extremes: C::TELLS_EXTREMES,
            quarters: C::QUARTERS,
            validate: C::validate,
            f32: Coder::of::<C>(),
            f64: Coder::of::<C>(),
        }
    }

    /// Whether it supports this bound, possibly through `abs`.
    pub fn offers(&self, kind: BoundKind) -> bool {
        let needed = match kind {
            BoundKind::Range | BoundKind::Psnr | BoundKind::Ratio => BoundKind::Abs,
            other => other,
        };
        self.info.tolerances.contains(&needed)
    }

    /// Checks parameter names and values.
    pub fn validate(&self, params: &Params) -> Result<()> {
        params.check_names(self.info.name, self.info.params)?;
        (self.validate)(params)
    }

    /// See [`Codec::encode`].
    #[doc(hidden)]
    pub fn encode<T: Element>(
        &self,
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match self.info.id {
            RAW => {
                raw::store(values, out);
                Ok(())
            }
            _ if is_narrow::<T>() => narrow::encode(self, values, task, context, out),
            _ => self.encode_wide::<T::Wide>(bytemuck::cast_slice(values), task, context, out),
        }
    }

    fn encode_wide<T: Float>(
        &self,
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match T::SIZE {
            8 => (self.f64.encode)(bytemuck::cast_slice(values), task, context, out),
            _ => (self.f32.encode)(bytemuck::cast_slice(values), task, context, out),
        }
    }

    /// See [`Codec::decode`].
    #[doc(hidden)]
    pub fn decode<T: Element>(
        &self,
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        match self.info.id {
            RAW => raw::load(bytes, context, out),
            _ if is_narrow::<T>() => narrow::decode(self, bytes, dims, context, out),
            _ => self.decode_wide::<T::Wide>(bytes, dims, context, bytemuck::cast_slice_mut(out)),
        }
    }

    fn decode_wide<T: Float>(
        &self,
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        match T::SIZE {
            8 => (self.f64.decode)(bytes, dims, context, bytemuck::cast_slice_mut(out)),
            _ => (self.f32.decode)(bytes, dims, context, bytemuck::cast_slice_mut(out)),
        }
    }
}

/// Whether codecs compute in a wider type than `T`.
const fn is_narrow<T: Element>() -> bool {
    T::SIZE < T::Wide::SIZE
}
