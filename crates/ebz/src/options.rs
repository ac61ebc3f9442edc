//! Compression options, shared by all front ends.

use crate::bound::{Bound, BoundKind, Tolerance};
use crate::clip::Clip;
use crate::codec::{self, Entry, Params};
use crate::error::{Error, Result};
use crate::favor::Favor;
use crate::fill::Fill;
use crate::simd::Level;

/// How to compress an array.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct Options {
    /// The error bound or target.
    pub bound: Bound,
    /// Name of the codec; [`codec::AUTO`] stands for the one that suits the array best.
    pub codec: String,
    /// What `auto` favors.
    pub favor: Favor,
    /// Parameters of the codec.
    pub params: Params,
    /// Whether a `ratio` is met in one pass over the array: about, instead of at least.
    pub one_pass: bool,
    /// Chunk extents, one per axis; chosen by the library if absent.
    pub chunk: Option<Vec<usize>>,
    /// Number of threads; 0 means all cores.
    pub threads: usize,
    /// The fill values, which mark missing data: stored exactly and excluded from the range.
    pub fill: Fill,
    /// Limits that decoded values respect where the original values did.
    pub clip: Clip,
    /// Whether exact zeros stay exactly zero.
    pub keep_zeros: bool,
    /// User metadata, stored with the array.
    pub metadata: Option<serde_json::Value>,
    /// Instruction set for the kernels; does not affect the output.
    pub simd: Level,
}

impl Options {
    /// Defaults for everything but the bound.
    pub fn new(bound: Bound) -> Self {
        Self {
            bound,
            codec: codec::DEFAULT.into(),
            favor: Favor::default(),
            params: Params::default(),
            one_pass: false,
            chunk: None,
            threads: 0,
            fill: Fill::Auto,
            clip: Clip::Auto,
            keep_zeros: false,
            metadata: None,
            simd: Level::detect(),
        }
    }

    /// Sets the codec by name.
    pub fn codec(mut self, name: impl Into<String>) -> Self {
        self.codec = name.into();
        self
    }

    /// Sets what codec `auto` favors.
    pub fn favor(mut self, favor: Favor) -> Self {
        self.favor = favor;
        self
    }

    /// Whether the codec is to be chosen by the values.
    pub fn is_auto(&self) -> bool {
        self.codec == codec::AUTO
    }

    /// Sets a parameter of the codec.
    pub fn param(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.set(key, value);
        self
    }

    /// Meets a `ratio` in one pass over the array: within some per cent of it, above or below, at a
    /// constant speed. A bound of its own is chosen for every slab; the largest one is the guarantee
    /// that the frame records. There are no limits of values ([`Clip`]) in this mode.
    pub fn one_pass(mut self, one_pass: bool) -> Self {
        self.one_pass = one_pass;
        self
    }

    /// Sets the chunk extents.
    pub fn chunk(mut self, extents: &[usize]) -> Self {
        self.chunk = Some(extents.to_vec());
        self
    }

    /// Sets the number of threads; 0 means all cores.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the fill values.
    pub fn fill(mut self, fill: impl Into<Fill>) -> Self {
        self.fill = fill.into();
        self
    }

    /// Sets the limits that decoded values respect.
    pub fn clip(mut self, clip: Clip) -> Self {
        self.clip = clip;
        self
    }

    /// Sets whether exact zeros stay exactly zero.
    pub fn keep_zeros(mut self, keep: bool) -> Self {
        self.keep_zeros = keep;
        self
    }

    /// Sets the user metadata.
    pub fn metadata(mut self, metadata: serde_json::Value) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Sets the instruction set for the kernels.
    pub fn simd(mut self, level: Level) -> Self {
        self.simd = level;
        self
    }

    /// For arrays that are read, modified in part and compressed again, such as Zarr and HDF5
    /// chunks: unmodified values decode to the same bits each time, if the codec supports it. Only
    /// affects `abs` and `pointwise`, whose tolerance does not depend on the data; explicitly set
    /// parameters stay.
    pub fn for_rewriting(mut self) -> Self {
        let kind = self.bound.kind();
        if matches!(kind, BoundKind::Abs | BoundKind::Pointwise)
            && let Ok(entry) = codec::by_name(&self.codec)
        {
            for (key, value) in entry.info.rewrites_exactly.unwrap_or_default() {
                if self.params.get(key).is_none() {
                    self.params.set(*key, *value);
                }
            }
        }
        self
    }

