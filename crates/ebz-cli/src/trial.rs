//! Trials of codecs and bounds on an array in memory, or on a sample.

use anyhow::Result;
use cpu_time::ThreadTime;
use ebz::codec::Entry;
use ebz::metrics::{Comparison, Metrics, Setup};
use ebz::{Bound, Element, Fill, FiniteRange, Options, Reader, Tolerance, View, ViewMut};

/// A contiguous sample from the middle of an array, cut along the slowest axis.
pub struct Sample<'a, T> {
    pub values: &'a [T],
    pub shape: Vec<usize>,
}

impl<'a, T: Element> Sample<'a, T> {
    /// A sample of about this many bytes, or the whole array if it is smaller.
    pub fn of(values: &'a [T], shape: &[usize], bytes: usize) -> Self {
        let first = shape.iter().position(|&n| n > 1).unwrap_or(0);
        let mut shape = shape.get(first..).unwrap_or_default().to_vec();
        let Some(rows) = shape.first().copied() else {
            return Self { values, shape };
        };
        let row: usize = shape[1..].iter().product();
        let kept = (bytes / T::SIZE / row.max(1)).clamp(1, rows.max(1));
        let start = rows.saturating_sub(kept) / 2 * row;
        shape[0] = kept.min(rows);
        Self {
            values: &values[start..start + shape[0] * row],
            shape,
        }
    }
}

/// The result of a codec on a sample.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Trial {
    pub codec: &'static str,
    /// The bound as requested.
    pub bound: Bound,
    pub tolerance: Tolerance,
    pub ratio: f64,
    pub psnr: f64,
    pub ssim: Option<f64>,
    pub max_error: f64,
    pub rmse: f64,
    /// Compression speed in GB/s on one thread.
    pub compress: f64,
    /// Decompression speed in GB/s on one thread.
    pub decompress: f64,
}

/// Properties of the whole array, and buffers that trials share.
pub struct Bench<T> {
    pub range: FiniteRange,
    pub fill: Fill,
    pub ssim: bool,
    coded: Vec<u8>,
    pub decoded: Vec<T>,
}

impl<T: Element> Bench<T> {
    pub fn new(range: FiniteRange, fill: Fill, ssim: bool) -> Self {
        Self {
            range,
            fill,
            ssim,
            coded: Vec::new(),
            decoded: Vec::new(),
        }
    }

    /// Compresses and decompresses a sample. Relative bounds refer to the range of the whole array.
    pub fn run(
        &mut self,
        sample: &Sample<'_, T>,
        entry: &Entry,
        bound: Bound,
    ) -> Result<(Trial, Metrics)> {
        let mut options = Options::new(self.resolve(bound));
        options.clip = options.clip.resolve(self.range);
        self.run_with(sample, entry, bound, options)
    }

    /// The same with options, in which `bound` may be resolved already.
    pub fn run_with(
        &mut self,
        sample: &Sample<'_, T>,
        entry: &Entry,
        bound: Bound,
        options: Options,
    ) -> Result<(Trial, Metrics)> {
        let mut options = options.codec(entry.info.name).threads(1);
        options.fill = self.fill;
        let clock = ThreadTime::now();
        let view = View::new(sample.values, &sample.shape)?;
        let stats = ebz::compress_into(&view, &options, &mut self.coded)?;
        let compress = clock.elapsed().as_secs_f64();
        self.decoded.resize(sample.values.len(), T::default());
        let clock = ThreadTime::now();
        let reader = Reader::from_source(&self.coded[..])?.threads(1);
        let mut out = ViewMut::new(&mut self.decoded, &sample.shape)?;
        reader.frame(0)?.read_into(&mut out)?;
        let seconds = [compress, clock.elapsed().as_secs_f64()];
        let (trial, metrics) =
            self.judge(sample, entry.info.name, bound, stats.tolerance, seconds)?;
        anyhow::ensure!(
            metrics.violations == 0,
            "{} breaks {bound} at {} values: please report this",
            entry.info.name,
            metrics.violations
        );
        Ok((trial, metrics))
    }

    /// The same with another compressor, which may break the bound; `None` unless the bound is absolute.
    #[cfg(feature = "peers")]
    pub fn run_peer(
        &mut self,
        sample: &Sample<'_, T>,
        peer: &dyn ebz_peers::Peer,
        bound: Bound,
    ) -> Result<Option<Trial>> {
        let Bound::Abs(e) = self.resolve(bound) else {
            return Ok(None);
        };
        let coding = crate::peers::Coding::new(peer, &sample.shape, e);
        let clock = ThreadTime::now();
        self.coded = coding.compress(sample.values);
        let compress = clock.elapsed().as_secs_f64();
        self.decoded.resize(sample.values.len(), T::default());
        let clock = ThreadTime::now();
        coding.decompress(&self.coded, &mut self.decoded);
        let seconds = [compress, clock.elapsed().as_secs_f64()];
        let tolerance = Tolerance::Abs(e);
        Ok(Some(
            self.judge(sample, peer.name(), bound, tolerance, seconds)?
                .0,
        ))
    }

    fn resolve(&self, bound: Bound) -> Bound {
        match bound {
            Bound::Range(e) => Bound::Abs(e * self.range.extent()),
            other => other,
        }
    }

    /// Compares the decoded values with the sample; `seconds` of compression and decompression.
    fn judge(
        &self,
        sample: &Sample<'_, T>,
        codec: &'static str,
        bound: Bound,
        tolerance: Tolerance,
        [compress, decompress]: [f64; 2],
    ) -> Result<(Trial, Metrics)> {
        let setup = Setup {
            range: self.range,
            fill: self.fill.values(),
            exact_fill: !self.fill.is_auto(),
            tolerance: Some(tolerance),
            ssim: self.ssim,
            threads: 0,
        };
        let mut comparison = Comparison::new(&sample.shape, setup)?;
        comparison.push(sample.values, &self.decoded)?;
        let metrics = comparison.finish()?;
        let bytes = size_of_val(sample.values) as f64;
        let trial = Trial {
            codec,
            bound,
            tolerance,
            ratio: bytes / self.coded.len() as f64,
            psnr: metrics.psnr,
            ssim: metrics.ssim,
            max_error: metrics.max_error,
            rmse: metrics.rmse,
            compress: bytes / compress / 1e9,
            decompress: bytes / decompress / 1e9,
        };
        Ok((trial, metrics))
    }
}
