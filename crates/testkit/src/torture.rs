//! Bounds on many values: contents that are hard for quantizers, at bounds of every magnitude.
//!
//! Every value is checked in exact arithmetic. Chunks that a codec cannot make smaller, which the
//! container stores raw, count separately.

use crate::exact;
use crate::random::Random;
use ebz::codec::{Entry, Params};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{BoundKind, Element, FillValues, Tolerance};

/// What was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Values that were encoded, decoded and compared.
    pub coded: u64,
    /// Values of chunks that are stored raw.
    pub raw: u64,
    /// Chunks.
    pub chunks: u64,
    /// The smallest and the largest bound of coded chunks.
    pub bounds: Option<(f64, f64)>,
}

impl Counts {
    /// The sum of both.
    pub fn and(self, other: Self) -> Self {
        let bounds = [self.bounds, other.bounds].into_iter().flatten();
        Self {
            coded: self.coded + other.coded,
            raw: self.raw + other.raw,
            chunks: self.chunks + other.chunks,
            bounds: bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
        }
    }
}

/// Values of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Consecutive bit patterns from a random one.
    Patterns,
    /// Random mantissas, with an exponent that goes through all of them.
    Exponents,
    /// Odd multiples of the bound, where bins of a quantizer meet, and two ulps around them.
    Edges,
    /// Multiples of the bound on a random walk, with noise below it.
    Walk,
    /// Blocks of 64 with one value that is much larger than the others.
    WideBlocks,
    /// A walk with fill values.
    Fill,
    /// Random bits.
    Bits,
}

impl Content {
    /// Every content.
    pub const ALL: [Self; 7] = [
        Self::Patterns,
        Self::Exponents,
        Self::Edges,
        Self::Walk,
        Self::WideBlocks,
        Self::Fill,
        Self::Bits,
    ];

    /// Fills `out`; `scale` is the bound, or the magnitude of the values if that has none.
    fn fill<T: Element>(self, scale: f64, random: &mut Random, out: &mut [T]) {
        let start = random.bits();
        let mut walk = 0i64;
        for (i, value) in out.iter_mut().enumerate() {
            let bits = random.bits();
            walk += (bits >> 60) as i64 - 7;
            let noise = (bits & 0xffff) as f64 / 65536.0;
            *value = match self {
                Self::Patterns => T::from_word(start.wrapping_add(i as u64)),
                Self::Exponents => {
                    let mantissa = bits & ((1 << T::FRACTION_BITS) - 1);
                    T::from_word(mantissa | start.wrapping_add(i as u64 / 8) << T::FRACTION_BITS)
                }
                Self::Edges => {
                    let edge = T::from_f64((2 * walk + 1) as f64 * scale);
                    T::from_word(edge.to_word().wrapping_add(bits % 5).wrapping_sub(2))
                }
                Self::Walk => T::from_f64((walk as f64 + noise) * scale),
                Self::WideBlocks if i as u64 % 64 == start % 64 => {
                    T::from_f64(scale * noise * 2f64.powi((bits >> 56) as i32))
                }
                Self::WideBlocks => T::from_f64(scale * noise),
                Self::Fill if (bits >> 32).is_multiple_of(7) => T::from_f64(FILL),
                Self::Fill => T::from_f64((walk as f64 + noise) * scale),
                Self::Bits => T::from_word(bits),
            };
        }
    }
}

/// The fill value of [`Content::Fill`].
const FILL: f64 = 1e20;

/// Checks chunks of one codec and element type, with reused memory.
pub struct Torture<'e, T> {
    entry: &'e Entry,
    contexts: Vec<Context>,
    values: Vec<T>,
    decoded: Vec<T>,
    coded: Vec<u8>,
    /// What was checked so far.
    pub counts: Counts,
}

