//! `auto`: chooses the best codec for an array by trials on samples.
//!
//! Input: an array and a preference. Output: the name of a codec, and the results of the trials.
//! All candidates encode the same boxes, which are spread over the array, until one is clearly the
//! best; the smallest size wins, weighted by the typical time of a codec ([`Favor`]). No clock is
//! read: the choice, and so the bytes of a file, depend only on values and options.

mod sample;

use crate::array::{ValueScan, View};
use crate::bound::{Bound, Tolerance};
use crate::chunk::{Cpu, FramePlan, Pool};
use crate::codec::{self, Entry};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::favor::Favor;
use crate::options::Options;

/// How candidates are compared on a box.
struct Stage {
    /// Maximum number of values of a box.
    values: usize,
    /// A candidate whose weighted size exceeds the best by this factor is dropped.
    clearly_worse: f64,
    /// Whether `interp` has a fixed mode: choosing one takes longer than coding a small box.
    fixed_mode: bool,
}

/// A first look, which is often enough.
const SCREENING: Stage = Stage {
    values: 1 << 15,
    clearly_worse: 1.1,
    fixed_mode: true,
};
/// Boxes in which codecs compare as on whole chunks.
const COMPARISON: Stage = Stage {
    values: 1 << 16,
    clearly_worse: 1.05,
    fixed_mode: false,
};
/// Maximum number of boxes of the comparison.
const MAX_BOXES: usize = 3;
/// The fastest codec is dropped later than others: to be worse than the default is the worst error.
const MARGIN_OF_FASTEST: f64 = 1.2;
/// The codec whose mode is fixed, and the parameter.
const FIXED_MODE: (&str, &str, &str) = ("interp", "mode", "isotropic");
/// Its size on whole chunks, relative to a small box with this mode and to other codecs, is about this.
const FIXED_MODE_SIZE: f64 = 0.85;

/// A codec that would have to be this many times smaller than the smallest one so far is not tried.
/// The maximum observed, on 20 fields with six bounds each, was 4.4.
const MAX_TIMES_SMALLER: f64 = 5.0;
/// A codec that would have to save more bits per value than this compared with a faster one is not
/// tried. The maximum observed, on 12 fields with six bounds each, was 3.2.
const MAX_BITS_SAVED: f64 = 4.0;

/// The choice of `auto`, and its reason.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Choice {
    /// The codec.
    pub codec: &'static str,
    /// The preference.
    pub favor: Favor,
    /// Raw size / compressed size of the samples.
    pub ratio: f64,
    /// The second best codec, and its ratio.
    pub next: Option<(&'static str, f64)>,
    /// Fraction of the values of the array that were sampled.
    pub sampled: f64,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} for {}", self.codec, self.favor)?;
        if let Some((next, ratio)) = self.next {
            let (kept, sampled) = (self.ratio, 100.0 * self.sampled);
            write!(
                f,
                ": ratio {kept:.3} on {sampled:.2} % of the values, {ratio:.3} with {next}"
            )?;
            if let (Some(own), Some(other)) = (quarters(self.codec), quarters(next)) {
                let times = (f64::from(other) - f64::from(own)) / 4.0;
                match times.exp2() {
                    ..1.0 => write!(f, ", in about {:.0} % of the time", 100.0 * times.exp2())?,
                    1.0 => write!(f, ", in the same time")?,
                    times => write!(f, ", in about {times:.0} times the time")?,
                }
            }
        }
        Ok(())
    }
}

/// The typical time of a codec that `auto` may choose.
fn quarters(codec: &str) -> Option<u32> {
    codec::by_name(codec).ok()?.quarters
}

/// A codec, and its results on the boxes that it encoded.
struct Candidate {
    entry: &'static Entry,
    quarters: u32,
    /// Weight of its bytes.
    weight: f64,
    /// Bytes of the boxes, encoded and raw.
    bytes: f64,
    raw: f64,
    dropped: bool,
}

