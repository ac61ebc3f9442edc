//! Maps residuals to symbols 0…255, with low bits and exceptions.
//!
//! A residual r becomes the symbol r >> shift; its low bits, which are noise if residuals are
//! large, are stored raw in a separate stream. Symbols from 192 on stand for numbers of a certain
//! width, whose bits below the highest are in the list of exceptions. If large residuals have few
//! distinct values, as near fill values, a palette replaces both.

use super::estimate::{FRACTION_BITS, entropy};
use crate::bits::{BitReader, BitWriter};
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::fields;

/// The first symbol that stands for a width: that of the narrowest numbers without a symbol of
/// their own.
pub(super) const ESCAPE: u8 = 192;
/// Their width in bits.
const MIN_ESCAPED_WIDTH: u32 = u8::BITS - ESCAPE.leading_zeros();
/// Stored in place of a shift: symbols are indices into a palette of all distinct residuals; its
/// length and entries follow.
const PALETTE: u8 = 255;
/// Most entries of a palette.
const MAX_PALETTE_ENTRIES: usize = 32;
/// A palette is tried if at least one residual in this many is large: building one takes time.
const MAX_VALUES_PER_LARGE: usize = 64;
/// Number of residuals sampled to choose the shift, and the length of consecutive runs.
const MAX_SAMPLES: usize = 1024;
const RUN_VALUES: usize = 32;
/// Accept a larger shift, which is faster, when it costs at most 1/128 more bits.
const SHIFT_SLACK_DIVISOR: u64 = 128;
/// Prefer no shift when it saves more than 1/32 of the bits: then low bits are not noise.
const NO_SHIFT_GAIN_DIVISOR: u64 = 32;
/// Symbols per pass, so that they stay in the L1 cache; a multiple of eight.
const SYMBOLS_IN_CACHE: usize = 4096;
/// Symbols tested for escapes at a time.
const BLOCK: usize = 64;

/// Splits `values` into symbols, appends the shift and the low bits to `out`, and the exceptions to
/// `exceptions`.
pub(super) fn split<W: Word>(
    values: &[W],
    simd: Level,
    symbols: &mut Vec<u8>,
    exceptions: &mut BitWriter,
    out: &mut Vec<u8>,
) {
    symbols.resize(values.len(), 0);
    if values.is_empty() {
        return;
    }
    let most = W::truncate(ESCAPE.into());
    let (largest, large) = simd.run(
        #[inline(always)]
        || {
            let (mut largest, mut large) = (W::default(), 0);
            for &value in values {
                largest = largest.max(value);
                large += usize::from(value >= most);
            }
            (largest, large)
        },
    );
    if large * MAX_VALUES_PER_LARGE > values.len()
        && let Some(palette) = palette(values)
    {
        out.extend_from_slice(&[PALETTE, palette.len() as u8]);
        palette.iter().for_each(|value| append(*value, out));
        for (symbol, value) in symbols.iter_mut().zip(values) {
            *symbol = palette.binary_search(value).unwrap_or(0) as u8;
        }
        return;
    }
    let shift = shift_for(values, simd);
    out.push(shift as u8);
    // 1. Low bits and symbols.
    for (symbols, values) in symbols
        .chunks_mut(SYMBOLS_IN_CACHE)
        .zip(values.chunks(SYMBOLS_IN_CACHE))
    {
        if (1..=8).contains(&shift) {
            simd.run(
                #[inline(always)]
                || {
                    for (low, value) in symbols.iter_mut().zip(values) {
                        *low = value.unsigned() as u8;
                    }
                },
            );
            fields::pack(symbols, shift, simd, out);
        } else if shift > 0 {
            // All pieces but the last end at a byte boundary.
            fields::wide::pack(values.iter().map(|v| v.unsigned()), shift, out);
        }
        simd.run(
            #[inline(always)]
            || {
                for (symbol, value) in symbols.iter_mut().zip(values) {
                    *symbol = value.shr(shift).min(most).unsigned() as u8;
                }
            },
        );
    }
    // 2. Exceptions.
    if largest.shr(shift) >= most {
        for (block, values) in symbols.chunks_mut(BLOCK).zip(values.chunks(BLOCK)) {
            if block.contains(&ESCAPE) {
                let escaped = values.iter().zip(block).filter(|(_, s)| **s == ESCAPE);
                for (value, symbol) in escaped {
                    let number = value.shr(shift).unsigned();
                    let low = number.ilog2();
                    *symbol = symbol_of_wide(number);
                    exceptions.put_wide(number ^ 1 << low, low);
                }
            }
        }
    }
}

