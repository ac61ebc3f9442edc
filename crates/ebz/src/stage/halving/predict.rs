//! Predictions row by row, returned in units.

use super::Halving;
use crate::element::Float;
use crate::element::real::Real;
use crate::request::Dims;
use crate::stage::UNIT;

/// The coarse values along one axis that predict a value.
enum Taps {
    /// The value is coarse itself.
    Copy(usize),
    /// The midpoint of the second and the third of four values.
    Cubic([usize; 4]),
    /// Next to an end: the midpoint of the first and the second of three values.
    Quadratic([usize; 3]),
}

/// Weights of a cubic through four points, at the midpoint of the inner two.
const INNER: f64 = 0.5625;
const OUTER: f64 = -0.0625;

/// Weights of a parabola through three points, at the midpoint of the first two.
const QUADRATIC: [f64; 3] = [0.375, 0.75, -0.125];

/// The taps for position `i` of an axis of `n` values; coarse ones are at even positions and at the
/// last.
fn taps(i: usize, n: usize) -> Taps {
    let half = i / 2;
    if i.is_multiple_of(2) {
        return Taps::Copy(half);
    }
    if i + 1 == n {
        return Taps::Copy(half + 1);
    }
    // The last coarse value at an even position.
    let last = (n - 1) / 2;
    if half == 0 {
        Taps::Quadratic([0, 1, 2])
    } else if half + 2 > last {
        Taps::Quadratic([half + 1, half, half - 1])
    } else {
        Taps::Cubic([half - 1, half, half + 1, half + 2])
    }
}

/// Predicts values from coarse values, row by row in storage order.
pub(super) struct Predictor<'a, T> {
    halving: Halving,
    coarse: &'a [T],
    /// Coarse rows interpolated to `plane_z`.
    plane: Vec<T>,
    plane_z: Option<usize>,
    /// Coarse values interpolated to the z and y of the next row.
    row: Vec<T>,
    /// Midpoints of `row`.
    between: Vec<T>,
    /// Index of the next row.
    next: usize,
    /// Pending predictions are `ready[start..end]`.
    ready: Vec<T>,
    start: usize,
    end: usize,
}

impl<'a, T: Float> Predictor<'a, T> {
    /// Starts with the first row. The extents of `coarse` are those of [`Halving::coarse`].
    pub fn new(halving: Halving, coarse: &'a [T]) -> Self {
        let Dims { ny, nx, .. } = halving.coarse();
        debug_assert_eq!(coarse.len(), halving.coarse().len());
        Self {
            halving,
            coarse,
            plane: vec![T::default(); ny * nx],
            plane_z: None,
            row: vec![T::default(); nx],
            between: vec![T::default(); nx],
            next: 0,
            ready: vec![T::default(); halving.dims.nx + UNIT],
            start: 0,
            end: 0,
        }
    }

    /// Predictions for the unit that starts at a position; [`Self::unit`] continues from there.
    #[inline(always)]
    pub fn unit_at(&mut self, position: usize) -> &[T; UNIT] {
        let nx = self.halving.dims.nx;
        self.next = position / nx;
        (self.start, self.end) = (0, 0);
        self.predict_row();
        self.start = position % nx;
        self.unit()
    }

    /// Predictions for the next unit, in storage order; unspecified after the last row.
    #[inline(always)]
    pub fn unit(&mut self) -> &[T; UNIT] {
        if self.end - self.start < UNIT {
            self.ready.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            while self.end < UNIT && self.next < self.halving.dims.nz * self.halving.dims.ny {
                self.predict_row();
            }
            self.end = self.end.max(UNIT);
        }
        let unit = self.ready[self.start..].first_chunk();
        self.start += UNIT;
        unit.expect("a unit is ready")
    }

