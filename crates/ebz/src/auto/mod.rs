//! `auto`: chooses the best codec for an array by trials on samples.
//!
//! Input: an array and a preference. Output: the name of a codec, and the results of the trials.
//! All candidates encode the same boxes, which are spread over the array; the smallest size wins,
//! weighted by the typical time of a codec ([`Favor`]). No clock is read: the choice, and so the
//! bytes of a file, depend only on values and options.

mod sample;

use crate::array::{ValueScan, View};
use crate::bound::{Bound, Tolerance};
use crate::chunk::{Cpu, FramePlan, Pool};
use crate::codec::Entry;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::favor::Favor;
use crate::options::Options;
use sample::{Extent, Sample};

/// A codec that would have to save more bits per value than this compared with a faster one is not
/// tried. The maximum observed, on 12 fields with six bounds each, was 3.2.
const MAX_BITS_SAVED: f64 = 4.0;

/// Ratio of the fastest codec above which larger boxes are used: in small ones, fixed costs such as
/// codebooks would dominate.
const MIN_RATIO_FOR_LARGE_BOXES: u64 = 16;

/// Below the ratio for large boxes, a codec that would have to be this many times smaller than a faster one is not tried.
const MAX_TIMES_SMALLER: f64 = 4.0;

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
        match self.next {
            Some((next, ratio)) => write!(
                f,
                ": ratio {:.3} on {:.2} % of the values, {ratio:.3} with {next}",
                self.ratio,
                100.0 * self.sampled
            ),
            None => Ok(()),
        }
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
    let masked = scan.is_some_and(|scan| !scan.fill().values().as_slice().is_empty());
    let mut trials = Trials {
        sample: Sample::of(view, Extent::usual(options.favor, masked)),
        options: options.clone(),
        pool,
    };
    let tolerance = match (scan, options.bound) {
        (_, Bound::Psnr(_) | Bound::Ratio(_)) => trials.tolerance(fastest)?,
        (scan, _) => {
            if let Some(scan) = scan {
                trials.options.fill = scan.fill();
                trials.options.clip = options.clip.resolve(scan.range());
            }
            let extent = scan.map(|scan| scan.range().extent());
            options.tolerance(|| extent.ok_or_else(|| Error::invalid("the range is not known")))?
        }
    };
    let least = trials.bytes(fastest, tolerance)?;
    let large = least * MIN_RATIO_FOR_LARGE_BOXES < trials.sample.raw_bytes();
    if large {
        let extent = Extent::whole_chunks(view.shape().iter().product());
        let extent = extent.unwrap_or(Extent::large(options.favor, masked));
        trials.sample = Sample::of(view, extent);
    }
    let mut candidates: Vec<_> = options.candidates().collect();
    candidates.sort_by_key(|(_, quarters)| *quarters);
    let mut results: Vec<(f64, f64, &Entry)> = Vec::new();
    for (entry, quarters) in candidates {
        let weight = options.favor.weight(quarters);
        let out_of_reach = results.iter().any(|(cost, bytes, _)| {
            let needed = cost / weight;
            8.0 * (bytes - needed) > MAX_BITS_SAVED * trials.sample.values().len() as f64
                || !large && *bytes > MAX_TIMES_SMALLER * needed
        });
        if !out_of_reach {
            let bytes = trials.bytes(entry, tolerance)? as f64;
            results.push((bytes * weight, bytes, entry));
        }
    }
    results.sort_by(|a, b| a.0.total_cmp(&b.0));
    let raw = trials.sample.raw_bytes() as f64;
    let mut ranked = results
        .iter()
        .map(|&(_, bytes, entry)| (entry.info.name, raw / bytes.max(1.0)));
    let (codec, ratio) = ranked.next().unwrap_or((fastest.info.name, 1.0));
    Ok(Choice {
        codec,
        favor: options.favor,
        ratio,
        next: ranked.next(),
        sampled: trials.sample.share(),
    })
}

/// Trials of candidates on the samples.
struct Trials<'a, T> {
    sample: Sample<T>,
    options: Options,
    pool: &'a mut Pool,
}

impl<T: Element> Trials<'_, T> {
    /// Size in bytes of the encoded samples.
    fn bytes(&mut self, entry: &Entry, tolerance: Tolerance) -> Result<u64> {
        let shape = self.sample.shape();
        let mut options = self.options.clone().codec(entry.info.name);
        options.chunk = Some(shape.iter().map(|&n| n.max(1)).collect());
        let plan = FramePlan::new::<T>(shape, tolerance, &options)?;
        let (coder, out) = self.pool.coder(options.simd);
        let mut bytes = 0;
        for part in self.sample.boxes() {
            let part = View::new(part, shape)?;
            out.restart(0);
            coder.encode(&Cpu, &plan, 0..1, |_| Ok(part.clone()), out)?;
            bytes += out
                .bodies()
                .map(|body| body.bytes.len() as u64)
                .sum::<u64>();
        }
        Ok(bytes)
    }

    /// A tolerance near the one that a search for the `psnr` or `ratio` will find.
    fn tolerance(&mut self, fastest: &Entry) -> Result<Tolerance> {
        let range = ValueScan::of(self.sample.values(), self.options.fill)
            .range()
            .extent();
        if range == 0.0 {
            return Ok(Tolerance::Lossless);
        }
        if let Bound::Psnr(decibels) = self.options.bound {
            // Assume uniformly distributed errors.
            return Ok(Tolerance::Abs(
                range * 3f64.sqrt() * 10f64.powf(-decibels / 20.0),
            ));
        }
        let most = self.sample.raw_bytes() as f64 / self.options.bound.value();
        // The smallest bound among 1/2, 1/4, … of the range with which the fastest codec meets the
        // ratio.
        let bound = |halvings: i32| Tolerance::Abs(range * f64::from(-halvings).exp2());
        let (mut coarse, mut fine) = (0, 64);
        while fine - coarse > 1 {
            let middle = (coarse + fine) / 2;
            match self.bytes(fastest, bound(middle))? as f64 > most {
                true => fine = middle,
                false => coarse = middle,
            }
        }
        Ok(bound(coarse))
    }
}
