//! `gather`, `allgather`, `scatter`, `bcast`, `send` and `recv`.

use crate::fields::{assert_near, special};
use ebz::{Bound, Element, Tolerance};
use ebz_mpi::{Comm, Mode, Report, Settings, allgather, bcast, gather, recv, scatter, send};
use std::any::type_name;

/// Rank 2 has no values, and the other counts differ.
fn shape_of(rank: usize) -> Vec<usize> {
    match rank {
        2 => vec![0, 50],
        _ => vec![211 + 300 * rank, 50],
    }
}

pub fn check(comm: &Comm) {
    for codec in ["fz", "ceaz", "interp", "zfp-v"] {
        for bound in [Bound::Abs(1e-3), Bound::Range(1e-4)] {
            all::<f32>(comm, &Settings::new(bound).codec(codec).mode(Mode::Always));
            all::<f64>(comm, &Settings::new(bound).codec(codec).mode(Mode::Always));
        }
    }
    for bound in [Bound::Lossless, Bound::Abs(0.0), Bound::Pointwise(1e-3)] {
        all::<f32>(comm, &Settings::new(bound).mode(Mode::Always));
    }
    for mode in [Mode::Never, Mode::Adaptive] {
        all::<f64>(comm, &Settings::new(Bound::Abs(1e-3)).mode(mode));
    }
    ratio(comm);
    wrong_arguments(comm);
}

/// Checks the tolerance that the operation reports.
fn tolerance(settings: &Settings, report: &Report) -> Tolerance {
    match settings.options.bound {
        _ if !report.compressed => Tolerance::Lossless,
        Bound::Pointwise(e) => Tolerance::Pointwise(e),
        _ if report.largest_bound > 0.0 => Tolerance::Abs(report.largest_bound),
        _ => Tolerance::Lossless,
    }
}

fn all<T: Element>(comm: &Comm, settings: &Settings) {
    let (own, ranks) = (comm.rank(), comm.size());
    let lengths: Vec<usize> = (0..ranks).map(|r| shape_of(r).iter().product()).collect();
    let everything: Vec<Vec<T>> = (0..ranks).map(|r| special(lengths[r], r)).collect();
    let everything = everything.concat();
    let shape = shape_of(own);
    let start: usize = lengths[..own].iter().sum();
    let mine = &everything[start..start + lengths[own]];
    let what = format!("{} {:?}", type_name::<T>(), settings.options.bound);

    let root = ranks - 1;
    let mut out = vec![T::default(); if own == root { everything.len() } else { 0 }];
    let target = (own == root).then_some(&mut out[..]);
    let report = gather(comm, mine, &shape, root, target, settings).expect(&what);
    if let Bound::Abs(e) = settings.options.bound {
        assert!(report.largest_bound <= e);
    }
    if own == root {
        assert_near(&everything, &out, tolerance(settings, &report));
    }

    let mut out = vec![T::default(); everything.len()];
    let report = allgather(comm, mine, &shape, &mut out, settings).expect(&what);
    assert_near(&everything, &out, tolerance(settings, &report));
    same_everywhere(comm, &out);

    let mut out = match own == root {
        true => everything.clone(),
        false => vec![T::default(); everything.len()],
    };
    let report = bcast(comm, &mut out, &[everything.len()], root, settings).expect(&what);
    assert_near(&everything, &out, tolerance(settings, &report));
    same_everywhere(comm, &out);

    let mut out = vec![T::default(); mine.len()];
    let given = (own == root).then_some(&everything[..]);
    let report = scatter(comm, given, &mut out, &shape, root, settings).expect(&what);
    assert_near(mine, &out, tolerance(settings, &report));

    let length = everything.len();
    if own == 0 && ranks > 1 {
        send(comm, &everything, &[length], ranks - 1, settings).expect(&what);
    }
    if own == ranks - 1 && ranks > 1 {
        let mut out = vec![T::default(); length];
        let report = recv(comm, &mut out, &[length], 0, settings).expect(&what);
        assert_near(&everything, &out, tolerance(settings, &report));
    }
}

