//! Sums: the bound, identical bits on every rank and for every algorithm, and exact values.

use crate::collectives::same_everywhere;
use crate::fields::{smooth, special};
use ebz::{Bound, Element};
use ebz_mpi::{Algorithm, Comm, Mode, Settings, allreduce, reduce, reduce_scatter};

pub fn check(comm: &Comm) {
    for shape in [
        &[0][..],
        &[1],
        &[999],
        &[30, 40, 50],
        &[3, 5, 60, 50],
        &[200_003],
    ] {
        for bound in [1e-3, 1e-5] {
            sums::<f32>(comm, shape, bound, smooth);
            sums::<f64>(comm, shape, bound, smooth);
        }
        // Few enough to be exceptions, and so many that all values are summed exactly.
        sums::<f32>(comm, shape, 1e-3, special);
        sums::<f64>(comm, shape, 1e-3, special);
        exact::<f32>(comm, shape, Bound::Abs(0.0));
        exact::<f64>(comm, shape, Bound::Lossless);
        // The lattice overflows: same as exact.
        exact::<f32>(comm, shape, Bound::Abs(1e-12));
        exact::<f64>(comm, shape, Bound::Abs(1e-300));
    }
    // Every codec restores the integers of the lattice.
    let right = sums_with::<f32>(comm, "fz", &[20, 30, 40], 1e-3, special);
    for codec in ["ceaz", "interp", "zfp-v", "de-zfp", "raw"] {
        let sums = sums_with::<f32>(comm, codec, &[20, 30, 40], 1e-3, special);
        assert!(same(&right, &sums), "{codec}");
    }
    for mode in [Mode::Never, Mode::Adaptive] {
        let mut values: Vec<f64> = smooth(100_000, comm.rank());
        let settings = Settings::new(Bound::Range(1e-4)).mode(mode);
        let algorithm = Algorithm::Ring;
        let report = allreduce(comm, &mut values, &[100_000], algorithm, &settings).unwrap();
        same_everywhere(comm, &values);
        assert!(mode == Mode::Adaptive || !report.compressed);
    }
    disagreements(comm);
}

/// The sum over all ranks in double precision; NaN where it is not finite.
fn expected<T: Element>(
    ranks: usize,
    length: usize,
    field: fn(usize, usize) -> Vec<T>,
) -> Vec<f64> {
    let mut sums = vec![0f64; length];
    for rank in 0..ranks {
        for (sum, x) in sums.iter_mut().zip(field(length, rank)) {
            *sum += x.to_f64();
        }
    }
    sums
}

fn assert_sums<T: Element>(sums: &[T], expected: &[f64], bound: f64) {
    assert_eq!(sums.len(), expected.len());
    for (i, (sum, right)) in sums.iter().zip(expected).enumerate() {
        let (sum, right) = (sum.to_f64(), *right);
        // Exact sums are rounded to the element type.
        let rounding = right.abs() * if size_of::<T>() == 4 { 3e-7 } else { 1e-15 };
        let slack = if right.abs() > 1e6 { rounding } else { 0.0 };
        let near = (sum - right).abs() <= bound + slack;
        let same = sum == right || sum.is_nan() && right.is_nan();
        assert!(
            near || same,
            "sum {i} is {sum} instead of {right} with {bound}"
        );
    }
}

fn sums<T: Element>(comm: &Comm, shape: &[usize], bound: f64, field: fn(usize, usize) -> Vec<T>) {
    sums_with(comm, "fz", shape, bound, field);
}

fn sums_with<T: Element>(
    comm: &Comm,
    codec: &str,
    shape: &[usize],
    bound: f64,
    field: fn(usize, usize) -> Vec<T>,
) -> Vec<T> {
    let length: usize = shape.iter().product();
    let right = expected(comm.size(), length, field);
    let total = comm.size() as f64 * bound;
    let settings = Settings::new(Bound::Abs(bound))
        .codec(codec)
        .mode(Mode::Always);
    let mut ring = field(length, comm.rank());
    let report = allreduce(comm, &mut ring, shape, Algorithm::Ring, &settings).unwrap();
    assert_eq!(report.largest_bound, total);
    assert_sums(&ring, &right, total);
    same_everywhere(comm, &ring);

    let mut doubling = field(length, comm.rank());
    let algorithm = Algorithm::RecursiveDoubling;
    allreduce(comm, &mut doubling, shape, algorithm, &settings).unwrap();
    assert!(same(&ring, &doubling));

    let root = comm.size() - 1;
    let mut one = field(length, comm.rank());
    reduce(comm, &mut one, shape, root, &settings).unwrap();
    assert!(comm.rank() != root || same(&ring, &one));

    let mut parts = field(length, comm.rank());
    let (_, part) = reduce_scatter(comm, &mut parts, shape, &settings).unwrap();
    assert!(same(&ring[part.clone()], &parts[part]));

    let mut plain = field(length, comm.rank());
    allreduce(comm, &mut plain, shape, Algorithm::Plain, &settings).unwrap();
    // One bound for every step; sums of values are rounded, too.
    assert_sums(&plain, &right, 1.01 * total);
    same_everywhere(comm, &plain);
    ring
}

/// The exact sums, in rank order.
fn exact<T: Element>(comm: &Comm, shape: &[usize], bound: Bound) {
    let length: usize = shape.iter().product();
    let mut right: Vec<T> = special(length, 0);
    for rank in 1..comm.size() {
        for (sum, x) in right.iter_mut().zip(special::<T>(length, rank)) {
            *sum = T::from_f64(sum.to_f64() + x.to_f64());
        }
    }
    let settings = Settings::new(bound).mode(Mode::Always);
    for algorithm in [Algorithm::Ring, Algorithm::RecursiveDoubling] {
        let mut values: Vec<T> = special(length, comm.rank());
        allreduce(comm, &mut values, shape, algorithm, &settings).unwrap();
        let number = |x: &T| {
            (
                x.to_f64().is_nan(),
                Some(x.to_f64()).filter(|x| !x.is_nan()),
            )
        };
        assert!(values.iter().map(number).eq(right.iter().map(number)));
        same_everywhere(comm, &values);
    }
}

fn same<T: Element>(a: &[T], b: &[T]) -> bool {
    let bits = |x: &T| x.to_f64().to_bits();
    a.iter().map(bits).eq(b.iter().map(bits))
}

fn disagreements(comm: &Comm) {
    let settings = Settings::new(Bound::Ratio(10.0)).mode(Mode::Always);
    assert!(allreduce(comm, &mut [1f32; 9], &[9], Algorithm::Ring, &settings).is_err());
    if comm.size() > 1 {
        let settings = Settings::new(Bound::Abs(1e-3)).mode(Mode::Always);
        let length = if comm.rank() == 1 { 8 } else { 9 };
        let mut values = vec![1f32; length];
        let algorithm = Algorithm::Ring;
        assert!(allreduce(comm, &mut values, &[length], algorithm, &settings).is_err());
    }
}
