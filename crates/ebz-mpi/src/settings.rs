//! Settings that must match on all ranks, and how ranks check that.

use crate::comm::Comm;
use crate::error::{Error, Result};
use crate::link::Route;
use crate::speed::{Estimate, Rates};
use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, Element, Fill, FiniteRange, Options, Tolerance, ValueScan, View};
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// When to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// If it is faster, judging by the speeds of links and codec, and the ratio of a sample.
    #[default]
    Adaptive,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How to compress messages between ranks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Bound, codec and its parameters; chunks and threads are ignored.
    pub options: Options,
    /// When to compress.
    pub mode: Mode,
}

impl Settings {
    /// With this bound, adaptive.
    pub fn new(bound: Bound) -> Self {
        Self::from(Options::new(bound))
    }

    /// Sets the codec.
    pub fn codec(mut self, name: &str) -> Self {
        self.options = self.options.codec(name);
        self
    }

    /// Sets when to compress.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }
}

impl From<Options> for Settings {
    fn from(options: Options) -> Self {
        Self {
            options,
            mode: Mode::default(),
        }
    }
}

/// Report of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Report {
    /// Whether the data was compressed.
    pub compressed: bool,
    /// Estimated times of both ways, if they were compared.
    pub estimate: Option<Estimate>,
    /// Bytes of this rank's own data.
    pub raw_bytes: u64,
    /// Bytes that this rank sent.
    pub sent_bytes: u64,
    /// The largest bound of any value on any rank; 0 if all are exact.
    pub largest_bound: f64,
}

/// Maximum number of axes of an array.
pub(crate) const MAX_AXES: usize = 4;
/// Words of a scan: see [`ValueScan::to_words`].
const SCAN_WORDS: usize = 28;
const WORDS: usize = 6 + MAX_AXES + 4 + 1 + SCAN_WORDS;

/// A rank's description of its array.
#[derive(Debug)]
pub(crate) struct Offer {
    /// Number of values and extents.
    pub shape: Vec<usize>,
    /// If known.
    pub rates: Option<Rates>,
    scan: Vec<u64>,
}

