//! `ratio` and `psnr`: the absolute bound that meets a target, for every codec that offers `abs`.
//!
//! In: an array and a target. Out: the tolerance. The search compresses the array with bounds that
//! come closer and closer, starting from a sample of it and from the CEAZ paper's model: a bound
//! twice as large saves one bit per value, and 6 dB. What it returns has been tried on the whole
//! array.

use crate::array::{FiniteRange, View};
use crate::bound::{Bound, Tolerance};
use crate::container::{Reader, Writer};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::options::Options;
use std::io;

/// Bounds that are tried on the whole array at most.
const MOST_TRIALS: usize = 24;
/// Bounds that are tried on a sample.
const SAMPLE_TRIALS: usize = 8;
/// Smallest share of the range that is tried as a bound.
const SMALLEST: f64 = 1e-12;

/// What is to be met, and how far above it is close enough.
#[derive(Debug, Clone, Copy)]
enum Target {
    /// Raw size over compressed size. Larger bounds have more.
    Ratio(f64),
    /// dB. Larger bounds have less.
    Psnr(f64),
}

impl Target {
    fn is_met(self, found: f64) -> bool {
        match self {
            Self::Ratio(target) | Self::Psnr(target) => found >= target,
        }
    }

    /// Met, and not by much more than asked.
    fn is_close(self, found: f64) -> bool {
        match self {
            Self::Ratio(target) => found <= target * 1.04,
            Self::Psnr(target) => found <= target + 0.5,
        }
    }

    /// The factor from a bound to a better one by the model; `bits` is the size of an element.
    fn factor(self, found: f64, bits: f64) -> f64 {
        match self {
            // Bits per value; a bit above the target, because the model is not exact.
            Self::Ratio(target) => (bits / found - bits / (target * 1.02)).exp2(),
            Self::Psnr(target) => 10f64.powf((found - target - 0.25) / 20.0),
        }
    }

    /// The quantity that is about linear in the logarithm of the bound.
    fn linear(self, found: f64) -> f64 {
        match self {
            Self::Ratio(_) => found.ln(),
            Self::Psnr(_) => found,
        }
    }

    /// What to aim at between two bounds.
    fn aim(self) -> f64 {
        match self {
            Self::Ratio(target) => (target * 1.02).ln(),
            Self::Psnr(target) => target + 0.25,
        }
    }
}

/// The tolerance that meets the `ratio` or `psnr` of the options; `guess` is a bound to start from.
pub(crate) fn tolerance<T: Element>(
    view: &View<'_, T>,
    options: &Options,
    guess: Option<f64>,
) -> Result<Tolerance> {
    let target = match options.bound {
        Bound::Ratio(ratio) => Target::Ratio(ratio),
        Bound::Psnr(decibels) => Target::Psnr(decibels),
        other => return Err(Error::invalid(format!("{other} needs no search"))),
    };
    let values = view.to_contiguous();
    let range = FiniteRange::of(&values, options.fill).extent();
    let whole = Trial {
        values: &values,
        shape: view.shape(),
        options,
        range,
    };
    if !(range > 0.0 && range.is_finite()) {
        // Nothing to lose: constant values, or none that count.
        return whole.exact(target);
    }
    let start = match (guess, whole.sample()) {
        (Some(guess), _) => guess,
        (None, Some((sample, shape))) => {
            let part = Trial {
                values: sample,
                shape: &shape,
                ..whole
            };
            let (bound, _) = part.search(target, 1e-3 * range, SAMPLE_TRIALS)?;
            bound
        }
        (None, None) => 1e-3 * range,
    };
    match whole.search(target, start, MOST_TRIALS)? {
        (bound, Some(found)) if target.is_met(found) => Ok(Tolerance::Abs(bound)),
        _ => whole.unreachable(target),
    }
}

/// Values on which bounds are tried.
#[derive(Clone, Copy)]
struct Trial<'a, T> {
    values: &'a [T],
    shape: &'a [usize],
    options: &'a Options,
    range: f64,
}

impl<'a, T: Element> Trial<'a, T> {
    /// The middle sixteenth of large arrays along their slowest axis.
    fn sample(&self) -> Option<(&'a [T], Vec<usize>)> {
        const PARTS: usize = 16;
        let (&slow, rest) = self.shape.split_first()?;
        let rows = slow / PARTS;
        let row: usize = rest.iter().product();
        if rows * row * T::SIZE < 1 << 20 {
            return None;
        }
        let first = (slow - rows) / 2;
        let mut shape = self.shape.to_vec();
        shape[0] = rows;
        Some((&self.values[first * row..(first + rows) * row], shape))
    }