fn append<W: Word>(value: W, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.unsigned().to_le_bytes()[..size_of::<W>()]);
}

/// The distinct residuals, sorted, if there are few.
fn palette<W: Word>(values: &[W]) -> Option<Vec<W>> {
    let mut found: Vec<W> = Vec::new();
    for value in values {
        if let Err(place) = found.binary_search(value) {
            if found.len() == MAX_PALETTE_ENTRIES {
                return None;
            }
            found.insert(place, *value);
        }
    }
    Some(found)
}

/// The largest shift: it leaves eight bits for the symbol.
fn max_shift<W: Word>() -> u32 {
    16 * W::PARTS as u32 - 8
}

/// The shift, chosen by the cost of a sample.
fn shift_for<W: Word>(values: &[W], simd: Level) -> u32 {
    // Consecutive residuals share a cache line.
    let step = values.len().div_ceil(MAX_SAMPLES);
    let runs = values.chunks(RUN_VALUES).step_by(step);
    let gathered;
    let sample = match step {
        1 => values,
        _ => {
            gathered = runs.collect::<Vec<_>>().concat();
            &gathered
        }
    };
    let shift = shift_if_noise(sample, simd);
    // Low bits of few distinct values are not noise.
    if shift > 0 {
        let (all, few) = (sampled_cost(sample, 0), sampled_cost(sample, shift));
        if all < few - few / NO_SHIFT_GAIN_DIVISOR {
            return 0;
        }
    }
    shift
}

/// The largest shift that costs little more than the best one, assuming that low bits are noise:
/// smaller symbols are faster to encode.
fn shift_if_noise<W: Word>(sample: &[W], simd: Level) -> u32 {
    let per_width = simd.run(
        #[inline(always)]
        || widths(sample),
    );
    let widest = per_width.iter().rposition(|&n| n > 0).unwrap_or(0);
    let per_width = &per_width[..=widest];
    let mut costs = Vec::with_capacity(64);
    for shift in 0..=widest.min(max_shift::<W>() as usize) {
        // Widths of symbols; the bits below the highest are treated as noise.
        let mut widths = [0; 65];
        let mut noise = shift * sample.len();
        for (width, &count) in per_width.iter().enumerate() {
            let width = width.saturating_sub(shift);
            widths[width] += count;
            noise += width.saturating_sub(1) * count as usize;
        }
        costs.push(entropy(&widths[..=widest - shift]) + ((noise as u64) << FRACTION_BITS));
    }
    let least = costs.iter().min().copied().unwrap_or(0);
    let good = costs
        .iter()
        .rposition(|&cost| cost <= least + least / SHIFT_SLACK_DIVISOR);
    good.unwrap_or(0) as u32
}

/// The number of values of each width in bits.
#[inline(always)]
fn widths<W: Word>(sample: &[W]) -> [u32; 65] {
    let mut counts = [0; 65];
    let mut left = sample.len() as u32;
    // Comparing all values with each power of two is faster than counting widths one by one.
    for width in 0..16 * W::PARTS {
        let least = W::truncate(1 << width);
        let mut wider = 0u32;
        for &value in sample {
            wider += u32::from(value >= least);
        }
        counts[width] = left - wider;
        left = wider;
        if wider == 0 {
            return counts;
        }
    }
    counts[16 * W::PARTS] = left;
    counts
}