impl<'e, T: Element> Torture<'e, T> {
    /// Nothing checked yet.
    pub fn new(entry: &'e Entry) -> Self {
        Self {
            entry,
            contexts: Level::available().map(Context::new).collect(),
            values: Vec::new(),
            decoded: Vec::new(),
            coded: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// A chunk of random content, extents and bound.
    pub fn mixed(&mut self, random: &mut Random) -> Result<(), String> {
        let content = Content::ALL[random.below(Content::ALL.len())];
        let kinds = self.entry.info.tolerances;
        let kind = kinds[random.below(kinds.len())];
        let dims = DIMS[random.below(DIMS.len())];
        // Any magnitude of a double down to subnormal ones; most are between 10⁻¹² and 10⁶.
        let exponent = match random.below(4) {
            0 => random.unit() * 623.0 - 323.0,
            _ => random.unit() * 18.0 - 12.0,
        };
        let magnitude = 10f64.powf(exponent).max(f64::from_bits(1));
        let (tolerance, scale) = match kind {
            BoundKind::Abs => (Tolerance::Abs(magnitude), magnitude),
            BoundKind::Pointwise => {
                let e = 2f64.powf(-random.unit() * T::FRACTION_BITS as f64 * 1.1);
                (Tolerance::Pointwise(e.min(1f64.next_down())), magnitude)
            }
            BoundKind::Precision => {
                let planes = random.below(64) as u32 + 1;
                (Tolerance::Precision(planes), magnitude)
            }
            _ => (Tolerance::Lossless, magnitude),
        };
        self.values.resize(dims.len(), T::default());
        content.fill(scale, random, &mut self.values);
        let fill = match content {
            Content::Fill => FILL.into(),
            _ => FillValues::NONE,
        };
        self.check(dims, tolerance, fill)
            .map_err(|what| format!("{content:?}: {what}"))
    }

    /// `count` consecutive bit patterns, of the upper 32 bits of longer types.
    pub fn patterns(
        &mut self,
        first: u64,
        count: usize,
        tolerance: Tolerance,
    ) -> Result<(), String> {
        self.values.clear();
        self.values
            .extend((0..count as u64).map(|i| pattern::<T>(first + i)));
        let dims = Dims {
            nz: 1,
            ny: 1,
            nx: count,
        };
        self.check(dims, tolerance, FillValues::NONE)
    }

    /// The coding of `values`: every chunk at the next level.
    fn check(&mut self, dims: Dims, tolerance: Tolerance, fill: FillValues) -> Result<(), String> {
        let level = self.counts.chunks as usize % self.contexts.len();
        let context = &mut self.contexts[level];
        let task = Task {
            dims,
            tolerance,
            fill,
            params: &Params::default(),
        };
        let failed = |what: String| format!("{} {tolerance:?} {dims:?}: {what}", T::TYPE);
        self.coded.clear();
        let encoded = self
            .entry
            .encode(&self.values, &task, context, &mut self.coded);
        encoded.map_err(|error| failed(error.to_string()))?;
        self.counts.chunks += 1;
        if self.coded.len() >= size_of_val(&self.values[..]) {
            self.counts.raw += self.values.len() as u64;
            return Ok(());
        }
        self.decoded.resize(self.values.len(), T::default());
        let decoded = self
            .entry
            .decode(&self.coded, dims, context, &mut self.decoded);
        decoded.map_err(|error| failed(error.to_string()))?;
        compare(&self.values, &self.decoded, tolerance, &fill).map_err(failed)?;
        self.counts.coded += self.values.len() as u64;
        let bound = ebz::Bound::from(tolerance).value();
        self.counts = self.counts.and(Counts {
            bounds: Some((bound, bound)),
            ..Counts::default()
        });
        Ok(())
    }
}

/// A bit pattern; longer types have random lower bits.
fn pattern<T: Element>(number: u64) -> T {
    match T::SIZE {
        8 => T::from_word(number << 32 | number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32),
        _ => T::from_word(number),
    }
}

/// Patterns in a chunk of [`sweep`].
pub const SWEEP_PATTERNS: usize = 1 << 16;

/// Chunks of [`sweep`] that together hold all 2³² patterns.
pub const SWEEP_CHUNKS: u64 = 1 << 16;

/// A bound for every chunk of [`sweep`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    /// An absolute bound of 10⁻³: from values that all become 0 to those that cannot be quantized.
    Fixed,
    /// An absolute bound that is 2⁻¹⁷ of the magnitude of the values: some hundred bins a chunk.
    Scaled,
    /// A pointwise bound of 10⁻³.
    Pointwise,
    /// No error.
    Lossless,
}

impl Sweep {
    /// Every sweep.
    pub const ALL: [Self; 4] = [Self::Fixed, Self::Scaled, Self::Pointwise, Self::Lossless];

    /// The kind of its bounds.
    pub fn kind(self) -> BoundKind {
        match self {
            Self::Fixed | Self::Scaled => BoundKind::Abs,
            Self::Pointwise => BoundKind::Pointwise,
            Self::Lossless => BoundKind::Lossless,
        }
    }

