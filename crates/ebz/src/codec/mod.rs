//! The codecs: one folder each, one row each in [`TABLE`].
//!
//! A codec turns the values of one chunk into bytes and back. It sees nothing of files, frames or
//! threads. The container, the front ends, the tests and the benchmarks all iterate the table, so
//! that a new codec is one folder and one row.

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

/// A codec. Implementations are zero-sized; [`Entry::of`] makes a table row from one.
#[doc(hidden)]
pub trait Codec {
    /// Number in the format, name, and what it offers.
    const INFO: Info;

    /// How it likes arrays to be cut where the user does not say.
    const CHUNKS: ChunkShape = ChunkShape::Slab;

    /// Whether encoding tells where the values lie, see [`Context`]. Then nobody looks at them before.
    const TELLS_EXTREMES: bool = false;

    /// The time that it takes to compress and decompress, typically, in quarters of a doubling of the fastest
    /// codec's: what `auto` weighs its size with. `auto` leaves codecs without one out.
    const QUARTERS: Option<u32> = None;

    /// Checks parameter values beyond their names.
    fn validate(_params: &Params) -> Result<()> {
        Ok(())
    }

    /// Appends the coded chunk to `out`.
    ///
    /// Every value must satisfy the tolerance after [`Codec::decode`]; what cannot is stored
    /// exactly. The bytes depend on `values` and `task` only. A result that is not smaller than the
    /// raw values is thrown away by the caller, who stores the chunk raw; so an encoder may
    /// stop as soon as it has appended that much.
    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()>;

    /// Fills `out`, whose length is `dims.len()`, from the bytes of one coded chunk.
    ///
    /// The bytes have passed their checksum but are not trusted: whatever they are, the result is
    /// `Ok` or `Err`, without a panic and without memory beyond a constant times `out`.
    fn decode<T: Float>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()>;
}

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
    /// The parameters with which values that were decompressed stay as they are, bit for bit, when
    /// they are compressed again with the same bound (not one relative to the range), also where
    /// values beside them changed; `None` if no parameters do. Elements of 16 bits may change, within
    /// the bound.
    pub rewrites_exactly: Option<&'static [(&'static str, &'static str)]>,
}

type Encode<T> = fn(&[T], &Task<'_>, &mut Context, &mut Vec<u8>) -> Result<()>;

/// A codec's functions for one type that it computes in.
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

/// A row of the table: a codec's functions for the types that it computes in.
pub struct Entry {
    /// What the codec is and offers.
    pub info: Info,
    /// How it likes arrays to be cut.
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

/// Number of the codec that stores values as they are.
pub(crate) const RAW: u16 = raw::Raw::INFO.id;

/// The codec used when the user names none, and for exact values where the named one is not exact.
pub const DEFAULT: &str = "fz";

/// Stands for the codec that suits an array best, see [`Favor`](crate::Favor).
pub const AUTO: &str = "auto";

/// Names that say what to choose a codec for.
pub const ALIASES: [(&str, &str); 3] = [("fast", "fz"), ("balanced", "ceaz"), ("small", "interp")];

/// The codec with this name, or with this alias.
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

/// The codec with this number.
pub fn by_id(id: u16) -> Result<&'static Entry> {
    TABLE.iter().find(|e| e.info.id == id).ok_or_else(|| {
        Error::unsupported(format!(
            "codec number {id} is unknown to this version of ebz: use a newer one"
        ))
    })
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entry").field(&self.info.name).finish()
    }
}

impl Entry {
    /// The row of a codec.
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
            RAW => raw::load(bytes, out),
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

/// Whether codecs compute in a wider type.
const fn is_narrow<T: Element>() -> bool {
    T::SIZE < T::Wide::SIZE
}
