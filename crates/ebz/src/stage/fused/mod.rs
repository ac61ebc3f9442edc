//! Quantization and differences at lags of 16-bit coordinates in one pass, with a unit in registers, and their bit
//! planes or another encoding.
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
mod input;
mod output;
mod ring;
#[cfg(test)]
mod tests;

use super::UNIT;
use super::lags::{Lags, distances};
use super::planes::{MAX_UNIT, MAX_WRITTEN};
use super::quantize::{Plain, PointRange};
use crate::element::Float;
use crate::error::Result;
use crate::request::Dims;
use crate::simd::{Level, memory};
use crate::workspace::Context;
use input::{Input, PlaneReader};
use output::{Output, PlaneWriter};
use ring::{MIN_LAG, Ring};

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

/// Histories of the lags.
#[derive(Debug, Default)]
struct Rings {
    row: Ring,
    plane: Ring,
}

impl Rings {
    fn start(&mut self, lags: Lags, dims: Dims) {
        let [_, row, plane] = distances(dims);
        self.row.start(if lags.has(1) { row } else { 0 });
        self.plane.start(if lags.has(2) { plane } else { 0 });
    }
}

/// Scratch of a worker.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    rings: Rings,
    /// The codes of the last chunk.
    pub codes: Vec<u8>,
}

/// State of an encoder.
struct Encoder<'a, O> {
    row: &'a mut Ring,
    plane: &'a mut Ring,
    output: &'a mut O,
    /// The last coordinate of the previous unit.
    last: u16,
    /// The range of the points that were quantized here.
    range: PointRange,
}

/// State of a decoder.
struct Decoder<'a, I> {
    row: &'a mut Ring,
    plane: &'a mut Ring,
    input: &'a mut I,
    step: f64,
    base: f64,
    streaming: bool,
    /// The last coordinate of the previous unit.
    last: u16,
}

/// Whether there are kernels for these lags.
fn allows(context: &Context, lags: Lags, dims: Dims) -> bool {
    let short = |axis: usize| lags.has(axis) && distances(dims)[axis] < MIN_LAG;
    context.fused && context.simd() != Level::Portable && !short(1) && !short(2)
}

/// Calls a kernel that is compiled for each set of lags.
macro_rules! by_lags {
    ($lags:expr, $module:ident::$kernel:ident<$($generic:tt),*>, $arguments:tt) => {
        match $lags.0 {
            0 => $module::$kernel::<0, $($generic),*> $arguments,
            1 => $module::$kernel::<1, $($generic),*> $arguments,
            2 => $module::$kernel::<2, $($generic),*> $arguments,
            3 => $module::$kernel::<3, $($generic),*> $arguments,
            4 => $module::$kernel::<4, $($generic),*> $arguments,
            5 => $module::$kernel::<5, $($generic),*> $arguments,
            6 => $module::$kernel::<6, $($generic),*> $arguments,
            _ => $module::$kernel::<7, $($generic),*> $arguments,
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
    if !allows(context, source.lags, source.dims) {
        return None;
    }
    let start = out.len();
    out.reserve(units * MAX_WRITTEN + MAX_UNIT);
    scratch.codes.clear();
    let mut output = PlaneWriter {
        codes: &mut scratch.codes,
        out: out.spare_capacity_mut(),
        length: 0,
    };
    let done = encode_units(context, source, units, &mut scratch.rings, &mut output)?;
    let length = output.length;
    // SAFETY: kernels have written this many bytes.
    unsafe { out.set_len(start + length) };
    Some(done)
}

/// Calls `unit` with the zigzag differences of every unit; returns like [`encode`].
pub(crate) fn encode_each<T: Float>(
    context: &mut Context,
    source: Source<'_, T>,
    units: usize,
    unit: &mut dyn FnMut(&[u16; UNIT]),
) -> Option<Option<PointRange>> {
    if !allows(context, source.lags, source.dims) {
        return None;
    }
    let mut scratch = context.take::<Scratch>();
    let mut output = output::Each(unit);
    let done = encode_units(context, source, units, &mut scratch.rings, &mut output);
    context.put_back(scratch);
    done
}

fn encode_units<T: Float, O: Output>(
    context: &Context,
    source: Source<'_, T>,
    units: usize,
    rings: &mut Rings,
    output: &mut O,
) -> Option<Option<PointRange>> {
    let lags = source.lags;
    rings.start(lags, source.dims);
    let mut encoder = Encoder {
        row: &mut rings.row,
        plane: &mut rings.plane,
        output,
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
                avx512::encode<O, _>,
                (avx512, &mut encoder, quantizer, 0..rest.start, coordinates)
            ) && by_lags!(
                lags,
                avx512::encode<O, _>,
                (avx512, &mut encoder, avx512::Unquantized, rest, coordinates)
            )
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => by_lags!(
            lags,
            avx2::encode<O>,
            (avx2, &mut encoder, 0..units, coordinates)
        ),
        _ => return None,
    };
    Some(done.then_some(encoder.range))
}

/// Decodes all units of `out`; returns the planes after the last one. `None` if there is no kernel.
pub(crate) fn decode<'a, T: Float>(
    context: &mut Context,
    place: (Lags, Dims),
    lattice: (f64, f64),
    (codes, planes): (&'a [u8], &'a [u8]),
    out: &mut [T],
) -> Option<Result<&'a [u8]>> {
    let mut input = PlaneReader { codes, planes };
    let done = decode_units(context, place, lattice, &mut input, out)?;
    Some(done.map(|()| input.planes))
}

/// Decodes all units of `out`, whose zigzag differences `unit` returns. `None` if there is no kernel.
pub(crate) fn decode_each<T: Float>(
    context: &mut Context,
    place: (Lags, Dims),
    lattice: (f64, f64),
    unit: &mut dyn FnMut(&mut [u16; UNIT]) -> Result<()>,
    out: &mut [T],
) -> Option<Result<()>> {
    decode_units(context, place, lattice, &mut input::Each(unit), out)
}

fn decode_units<T: Float, I: Input>(
    context: &mut Context,
    (lags, dims): (Lags, Dims),
    (step, base): (f64, f64),
    input: &mut I,
    out: &mut [T],
) -> Option<Result<()>> {
    if !allows(context, lags, dims) {
        return None;
    }
    let mut scratch = context.take::<Scratch>();
    scratch.rings.start(lags, dims);
    let mut decoder = Decoder {
        row: &mut scratch.rings.row,
        plane: &mut scratch.rings.plane,
        input,
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
        Level::Avx512(avx512) => {
            by_lags!(lags, avx512::decode<I, T>, (avx512, &mut decoder, units))
                .and_then(|()| by_lags!(lags, avx512::decode<I, T>, (avx512, &mut decoder, last)))
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => by_lags!(lags, avx2::decode<I, T>, (avx2, &mut decoder, units))
            .and_then(|()| by_lags!(lags, avx2::decode<I, T>, (avx2, &mut decoder, last))),
        _ => return None,
    };
    rest.copy_from_slice(&last.as_flattened()[..rest.len()]);
    if context.streaming {
        memory::end_streaming();
    }
    context.put_back(scratch);
    Some(done)
}