    /// Appends the predictions of the next row.
    #[inline(always)]
    fn predict_row(&mut self) {
        let Dims { ny, nx, .. } = self.halving.dims;
        let (z, y) = (self.next / ny, self.next % ny);
        self.next += 1;
        let [halved_x, halved_y, halved_z] = self.halving.axes;
        let coarse = self.halving.coarse();

        // 1. Along z: once for all rows of a plane.
        let size = coarse.ny * coarse.nx;
        let planes = |z: usize| &self.coarse[z * size..][..size];
        let plane = match taps(z, self.halving.dims.nz) {
            _ if !halved_z => planes(z),
            Taps::Copy(z) => planes(z),
            taps => {
                if self.plane_z != Some(z) {
                    interpolate(taps, planes, &mut self.plane);
                    self.plane_z = Some(z);
                }
                &self.plane
            }
        };

        // 2. Along y.
        let rows = |y: usize| &plane[y * coarse.nx..][..coarse.nx];
        let row = match taps(y, ny) {
            _ if !halved_y => rows(y),
            Taps::Copy(y) => rows(y),
            taps => {
                interpolate(taps, rows, &mut self.row);
                &self.row
            }
        };

        // 3. Along x.
        let out = &mut self.ready[self.end..][..nx];
        self.end += nx;
        if halved_x {
            refine(row, &mut self.between, out);
        } else {
            out.copy_from_slice(row);
        }
    }
}

#[inline(always)]
fn weighted<T: Float>(weight: f64, value: T) -> T {
    Real::mul(T::from_f64(weight), value)
}

/// The midpoint of the inner two of four values.
#[inline(always)]
fn cubic<T: Float>(a: T, b: T, c: T, d: T) -> T {
    let (inner, outer) = (Real::add(b, c), Real::add(a, d));
    Real::add(weighted(INNER, inner), weighted(OUTER, outer))
}

/// The midpoint of the first two of three values.
#[inline(always)]
fn quadratic<T: Float>(a: T, b: T, c: T) -> T {
    let near = Real::add(weighted(QUADRATIC[0], a), weighted(QUADRATIC[1], b));
    Real::add(near, weighted(QUADRATIC[2], c))
}

/// Interpolates between the rows or planes of the taps.
#[inline(always)]
fn interpolate<'a, T: Float>(taps: Taps, source: impl Fn(usize) -> &'a [T], out: &mut [T]) {
    match taps {
        Taps::Copy(at) => out.copy_from_slice(source(at)),
        Taps::Cubic(at) => {
            let [a, b, c, d] = at.map(source);
            let sources = a.iter().zip(b).zip(c).zip(d);
            for (out, (((&a, &b), &c), &d)) in out.iter_mut().zip(sources) {
                *out = cubic(a, b, c, d);
            }
        }
        Taps::Quadratic(at) => {
            let [a, b, c] = at.map(source);
            let sources = a.iter().zip(b).zip(c);
            for (out, ((&a, &b), &c)) in out.iter_mut().zip(sources) {
                *out = quadratic(a, b, c);
            }
        }
    }
}

/// Interpolates a row from its coarse values; `between` is scratch.
#[inline(always)]
fn refine<T: Float>(row: &[T], between: &mut [T], out: &mut [T]) {
    let n = out.len();
    // 1. Midpoints; all but the first and the last have four neighbours.
    let pairs = (n - 1) / 2;
    let inner = pairs - 2;
    let [a, b, c, d] = [0, 1, 2, 3].map(|shift| &row[shift..][..inner]);
    let sources = a.iter().zip(b).zip(c).zip(d);
    for (out, (((&a, &b), &c), &d)) in between[1..][..inner].iter_mut().zip(sources) {
        *out = cubic(a, b, c, d);
    }
    for k in [0, pairs - 1] {
        if let Taps::Quadratic([a, b, c]) = taps(2 * k + 1, n) {
            between[k] = quadratic(row[a], row[b], row[c]);
        }
    }
    // 2. Interleave.
    let (even, odd) = (&row[..pairs], &between[..pairs]);
    let (out_pairs, _) = out.as_chunks_mut::<2>();
    for (pair, (&even, &odd)) in out_pairs.iter_mut().zip(even.iter().zip(odd)) {
        *pair = [even, odd];
    }
    out[2 * pairs..].copy_from_slice(&row[pairs..]);
}
