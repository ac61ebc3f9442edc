//! Settings that must match on all ranks, and how ranks check that.

use crate::comm::Comm;
use crate::error::{Error, Result};
use crate::speed::Route;
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
/// Status, hashes of the request, shape, sizes, rates and scan.
const WORDS: usize = 6 + MAX_AXES + 2 + 4 + 1 + SCAN_WORDS;

/// A rank's description of its array.
#[derive(Debug, Default)]
pub(crate) struct Offer {
    /// Number of values and extents.
    pub shape: Vec<usize>,
    /// Number of values that the rank's memory has or has room for.
    pub room: usize,
    /// An earlier decision for raw data stands.
    stays_raw: bool,
    /// If known.
    rates: Option<Rates>,
    scan: Vec<u64>,
}

impl Offer {
    /// An array of a transfer between two ranks.
    pub fn new(shape: &[usize]) -> Self {
        Self {
            shape: shape.to_vec(),
            ..Self::default()
        }
    }

    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    fn to_words(&self, words: &mut [u64]) {
        for (word, &extent) in words.iter_mut().zip(&self.shape) {
            *word = extent as u64 + 1;
        }
        let words = &mut words[MAX_AXES..];
        words[0] = self.room as u64;
        words[1] = u64::from(self.stays_raw);
        if let Some(rates) = &self.rates {
            words[2] = 1;
            words[3] = rates.encode.to_bits();
            words[4] = rates.decode.to_bits();
            words[5] = rates.ratio.to_bits();
        }
        words[6] = self.scan.len() as u64;
        words[7..][..self.scan.len()].copy_from_slice(&self.scan);
    }

    fn from_words(words: &[u64]) -> Self {
        let (extents, words) = words.split_at(MAX_AXES);
        let extents = extents.iter().take_while(|&&extent| extent > 0);
        let number = |i: usize| f64::from_bits(words[i]);
        let length = (words[6] as usize).min(SCAN_WORDS);
        Self {
            shape: extents.map(|&extent| extent as usize - 1).collect(),
            room: words[0] as usize,
            stays_raw: words[1] != 0,
            rates: (words[2] == 1).then(|| Rates {
                encode: number(3),
                decode: number(4),
                ratio: number(5),
            }),
            scan: words[7..][..length].to_vec(),
        }
    }
}

/// What a rank asks for.
pub(crate) struct Request<'a, T> {
    /// Name, and what must be the same on all ranks.
    pub operation: String,
    pub route: Route,
    pub shape: &'a [usize],
    /// Values to sample and scan.
    pub values: &'a [T],
    /// Number of values that this rank has room for.
    pub room: usize,
    /// Whether this rank's arguments are valid.
    pub arguments: Result<()>,
}

/// What the ranks agreed on.
#[derive(Debug)]
pub(crate) struct Agreement {
    /// One per rank.
    pub offers: Vec<Offer>,
    /// The tolerance of every value; `None` for a fixed ratio.
    pub tolerance: Option<Tolerance>,
    pub fill: Fill,
    choice: Choice,
}

/// How to choose between raw and compressed.
#[derive(Debug)]
enum Choice {
    Made {
        compressed: bool,
    },
    /// By the slowest codec and the least ratio of all ranks, if measured, and seconds per byte of the link.
    Measured {
        rates: Option<Rates>,
        link: f64,
        route: Route,
    },
}

/// Bytes over the busiest link, and bytes that the busiest rank encodes and decodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    pub crossing: usize,
    pub encoded: usize,
    pub decoded: usize,
}

impl Work {
    pub fn estimate(self, rates: Rates, link: f64) -> Estimate {
        let raw = self.crossing as f64 * link;
        Estimate {
            raw,
            compressed: self.encoded as f64 * rates.encode
                + self.decoded as f64 * rates.decode
                + raw / rates.ratio,
        }
    }
}

impl Agreement {
    /// The agreement of a transfer between two ranks.
    pub fn of_pair(shape: &[usize], tolerance: Option<Tolerance>, fill: Fill) -> Self {
        Self {
            offers: vec![Offer::new(shape)],
            tolerance,
            fill,
            choice: Choice::Made { compressed: true },
        }
    }

    /// Chooses between raw and compressed. All ranks call this with the same work.
    pub fn choose(&self, comm: &Comm, settings: &Settings, work: Work) -> Report {
        let (compressed, estimate) = match self.choice {
            Choice::Made { compressed } => (compressed, None),
            Choice::Measured { rates, link, route } => {
                let estimate = rates.map(|rates| work.estimate(rates, link));
                let compressed = estimate.is_some_and(|estimate| estimate.pays());
                let mut speeds = comm.speeds.borrow_mut();
                speeds.decided(route, settings.hash(), compressed);
                (compressed, estimate)
            }
        };
        Report {
            compressed,
            estimate,
            ..Report::default()
        }
    }

