//! How many planes each block of a group must keep: the fewest that satisfy the bound.
//!
//! A guess comes from the block before; decoding tells the error; the error halves with every
//! plane, so it tells the next guess. What is settled on was decoded and compared value by value.

use super::grid::{LANES, Lanes};
use super::lift;
use super::real::{Int, Real};
use super::truncate::{self, Truncation};
use super::vectors::Vectors;

/// Error below which one plane less is worth a try, as a part of the bound: dropping a plane
/// doubles the error on average, but not always. With 0.6 encoding is a tenth faster and the ratio
/// a hundredth lower.
const WORTH_A_TRY: f64 = 0.75;

/// Searches blocks one after the other; keeps what it learnt from the last group.
#[derive(Debug, Clone)]
pub struct Search<T> {
    /// The largest rounded distance that proves |x − x′| ≤ bound.
    pub limit: T,
    try_below: T,
    /// Exponent less planes of the last block in each lane.
    offset: Lanes<i32>,
}

impl<T: Real> Search<T> {
    /// A search for this absolute bound in blocks of `axes` axes.
    pub fn new(bound: f64, axes: u32) -> Self {
        let limit = provable(T::from_f64(bound));
        let bound_exponent = (limit.magnitude().to_word() >> T::MANTISSA_BITS) as i32;
        // zfp's own count for an accuracy, less what it is usually too careful by.
        let offset = bound_exponent - (2 * axes as i32 + 2) + 3;
        Self {
            limit,
            try_below: T::from_f64(limit.to_f64() * WORTH_A_TRY),
            offset: [offset; LANES],
        }
    }

    /// The planes of each block, or `None` where `most` are not enough. Lanes that are not
    /// `wanted` keep 0.
    #[inline(always)]
    pub fn run<V: Vectors<T>, const N: usize>(
        &mut self,
        values: &[Lanes<T>; N],
        coefficients: &[Lanes<T::Int>; N],
        exponents: &Lanes<u32>,
        wanted: &Lanes<bool>,
        most: u32,
    ) -> Lanes<Option<u32>> {
        let all = most as i32;
        let mut fails = [0; LANES];
        let mut passes = [all + 1; LANES];
        let mut guess = [0; LANES];
        for lane in 0..LANES {
            if wanted[lane] {
                guess[lane] = (exponents[lane] as i32 - self.offset[lane]).clamp(1, all);
            } else {
                passes[lane] = 0;
            }
        }
        loop {
            let planes = guess.map(|g| g as u32);
            let errors = largest_errors::<T, V, N>(values, coefficients, exponents, &planes);
            let mut open = false;
            for lane in 0..LANES {
                if passes[lane] <= fails[lane] + 1 {
                    continue;
                }
                let error = errors[lane];
                let doublings = self.doublings(error);
                if error <= self.limit {
                    passes[lane] = guess[lane];
                    if error > self.try_below {
                        fails[lane] = guess[lane] - 1;
                    }
                    guess[lane] = (guess[lane] - doublings.max(1)).max(fails[lane] + 1);
                } else {
                    fails[lane] = guess[lane];
                    guess[lane] = (guess[lane] - doublings.min(-1)).min(passes[lane] - 1);
                }
                if passes[lane] <= fails[lane] + 1 {
                    guess[lane] = passes[lane].min(all);
                } else {
                    open = true;
                }
            }
            if !open {
                break;
            }
        }
        std::array::from_fn(|lane| {
            if wanted[lane] && passes[lane] <= all {
                self.offset[lane] = exponents[lane] as i32 - passes[lane];
            }
            (passes[lane] <= all).then_some(passes[lane] as u32)
        })
    }

    /// How often the error can double before it exceeds the limit; negative if it does already.
    #[inline(always)]
    fn doublings(&self, error: T) -> i32 {
        let exponent = |x: T| (x.magnitude().to_word() >> T::MANTISSA_BITS) as i32;
        exponent(self.limit) - exponent(error)
    }
}

/// The largest value `t` for which a rounded distance of at most `t` proves a distance of at most
/// `bound`: the value below it, because a distance above the bound is rounded to the bound or more.
fn provable<T: Real>(bound: T) -> T {
    T::from_word(bound.to_word().saturating_sub(1))
}