impl Candidate {
    /// Weighted size relative to the raw size.
    fn cost(&self) -> f64 {
        self.weight * self.bytes / self.raw
    }

    fn ratio(&self) -> f64 {
        self.raw / self.bytes
    }
}

/// Chooses a codec for an array; `scan` is required if the tolerance depends on the range.
pub(crate) fn choose<T: Element>(
    view: &View<'_, T>,
    scan: Option<&ValueScan>,
    options: &Options,
    pool: &mut Pool,
) -> Result<Choice> {
    let fastest = options.check()?;
    let mut trials = Trials::new(options, pool);
    let tolerance = match (scan, options.bound) {
        (_, Bound::Psnr(_) | Bound::Ratio(_)) => trials.tolerance(view, fastest)?,
        (scan, _) => {
            if let Some(scan) = scan {
                trials.options.fill = scan.fill();
                trials.options.clip = options.clip.resolve(scan.range());
            }
            let extent = scan.map(|scan| scan.range().extent());
            options.tolerance(|| extent.ok_or_else(|| Error::invalid("the range is not known")))?
        }
    };
    let count: usize = view.shape().iter().product();
    let many = count > COMPARISON.values;
    if many {
        trials.run(&SCREENING, view, 0, tolerance)?;
    }
    for number in 0..if many { MAX_BOXES } else { 1 } {
        if trials.open().count() > 1 {
            trials.run(&COMPARISON, view, number, tolerance)?;
        }
    }

    let mut tried: Vec<_> = trials.candidates.iter().filter(|c| c.bytes > 0.0).collect();
    tried.sort_by(|a, b| {
        a.dropped
            .cmp(&b.dropped)
            .then(a.cost().total_cmp(&b.cost()))
    });
    let best = tried.first();
    Ok(Choice {
        codec: best.map_or(fastest.info.name, |best| best.entry.info.name),
        favor: options.favor,
        ratio: best.map_or(1.0, |best| best.ratio()),
        next: tried
            .get(1)
            .map(|next| (next.entry.info.name, next.ratio())),
        sampled: (trials.sampled as f64 / count.max(1) as f64).min(1.0),
    })
}

/// Whether a codec of this weight would have to be smaller than any was observed to be, compared with faster ones on
/// the same box.
fn hopeless(faster: &[Candidate], weight: f64, values: usize) -> bool {
    let tried = || faster.iter().filter(|c| !c.dropped && c.raw > 0.0);
    let least = |bytes: fn(&Candidate) -> f64| tried().map(bytes).fold(f64::INFINITY, f64::min);
    let (smallest, best) = (least(|c| c.bytes), least(|c| c.bytes * c.weight));
    let saved = tried().map(|c| 8.0 * c.bytes * (1.0 - c.weight / weight));
    smallest * weight > MAX_TIMES_SMALLER * best
        || saved.fold(0.0, f64::max) > MAX_BITS_SAVED * values as f64
}

/// Trials of candidates on boxes of an array.
struct Trials<'a> {
    candidates: Vec<Candidate>,
    /// Number of values of the boxes.
    sampled: usize,
    options: Options,
    pool: &'a mut Pool,
}

impl<'a> Trials<'a> {
    fn new(options: &Options, pool: &'a mut Pool) -> Self {
        let candidates = options.candidates().map(|(entry, quarters)| Candidate {
            entry,
            quarters,
            weight: options.favor.weight(quarters),
            bytes: 0.0,
            raw: 0.0,
            dropped: false,
        });
        let mut candidates: Vec<_> = candidates.collect();
        candidates.sort_by_key(|candidate| candidate.quarters);
        Self {
            candidates,
            sampled: 0,
            options: options.clone(),
            pool,
        }
    }

    /// The candidates that are not dropped.
    fn open(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates
            .iter()
            .filter(|candidate| !candidate.dropped)
    }