    /// Checks bound, codec and parameters; returns the codec, or in place of `auto` the fastest that it may
    /// choose.
    pub fn check(&self) -> Result<&'static Entry> {
        self.bound.validate()?;
        if let Clip::Between(min, max) = self.clip {
            Clip::between(min, max)?;
        }
        let kind = self.bound.kind();
        if self.one_pass && kind != BoundKind::Ratio {
            return Err(Error::invalid(format!(
                "one pass is a way to meet a ratio, not {}: ask for a ratio, or leave it out",
                kind.name()
            )));
        }
        if self.one_pass && !matches!(self.clip, Clip::Auto | Clip::None) {
            return Err(Error::unsupported(
                "limits of values need a bound that is known before the first value, which one pass \
                 does not have: leave one of them out",
            ));
        }
        if self.is_auto() {
            return self.check_auto();
        }
        let entry = codec::by_name(&self.codec)?;
        if !entry.offers(kind) {
            let able: Vec<_> = codec::TABLE
                .iter()
                .filter(|e| e.offers(kind))
                .map(|e| e.info.name)
                .collect();
            return Err(Error::unsupported(format!(
                "codec {} does not support {}: use {}",
                self.codec,
                kind.name(),
                if able.is_empty() {
                    "another bound (no codec of this version supports it)".into()
                } else {
                    able.join(" or ")
                }
            )));
        }
        entry.validate(&self.params)?;
        Ok(entry)
    }

    fn check_auto(&self) -> Result<&'static Entry> {
        if !self.params.is_empty() {
            return Err(Error::invalid(
                "parameters belong to one codec: name it instead of auto",
            ));
        }
        let fastest = self.candidates().min_by_key(|(_, quarters)| *quarters);
        fastest.map(|(entry, _)| entry).ok_or_else(|| {
            Error::unsupported(format!(
                "{} means something else to each codec, so that auto cannot choose: name a codec",
                self.bound.kind().name()
            ))
        })
    }

    /// The codecs that `auto` may choose, and how long they take ([`codec::Codec::QUARTERS`]).
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (&'static Entry, u32)> {
        let kind = self.bound.kind();
        // Each codec keeps other bits.
        let comparable = kind != BoundKind::Precision;
        let offered = codec::TABLE.iter().filter(move |entry| entry.offers(kind));
        offered.filter_map(move |entry| Some((entry, entry.quarters.filter(|_| comparable)?)))
    }

    /// Resolves the bound to a tolerance; calls `range` (max − min of the finite values) if needed.
    pub fn tolerance(&self, range: impl FnOnce() -> Result<f64>) -> Result<Tolerance> {
        let abs = |e: f64| match e {
            e if e > 0.0 && e.is_finite() => Tolerance::Abs(e),
            _ => Tolerance::Lossless,
        };
        Ok(match self.bound {
            Bound::Abs(e) => abs(e),
            Bound::Range(e) => abs(product_down(e, range()?)),
            Bound::Pointwise(e) if e > 0.0 => Tolerance::Pointwise(e),
            Bound::Precision(bits) => Tolerance::Precision(bits),
            Bound::Pointwise(_) | Bound::Lossless => Tolerance::Lossless,
            Bound::Psnr(_) | Bound::Ratio(_) => {
                return Err(Error::unsupported(format!(
                    "{} needs the whole array before the first byte is written, so it cannot be \
                     streamed: use abs",
                    self.bound.kind().name()
                )));
            }
        })
    }

    /// Whether encoding starts with a scan of all values.
    pub(crate) fn scans(&self) -> bool {
        let kind = self.bound.kind();
        matches!(kind, BoundKind::Range | BoundKind::Psnr | BoundKind::Ratio)
            || self.clip == Clip::Data
    }

    /// Whether resolving the bound or the limits needs the range of the whole array.
    pub fn needs_range(&self) -> bool {
        let known_anyway = matches!(self.bound, Bound::Psnr(_) | Bound::Ratio(_));
        self.bound.kind() == BoundKind::Range || self.clip == Clip::Data && !known_anyway
    }
}

/// a · b, rounded down.
fn product_down(a: f64, b: f64) -> f64 {
    // Below this, the rounding error of the product may underflow.
    const MIN_PRODUCT_WITH_EXACT_ERROR: f64 = 1e-280;
    let product = a * b;
    if product < MIN_PRODUCT_WITH_EXACT_ERROR || a.mul_add(b, -product) < 0.0 {
        product.next_down()
    } else {
        product
    }
}