    /// Looks for the best bound; returns it with what it gives. That is `None` if no bound that
    /// was tried meets the target; the bound is then the last one tried.
    fn search(&self, target: Target, start: f64, trials: usize) -> Result<(f64, Option<f64>)> {
        let mut bound = self.clamp(start);
        let mut met: Option<(f64, f64)> = None;
        let mut missed: Option<(f64, f64)> = None;
        for trial in 0..trials as i32 {
            let found = self.measure(target, Tolerance::Abs(bound))?;
            if target.is_met(found) {
                met = Some((bound, found));
                if target.is_close(found) {
                    break;
                }
            } else {
                missed = Some((bound, found));
            }
            let next = match (met, missed) {
                (Some(met), Some(missed)) => between(target, met, missed),
                // Nothing to lean on but the model, with larger and larger strides.
                _ => {
                    let bits = 8.0 * T::SIZE as f64;
                    let factor = target.factor(found.min(1e9), bits).clamp(1e-3, 1e3);
                    let stride = 1.2f64.powi(trial.min(8));
                    bound
                        * if factor > 1.0 {
                            factor.max(stride)
                        } else {
                            factor.min(1.0 / stride)
                        }
                }
            };
            let next = self.clamp(next);
            if next == bound {
                break;
            }
            bound = next;
        }
        Ok(met.map_or((bound, None), |(bound, found)| (bound, Some(found))))
    }

    /// Few binary digits, so that the last one of a logarithm decides nothing.
    fn clamp(&self, bound: f64) -> f64 {
        let short = f64::from_bits(bound.to_bits() & !0xffff_ffff);
        short.clamp(self.range * SMALLEST, self.range)
    }

    /// What a tolerance gives.
    fn measure(&self, target: Target, tolerance: Tolerance) -> Result<f64> {
        let options = Options {
            bound: tolerance.into(),
            ..self.options.clone()
        };
        let view = View::new(self.values, self.shape)?;
        match target {
            Target::Ratio(_) => {
                let mut writer = Writer::new(Count(0), options)?;
                writer.frame(&view)?;
                let Count(size) = writer.finish()?;
                Ok((self.values.len() * T::SIZE) as f64 / size as f64)
            }
            Target::Psnr(_) => {
                let bytes = crate::compress(&view, &options)?;
                let reader = Reader::from_source(bytes.as_slice())?;
                let reader = reader.threads(options.threads).simd(options.simd);
                Ok(self.psnr(reader.read()?.values()))
            }
        }
    }

    /// PSNR of decoded values, of those that count for the range.
    fn psnr(&self, decoded: &[T]) -> f64 {
        let fill = self.options.fill.map(T::from_f64);
        let (mut sum, mut count) = (0.0, 0u64);
        for (&value, &decoded) in self.values.iter().zip(decoded) {
            if value.is_finite() && Some(value) != fill {
                let error = value.to_f64() - decoded.to_f64();
                sum += error * error;
                count += 1;
            }
        }
        let rmse = (sum / count.max(1) as f64).sqrt();
        20.0 * (self.range / rmse).log10()
    }

    /// An exact copy, if that meets the target.
    fn exact(&self, target: Target) -> Result<Tolerance> {
        match target {
            Target::Ratio(ratio) => {
                let found = self.measure(target, Tolerance::Lossless)?;
                match target.is_met(found) {
                    true => Ok(Tolerance::Lossless),
                    false => Err(self.out_of_reach(ratio, found, found)),
                }
            }
            Target::Psnr(_) => Ok(Tolerance::Lossless),
        }
    }

    /// No bound meets the target.
    fn unreachable(&self, target: Target) -> Result<Tolerance> {
        match target {
            Target::Ratio(ratio) => {
                let most = self.measure(target, Tolerance::Abs(self.range))?;
                let least = self.measure(target, Tolerance::Abs(self.range * SMALLEST))?;
                Err(self.out_of_reach(ratio, least, most))
            }
            // A quality above what small bounds give is an exact copy.
            Target::Psnr(_) => Ok(Tolerance::Lossless),
        }
    }

    fn out_of_reach(&self, ratio: f64, least: f64, most: f64) -> Error {
        Error::invalid(format!(
            "ratio {ratio} cannot be reached with codec {}: this array allows {least:.3} to \
             {most:.3}",
            self.options.codec
        ))
    }
}

/// A bound between one that meets the target and one that misses it.
fn between(target: Target, met: (f64, f64), missed: (f64, f64)) -> f64 {
    let (from, to) = (missed.0.ln(), met.0.ln());
    let (low, high) = (target.linear(missed.1), target.linear(met.1));
    // A straight line, but not too close to either end, where it would hardly move.
    let share = ((target.aim() - low) / (high - low)).clamp(0.1, 0.9);
    let share = if share.is_finite() { share } else { 0.5 };
    let middle = (from + share * (to - from)).exp();
    // Neighbours: nothing is left between them.
    if (from - to).abs() < 1e-4 {
        met.0
    } else {
        middle
    }
}

/// Counts bytes.
struct Count(u64);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
