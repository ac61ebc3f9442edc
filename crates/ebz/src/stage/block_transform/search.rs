//! Searches for the smallest number of planes of each block that satisfies the bound.
//!
//! The first guess comes from the previous block. Decoding gives the error and, because the error
//! halves with every plane, the next guess. The result is proven: it was decoded and compared value by
//! value.

use super::block_float::BlockFloat;
use super::lanes::{LANES, Lanes};
use super::lift;
use super::truncate::{self, Truncation};
use super::vectors::Vectors;
use crate::stage::proof::Proof;

/// Try one plane less if the error is below this fraction of the bound: dropping a plane doubles the
/// error on average, but not always. With 0.6, encoding is 10 % faster and the ratio 1 % lower.
const TRY_FEWER_PLANES_BELOW: f64 = 0.75;

/// A search that starts each group from the result of the previous one.
#[derive(Debug, Clone)]
pub struct Search<T> {
    /// See [`Proof::limit`].
    pub limit: T,
    try_below: T,
    /// Exponent minus number of planes of the last block in each lane.
    offset: Lanes<i32>,
    /// The same by zfp's formula, if that is requested.
    formula: Option<i32>,
}

impl<T: BlockFloat> Search<T> {
    /// A search for an absolute bound in blocks of `axes` axes; `by_formula` uses zfp's number of planes
    /// for this tolerance instead of the smallest sufficient one.
    pub fn new(bound: f64, axes: u32, by_formula: bool) -> Self {
        let limit = Proof::<T>::new(bound).limit();
        let bound_exponent = T::exponent(limit.magnitude()) as i32;
        // zfp's number of planes for a tolerance, minus three that are usually unnecessary.
        let offset = bound_exponent - (2 * axes as i32 + 2) + 3;
        Self {
            limit,
            try_below: T::from_f64(limit.to_f64() * TRY_FEWER_PLANES_BELOW),
            offset: [offset; LANES],
            formula: by_formula.then(|| {
                // zfp's block exponents are for mantissas in [0.5, 1), larger by 1 than ours.
                let tolerance = T::exponent(T::from_f64(bound).magnitude()) as i32;
                tolerance - (2 * axes as i32 + 2) - 1
            }),
        }
    }

    /// Whether the number of planes is given by zfp's formula.
    pub fn is_by_formula(&self) -> bool {
        self.formula.is_some()
    }

    /// The number of planes of each block, or `None` if `most` planes, or those of the formula, do not
    /// suffice; 0 for lanes that are not `wanted`.
    #[inline(always)]
    pub fn run<V: Vectors<T>, const N: usize>(
        &mut self,
        values: &[Lanes<T>; N],
        coefficients: &[Lanes<T::Int>; N],
        exponents: &Lanes<u32>,
        wanted: &Lanes<bool>,
        most: u32,
    ) -> Lanes<Option<u32>> {
        if let Some(offset) = self.formula {
            let planes = exponents.map(|e| (e as i32 - offset).clamp(0, most as i32) as u32);
            let errors = largest_errors::<T, V, N>(values, coefficients, exponents, &planes, false);
            return std::array::from_fn(|i| (errors[i] <= self.limit).then_some(planes[i]));
        }
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
            let errors = largest_errors::<T, V, N>(values, coefficients, exponents, &planes, true);
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
        let exponent = |x: T| T::exponent(x.magnitude()) as i32;
        exponent(self.limit) - exponent(error)
    }
}

/// The largest error of each block with this many planes.
#[inline(always)]
fn largest_errors<T: BlockFloat, V: Vectors<T>, const N: usize>(
    values: &[Lanes<T>; N],
    coefficients: &[Lanes<T::Int>; N],
    exponents: &Lanes<u32>,
    planes: &Lanes<u32>,
    nearest: bool,
) -> Lanes<T> {
    let mut check = Check::<T, V, N> {
        decoded: Decoded::new(coefficients, exponents, planes, nearest),
        values,
        largest: V::load(&[T::default(); LANES]),
    };
    lift::inverse(&mut check, &mut [[T::Int::default(); LANES]; N]);
    let mut errors = [T::default(); LANES];
    V::store(check.largest, &mut errors);
    errors
}

/// The truncated coefficients that the decoder sees, and its units.
struct Decoded<'a, T: BlockFloat, V: Vectors<T>, const N: usize> {
    coefficients: &'a [Lanes<T::Int>; N],
    kept: Truncation<V::Int>,
    units: V::Real,
}

impl<'a, T: BlockFloat, V: Vectors<T>, const N: usize> Decoded<'a, T, V, N> {
    #[inline(always)]
    fn new(
        coefficients: &'a [Lanes<T::Int>; N],
        exponents: &Lanes<u32>,
        planes: &Lanes<u32>,
        nearest: bool,
    ) -> Self {
        Self {
            coefficients,
            kept: truncate::keep::<T, V>(planes, nearest),
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

/// Computes the largest difference of decoded values.
struct Check<'a, T: BlockFloat, V: Vectors<T>, const N: usize> {
    decoded: Decoded<'a, T, V, N>,
    values: &'a [Lanes<T>; N],
    largest: V::Real,
}

impl<T: BlockFloat, V: Vectors<T>, const N: usize> lift::Endpoints<T, V> for Check<'_, T, V, N> {
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

/// Bitmap of the positions of a block that are out of bound with this many planes.
pub fn out_of_bound<T: BlockFloat, V: Vectors<T>, const N: usize>(
    values: &[Lanes<T>; N],
    coefficients: &[Lanes<T::Int>; N],
    exponents: &Lanes<u32>,
    planes: u32,
    lane: usize,
    limit: T,
) -> u64 {
    let mut found = OutOfBound::<T, V, N> {
        decoded: Decoded::new(coefficients, exponents, &[planes; LANES], true),
        values,
        lane,
        limit,
        which: 0,
    };
    lift::inverse(&mut found, &mut [[T::Int::default(); LANES]; N]);
    found.which
}

/// Collects the positions of a block that are out of bound.
struct OutOfBound<'a, T: BlockFloat, V: Vectors<T>, const N: usize> {
    decoded: Decoded<'a, T, V, N>,
    values: &'a [Lanes<T>; N],
    lane: usize,
    limit: T,
    which: u64,
}

impl<T: BlockFloat, V: Vectors<T>, const N: usize> lift::Endpoints<T, V>
    for OutOfBound<'_, T, V, N>
{
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