/// Checks that every rank has the same bits.
pub fn same_everywhere<T: Element>(comm: &Comm, values: &[T]) {
    let exact = Settings::new(Bound::Lossless).mode(Mode::Always);
    let mut first = values.to_vec();
    bcast(comm, &mut first, &[values.len()], 0, &exact).expect("a broadcast");
    let bits = |x: &T| x.to_f64().to_bits();
    assert!(first.iter().map(bits).eq(values.iter().map(bits)));
}

/// One pass; the largest bound is reported.
fn ratio(comm: &Comm) {
    let own = comm.rank();
    let values: Vec<f32> = crate::fields::smooth(4_000_000, own);
    let root = 0;
    for ratio in [5.0, 10.0, 20.0] {
        let settings = Settings::new(Bound::Ratio(ratio)).mode(Mode::Always);
        let mut out = vec![
            0f32;
            if own == root {
                values.len() * comm.size()
            } else {
                0
            }
        ];
        let target = (own == root).then_some(&mut out[..]);
        let report =
            gather(comm, &values, &[values.len()], root, target, &settings).expect("ratio");
        if own != root {
            let achieved = report.raw_bytes as f64 / report.sent_bytes as f64;
            assert!(
                (achieved / ratio - 1.0).abs() < 0.15,
                "{achieved} instead of {ratio}"
            );
        }
        if comm.size() > 1 {
            assert!(report.largest_bound > 0.0);
        }
        if own == root {
            let original = (0..comm.size()).map(|r| crate::fields::smooth(4_000_000, r));
            let original: Vec<f32> = original.flatten().collect();
            assert_near(&original, &out, Tolerance::Abs(report.largest_bound));
        }
    }
}

/// Errors on every rank, and working communication afterwards.
fn wrong_arguments(comm: &Comm) {
    let own = comm.rank();
    let settings = Settings::new(Bound::Abs(1e-3)).mode(Mode::Always);
    let values = vec![1f32; 100];
    let none = || None::<&mut [f32]>;
    // An invalid rank; an unknown codec; an unsupported bound; a shape that does not fit.
    assert!(gather(comm, &values, &[100], comm.size(), none(), &settings).is_err());
    let unknown = settings.clone().codec("nothing");
    assert!(gather(comm, &values, &[100], 0, none(), &unknown).is_err());
    let psnr = Settings::new(Bound::Psnr(60.0));
    assert!(gather(comm, &values, &[100], 0, none(), &psnr).is_err());
    let shape = if own == 0 { [99] } else { [100] };
    assert!(gather(comm, &values, &shape, 0, none(), &settings).is_err());
    // Output too small at the root.
    let mut small = [0f32; 10];
    let target = (own == 0).then_some(&mut small[..]);
    assert!(gather(comm, &values, &[100], 0, target, &settings).is_err());
    if comm.size() > 1 {
        // Disagreeing ranks.
        let bound = if own == 1 { 1e-4 } else { 1e-3 };
        let other = Settings::new(Bound::Abs(bound)).mode(Mode::Always);
        let error = gather(comm, &values, &[100], 0, none(), &other).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("rank 1 requests a different bound"),
            "{error}"
        );
        let error = match own {
            1 => allgather(comm, &[1f64; 100], &[100], &mut [], &settings).unwrap_err(),
            _ => allgather(comm, &values, &[100], &mut [], &settings).unwrap_err(),
        };
        assert!(
            error.to_string().contains("a different element type"),
            "{error}"
        );
        let error = match own {
            0 => bcast(comm, &mut [1f32; 100], &[100], 0, &settings).unwrap_err(),
            _ => bcast(comm, &mut [1f32; 90], &[90], 0, &settings).unwrap_err(),
        };
        assert!(
            error.to_string().contains("a different operation"),
            "{error}"
        );
        // A receiver with a different request: both fail, even if the message would be long.
        let values = vec![1f32; 2_000_000];
        let error = match own {
            0 => send(comm, &values, &[values.len()], 1, &settings).unwrap_err(),
            1 => recv(comm, &mut [0f32; 11], &[11], 0, &settings).unwrap_err(),
            _ => return,
        };
        assert!(error.to_string().contains("a different shape"), "{error}");
        assert!(send(comm, &values, &[9], own, &settings).is_err());
    }
}
