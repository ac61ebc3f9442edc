//! The range of the values of an array, to which `range` bounds refer.

use crate::element::Element;
use crate::element::real::difference;
use crate::fill::FillValues;
use crate::simd::Level;

/// Minimum and maximum of the finite values that are not fill values, in double precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FiniteRange {
    /// Minimum; greater than `max` if there are no such values.
    pub min: f64,
    /// Maximum.
    pub max: f64,
}

impl FiniteRange {
    /// The range of no values.
    pub const EMPTY: Self = Self {
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
    };

    /// The range of these values, fill values excluded.
    #[inline(always)]
    pub fn of<T: Element>(values: &[T], fill: &FillValues) -> Self {
        let fill = fill.typed(T::from_f64);
        match fill.len() {
            0 => Self::without(values, |_| false),
            1 => Self::without(values, |x| x == fill.first()),
            _ => Self::without(values, |x| fill.contains(x)),
        }
    }

    /// [`FiniteRange::of`] with this instruction set; at memory bandwidth if there are no fill values.
    pub(crate) fn at_level<T: Element>(level: Level, values: &[T], fill: &FillValues) -> Self {
        match fill.is_empty() {
            true => Self::of_all(level, values),
            false => level.run(
                #[inline(always)]
                || Self::of(values, fill),
            ),
        }
    }

    /// The range of all finite values, at memory bandwidth.
    fn of_all<T: Element>(level: Level, values: &[T]) -> Self {
        let (min, max) = level.run(
            #[inline(always)]
            || ends(values),
        );
        // An infinity hides the finite extreme: fall back to the slow loop.
        match min.is_finite() && max.is_finite() {
            true => Self {
                min: min.to_f64(),
                max: max.to_f64(),
            },
            false => Self::of(values, &FillValues::NONE),
        }
    }

    #[inline(always)]
    fn without<T: Element>(values: &[T], missing: impl Fn(T) -> bool) -> Self {
        const LANES: usize = 16;
        // 16-bit values are compared faster after widening.
        let mut min = [T::Wide::from_f64(f64::INFINITY); LANES];
        let mut max = [T::Wide::from_f64(f64::NEG_INFINITY); LANES];
        let mut take = |lane: usize, x: T| {
            let counts = Element::is_finite(x) & !missing(x);
            let x = x.to_wide();
            min[lane] = if counts && x < min[lane] {
                x
            } else {
                min[lane]
            };
            max[lane] = if counts && x > max[lane] {
                x
            } else {
                max[lane]
            };
        };
        let (blocks, rest) = values.as_chunks::<LANES>();
        for block in blocks {
            for (lane, &x) in block.iter().enumerate() {
                take(lane, x);
            }
        }
        for &x in rest {
            take(0, x);
        }
        let lanes = min.into_iter().zip(max);
        lanes.fold(Self::EMPTY, |all, (min, max)| {
            all.join(Self {
                min: min.to_f64(),
                max: max.to_f64(),
            })
        })
    }

    /// The union of both ranges.
    pub fn join(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// max − min, rounded down; 0 if there are no values.
    pub fn extent(self) -> f64 {
        if self.min > self.max {
            return 0.0;
        }
        let (extent, rest) = difference(self.max, self.min);
        if rest < 0.0 {
            extent.next_down()
        } else {
            extent
        }
    }
}

/// Minimum and maximum, infinities included; NaN is ignored.
#[inline(always)]
fn ends<T: Element>(values: &[T]) -> (T::Wide, T::Wide) {
    const LANES: usize = 64;
    let mut min = [T::Wide::from_f64(f64::INFINITY); LANES];
    let mut max = [T::Wide::from_f64(f64::NEG_INFINITY); LANES];
    let mut take = |lane: usize, x: T| {
        let x = x.to_wide();
        min[lane] = if x < min[lane] { x } else { min[lane] };
        max[lane] = if x > max[lane] { x } else { max[lane] };
    };
    let (blocks, rest) = values.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &x) in block.iter().enumerate() {
            take(lane, x);
        }
    }
    for (lane, &x) in rest.iter().enumerate() {
        take(lane, x);
    }
    let least = min.into_iter().reduce(|a, b| if b < a { b } else { a });
    let largest = max.into_iter().reduce(|a, b| if b > a { b } else { a });
    (least.unwrap_or(min[0]), largest.unwrap_or(max[0]))
}