impl Offer {
    /// An array of a transfer between two ranks.
    pub fn new(shape: &[usize]) -> Self {
        Self {
            shape: shape.to_vec(),
            rates: None,
            scan: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

/// What the ranks agreed on.
#[derive(Debug)]
pub(crate) struct Agreement {
    /// One per rank.
    pub offers: Vec<Offer>,
    /// The tolerance of every value; `None` for a fixed ratio.
    pub tolerance: Option<Tolerance>,
    pub fill: Fill,
    /// Slowest codec and least ratio of all ranks, if measured.
    pub rates: Option<Rates>,
    /// Whether all ranks scanned their values, if the bound needs that.
    pub scanned: bool,
    /// Seconds per byte.
    pub link: f64,
}

impl Agreement {
    /// Number of values of all ranks.
    pub fn total(&self) -> usize {
        self.offers.iter().map(Offer::len).sum()
    }

    /// Whether every rank's array can be encoded: all ranks get the same answer before anyone sends.
    pub fn check<T: Element>(&self, settings: &Settings) -> Result<()> {
        let mut ranks = 0..self.offers.len();
        ranks.try_for_each(|rank| self.plan::<T>(rank, settings).map(|_| ()))
    }

    /// The plan of a rank's array.
    pub fn plan<T: Element>(&self, rank: usize, settings: &Settings) -> Result<FramePlan> {
        let shape = &self.offers[rank].shape;
        // With a fixed ratio, each part carries its bound.
        let tolerance = self.tolerance.unwrap_or(Tolerance::Abs(1.0));
        Ok(plan_of::<T>(shape, tolerance, &settings.options)?.with_fill(self.fill))
    }
}

/// The plan of an array sent with this tolerance.
pub(crate) fn plan_of<T: Element>(
    shape: &[usize],
    tolerance: Tolerance,
    options: &Options,
) -> Result<FramePlan> {
    let mut options = options.clone();
    options.chunk = None;
    options.metadata = None;
    Ok(FramePlan::new::<T>(shape, tolerance, &options)?)
}

/// Number of values sampled to measure a codec.
const SAMPLE_VALUES: usize = 1 << 16;

/// The ranks exchange requests and properties. Every rank gets the same answer, even if they
/// disagree or one of them fails to start.
pub(crate) fn agree<T: Element>(
    comm: &Comm,
    operation: &str,
    route: Route,
    shape: &[usize],
    values: &[T],
    settings: &Settings,
) -> Result<Agreement> {
    let options = &settings.options;
    let checked = prepare(comm, route, shape, values, settings);
    let mut words = [0u64; WORDS];
    words[0] = u64::from(checked.is_err());
    for (word, text) in words[1..6].iter_mut().zip([
        operation.to_string(),
        T::TYPE.to_string(),
        format!("{:?} {:?}", options.bound, options.fill),
        format!("{} {:?}", options.codec, options.params),
        format!("{:?}", settings.mode),
    ]) {
        *word = xxh3_64(text.as_bytes());
    }
    for (word, &extent) in words[6..].iter_mut().zip(shape) {
        *word = extent as u64 + 1;
    }
    let at = 6 + MAX_AXES;
    if let Ok((rates, scan)) = &checked {
        if let Some(rates) = rates {
            words[at] = 1;
            words[at + 1] = rates.encode.to_bits();
            words[at + 2] = rates.decode.to_bits();
            words[at + 3] = rates.ratio.to_bits();
        }
        words[at + 4] = scan.len() as u64;
        words[at + 5..][..scan.len()].copy_from_slice(scan);
    }
    let all = comm.allgather(&words)?;
    let ranks: Vec<&[u64]> = all.chunks_exact(WORDS).collect();
    if let Some(rank) = ranks.iter().position(|words| words[0] != 0) {
        checked?;
        return Err(Error::Other {
            rank,
            text: "it failed to start".into(),
        });
    }
    for (at, what) in ["operation", "element type", "bound", "codec", "mode"]
        .into_iter()
        .enumerate()
    {
        let differs = |words: &&[u64]| words[1 + at] != ranks[0][1 + at];
        if let Some(rank) = ranks.iter().position(differs) {
            let text = format!("rank {rank} requests a different {what} than rank 0");
            return Err(Error::Disagree(text));
        }
    }
    // Only now is it known that all ranks want to measure the link.
    let link = match settings.mode {
        Mode::Adaptive => comm.link(route)?,
        _ => 0.0,
    };
    let offers: Vec<_> = ranks.iter().map(|words| offer(words)).collect();
    let rates = offers.iter().filter_map(|offer| offer.rates);
    let rates = rates.reduce(|a, b| Rates {
        encode: a.encode.max(b.encode),
        decode: a.decode.max(b.decode),
        ratio: a.ratio.min(b.ratio),
    });
    let unscanned = |offer: &Offer| offer.scan.is_empty() && offer.len() > 0;
    let scanned = !options.needs_range() || !offers.iter().any(unscanned);
    let mut scan = ValueScan::new(options.fill);
    for offer in offers.iter().filter(|offer| !offer.scan.is_empty()) {
        scan.join_words(&offer.scan)?;
    }
    let (tolerance, fill) = match options.bound {
        Bound::Ratio(_) => (None, options.fill),
        Bound::Range(_) => {
            let tolerance = options.tolerance(|| Ok(scan.range().extent()))?;
            (Some(tolerance), scan.fill())
        }
        _ => (Some(options.tolerance(no_range)?), options.fill),
    };
    let agreement = Agreement {
        offers,
        tolerance,
        fill,
        rates,
        scanned,
        link,
    };
    agreement.check::<T>(settings)?;
    Ok(agreement)
}

fn no_range() -> ebz::Result<f64> {
    Err(ebz::Error::invalid("the range is not known"))
}

fn offer(words: &[u64]) -> Offer {
    let extents = words[6..6 + MAX_AXES]
        .iter()
        .take_while(|&&extent| extent > 0);
    let at = 6 + MAX_AXES;
    let number = |i: usize| f64::from_bits(words[at + i]);
    let length = (words[at + 4] as usize).min(SCAN_WORDS);
    Offer {
        shape: extents.map(|&extent| extent as usize - 1).collect(),
        rates: (words[at] == 1).then(|| Rates {
            encode: number(1),
            decode: number(2),
            ratio: number(3),
        }),
        scan: words[at + 5..][..length].to_vec(),
    }
}

/// The local part: speeds, and a scan of the values.
fn prepare<T: Element>(
    comm: &Comm,
    route: Route,
    shape: &[usize],
    values: &[T],
    settings: &Settings,
) -> Result<(Option<Rates>, Vec<u64>)> {
    settings.options.check()?;
    if matches!(settings.options.bound, Bound::Psnr(_)) {
        return Err(ebz::Error::unsupported(
            "psnr is not supported between ranks: use abs, range or ratio",
        )
        .into());
    }
    if shape.len() > MAX_AXES || shape.is_empty() {
        return Err(ebz::Error::invalid("arrays must have 1 to 4 axes").into());
    }
    View::new(values, shape)?;
    let link = comm.known_link(route).unwrap_or(f64::INFINITY);
    let rates = sample(comm, values, settings, link)?;
    // All ranks will choose raw data.
    let hopeless = rates.is_some_and(|rates| rates.hopeless(link, comm.size()));
    let adaptive = settings.mode == Mode::Adaptive;
    let scan = match settings.options.needs_range() && !(adaptive && hopeless) {
        true => ValueScan::of(values, settings.options.fill).to_words(),
        false => Vec::new(),
    };
    Ok((rates, scan))
}

/// Times encoding and decoding of a sample, unless the link is so fast that no ratio would help.
pub(crate) fn sample<T: Element>(
    comm: &Comm,
    values: &[T],
    settings: &Settings,
    link: f64,
) -> Result<Option<Rates>> {
    if settings.mode != Mode::Adaptive || values.is_empty() {
        return Ok(None);
    }
    let options = &settings.options;
    let known = comm.speeds.borrow().codec(&options.codec);
    if let Some(known) = known
        && known.hopeless(link, comm.size())
    {
        return Ok(Some(known));
    }
    // From the middle: borders are often constant.
    let length = values.len().min(SAMPLE_VALUES);
    let sample = &values[(values.len() - length) / 2..][..length];
    let tolerance = match options.bound {
        Bound::Ratio(_) => Tolerance::Abs(crate::ratio::first_bound(sample)),
        _ => options.tolerance(|| Ok(FiniteRange::of(sample, &options.fill.values()).extent()))?,
    };
    let plan = plan_of::<T>(&[length], tolerance, options)?;
    let mut coder = SlabCoder::new(options.simd);
    let mut encoded = EncodedSlab::default();
    let mut decoded = vec![T::default(); length];
    let mut rates = Rates {
        encode: f64::INFINITY,
        decode: f64::INFINITY,
        ratio: 1.0,
    };
    let bytes = size_of_val(sample) as f64;
    // The second run reuses the memory.
    for _ in 0..2 {
        let start = Instant::now();
        let mut stored = 0;
        for slab in 0..plan.slabs() {
            let part = &plan.slab_region(slab)[0];
            let view = View::new(&sample[part.clone()], &[part.len()])?;
            coder.encode(&plan, 0, slab, &view, &mut encoded)?;
            stored += encoded.bytes().len();
        }
        let middle = Instant::now();
        let last = plan.slabs() - 1;
        let part = plan.slab_region(last)[0].clone();
        coder.decode(&plan, 0, last, encoded.bytes(), &mut decoded[part.clone()])?;
        let last_bytes = (part.len() * size_of::<T>()) as f64;
        rates.encode = rates.encode.min((middle - start).as_secs_f64() / bytes);
        rates.decode = rates
            .decode
            .min(middle.elapsed().as_secs_f64() / last_bytes);
        rates.ratio = match options.bound {
            Bound::Ratio(ratio) => ratio,
            _ => bytes / stored as f64,
        };
    }
    comm.speeds.borrow_mut().note(&options.codec, rates);
    Ok(Some(rates))
}
