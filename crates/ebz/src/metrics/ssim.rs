//! Structural similarity (Wang et al. 2004) of 2-D slices.
//!
//! Uniform windows of 7 × 7 values, at every position without special values, with K1 = 0.01, K2 =
//! 0.03 and the range of the whole original as dynamic range. The score is the mean over slices of
//! the mean over windows. Windows shrink to fit small slices. 1-D arrays and very long rows are
//! split into rows of 4096 values.

use crate::array::FiniteRange;
use crate::element::Element;
use crate::error::Result;
use crate::fill::FillValues;
use crate::parallel;

const WINDOW: usize = 7;

/// Row length for 1-D arrays and for very long rows.
const SPLIT_ROW_VALUES: usize = 4096;

/// Longer rows are split, which limits the memory for the rows of a window.
const MAX_ROW_VALUES: usize = 1 << 17;

/// Values to collect before the threads start.
const MIN_BATCH_VALUES: usize = 1 << 20;

/// Window rows per job.
const JOB_ROWS: usize = 32;

/// Structural similarity of arrays that arrive in C order.
pub(super) struct Ssim<T> {
    rows: usize,
    columns: usize,
    scorer: Scorer,
    /// Rows of both arrays that are still needed.
    held: [Vec<T>; 2],
    /// Index of the first held row in the current slice.
    row: usize,
    /// Number of values still to come.
    missing: usize,
    /// Sum and number of the windows of the current slice.
    slice: (f64, u64),
    /// Sum and number of the slices.
    total: (f64, u64),
}

/// Some window rows of one slice.
struct Job {
    /// First row in `held`, and number of window rows.
    row: usize,
    rows: usize,
    /// Whether it completes the slice.
    last: bool,
    /// Sum and number of the windows.
    sum: (f64, u64),
}

impl<T: Element> Ssim<T> {
    pub fn new(shape: &[usize], range: FiniteRange, fill: FillValues) -> Self {
        let missing = shape.iter().product();
        let (rows, columns) = match *shape {
            [.., rows, columns] if columns <= MAX_ROW_VALUES => (rows, columns),
            _ => (1, SPLIT_ROW_VALUES.min(missing)),
        };
        let scale = range.extent();
        Self {
            rows,
            columns,
            scorer: Scorer {
                window: (WINDOW.min(rows), WINDOW.min(columns)),
                shift: if range.min <= range.max {
                    0.5 * range.min + 0.5 * range.max
                } else {
                    0.0
                },
                c1: (0.01 * scale).powi(2),
                c2: (0.03 * scale).powi(2),
                fill,
            },
            held: [Vec::new(), Vec::new()],
            row: 0,
            missing,
            slice: (0.0, 0),
            total: (0.0, 0),
        }
    }

    pub fn push(&mut self, original: &[T], decoded: &[T], threads: usize) -> Result<()> {
        self.held[0].extend_from_slice(original);
        self.held[1].extend_from_slice(decoded);
        self.missing -= original.len();
        if self.missing == 0 && self.columns > 0 {
            // Only split rows can be short; drop an incomplete last row.
            let whole = self.held[0].len() / self.columns * self.columns;
            self.held.iter_mut().for_each(|held| held.truncate(whole));
        }
        let enough =
            self.held[0].len() >= MIN_BATCH_VALUES.max(self.columns * self.scorer.window.0);
        if enough || self.missing == 0 {
            self.work(threads)?;
        }
        Ok(())
    }

    /// The mean over all slices; `None` without any window.
    pub fn finish(self) -> Option<f64> {
        (self.total.1 > 0).then(|| self.total.0 / self.total.1 as f64)
    }

    /// Scores every window whose rows are complete.
    fn work(&mut self, threads: usize) -> Result<()> {
        if self.columns == 0 || self.rows == 0 {
            return Ok(());
        }
        let (mut jobs, done) = self.jobs();
        let (scorer, columns) = (self.scorer, self.columns);
        let [original, decoded] = &self.held;
        let mut next = jobs.iter_mut();
        let threads = parallel::threads(threads).min(next.len()).max(1);
        parallel::unordered(
            &mut vec![Scratch::default(); threads],
            |_| Ok(next.next()),
            |scratch, job| {
                let end = job.row + job.rows + scorer.window.0 - 1;
                let values = job.row * columns..end * columns;
                let pair = [&original[values.clone()], &decoded[values]];
                job.sum = scorer.score(pair, columns, scratch);
                Ok(())
            },
        )?;
        for job in jobs {
            self.slice.0 += job.sum.0;
            self.slice.1 += job.sum.1;
            if job.last {
                let (sum, windows) = std::mem::take(&mut self.slice);
                if windows > 0 {
                    self.total.0 += sum / windows as f64;
                    self.total.1 += 1;
                }
            }
        }
        self.row = (self.row + done) % self.rows;
        for held in &mut self.held {
            held.drain(..done * columns);
        }
        Ok(())
    }

