//! Decoder of a chunk: the steps of [`encode`](super::encode) in reverse order, with the same numbers.

use super::block_float::{BlockFloat, BlockInt};
use super::dispatch::{Dispatch, Kernel, dispatch};
use super::grid::Grid;
use super::header::Header;
use super::lanes::{LANES, Lanes};
use super::plane_code::{PlaneCode, STREAMS};
use super::planes::Planes;
use super::segments::{Segment, SegmentReader};
use super::vectors::Vectors;
use super::{AXES, CODE_AT, COEFFICIENTS, EXCEPTIONS, coefficients, lift, truncate};
use crate::bits::BitReader;
use crate::error::{Error, Result};
use crate::request::Dims;
use crate::simd::Level;
use crate::stage::exceptions;

/// Decodes a chunk into `out`.
pub fn decode<T: Dispatch, C: PlaneCode>(
    bytes: &[u8],
    dims: Dims,
    simd: Level,
    out: &mut [T],
) -> Result<()> {
    let (&first, bytes) = bytes
        .split_first()
        .ok_or_else(|| Error::truncated("an empty chunk"))?;
    let axes = first & AXES;
    if axes == 0 {
        return Err(Error::corrupt("blocks without axes"));
    }
    let grid = Grid::new(dims, usize::from(axes));
    if first & COEFFICIENTS != 0 {
        if first & !(AXES | EXCEPTIONS | COEFFICIENTS) != 0 {
            return Err(Error::corrupt("an unknown layout of coefficients"));
        }
        let rest = coefficients::decode(bytes, grid, axes, simd, out)?;
        return restore_exceptions(first, rest, out);
    }
    let code = C::ALL.get(usize::from(first >> CODE_AT));
    let unknown = || Error::corrupt("an unknown code of bit planes");
    let decoder = Decoder {
        grid,
        segments: SegmentReader::new(bytes)?,
        code: *code.ok_or_else(unknown)?,
    };
    let rest = match axes {
        1 => dispatch(simd, Groups::<_, _, 4>(decoder, out))?,
        2 => dispatch(simd, Groups::<_, _, 16>(decoder, out))?,
        _ => dispatch(simd, Groups::<_, _, 64>(decoder, out))?,
    };
    restore_exceptions(first, rest, out)
}

/// Restores the exact side list, if the first byte of the chunk says that there is one.
fn restore_exceptions<T: Dispatch>(first: u8, rest: &[u8], out: &mut [T]) -> Result<()> {
    match (first & EXCEPTIONS != 0, rest.is_empty()) {
        (true, false) => exceptions::restore(rest, out),
        (false, true) => Ok(()),
        (true, true) => Err(Error::truncated("the side list is missing")),
        (false, false) => Err(Error::corrupt("trailing bytes after a chunk")),
    }
}

struct Decoder<'a, C> {
    grid: Grid,
    segments: SegmentReader<'a>,
    code: C,
}

/// The loop over all groups of blocks of `N` values.
struct Groups<'o, D, T, const N: usize>(D, &'o mut [T]);

impl<'a, T: Dispatch, C: PlaneCode, const N: usize> Kernel for Groups<'_, Decoder<'a, C>, T, N> {
    type Element = T;
    type Output = Result<&'a [u8]>;

    #[inline(always)]
    fn run<V: Vectors<T>>(self) -> Result<&'a [u8]> {
        self.0.groups::<T, V, N>(self.1)
    }
}

/// The headers of a group.
struct Headers {
    kept: Lanes<u32>,
    exponents: Lanes<u32>,
    exact: Lanes<bool>,
}

