//! How far a decoded array is from its original.
//!
//! Both arrays come in piece by piece, in C order, so that files of any size are compared in
//! little memory; each piece is worked on by several threads.
//!
//! ```text
//! original ┐          ┌─ errors: sums, extremes, histogram, bound     (value by value)
//!          ├─ pieces ─┤                                          ├─► Metrics
//! decoded  ┘          └─ ssim: windows of 2-D slices                  (row by row)
//! ```

mod errors;
mod histogram;
mod ssim;

pub use histogram::Histogram;

use crate::array::{FiniteRange, ValueScan, element_count};
use crate::bound::Tolerance;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::fill::{Fill, FillValues};
use errors::Errors;
use ssim::Ssim;
use std::collections::BTreeMap;

/// The distance between two arrays.
///
/// *Ordinary* values of the original are finite and not the fill value; errors are theirs. The
/// others must come back as they are.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Metrics {
    /// Number of values.
    pub values: u64,
    /// Number of ordinary values of the original.
    pub ordinary: u64,
    /// Values that are the same to the last bit.
    pub exact: u64,
    /// NaN, infinite and fill values that came back as something else.
    pub lost_specials: u64,
    /// Values that break the bound, if one was given.
    pub violations: u64,
    /// max − min of the ordinary values of the original.
    pub value_range: f64,
    /// Largest |x − x′|; infinite where an ordinary value came back as NaN or infinity.
    pub max_error: f64,
    /// Largest |x − x′| / |x|; infinite where 0 came back as something else.
    pub max_relative_error: f64,
    /// Root of the mean squared error.
    pub rmse: f64,
    /// `rmse` / `value_range`.
    pub nrmse: f64,
    /// Peak signal-to-noise ratio in dB, where the peak is `value_range`; infinite without error.
    pub psnr: f64,
    /// Structural similarity, as the mean over the 2-D slices of the two fastest axes; `None`
    /// where no window is free of special values, or none was wanted.
    pub ssim: Option<f64>,
    /// Correlation of the error with that of the next ordinary value in memory; 0 without error.
    pub autocorrelation: f64,
    /// The signed errors that are not 0.
    pub histogram: Histogram,
}

impl Metrics {
    /// The numbers under the names of libpressio.
    pub fn named(&self) -> BTreeMap<&'static str, f64> {
        let mut named = BTreeMap::from([
            ("error_stat:max_error", self.max_error),
            ("error_stat:max_pw_rel_error", self.max_relative_error),
            ("error_stat:n", self.values as f64),
            ("error_stat:psnr", self.psnr),
            ("error_stat:rmse", self.rmse),
            ("error_stat:nrmse", self.nrmse),
            ("error_stat:value_range", self.value_range),
            ("autocorr:autocorr", self.autocorrelation),
        ]);
        named.extend(self.ssim.map(|ssim| ("ssim:ssim", ssim)));
        named
    }
}

/// What a comparison needs to know beforehand.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// The range of the ordinary values of the original.
    pub range: FiniteRange,
    /// The values that mark missing data.
    pub fill: FillValues,
    /// Whether these must be exact for the bound to hold, not only be within it.
    pub exact_fill: bool,
    /// A bound to check, in exact arithmetic. `precision` promises no size of error: there, only
    /// special values are checked.
    pub tolerance: Option<Tolerance>,
    /// Whether structural similarity is wanted; it takes most of the time.
    pub ssim: bool,
    /// Threads; 0 means all cores.
    pub threads: usize,
}

/// A comparison under way.
pub struct Comparison<T> {
    setup: Setup,
    expected: usize,
    errors: Errors,
    ssim: Ssim<T>,
}

impl<T: Element> Comparison<T> {
    /// Starts to compare arrays of this shape.
    pub fn new(shape: &[usize], setup: Setup) -> Result<Self> {
        Ok(Self {
            setup,
            expected: element_count(shape)?,
            errors: Errors::default(),
            ssim: Ssim::new(shape, setup.range, setup.fill),
        })
    }

    /// Takes the next values of both arrays, in C order.
    pub fn push(&mut self, original: &[T], decoded: &[T]) -> Result<()> {
        let left = self.expected - self.errors.values as usize;
        if original.len() != decoded.len() || original.len() > left {
            return Err(Error::invalid(
                "the arrays to compare do not have the same number of values",
            ));
        }
        self.errors.push(original, decoded, &self.setup)?;
        if self.setup.ssim {
            self.ssim.push(original, decoded, self.setup.threads)?;
        }
        Ok(())
    }

    /// The result, once all values are there.
    pub fn finish(self) -> Result<Metrics> {
        let errors = self.errors;
        if errors.values as usize != self.expected {
            return Err(Error::invalid(format!(
                "{} values were compared where the shape has {}",
                errors.values, self.expected
            )));
        }
        let value_range = self.setup.range.extent();
        let rmse = errors.rmse();
        let relative = |over: f64| if rmse == 0.0 { 0.0 } else { rmse / over };
        Ok(Metrics {
            values: errors.values,
            ordinary: errors.ordinary,
            exact: errors.exact,
            lost_specials: errors.lost_specials,
            violations: errors.violations,
            value_range,
            max_error: errors.max_error,
            max_relative_error: errors.max_relative,
            rmse,
            nrmse: relative(value_range),
            psnr: -20.0 * relative(value_range).log10(),
            ssim: self.ssim.finish(),
            autocorrelation: errors.autocorrelation(),
            histogram: errors.histogram.finish(errors.max_error),
        })
    }
}

/// Compares two contiguous arrays in memory with all cores.
pub fn compare<T: Element>(
    original: &[T],
    decoded: &[T],
    shape: &[usize],
    fill: Fill,
) -> Result<Metrics> {
    let scan = ValueScan::of(original, fill);
    let setup = Setup {
        range: scan.range(),
        fill: scan.fill().values(),
        exact_fill: true,
        tolerance: None,
        ssim: true,
        threads: 0,
    };
    let mut comparison = Comparison::new(shape, setup)?;
    if original.len() != decoded.len() {
        comparison.push(original, decoded)?;
    }
    for (original, decoded) in original.chunks(PIECES).zip(decoded.chunks(PIECES)) {
        comparison.push(original, decoded)?;
    }
    comparison.finish()
}

/// Values that [`compare`] hands over at once.
const PIECES: usize = 1 << 20;
