//! Error metrics of a decoded array against its original.
//!
//! Both arrays are read piece by piece, in C order, so that files of any size fit into memory;
//! several threads process each piece.
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

/// Error metrics of two arrays.
///
/// *Ordinary* values of the original are finite and not fill values; errors refer to them. Special
/// values must be preserved.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Metrics {
    /// Number of values.
    pub values: u64,
    /// Number of ordinary values of the original.
    pub ordinary: u64,
    /// Number of bit-identical values.
    pub exact: u64,
    /// Number of NaN, infinite and fill values that were not preserved.
    pub lost_specials: u64,
    /// Number of values that violate the bound, if one was given.
    pub violations: u64,
    /// max − min of the ordinary values of the original.
    pub value_range: f64,
    /// Largest |x − x′|; infinite if an ordinary value decoded to NaN or infinity.
    pub max_error: f64,
    /// Largest |x − x′| / |x|; infinite if a zero decoded to another value.
    pub max_relative_error: f64,
    /// Root mean square error.
    pub rmse: f64,
    /// `rmse` / `value_range`.
    pub nrmse: f64,
    /// Peak signal-to-noise ratio in dB, where the peak is `value_range`; infinite without error.
    pub psnr: f64,
    /// Structural similarity, averaged over the 2-D slices of the two fastest axes; `None` if every
    /// window contains special values, or if not requested.
    pub ssim: Option<f64>,
    /// Lag-1 autocorrelation of the errors in memory order; 0 without errors.
    pub autocorrelation: f64,
    /// Histogram of the signed nonzero errors.
    pub histogram: Histogram,
}

impl Metrics {
    /// The metrics under their libpressio names.
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

/// Settings of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// The range of the ordinary values of the original.
    pub range: FiniteRange,
    /// The fill values.
    pub fill: FillValues,
    /// Whether fill values must be exact, not just within the bound.
    pub exact_fill: bool,
    /// A bound to check, in exact arithmetic. `precision` bounds no error, so only special values
    /// are checked.
    pub tolerance: Option<Tolerance>,
    /// Whether to compute structural similarity, which takes most of the time.
    pub ssim: bool,
    /// Number of threads; 0 means all cores.
    pub threads: usize,
}

/// A comparison in progress.
pub struct Comparison<T> {
    setup: Setup,
    expected: usize,
    errors: Errors,
    ssim: Ssim<T>,
}

impl<T: Element> Comparison<T> {
    /// Starts a comparison of arrays of this shape.
    pub fn new(shape: &[usize], setup: Setup) -> Result<Self> {
        Ok(Self {
            setup,
            expected: element_count(shape)?,
            errors: Errors::default(),
            ssim: Ssim::new(shape, setup.range, setup.fill),
        })
    }

    /// Adds the next values of both arrays, in C order.
    pub fn push(&mut self, original: &[T], decoded: &[T]) -> Result<()> {
        let left = self.expected - self.errors.values as usize;
        if original.len() != decoded.len() || original.len() > left {
            return Err(Error::invalid(
                "the arrays to compare have different numbers of values",
            ));
        }
        self.errors.push(original, decoded, &self.setup)?;
        if self.setup.ssim {
            self.ssim.push(original, decoded, self.setup.threads)?;
        }
        Ok(())
    }

    /// The metrics, after all values were added.
    pub fn finish(self) -> Result<Metrics> {
        let errors = self.errors;
        if errors.values as usize != self.expected {
            return Err(Error::invalid(format!(
                "{} values were compared but the shape has {}",
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

/// Compares two contiguous arrays in memory on all cores.
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
    for (original, decoded) in original
        .chunks(PIECE_VALUES)
        .zip(decoded.chunks(PIECE_VALUES))
    {
        comparison.push(original, decoded)?;
    }
    comparison.finish()
}

/// Values that [`compare`] processes at a time.
const PIECE_VALUES: usize = 1 << 20;
