//! Dual quantization: values to residual units and back.
//!
//! ```text
//! values ─► integers (quantized, or ordered bit patterns) ─► differences at lags ─► zigzag units
//! ```
//!
//! The integers are lattice coordinates of 16 bits, or 32 bits for tight bounds, or the bit patterns
//! of the values if these must be exact. Values that cannot be quantized go to the exact side list;
//! in the sequence, the integer before them is repeated.

mod choose;
mod forward;
mod inverse;

pub(crate) use choose::{relative, sampled_places, scattered, scattered_place};
pub(crate) use forward::{forward, max_exception_bytes, narrow_plan};
pub(crate) use inverse::inverse;

use super::UNIT;
use super::fused::Source;
use super::lags::Lags;
use super::quantize::PointRange;
use crate::element::Float;
use crate::element::real::Real;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::request::Dims;
use crate::simd::Level;
use crate::workspace::Context;

/// How the values of a chunk are mapped to integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// 16-bit lattice coordinates, in the arithmetic of the element.
    Narrow = 0,
    /// 32-bit lattice coordinates, in double precision.
    Wide = 1,
    /// Bit patterns, ordered like the values.
    Exact = 2,
    /// Like `Narrow`, on the lattice of a pointwise relative bound.
    NarrowRelative = 3,
    /// Like `NarrowRelative`, with 32-bit coordinates.
    WideRelative = 4,
    /// Like `WideRelative`, in double precision.
    FineRelative = 5,
}

impl Mode {
    const ALL: [Self; 6] = [
        Self::Narrow,
        Self::Wide,
        Self::Exact,
        Self::NarrowRelative,
        Self::WideRelative,
        Self::FineRelative,
    ];
}

/// The parameters of the inverse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plan {
    pub mode: Mode,
    pub lags: Lags,
    /// Lattice of the quantized modes; the base is in steps.
    pub step: f64,
    pub base: f64,
}

impl Plan {
    /// Encoded size in bytes.
    pub const SIZE: usize = 20;

    /// Encodes a plan.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..2].copy_from_slice(&[self.mode as u8, self.lags.0]);
        bytes[4..12].copy_from_slice(&self.step.to_le_bytes());
        bytes[12..].copy_from_slice(&self.base.to_le_bytes());
        bytes
    }

    /// Decodes a plan.
    pub fn read_from(bytes: &[u8; Self::SIZE]) -> Result<Self> {
        let [mode, lags, 0, 0, numbers @ ..] = *bytes else {
            return Err(Error::corrupt("unknown flags in a prediction plan"));
        };
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&numbers[at..at + 8]);
            f64::from_le_bytes(number)
        };
        let (step, base) = (number(0), number(8));
        if !step.is_finite() || !base.is_finite() {
            // Which of two NaNs an operation returns would depend on the instruction set.
            return Err(Error::corrupt("step or base of a lattice is not finite"));
        }
        let mode = Mode::ALL.into_iter().find(|m| *m as u8 == mode);
        match mode {
            Some(mode) if lags < 8 => Ok(Self {
                mode,
                lags: Lags(lags),
                step,
                base,
            }),
            _ => Err(Error::corrupt("unknown mode or lags in a prediction plan")),
        }
    }

    /// Number of 16-bit parts of a residual, for elements `T`.
    pub fn parts<T: Float>(&self) -> usize {
        match self.mode {
            Mode::Narrow | Mode::NarrowRelative => 1,
            Mode::Wide | Mode::WideRelative | Mode::FineRelative => 2,
            Mode::Exact => <T as Real>::Order::PARTS,
        }
    }
}

/// Largest 16-bit coordinate.
pub(crate) const MAX_NARROW: i64 = (1 << 15) - 2;

/// Number of units in a chunk of this many values.
pub(crate) fn units(values: usize) -> usize {
    values.div_ceil(UNIT)
}

/// Cost estimate from sampled residual units; the prediction with the lowest cost is chosen.
pub(crate) trait Estimate: Default {
    /// Whether to sample the first rows and planes too, which have no previous ones.
    const EVERYWHERE: bool = false;
    /// Number of units to sample from a chunk; at least 1.
    fn samples(units: usize) -> usize;
    /// Adds a unit.
    fn add<W: Word>(&mut self, level: Level, residuals: &[W; UNIT]);
    /// The cost of the units so far.
    fn cost(&self) -> u64;
}

/// Consumer of the residual units of a chunk.
pub(crate) trait Sink {
    /// Estimate of the cost of units in this sink.
    type Estimate: Estimate;
    /// Whether the sink accepts units with this estimated cost per unit. If not, it gets none.
    fn wants(&mut self, _cost: u64) -> bool {
        true
    }
    /// Discards the units so far and starts a new plan with this many units.
    fn restart<W: Word>(&mut self, units: usize);
    /// Consumes the next unit.
    fn unit<W: Word>(&mut self, residuals: &[W; UNIT]);
    /// Consumes all units of a chunk of 16-bit coordinates at once; see [`super::fused::encode`].
    fn fused<T: Float>(&mut self, _: Source<'_, T>, _: &mut Context) -> Option<Option<PointRange>> {
        None
    }
}

/// Source of the residual units of a chunk.
pub(crate) trait Fetch {
    /// Returns the next unit in `residuals`.
    fn unit<W: Word>(&mut self, residuals: &mut [W; UNIT]) -> Result<()>;
    /// Decodes a chunk of 16-bit coordinates at once; `None` if there is no kernel.
    fn fused<T: Float>(
        &mut self,
        _: &Plan,
        _: Dims,
        _: &mut Context,
        _: &mut [T],
    ) -> Option<Result<()>> {
        None
    }
}
/// Calls `f` with the index, the values and the number of valid values of every unit, until it
/// returns false; returns whether it never did. The last unit is padded with its last value.
#[inline(always)]
pub(crate) fn for_each_unit<T: Float>(
    values: &[T],
    mut f: impl FnMut(usize, &[T; UNIT], usize) -> bool,
) -> bool {
    let (units, rest) = values.as_chunks::<UNIT>();
    for (index, unit) in units.iter().enumerate() {
        if !f(index, unit, UNIT) {
            return false;
        }
    }
    rest.is_empty() || f(units.len(), &padded(rest), rest.len())
}

/// The first values as a unit, padded with the last one.
pub(crate) fn padded<T: Float>(values: &[T]) -> [T; UNIT] {
    let mut unit = [values.last().copied().unwrap_or_default(); UNIT];
    let length = values.len().min(UNIT);
    unit[..length].copy_from_slice(&values[..length]);
    unit
}