    fn tolerance<T: Element>(self, first: u64) -> Tolerance {
        match self {
            Self::Fixed => Tolerance::Abs(1e-3),
            Self::Scaled => {
                let exponent_bits = 8 * T::SIZE as u32 - 1 - T::FRACTION_BITS;
                let most = (1 << exponent_bits) - 1;
                let exponent = (pattern::<T>(first).to_word() >> T::FRACTION_BITS) as i32 & most;
                Tolerance::Abs(1.3 * 2f64.powi(exponent.max(1) - most / 2 - 17))
            }
            Self::Pointwise => Tolerance::Pointwise(1e-3),
            Self::Lossless => Tolerance::Lossless,
        }
    }
}

/// Patterns of 32 bits, in chunks of consecutive ones, each with a bound of the sweep.
pub fn sweep<T: Element>(
    entry: &Entry,
    sweep: Sweep,
    chunks: impl Iterator<Item = u64>,
) -> Result<Counts, String> {
    let mut torture = Torture::<T>::new(entry);
    for chunk in chunks {
        let first = chunk * SWEEP_PATTERNS as u64;
        torture.patterns(first, SWEEP_PATTERNS, sweep.tolerance::<T>(first))?;
    }
    Ok(torture.counts)
}

/// All 2¹⁶ bit patterns of a 16-bit type, with `bounds` bounds of each kind.
pub fn sixteen<T: Element>(entry: &Entry, bounds: usize) -> Result<Counts, String> {
    let mut torture = Torture::<T>::new(entry);
    for number in 0..bounds {
        // From all of the type's magnitudes to none of them.
        let part = (number as f64 + 0.5) / bounds as f64;
        for kind in entry.info.tolerances {
            let tolerance = match kind {
                BoundKind::Abs => Tolerance::Abs(2f64.powf(150.0 * part - 140.0)),
                BoundKind::Pointwise => Tolerance::Pointwise(2f64.powf(-12.0 * part)),
                BoundKind::Precision => Tolerance::Precision(1 + (part * 20.0) as u32),
                _ => Tolerance::Lossless,
            };
            torture.patterns(0, 1 << 16, tolerance)?;
        }
    }
    Ok(torture.counts)
}

/// Random chunks until this many values were checked.
pub fn mixed<T: Element>(entry: &Entry, values: u64, seed: u64) -> Result<Counts, String> {
    let mut torture = Torture::<T>::new(entry);
    let mut random = Random::new(seed);
    while torture.counts.coded + torture.counts.raw < values {
        torture.mixed(&mut random)?;
    }
    Ok(torture.counts)
}

/// Extents of chunks: whole and partial blocks, rows and units, one beyond 2¹⁶ values.
const DIMS: [Dims; 8] = [
    dims(1, 1, 4096),
    dims(1, 1, 1777),
    dims(1, 64, 64),
    dims(1, 37, 101),
    dims(16, 16, 16),
    dims(7, 19, 33),
    dims(33, 1, 130),
    dims(5, 100, 150),
];

const fn dims(nz: usize, ny: usize, nx: usize) -> Dims {
    Dims { nz, ny, nx }
}

/// Values compared at once.
const BLOCK: usize = 64;

/// [`exact::check`], faster: only blocks with a value that is not clearly within its bound are
/// looked at one by one.
fn compare<T: Element>(
    original: &[T],
    decoded: &[T],
    tolerance: Tolerance,
    fill: &FillValues,
) -> Result<(), String> {
    for (x, y) in original.chunks(BLOCK).zip(decoded.chunks(BLOCK)) {
        // Rounding is monotone: a rounded error below the rounded bound is below the bound. NaN and
        // infinities fail every comparison.
        let clear = match tolerance {
            Tolerance::Abs(e) => all(x, y, |_| e),
            Tolerance::Pointwise(e) => all(x, y, |x| e * x.abs()),
            Tolerance::Lossless => bytes(x) == bytes(y),
            Tolerance::Precision(_) => false,
        };
        if !clear || !fill.is_empty() {
            exact::check(x, y, tolerance, fill)?;
        }
    }
    Ok(())
}

fn bytes<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn all<T: Element>(x: &[T], y: &[T], bound: impl Fn(f64) -> f64) -> bool {
    let mut clear = true;
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (x.to_f64(), y.to_f64());
        clear &= (x - y).abs() < bound(x);
    }
    clear
}
