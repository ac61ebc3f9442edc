//! Quantization, differences at lags and bit planes of 16-bit coordinates in one pass, with a unit in
//! registers.
//!
//! The same bytes and values as the stages [`quantize`](super::quantize), [`lags`](super::lags) and
//! [`planes`](super::planes) one after the other, which are the definition, and the fallback for instruction sets
//! without a kernel and for lags shorter than a vector.
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, unused, reason = "kernels exist for x86-64 only")
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod ring;
#[cfg(test)]
mod tests;

use super::UNIT;
use super::lags::{Lags, distances};
use super::planes::{MAX_UNIT, MAX_WRITTEN, Shape};
use super::quantize::{Plain, PointRange};
use crate::element::Float;
use crate::error::{Error, Result};
use crate::request::Dims;
use crate::simd::{Level, memory};
use crate::workspace::Context;
use ring::{MIN_LAG, Ring};
use std::mem::MaybeUninit;

/// Computes the coordinates of a unit from its index and the coordinate before it; false if the chunk
/// has too many exceptions.
pub(crate) type Coordinates<'a> = dyn FnMut(usize, u16, &mut [u16; UNIT]) -> bool + 'a;

/// What is to be encoded.
pub(crate) struct Source<'a, T: Float> {
    pub dims: Dims,
    pub lags: Lags,
    /// The values, and their quantizer; other units than those that it accepts are left to `coordinates`.
    pub plain: Option<(Plain<T>, &'a [T])>,
    pub coordinates: &'a mut Coordinates<'a>,
}

/// Scratch of a worker.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    row: Ring,
    plane: Ring,
    /// The codes of the last chunk.
    pub codes: Vec<u8>,
}

impl Scratch {
    fn start(&mut self, lags: Lags, dims: Dims) {
        let [_, row, plane] = distances(dims);
        self.row.start(if lags.has(1) { row } else { 0 });
        self.plane.start(if lags.has(2) { plane } else { 0 });
        self.codes.clear();
    }
}

/// State of an encoder.
struct Encoder<'a> {
    row: &'a mut Ring,
    plane: &'a mut Ring,
    codes: &'a mut Vec<u8>,
    /// Memory for the planes of all units, and how much of it is in use.
    out: &'a mut [MaybeUninit<u8>],
    length: usize,
    /// The last coordinate of the previous unit.
    last: u16,
    /// The range of the points that were quantized here.
    range: PointRange,
}

impl Encoder<'_> {
    /// Memory for a unit; there always is.
    #[inline(always)]
    fn room(&mut self) -> Option<&mut [MaybeUninit<u8>; MAX_UNIT]> {
        self.out.get_mut(self.length..)?.first_chunk_mut()
    }

    /// Adds a unit, of which `length` bytes have been written to the room.
    #[inline(always)]
    fn advance(&mut self, shape: Shape, length: usize) {
        self.codes.push(shape.code());
        self.length += length;
    }
}

/// State of a decoder.
struct Decoder<'a> {
    codes: &'a [u8],
    planes: &'a [u8],
    row: &'a mut Ring,
    plane: &'a mut Ring,
    step: f64,
    base: f64,
    streaming: bool,
    /// The last coordinate of the previous unit.
    last: u16,
}

impl Decoder<'_> {
    /// The code of the next unit.
    #[inline(always)]
    fn code(&mut self) -> Result<u8> {
        let (code, rest) = self
            .codes
            .split_first()
            .ok_or_else(|| Error::corrupt("too few units"))?;
        self.codes = rest;
        Ok(*code)
    }
}

/// Whether kernels can run with these lags.
fn allows(context: &Context, lags: Lags, dims: Dims) -> bool {
    let short = |axis: usize| lags.has(axis) && distances(dims)[axis] < MIN_LAG;
    context.fused && !short(1) && !short(2)
}

