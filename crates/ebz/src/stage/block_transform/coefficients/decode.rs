//! Decoder of the layout.

use super::{Numbers, RUN_BLOCKS, Step, UNIT_COEFFICIENTS};
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::block_transform::block_float::BlockFloat;
use crate::stage::block_transform::dispatch::{Dispatch, Kernel, dispatch};
use crate::stage::block_transform::grid::Grid;
use crate::stage::block_transform::lanes::LANES;
use crate::stage::block_transform::planes::sequency;
use crate::stage::block_transform::vectors::Vectors;
use crate::stage::planes;

/// Decodes a chunk into `out`; returns the bytes that follow it.
pub fn decode<'a, T: Dispatch>(
    mut bytes: &'a [u8],
    grid: Grid,
    axes: u8,
    simd: Level,
    out: &mut [T],
) -> Result<&'a [u8]> {
    let short = || Error::truncated("the coefficients of a chunk are cut off");
    let (step, rest) = bytes.split_first_chunk().ok_or_else(short)?;
    let (&parts, rest) = rest.split_first().ok_or_else(short)?;
    let step = Step::new(f64::from_le_bytes(*step));
    let (Some(step), 1..=2) = (step, parts) else {
        return Err(Error::corrupt("invalid step or number of parts"));
    };
    bytes = rest;
    let units = grid.blocks().div_ceil(RUN_BLOCKS) << (2 * (axes - 1));
    let codes = bytes
        .split_off(..units * usize::from(parts))
        .ok_or_else(short)?;
    let decoder = Decoder {
        grid,
        step,
        parts: parts.into(),
        codes,
        planes: bytes,
        simd,
        first_number: 0,
        out,
    };
    match axes {
        1 => dispatch(simd, Runs::<_, 4>(decoder)),
        2 => dispatch(simd, Runs::<_, 16>(decoder)),
        _ => dispatch(simd, Runs::<_, 64>(decoder)),
    }
}

struct Decoder<'a, 'o, T> {
    grid: Grid,
    step: Step<T>,
    parts: usize,
    codes: &'a [u8],
    planes: &'a [u8],
    simd: Level,
    /// The first coefficient of the last block.
    first_number: i32,
    out: &'o mut [T],
}

/// The loop over all runs of blocks of `N` values; returns the rest of the bytes.
struct Runs<D, const N: usize>(D);

impl<'a, T: Dispatch, const N: usize> Kernel for Runs<Decoder<'a, '_, T>, N> {
    type Element = T;
    type Output = Result<&'a [u8]>;

    #[inline(always)]
    fn run<V: Vectors<T>>(mut self) -> Self::Output {
        let blocks = self.0.grid.blocks();
        let mut numbers: Numbers<N> = [[[0; LANES]; N]; RUN_BLOCKS / LANES];
        for first in (0..blocks).step_by(RUN_BLOCKS) {
            self.0.read::<N>(&mut numbers)?;
            for (numbers, first) in numbers.iter().zip((first..blocks).step_by(LANES)) {
                let mut values = [[T::default(); LANES]; N];
                self.0.step.restore::<V, N>(numbers, &mut values);
                self.0.grid.scatter::<T, V, N>(&values, first, self.0.out);
            }
        }
        Ok(self.0.planes)
    }
}

impl<T: BlockFloat> Decoder<'_, '_, T> {
    /// Reads the units of a run.
    #[inline(always)]
    fn read<const N: usize>(&mut self, numbers: &mut Numbers<N>) -> Result<()> {
        let order = const { sequency::<N>() };
        let (units, _) = order.as_chunks::<UNIT_COEFFICIENTS>();
        for (index, positions) in units.iter().enumerate() {
            let mut unit = [0; UNIT];
            let (mut low, mut high) = ([0; UNIT], [0; UNIT]);
            self.part(&mut low)?;
            let wide = self.parts > 1 && self.part(&mut high)?;
            for (number, &low) in unit.iter_mut().zip(&low) {
                *number = u32::from(low);
            }
            if wide {
                for (number, &high) in unit.iter_mut().zip(&high) {
                    *number |= u32::from(high) << 16;
                }
            }
            let mut unit =
                unit.map(|zigzag| (zigzag >> 1 ^ (zigzag & 1).wrapping_neg()).cast_signed());
            let (rows, _) = unit.as_chunks_mut::<RUN_BLOCKS>();
            if index == 0 {
                for number in &mut rows[0] {
                    self.first_number = self.first_number.wrapping_add(*number);
                    *number = self.first_number;
                }
            }
            for (row, &position) in rows.iter().zip(positions) {
                for (from, group) in row.as_chunks::<LANES>().0.iter().zip(numbers.iter_mut()) {
                    group[usize::from(position)] = *from;
                }
            }
        }
        Ok(())
    }

    /// Reads one part of the next unit; returns whether it has any planes.
    #[inline(always)]
    fn part(&mut self, unit: &mut [u16; UNIT]) -> Result<bool> {
        let code = self.codes.split_off_first().copied().unwrap_or(0);
        let length = planes::decode(self.simd, code, self.planes, unit)?;
        self.planes = &self.planes[length..];
        Ok(code != 0)
    }
}