impl<'a, C: PlaneCode> Decoder<'a, C> {
    /// Decodes all groups; returns the bytes that follow them.
    #[inline(always)]
    fn groups<T: BlockFloat, V: Vectors<T>, const N: usize>(
        mut self,
        out: &mut [T],
    ) -> Result<&'a [u8]> {
        let mut planes = [[0; 64]; LANES];
        let mut bits = [[T::Int::default(); LANES]; N];
        let mut work = [[T::Int::default(); LANES]; N];
        let mut exact_values = [[T::default(); LANES]; N];
        let mut segment = Segment::default();
        for first in (0..self.grid.blocks()).step_by(LANES) {
            while segment.groups == 0 {
                segment.end()?;
                segment = self.segments.next()?.ok_or_else(missing)?;
            }
            segment.groups -= 1;
            // 8. Read.
            let headers =
                self.read::<T, N>(&mut segment.readers, first, &mut planes, &mut exact_values)?;
            let mut values = [[T::default(); LANES]; N];
            if headers.kept != [0; LANES] {
                // 7. Planes.
                V::join(&mut planes, &headers.kept, &mut bits);
                // 6., 4. and 3. Negabinary, lifting, block floating point.
                let mut restore = Restore::<T, V, N> {
                    bits: &bits,
                    mask: V::splat(T::Int::NEGABINARY),
                    units: V::load(&headers.exponents.map(T::unit)),
                    values: &mut values,
                };
                lift::inverse(&mut restore, &mut work);
            }
            // 2. Blocks stored exactly.
            if headers.exact != [false; LANES] {
                for (to, from) in values.iter_mut().zip(&exact_values) {
                    for lane in 0..LANES {
                        if headers.exact[lane] {
                            to[lane] = from[lane];
                        }
                    }
                }
            }
            // 1. Scatter.
            self.grid.scatter::<T, V, N>(&values, first, out);
        }
        segment.end()?;
        if segment.groups > 0 || self.segments.next()?.is_some() {
            return Err(Error::corrupt(
                "the segments have more blocks than the chunk",
            ));
        }
        Ok(self.segments.rest())
    }

    #[inline(always)]
    fn read<T: BlockFloat, const N: usize>(
        &self,
        readers: &mut [BitReader<'_>; STREAMS],
        first: usize,
        planes: &mut [Planes; LANES],
        exact_values: &mut [Lanes<T>; N],
    ) -> Result<Headers> {
        let mut headers = Headers {
            kept: [0; LANES],
            exponents: [T::MIN_EXPONENT; LANES],
            exact: [false; LANES],
        };
        let (turns, _) = planes.as_chunks_mut::<STREAMS>();
        for (turn, planes) in turns.iter_mut().enumerate() {
            let mut counts = [0; STREAMS];
            for stream in 0..STREAMS {
                let lane = turn * STREAMS + stream;
                let reader = &mut readers[stream];
                if first + lane >= self.grid.blocks() {
                    continue;
                }
                match Header::read_from::<T>(reader)? {
                    Header::Zero => {}
                    Header::Planes { count, exponent } => {
                        headers.kept[lane] = count;
                        headers.exponents[lane] = exponent;
                        counts[stream] = count as usize;
                    }
                    Header::Exact => {
                        headers.exact[lane] = true;
                        for lanes in exact_values.iter_mut() {
                            lanes[lane] = T::from_word(reader.get_wide(8 * T::SIZE as u32));
                        }
                    }
                }
            }
            self.code.read::<N>(readers, counts, planes);
        }
        Ok(headers)
    }
}

fn missing() -> Error {
    Error::truncated("the segments have fewer blocks than the chunk")
}

/// Converts negabinary to coefficients, and integers to values.
struct Restore<'a, T: BlockFloat, V: Vectors<T>, const N: usize> {
    bits: &'a [Lanes<T::Int>; N],
    mask: V::Int,
    units: V::Real,
    values: &'a mut [Lanes<T>; N],
}

impl<T: BlockFloat, V: Vectors<T>, const N: usize> lift::Endpoints<T, V> for Restore<'_, T, V, N> {
    #[inline(always)]
    fn take(&self, position: usize) -> V::Int {
        truncate::inverse::<T, V>(self.mask, V::load_int(&self.bits[position]))
    }

    #[inline(always)]
    fn put(&mut self, position: usize, integers: V::Int) {
        V::store(
            V::dequantize(integers, self.units),
            &mut self.values[position],
        );
    }
}
