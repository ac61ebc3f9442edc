//! Errors of a run relative to the same run without compression.

use super::{Kernel, Sums, Value};
use ebz::Result;
use ebz_store::grid::Grid;

/// Differences between two grids.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Errors {
    /// The largest absolute difference.
    pub max: f64,
    /// ‖difference‖ ÷ ‖reference‖.
    pub l2: f64,
    /// ‖difference‖ ÷ ‖change since the start‖: above 1 the result is meaningless.
    pub of_change: f64,
    /// Physical quantities: name, value in the reference, and relative difference.
    pub quantities: Vec<(&'static str, f64, f64)>,
}

/// Compares a grid with a reference at the same step.
pub fn compare<T: Value>(
    kernel: &dyn Kernel<T>,
    reference: &Grid<T>,
    grid: &Grid<T>,
) -> Result<Errors> {
    let planes = kernel.shape()[0];
    let mut other = grid.reader(0..planes)?;
    let mut start = vec![T::default(); grid.layout().plane_len()];
    let (mut max, mut difference, mut norm, mut change) = (0.0f64, 0.0, 0.0, 0.0);
    let mut sums: [Sums; 2] = [[0.0; 3]; 2];
    reference.for_each_plane(|at, a| {
        let b = other.plane(at)?;
        kernel.start(at, &mut start);
        for ((a, b), start) in a.iter().zip(b).zip(&start) {
            let [a, b, start] = [a, b, start].map(|value| value.to_f64());
            let d = a - b;
            // Not `max`, which would ignore NaN.
            max = if d.abs() <= max { max } else { d.abs() };
            difference += d * d;
            norm += a * a;
            change += (a - start) * (a - start);
        }
        for (sums, plane) in sums.iter_mut().zip([a, b]) {
            let of_plane = kernel.sums(at, plane);
            (0..3).for_each(|i| sums[i] += of_plane[i]);
        }
        Ok(())
    })?;
    let [a, b] = sums.map(|sums| kernel.quantities(sums));
    let relative = |a: f64, b: f64| if a == b { 0.0 } else { ((a - b) / a).abs() };
    Ok(Errors {
        max,
        l2: relative_norm(difference, norm),
        of_change: relative_norm(difference, change),
        quantities: a
            .into_iter()
            .zip(b)
            .map(|((name, a), (_, b))| (name, a, relative(a, b)))
            .collect(),
    })
}

fn relative_norm(squares: f64, of: f64) -> f64 {
    if squares == 0.0 {
        0.0
    } else {
        (squares / of).sqrt()
    }
}
