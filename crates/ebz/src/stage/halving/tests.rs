use super::predict::Predictor;
use super::*;
use crate::element::word::Word;
use crate::error::Result;
use crate::simd::Level;
use crate::stage::dualquant::{Estimate, Fetch, Sink};
use crate::stage::exceptions::{self, Exceptions};
use crate::stage::{UNIT, dualquant};
use crate::workspace::Context;

/// Counts nonzero residuals.
#[derive(Default)]
struct Count(u64);

impl Estimate for Count {
    fn samples(units: usize) -> usize {
        units.clamp(1, 32)
    }
    fn add<W: Word>(&mut self, _: Level, residuals: &[W; UNIT]) {
        self.0 += residuals.iter().filter(|r| **r != W::default()).count() as u64;
    }
    fn cost(&self) -> u64 {
        self.0
    }
}

/// Stores residuals.
#[derive(Default)]
struct Kept(Vec<u64>, usize);

impl Sink for Kept {
    type Estimate = Count;
    fn restart<W: Word>(&mut self, _units: usize) {
        self.0.clear();
    }
    fn unit<W: Word>(&mut self, residuals: &[W; UNIT]) {
        self.0.extend(residuals.iter().map(|r| r.unsigned()));
    }
}

impl Fetch for Kept {
    fn unit<W: Word>(&mut self, residuals: &mut [W; UNIT]) -> Result<()> {
        for residual in residuals.iter_mut() {
            *residual = W::truncate(self.0[self.1]);
            self.1 += 1;
        }
        Ok(())
    }
}

const SHAPES: [[usize; 3]; 7] = [
    [1, 8, 8],
    [1, 9, 300],
    [8, 9, 10],
    [11, 1, 12],
    [3, 16, 17],
    [10, 20, 31],
    [9, 3, 514],
];

fn dims([nz, ny, nx]: [usize; 3]) -> Dims {
    Dims { nz, ny, nx }
}

/// A quadratic polynomial along each axis.
fn smooth(dims: Dims) -> Vec<f64> {
    let value = |i: usize| {
        let (z, y, x) = (i / (dims.nx * dims.ny), i / dims.nx % dims.ny, i % dims.nx);
        let (z, y, x) = (z as f64, y as f64, x as f64);
        (3.0 + 0.5 * z - 0.25 * z * z) * (1.0 - 0.5 * y) + 0.125 * y * y + 2.0 * x - 0.0625 * x * x
    };
    (0..dims.len()).map(value).collect()
}

#[test]
fn parabolas_are_predicted_exactly() {
    for shape in SHAPES {
        let dims = dims(shape);
        let halving = Halving::of(dims).unwrap();
        let values = smooth(dims);
        let mut coarse = Vec::new();
        halving.gather(&values, &mut coarse);
        assert_eq!(coarse.len(), halving.coarse().len());
        let mut predictor = Predictor::new(halving, &coarse);
        for unit in values.chunks(UNIT) {
            let near = predictor.unit();
            for (value, near) in unit.iter().zip(near) {
                assert!((value - near).abs() < 1e-9, "{shape:?} {value} {near}");
            }
        }
        for place in [0, dims.len() / 3, dims.len().saturating_sub(UNIT)] {
            let near = predictor.unit_at(place);
            for (value, near) in values[place..].iter().zip(near) {
                assert!((value - near).abs() < 1e-9, "{shape:?} {place}");
            }
        }
    }
}

#[test]
fn values_round_trip_within_the_bound_at_every_level() {
    for shape in SHAPES {
        let dims = dims(shape);
        let halving = Halving::of(dims).unwrap();
        let mut values: Vec<f32> = smooth(dims).iter().map(|&v| v as f32).collect();
        // Not at coarse positions, and few compared with all values.
        let odd = [f32::NAN, f32::INFINITY, -0.0, 1e-44, 3e38];
        for (row, odd) in values.chunks_mut(dims.nx).zip(odd) {
            row[3] = odd;
        }
        let mut coarse = Vec::new();
        halving.gather(&values, &mut coarse);
        let bound = 0.01;
        let lattice = Lattice::<f32, Free<f32>>::new(bound).unwrap();
        let mut first: Option<Vec<u64>> = None;
        for level in Level::available() {
            let (mut kept, mut exact) = (Kept::default(), Exceptions::default());
            let done = forward(
                &values, halving, &lattice, &coarse, level, &mut exact, &mut kept,
            );
            assert!(done || dims.len() < 500);
            if !done {
                continue;
            }
            assert_eq!(kept.0.len(), dualquant::units(dims.len()) * UNIT);
            assert_eq!(first.get_or_insert(kept.0.clone()), &kept.0);
            let mut back = vec![0f32; dims.len()];
            let context = Context::new(level);
            inverse(
                halving,
                Free::<f32>::new(lattice.step()),
                &coarse,
                &context,
                &mut kept,
                &mut back,
            )
            .unwrap();
            let mut list = Vec::new();
            exact.write_to::<f32>(&mut list);
            exceptions::restore(&list, &mut back).unwrap();
            for (value, back) in values.iter().zip(&back) {
                let near = (f64::from(*value) - f64::from(*back)).abs() <= bound;
                assert!(near || value.to_bits() == back.to_bits(), "{value} {back}");
            }
        }
    }
}

#[test]
fn short_axes_and_impossible_bounds_are_rejected() {
    assert!(Halving::of(dims([1, 1, 1000])).is_none());
    assert!(Halving::of(dims([7, 7, 1000])).is_none());
    assert_eq!(
        Halving::of(dims([7, 8, 9])).unwrap().coarse(),
        dims([7, 5, 5])
    );
    for bound in [0.0, 1e-46, 1e-42, f64::INFINITY, f64::NAN] {
        assert!(Lattice::<f32, Free<f32>>::new(bound).is_none(), "{bound}");
    }
    assert!(Lattice::<f64, Free<f64>>::new(0.5).is_some());
}