/// The largest error of each block if the decoder is given so many planes.
#[inline(always)]
fn largest_errors<T: Real, V: Vectors<T>, const N: usize>(
    values: &[Lanes<T>; N],
    coefficients: &[Lanes<T::Int>; N],
    exponents: &Lanes<u32>,
    planes: &Lanes<u32>,
) -> Lanes<T> {
    let mut check = Check::<T, V, N> {
        decoded: Decoded::new(coefficients, exponents, planes),
        values,
        largest: V::load(&[T::default(); LANES]),
    };
    lift::inverse(&mut check, &mut [[T::Int::default(); LANES]; N]);
    let mut errors = [T::default(); LANES];
    V::store(check.largest, &mut errors);
    errors
}

/// The coefficients as the decoder will see them, and what it makes of integers.
struct Decoded<'a, T: Real, V: Vectors<T>, const N: usize> {
    coefficients: &'a [Lanes<T::Int>; N],
    kept: Truncation<V::Int>,
    units: V::Real,
}

impl<'a, T: Real, V: Vectors<T>, const N: usize> Decoded<'a, T, V, N> {
    #[inline(always)]
    fn new(
        coefficients: &'a [Lanes<T::Int>; N],
        exponents: &Lanes<u32>,
        planes: &Lanes<u32>,
    ) -> Self {
        Self {
            coefficients,
            kept: truncate::keep::<T, V>(planes, true),
            units: V::load(&exponents.map(T::unit)),
        }
    }

    #[inline(always)]
    fn take(&self, position: usize) -> V::Int {
        let coefficients = V::load_int(&self.coefficients[position]);
        let bits = truncate::forward::<T, V>(&self.kept, coefficients);
        truncate::inverse::<T, V>(self.kept.mask(), bits)
    }
}

/// Compares what comes out with the values.
struct Check<'a, T: Real, V: Vectors<T>, const N: usize> {
    decoded: Decoded<'a, T, V, N>,
    values: &'a [Lanes<T>; N],
    largest: V::Real,
}

impl<T: Real, V: Vectors<T>, const N: usize> lift::Ends<T, V> for Check<'_, T, V, N> {
    #[inline(always)]
    fn take(&self, position: usize) -> V::Int {
        self.decoded.take(position)
    }

    #[inline(always)]
    fn put(&mut self, position: usize, integers: V::Int) {
        let decoded = V::dequantize(integers, self.decoded.units);
        let distance = V::distance(V::load(&self.values[position]), decoded);
        self.largest = V::larger(self.largest, distance);
    }
}

/// Positions of a block whose values are out of bound with so many planes.
pub fn out_of_bound<T: Real, V: Vectors<T>, const N: usize>(
    values: &[Lanes<T>; N],
    coefficients: &[Lanes<T::Int>; N],
    exponents: &Lanes<u32>,
    planes: u32,
    lane: usize,
    limit: T,
) -> u64 {
    let mut list = List::<T, V, N> {
        decoded: Decoded::new(coefficients, exponents, &[planes; LANES]),
        values,
        lane,
        limit,
        which: 0,
    };
    lift::inverse(&mut list, &mut [[T::Int::default(); LANES]; N]);
    list.which
}

/// Lists the positions of one block that are out of bound.
struct List<'a, T: Real, V: Vectors<T>, const N: usize> {
    decoded: Decoded<'a, T, V, N>,
    values: &'a [Lanes<T>; N],
    lane: usize,
    limit: T,
    which: u64,
}

impl<T: Real, V: Vectors<T>, const N: usize> lift::Ends<T, V> for List<'_, T, V, N> {
    #[inline(always)]
    fn take(&self, position: usize) -> V::Int {
        self.decoded.take(position)
    }

    #[inline(always)]
    fn put(&mut self, position: usize, integers: V::Int) {
        let mut decoded = [T::default(); LANES];
        V::store(V::dequantize(integers, self.decoded.units), &mut decoded);
        let value = self.values[position][self.lane];
        let fits = value.distance(decoded[self.lane]) <= self.limit;
        self.which |= u64::from(!fits) << position;
    }
}