/// Calls a kernel that is compiled for each set of lags.
macro_rules! by_lags {
    ($lags:expr, $module:ident::$kernel:ident $(<$generic:tt>)?, $arguments:tt) => {
        match $lags.0 {
            0 => $module::$kernel::<0 $(, $generic)?> $arguments,
            1 => $module::$kernel::<1 $(, $generic)?> $arguments,
            2 => $module::$kernel::<2 $(, $generic)?> $arguments,
            3 => $module::$kernel::<3 $(, $generic)?> $arguments,
            4 => $module::$kernel::<4 $(, $generic)?> $arguments,
            5 => $module::$kernel::<5 $(, $generic)?> $arguments,
            6 => $module::$kernel::<6 $(, $generic)?> $arguments,
            _ => $module::$kernel::<7 $(, $generic)?> $arguments,
        }
    };
}

/// Appends the planes of all units to `out`, and their codes to those of `scratch`. Returns the range of the points
/// that were not left to `coordinates`; `Some(None)` if that failed, and `None` if there is no kernel.
pub(crate) fn encode<T: Float>(
    context: &Context,
    source: Source<'_, T>,
    units: usize,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Option<Option<PointRange>> {
    let lags = source.lags;
    if context.simd() == Level::Portable || !allows(context, lags, source.dims) {
        return None;
    }
    scratch.start(lags, source.dims);
    let start = out.len();
    out.reserve(units * MAX_WRITTEN + MAX_UNIT);
    let mut encoder = Encoder {
        row: &mut scratch.row,
        plane: &mut scratch.plane,
        codes: &mut scratch.codes,
        out: out.spare_capacity_mut(),
        length: 0,
        last: 0,
        range: PointRange::EMPTY,
    };
    let coordinates = source.coordinates;
    let done: bool = match context.simd() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(avx512) => {
            let (plain, values) = source.plain.unwrap_or_default();
            let quantizer = avx512::Quantized {
                plain,
                values: values.as_chunks().0,
            };
            let rest = quantizer.values.len()..units;
            by_lags!(
                lags,
                avx512::encode<_>,
                (avx512, &mut encoder, quantizer, 0..rest.start, coordinates)
            ) && by_lags!(
                lags,
                avx512::encode<_>,
                (avx512, &mut encoder, avx512::Unquantized, rest, coordinates)
            )
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => by_lags!(
            lags,
            avx2::encode,
            (avx2, &mut encoder, 0..units, coordinates)
        ),
        _ => return None,
    };
    let Encoder { length, range, .. } = encoder;
    // SAFETY: kernels have written this many bytes.
    unsafe { out.set_len(start + length) };
    Some(done.then_some(range))
}

/// Decodes all units of `out`; returns the planes after the last one. `None` if there is no kernel.
pub(crate) fn decode<'a, T: Float>(
    context: &mut Context,
    (lags, dims): (Lags, Dims),
    (step, base): (f64, f64),
    (codes, planes): (&'a [u8], &'a [u8]),
    out: &mut [T],
) -> Option<Result<&'a [u8]>> {
    if context.simd() == Level::Portable || !allows(context, lags, dims) {
        return None;
    }
    let mut scratch = context.take::<Scratch>();
    scratch.start(lags, dims);
    let mut decoder = Decoder {
        codes,
        planes,
        row: &mut scratch.row,
        plane: &mut scratch.plane,
        step,
        base,
        streaming: context.streaming,
        last: 0,
    };
    let (units, rest) = out.as_chunks_mut::<UNIT>();
    let mut last = [[T::default(); UNIT]; 1];
    let last = if rest.is_empty() {
        &mut [][..]
    } else {
        &mut last
    };
    let done: Result<()> = match context.simd() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(avx512) => by_lags!(lags, avx512::decode<T>, (avx512, &mut decoder, units))
            .and_then(|()| by_lags!(lags, avx512::decode<T>, (avx512, &mut decoder, last))),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => by_lags!(lags, avx2::decode<T>, (avx2, &mut decoder, units))
            .and_then(|()| by_lags!(lags, avx2::decode<T>, (avx2, &mut decoder, last))),
        _ => return None,
    };
    rest.copy_from_slice(&last.as_flattened()[..rest.len()]);
    let left = decoder.planes.len();
    if context.streaming {
        memory::end_streaming();
    }
    context.put_back(scratch);
    Some(done.map(|()| &planes[planes.len() - left..]))
}
