//! The layout that keeps one coefficient of many blocks together.
//!
//! All values of a chunk are converted to integers by one scale, lifted, and divided by [`DIVISOR`] with rounding.
//! Four coefficients of [`RUN_BLOCKS`] blocks are a unit of [bit planes](crate::stage::planes), zigzag-coded. The
//! first coefficient is replaced by its difference from the previous block.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | the step of the coefficients, f64 |
//! | 1 | 16-bit parts of a number: 1 or 2 |
//! | … | for each run of blocks, for each unit: a code per part |
//! | … | the bit planes of the parts, in the same order |

mod decode;
mod encode;

use super::block_float::{BlockFloat, FRACTION_BITS};
use super::lanes::{LANES, Lanes};
use super::lift;
use super::vectors::Vectors;
use crate::stage::UNIT;

pub(super) use decode::decode;
pub(super) use encode::{Buffers, Source, encode};

/// Integers per step.
const DIVISOR: f64 = (1 << FRACTION_BITS) as f64;

/// Coefficients of a unit.
const UNIT_COEFFICIENTS: usize = 4;

/// Blocks of a run: those of a unit.
const RUN_BLOCKS: usize = UNIT / UNIT_COEFFICIENTS;

/// The numbers of a run, by group of blocks, position and lane.
type Numbers<const N: usize> = [[Lanes<i32>; N]; RUN_BLOCKS / LANES];

/// The step of the coefficients of a chunk.
#[derive(Debug, Clone, Copy)]
struct Step<T> {
    step: f64,
    /// Integers per value, and its inverse.
    scale: T,
    unit: T,
}

impl<T: BlockFloat> Step<T> {
    /// `None` if `T` has no such scale.
    fn new(step: f64) -> Option<Self> {
        let normal = |x: T| (1..T::SPECIAL_EXPONENT).contains(&T::exponent(x.magnitude()));
        let (scale, unit) = (T::from_f64(DIVISOR / step), T::from_f64(step / DIVISOR));
        let valid = step > 0.0 && normal(scale) && normal(unit);
        valid.then_some(Self { step, scale, unit })
    }

    /// The values of a group that its numbers decode to.
    #[inline(always)]
    fn restore<V: Vectors<T>, const N: usize>(
        &self,
        numbers: &[Lanes<i32>; N],
        values: &mut [Lanes<T>; N],
    ) {
        let mut ends = Restore::<T, V, N> {
            numbers,
            unit: V::load(&[self.unit; LANES]),
            values,
        };
        lift::inverse(&mut ends, &mut [[T::Int::default(); LANES]; N]);
    }
}

/// Converts numbers to coefficients, and integers to values.
struct Restore<'a, T: BlockFloat, V: Vectors<T>, const N: usize> {
    numbers: &'a [Lanes<i32>; N],
    unit: V::Real,
    values: &'a mut [Lanes<T>; N],
}

impl<T: BlockFloat, V: Vectors<T>, const N: usize> lift::Endpoints<T, V> for Restore<'_, T, V, N> {
    #[inline(always)]
    fn take(&self, position: usize) -> V::Int {
        V::raise(&self.numbers[position])
    }

    #[inline(always)]
    fn put(&mut self, position: usize, integers: V::Int) {
        V::store(
            V::dequantize(integers, self.unit),
            &mut self.values[position],
        );
    }
}