    /// Compares the candidates on another box, and drops those that are clearly worse than the best.
    fn run<T: Element>(
        &mut self,
        stage: &Stage,
        view: &View<'_, T>,
        number: usize,
        tolerance: Tolerance,
    ) -> Result<()> {
        let part = sample::part(view, stage.values, number)?;
        let values: usize = part.shape().iter().product();
        let raw = (values * T::SIZE) as f64;
        self.sampled += values;
        for at in 0..self.candidates.len() {
            // Results of another kind of box do not count.
            if number == 0 {
                let candidate = &mut self.candidates[at];
                (candidate.bytes, candidate.raw) = (0.0, 0.0);
                let (faster, candidate) = self.candidates.split_at_mut(at);
                candidate[0].dropped |= hopeless(faster, candidate[0].weight, values);
            }
            let candidate = &self.candidates[at];
            if candidate.dropped {
                continue;
            }
            let bytes = self.bytes(candidate.entry, &part, tolerance, stage)?;
            let candidate = &mut self.candidates[at];
            candidate.bytes += bytes;
            candidate.raw += raw;
        }
        let best = self
            .open()
            .map(Candidate::cost)
            .fold(f64::INFINITY, f64::min);
        for candidate in &mut self.candidates {
            let margin = match candidate.quarters {
                0 => MARGIN_OF_FASTEST,
                _ => 1.0,
            };
            candidate.dropped |= candidate.cost() > margin * stage.clearly_worse * best;
        }
        Ok(())
    }

    /// Size in bytes of an encoded box.
    fn bytes<T: Element>(
        &mut self,
        entry: &Entry,
        part: &View<'_, T>,
        tolerance: Tolerance,
        stage: &Stage,
    ) -> Result<f64> {
        if part.shape().contains(&0) {
            return Ok(0.0);
        }
        let mut options = self.options.clone().codec(entry.info.name);
        let (codec, key, mode) = FIXED_MODE;
        let fixed = stage.fixed_mode && entry.info.name == codec;
        if fixed {
            options = options.param(key, mode);
        }
        options.chunk = Some(part.shape().to_vec());
        let plan = FramePlan::new::<T>(part.shape(), tolerance, &options)?;
        let (coder, out) = self.pool.coder(options.simd);
        out.restart(0);
        coder.encode(&Cpu, &plan, 0..1, |_| Ok(part.clone()), out)?;
        let bytes: usize = out.bodies().map(|body| body.bytes.len()).sum();
        Ok(bytes as f64 * if fixed { FIXED_MODE_SIZE } else { 1.0 })
    }

    /// A tolerance near the one that a search for the `psnr` or `ratio` will find.
    fn tolerance<T: Element>(&mut self, view: &View<'_, T>, fastest: &Entry) -> Result<Tolerance> {
        let parts = (0..MAX_BOXES).map(|number| sample::part(view, COMPARISON.values, number));
        let parts: Vec<_> = parts.collect::<Result<_>>()?;
        let values: Vec<T> = parts
            .iter()
            .flat_map(|part| part.to_contiguous().into_owned())
            .collect();
        let range = ValueScan::of(&values, self.options.fill).range().extent();
        if range == 0.0 {
            return Ok(Tolerance::Lossless);
        }
        if let Bound::Psnr(decibels) = self.options.bound {
            // Assume uniformly distributed errors.
            return Ok(Tolerance::Abs(
                range * 3f64.sqrt() * 10f64.powf(-decibels / 20.0),
            ));
        }
        let most = size_of_val(&values[..]) as f64 / self.options.bound.value();
        // The smallest bound among 1/2, 1/4, … of the range with which the fastest codec meets the
        // ratio.
        let bound = |halvings: i32| Tolerance::Abs(range * f64::from(-halvings).exp2());
        let (mut coarse, mut fine) = (0, 64);
        while fine - coarse > 1 {
            let middle = (coarse + fine) / 2;
            let mut bytes = 0.0;
            for part in &parts {
                bytes += self.bytes(fastest, part, bound(middle), &COMPARISON)?;
            }
            match bytes > most {
                true => fine = middle,
                false => coarse = middle,
            }
        }
        Ok(bound(coarse))
    }
}
