//! Predictions for whole rows, in units.

use super::Halving;
use crate::element::Float;
use crate::element::real::Real;
use crate::request::Dims;
use crate::stage::UNIT;

/// How a value follows from coarse values along one axis.
enum Taps {
    /// It is one of them.
    Copy(usize),
    /// It lies in the middle between the second and the third of four.
    Between([usize; 4]),
    /// The same beside an end: of three, with these weights.
    BesideEnd([usize; 3], [f64; 3]),
}

/// The weights of a cubic polynomial through four points, in its middle.
const INNER: f64 = 0.5625;
const OUTER: f64 = -0.0625;

/// The weights of a parabola through three points, in the middle between the first two.
const BESIDE: [f64; 3] = [0.375, 0.75, -0.125];

/// The taps for place `i` of an axis of `n` values, of which coarse ones are at even places and at
/// the last.
fn taps(i: usize, n: usize) -> Taps {
    let half = i / 2;
    if i.is_multiple_of(2) {
        return Taps::Copy(half);
    }
    if i + 1 == n {
        return Taps::Copy(half + 1);
    }
    // The last coarse value at an even place.
    let last = (n - 1) / 2;
    if half == 0 {
        Taps::BesideEnd([0, 1, 2], BESIDE)
    } else if half + 2 > last {
        Taps::BesideEnd([half + 1, half, half - 1], BESIDE)
    } else {
        Taps::Between([half - 1, half, half + 1, half + 2])
    }
}

/// Gives predictions from coarse values, row by row in storage order.
pub(super) struct Predictor<'a, T> {
    halving: Halving,
    coarse: &'a [T],
    /// Coarse rows at the z of the next row, and that z.
    plane: Vec<T>,
    plane_z: Option<usize>,
    /// Coarse values at the z and y of the next row.
    row: Vec<T>,
    /// Values between those of `row`.
    between: Vec<T>,
    /// The next row.
    next: usize,
    /// Predictions not yet given: `ready[given..made]`.
    ready: Vec<T>,
    given: usize,
    made: usize,
}

impl<'a, T: Float> Predictor<'a, T> {
    /// Starts with the first row. `coarse` has the extents that `halving` says.
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
            given: 0,
            made: 0,
        }
    }

    /// Predictions for the unit that starts at a place, after which others follow.
    #[inline(always)]
    pub fn unit_at(&mut self, place: usize) -> &[T; UNIT] {
        let nx = self.halving.dims.nx;
        self.next = place / nx;
        (self.given, self.made) = (0, 0);
        self.make_row();
        self.given = place % nx;
        self.unit()
    }

    /// Predictions for the next unit, in storage order; after the last row, anything.
    #[inline(always)]
    pub fn unit(&mut self) -> &[T; UNIT] {
        if self.made - self.given < UNIT {
            self.ready.copy_within(self.given..self.made, 0);
            self.made -= self.given;
            self.given = 0;
            while self.made < UNIT && self.next < self.halving.dims.nz * self.halving.dims.ny {
                self.make_row();
            }
            self.made = self.made.max(UNIT);
        }
        let unit = self.ready[self.given..].first_chunk();
        self.given += UNIT;
        unit.expect("a unit is ready")
    }

    /// Appends the next row.
    #[inline(always)]
    fn make_row(&mut self) {
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
                    mix(taps, planes, &mut self.plane);
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
                mix(taps, rows, &mut self.row);
                &self.row
            }
        };

        // 3. Along x.
        let out = &mut self.ready[self.made..][..nx];
        self.made += nx;
        if halved_x {
            spread(row, &mut self.between, out);
        } else {
            out.copy_from_slice(row);
        }
    }
}

#[inline(always)]
fn weighted<T: Float>(weight: f64, value: T) -> T {
    Real::mul(T::from_f64(weight), value)
}

/// A value between the second and the third of four.
#[inline(always)]
fn middle<T: Float>(a: T, b: T, c: T, d: T) -> T {
    let (inner, outer) = (Real::add(b, c), Real::add(a, d));
    Real::add(weighted(INNER, inner), weighted(OUTER, outer))
}

/// A value between the first and the second of three.
#[inline(always)]
fn beside<T: Float>([a, b, c]: [T; 3], weights: [f64; 3]) -> T {
    let near = Real::add(weighted(weights[0], a), weighted(weights[1], b));
    Real::add(near, weighted(weights[2], c))
}

/// The rows or planes that the taps name, value by value.
#[inline(always)]
fn mix<'a, T: Float>(taps: Taps, source: impl Fn(usize) -> &'a [T], out: &mut [T]) {
    match taps {
        Taps::Copy(at) => out.copy_from_slice(source(at)),
        Taps::Between(at) => {
            let [a, b, c, d] = at.map(source);
            let sources = a.iter().zip(b).zip(c).zip(d);
            for (out, (((&a, &b), &c), &d)) in out.iter_mut().zip(sources) {
                *out = middle(a, b, c, d);
            }
        }
        Taps::BesideEnd(at, weights) => {
            let [a, b, c] = at.map(source);
            let sources = a.iter().zip(b).zip(c);
            for (out, ((&a, &b), &c)) in out.iter_mut().zip(sources) {
                *out = beside([a, b, c], weights);
            }
        }
    }
}

/// A row from its coarse values; `between` is memory.
#[inline(always)]
fn spread<T: Float>(row: &[T], between: &mut [T], out: &mut [T]) {
    let n = out.len();
    // 1. Values between: all but the first and the last have four neighbours.
    let pairs = (n - 1) / 2;
    let inner = pairs - 2;
    let [a, b, c, d] = [0, 1, 2, 3].map(|shift| &row[shift..][..inner]);
    let sources = a.iter().zip(b).zip(c).zip(d);
    for (out, (((&a, &b), &c), &d)) in between[1..][..inner].iter_mut().zip(sources) {
        *out = middle(a, b, c, d);
    }
    for k in [0, pairs - 1] {
        if let Taps::BesideEnd(at, weights) = taps(2 * k + 1, n) {
            between[k] = beside(at.map(|at| row[at]), weights);
        }
    }
    // 2. Both in turns.
    let (even, odd) = (&row[..pairs], &between[..pairs]);
    let (places, _) = out.as_chunks_mut::<2>();
    for (pair, (&even, &odd)) in places.iter_mut().zip(even.iter().zip(odd)) {
        *pair = [even, odd];
    }
    out[2 * pairs..].copy_from_slice(&row[pairs..]);
}