/// Bits of a sample with a shift.
fn sampled_cost<W: Word>(sample: &[W], shift: u32) -> u64 {
    let mut counts = [0; 256];
    let mut noise = u64::from(shift) * sample.len() as u64;
    for value in sample {
        let number = value.unsigned() >> shift;
        let symbol = if number < ESCAPE.into() {
            number as u8
        } else {
            noise += u64::from(number.ilog2());
            symbol_of_wide(number)
        };
        counts[usize::from(symbol)] += 1;
    }
    // A sample overestimates how well many distinct symbols compress.
    let kinds = counts.iter().filter(|c| **c > 0).count() as u64;
    entropy(&counts) + ((noise + kinds * 3 / 4) << FRACTION_BITS)
}

/// The symbol of a number without a symbol of its own.
fn symbol_of_wide(number: u64) -> u8 {
    ESCAPE + (number.ilog2() + 1 - MIN_ESCAPED_WIDTH) as u8
}

/// What is needed besides symbols to restore the residuals of a group.
pub(super) enum Rest<'a, W> {
    /// The shift and the low bits.
    Low(u32, &'a [u8]),
    /// A palette of all distinct residuals.
    Palette(Vec<W>),
}

impl<'a, W: Word> Rest<'a, W> {
    /// Reads that of a group of `count` residuals and advances `bytes` past it.
    pub fn read_from(bytes: &mut &'a [u8], count: usize) -> Result<Self> {
        if count == 0 {
            return Ok(Self::Low(0, &[]));
        }
        let missing = || Error::truncated("the shift of a group is cut off");
        let shift = *bytes.split_off_first().ok_or_else(missing)?;
        if shift == PALETTE {
            let count = *bytes.split_off_first().ok_or_else(missing)?;
            let palette = (0..count).map(|_| Ok(W::truncate(take::<W>(bytes)?)));
            return palette.collect::<Result<_>>().map(Self::Palette);
        }
        let shift = u32::from(shift);
        if shift > max_shift::<W>() {
            return Err(Error::corrupt("impossible shift"));
        }
        Ok(Self::Low(
            shift,
            fields::wide::split_off(bytes, count, shift)?,
        ))
    }
}

/// The inverse of [`split`]: restores `values` from symbols, and consumes exceptions from the list.
pub(super) fn join<W: Word>(
    symbols: &[u8],
    rest: &Rest<'_, W>,
    simd: Level,
    exceptions: &mut BitReader<'_>,
    values: &mut [W],
) -> Result<()> {
    let (shift, mut low) = match rest {
        Rest::Low(shift, low) => (*shift, *low),
        Rest::Palette(palette) => {
            for (value, &place) in values.iter_mut().zip(symbols) {
                let found = palette.get(usize::from(place));
                *value = *found.ok_or_else(|| Error::corrupt("a symbol outside of the palette"))?;
            }
            return Ok(());
        }
    };
    let mut fields = [0; SYMBOLS_IN_CACHE];
    for (values, symbols) in values
        .chunks_mut(SYMBOLS_IN_CACHE)
        .zip(symbols.chunks(SYMBOLS_IN_CACHE))
    {
        // 1. Low bits and symbols.
        let (now, later) = low.split_at(low.len().min(SYMBOLS_IN_CACHE / 8 * shift as usize));
        low = later;
        let fields = &mut fields[..values.len()];
        if (1..=8).contains(&shift) {
            fields::unpack(now, shift, simd, fields);
        }
        let escaped = simd.run(
            #[inline(always)]
            || {
                for ((value, &symbol), &low) in values.iter_mut().zip(symbols).zip(&*fields) {
                    let high = W::truncate(symbol.into()).shl(shift);
                    *value = high.or(W::truncate(low.into()));
                }
                symbols.iter().fold(0, |most, &s| most.max(s)) >= ESCAPE
            },
        );
        if shift > 8 {
            for (value, low) in values.iter_mut().zip(fields::wide::unpack(now, shift)) {
                *value = value.or(W::truncate(low));
            }
        }
        // 2. Exceptions.
        if escaped {
            let all = values.iter_mut().zip(symbols);
            for (value, &symbol) in all.filter(|(_, s)| **s >= ESCAPE) {
                let low = u32::from(symbol - ESCAPE) + MIN_ESCAPED_WIDTH - 1;
                if low >= 16 * W::PARTS as u32 {
                    return Err(Error::corrupt("a residual exceeds its type"));
                }
                let number = exceptions.get_wide(low);
                let noise = value.unsigned() & ((1 << shift) - 1);
                *value = W::truncate((1 << low | number) << shift | noise);
            }
        }
    }
    Ok(())
}