    /// The jobs for the held rows, and the number of rows not needed afterwards.
    fn jobs(&self) -> (Vec<Job>, usize) {
        let held = self.held[0].len() / self.columns;
        let overlap = self.scorer.window.0 - 1;
        let mut jobs = Vec::new();
        let (mut at, mut row) = (0, self.row);
        while at < held {
            let there = (held - at).min(self.rows - row);
            let complete = row + there == self.rows;
            let windows = there.saturating_sub(overlap);
            for start in (0..windows).step_by(JOB_ROWS) {
                let rows = JOB_ROWS.min(windows - start);
                jobs.push(Job {
                    row: at + start,
                    rows,
                    last: complete && start + rows == windows,
                    sum: (0.0, 0),
                });
            }
            if !complete {
                return (jobs, at + windows);
            }
            at += there;
            row = 0;
        }
        (jobs, at)
    }
}

/// Parameters of the score.
#[derive(Debug, Clone, Copy)]
struct Scorer {
    /// Rows and columns.
    window: (usize, usize),
    /// Subtracted from all values, so that sums of squares keep their precision.
    shift: f64,
    c1: f64,
    c2: f64,
    fill: FillValues,
}

/// Per column: x, y, x², y², xy, and whether the value is special.
type Sums = [Vec<f64>; 6];

/// Scratch buffers of one thread.
#[derive(Debug, Clone, Default)]
struct Scratch {
    /// The terms of one row.
    row: Sums,
    /// The last rows, each summed over the columns of every window.
    across: [Sums; WINDOW],
    /// Sums over the rows and columns of every window.
    windows: Sums,
}

impl Scorer {
    /// Sum and number of the windows within whole rows of both arrays.
    fn score<T: Element>(
        &self,
        [original, decoded]: [&[T]; 2],
        columns: usize,
        scratch: &mut Scratch,
    ) -> (f64, u64) {
        let (height, width) = self.window;
        let mut total = (0.0, 0);
        let rows = original
            .chunks_exact(columns)
            .zip(decoded.chunks_exact(columns));
        for (number, (x, y)) in rows.enumerate() {
            self.terms(x, y, &mut scratch.row);
            let across = &mut scratch.across[number % height];
            for (sums, row) in across.iter_mut().zip(&scratch.row) {
                sums.clear();
                sums.resize(columns + 1 - width, 0.0);
                (0..width).for_each(|shift| add(sums, &row[shift..]));
            }
            if number + 1 < height {
                continue;
            }
            for (quantity, sums) in scratch.windows.iter_mut().enumerate() {
                sums.clear();
                sums.resize(columns + 1 - width, 0.0);
                let rows = &scratch.across[..height];
                rows.iter().for_each(|row| add(sums, &row[quantity]));
            }
            let (sum, windows) = self.sum(&scratch.windows);
            total.0 += sum;
            total.1 += windows;
        }
        total
    }

    /// The terms of one row; special values contribute 0.
    fn terms<T: Element>(&self, x: &[T], y: &[T], row: &mut Sums) {
        let fill = self.fill.typed(|fill| T::from_f64(fill).to_f64());
        row.iter_mut().for_each(|sums| sums.resize(x.len(), 0.0));
        let [rx, ry, rxx, ryy, rxy, specials] = row;
        let out = rx
            .iter_mut()
            .zip(ry)
            .zip(rxx)
            .zip(ryy)
            .zip(rxy)
            .zip(specials);
        for ((x, y), (((((rx, ry), rxx), ryy), rxy), special)) in x.iter().zip(y).zip(out) {
            let (x, y) = (x.to_f64(), y.to_f64());
            let ordinary = x.is_finite() & y.is_finite() & !fill.contains(x);
            let x = if ordinary { x - self.shift } else { 0.0 };
            let y = if ordinary { y - self.shift } else { 0.0 };
            (*rx, *ry) = (x, y);
            (*rxx, *ryy, *rxy) = (x * x, y * y, x * y);
            *special = if ordinary { 0.0 } else { 1.0 };
        }
    }

    /// Sum and number of the windows without special values.
    fn sum(&self, windows: &Sums) -> (f64, u64) {
        let [sx, sy, sxx, syy, sxy, specials] = windows;
        let n = (self.window.0 * self.window.1) as f64;
        let ratio = |a: f64, b: f64| if a == b { 1.0 } else { a / b };
        let mut total = (0.0, 0);
        let sums = sx.iter().zip(sy).zip(sxx).zip(syy).zip(sxy).zip(specials);
        for (((((sx, sy), sxx), syy), sxy), special) in sums {
            let (mx, my) = (sx / n, sy / n);
            let (vx, vy) = (sxx / n - mx * mx, syy / n - my * my);
            let covariance = sxy / n - mx * my;
            let (mx, my) = (mx + self.shift, my + self.shift);
            let score = ratio(2.0 * mx * my + self.c1, mx * mx + my * my + self.c1)
                * ratio(2.0 * covariance + self.c2, vx + vy + self.c2);
            if *special == 0.0 {
                total.0 += score;
                total.1 += 1;
            }
        }
        total
    }
}

/// Adds element by element.
fn add(sums: &mut [f64], more: &[f64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}