    /// Number of values of each rank.
    pub fn lengths(&self) -> Vec<usize> {
        self.offers.iter().map(Offer::len).collect()
    }

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

impl Settings {
    fn texts(&self) -> [String; 3] {
        let options = &self.options;
        [
            format!("{:?} {:?}", options.bound, options.fill),
            format!("{} {:?}", options.codec, options.params),
            format!("{:?}", self.mode),
        ]
    }

    fn hash(&self) -> u64 {
        xxh3_64(self.texts().concat().as_bytes())
    }
}

impl Comm {
    /// Whether an earlier decision to gather raw data stands for this call, which counts as one. Not collective;
    /// all ranks get the same answer if they ask for the same calls.
    pub fn gathers_stay_raw(&self, settings: &Settings) -> bool {
        self.stays_raw(Route::Root, settings)
    }

    /// The same for sums.
    pub fn sums_stay_raw(&self, settings: &Settings) -> bool {
        self.stays_raw(Route::Ring, settings)
    }

    fn stays_raw(&self, route: Route, settings: &Settings) -> bool {
        settings.mode == Mode::Adaptive
            && (self.one_host() || self.speeds.borrow_mut().raw_stands(route, settings.hash()))
    }
}

/// The ranks exchange requests and properties. Every rank gets the same answer, even if they
/// disagree or one of them fails to start.
pub(crate) fn agree<T: Element>(
    comm: &Comm,
    request: Request<'_, T>,
    settings: &Settings,
) -> Result<Agreement> {
    let (options, route) = (&settings.options, request.route);
    let [bound, codec, mode] = settings.texts();
    let requested = [
        request.operation.clone(),
        T::TYPE.to_string(),
        bound,
        codec,
        mode,
    ];
    let own = prepare(comm, request, settings);
    let mut words = [0u64; WORDS];
    words[0] = u64::from(own.is_err());
    for (word, text) in words[1..6].iter_mut().zip(requested) {
        *word = xxh3_64(text.as_bytes());
    }
    if let Ok(offer) = &own {
        offer.to_words(&mut words[6..]);
    }
    let all = comm.allgather(&words)?;
    let ranks: Vec<&[u64]> = all.chunks_exact(WORDS).collect();
    if let Some(rank) = ranks.iter().position(|words| words[0] != 0) {
        own?;
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
    let offers: Vec<_> = ranks
        .iter()
        .map(|words| Offer::from_words(&words[6..]))
        .collect();
    let choice = match settings.mode {
        Mode::Always => Choice::Made { compressed: true },
        Mode::Never => Choice::Made { compressed: false },
        Mode::Adaptive if offers.iter().any(|offer| offer.stays_raw) => {
            Choice::Made { compressed: false }
        }
        // Only now is it known that all ranks want to measure the link.
        Mode::Adaptive => Choice::Measured {
            rates: offers
                .iter()
                .filter_map(|offer| offer.rates)
                .reduce(|a, b| Rates {
                    encode: a.encode.max(b.encode),
                    decode: a.decode.max(b.decode),
                    ratio: a.ratio.min(b.ratio),
                }),
            link: comm.link(route)?,
            route,
        },
    };
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
        choice,
    };
    agreement.check::<T>(settings)?;
    Ok(agreement)
}

fn no_range() -> ebz::Result<f64> {
    Err(ebz::Error::invalid("the range is not known"))
}

/// The local part: speeds, and a scan of the values.
fn prepare<T: Element>(comm: &Comm, request: Request<'_, T>, settings: &Settings) -> Result<Offer> {
    let Request { shape, values, .. } = request;
    request.arguments?;
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
    let mut offer = Offer::new(shape);
    offer.room = request.room;
    offer.stays_raw = comm.stays_raw(request.route, settings);
    if !offer.stays_raw && settings.mode != Mode::Never {
        offer.rates = sample(values, settings)?;
        if settings.options.needs_range() {
            offer.scan = ValueScan::of(values, settings.options.fill).to_words();
        }
    }
    Ok(offer)
}

/// Times encoding and decoding of a sample, if the decision needs that.
pub(crate) fn sample<T: Element>(values: &[T], settings: &Settings) -> Result<Option<Rates>> {
    if settings.mode != Mode::Adaptive || values.is_empty() {
        return Ok(None);
    }
    let options = &settings.options;
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
    Ok(Some(rates))
}