fn take<W: Word>(rest: &mut &[u8]) -> Result<u64> {
    let (bytes, tail) = rest
        .split_at_checked(size_of::<W>())
        .ok_or_else(|| Error::truncated("the list of exceptions is cut off"))?;
    *rest = tail;
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    Ok(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join_all<W: Word>(symbols: &[u8], bytes: &mut &[u8]) -> Result<Vec<W>> {
        let mut values = vec![W::default(); symbols.len()];
        let rest = Rest::read_from(bytes, symbols.len())?;
        let mut exceptions = BitReader::new(bytes);
        join(
            symbols,
            &rest,
            Level::detect(),
            &mut exceptions,
            &mut values,
        )?;
        *bytes = exceptions.rest()?;
        Ok(values)
    }

    fn round_trip<W: Word + std::fmt::Debug>(values: &[W]) -> Vec<u8> {
        let (mut symbols, mut bytes) = (vec![7], Vec::new());
        let mut writer = BitWriter::default();
        split(
            values,
            Level::detect(),
            &mut symbols,
            &mut writer,
            &mut bytes,
        );
        bytes.extend(writer.finish());
        let mut left = bytes.as_slice();
        assert_eq!(join_all::<W>(&symbols, &mut left).unwrap(), values);
        assert!(left.is_empty());
        for cut in 0..bytes.len() {
            assert!(join_all::<W>(&symbols, &mut &bytes[..cut]).is_err());
        }
        bytes
    }

    #[test]
    fn residuals_round_trip() {
        assert!(round_trip::<u16>(&[]).is_empty());
        assert_eq!(round_trip::<u16>(&[0, 5, 7]), [0]);
        assert_eq!(round_trip::<u32>(&[0, 5, 7]), [0]);
        let mut values = vec![7u16; 1000];
        values[500] = 255;
        values[501] = u16::MAX;
        // A few large residuals are exceptions; more with three distinct values use a palette; with
        // many distinct values they do not.
        let exceptions = 1 + (7 + 15usize).div_ceil(8);
        assert_eq!(round_trip(&values).len(), exceptions);
        assert_eq!(round_trip(&values[450..550]).len(), 2 + 3 * 2);
        let kinds = (0..40).zip(&mut values[450..]);
        kinds.for_each(|(kind, value)| *value = kind);
        assert_eq!(round_trip(&values[450..550]).len(), exceptions);
        let wide: Vec<u16> = (0..2000).map(|i| i * 17).collect();
        assert!(round_trip(&wide)[0] > 0);
        let wider: Vec<u32> = (0..2000).map(|i| i * 2_000_003).collect();
        assert!(round_trip(&wider)[0] > 15);
        round_trip(&[u32::MAX, 0, 3]);
        round_trip(&[u64::MAX, 0, 3, 1 << 40]);
        let widest: Vec<u64> = (0..999).map(|i| i << 53).collect();
        assert!(round_trip(&widest)[0] == 56);
    }
}
