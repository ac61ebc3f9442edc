//! Residuals as symbols 0…1023, and what does not fit a symbol.
//!
//! A residual r becomes the symbol r >> shift; its low bits go to a stream of their own. The shift
//! is 0 unless many residuals need more than ten bits, at tight bounds; the low bits of such
//! residuals are noise and would not shrink anyway. Symbol 1023 stands for everything from 1023
//! on: the true number is in the list of exceptions. Where large residuals are of few kinds, as
//! beside fill values, a list of these takes the place of both.

use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::bits;
use crate::stage::word::Word;

/// The symbol of residuals that have none of their own.
pub(super) const ESCAPE: u16 = 1023;
/// Exceptions cost more than a larger shift if they are more than one residual in this many.
const RARE: usize = 128;
/// In place of a shift: symbols are places in a list of all different residuals, which follows
/// behind their number.
const PALETTE: u8 = 255;
/// The longest such list.
const FEW: usize = 32;
/// Residuals looked at to find the shift.
const SAMPLE: usize = 8192;

/// Splits `values` into symbols, and appends the shift, the low bits and the exceptions to `rest`.
/// The symbols are `values` themselves where nothing needs to be split off.
pub(super) fn split<'a, W: Word>(
    values: &'a [W],
    simd: Level,
    symbols: &'a mut Vec<u16>,
    rest: &mut Vec<u8>,
) -> &'a [u16] {
    if values.is_empty() {
        return &[];
    }
    let largest = simd.run(
        #[inline(always)]
        || values.iter().copied().fold(W::default(), W::max),
    );
    if largest < W::truncate(ESCAPE.into())
        && let Some(symbols) = as_symbols(values)
    {
        rest.push(0);
        return symbols;
    }
    if largest >= W::truncate(ESCAPE.into())
        && let Some(palette) = palette(values)
    {
        rest.extend_from_slice(&[PALETTE, palette.len() as u8]);
        for value in &palette {
            rest.extend_from_slice(&value.unsigned().to_le_bytes()[..size_of::<W>()]);
        }
        let place = |value: &W| palette.binary_search(value).unwrap_or(0) as u16;
        symbols.clear();
        symbols.extend(values.iter().map(place));
        return symbols;
    }
    let shift = shift_for(values);
    rest.push(shift as u8);
    bits::pack(values.iter().map(|v| v.unsigned()), shift, rest);
    symbols.resize(values.len(), 0);
    simd.run(
        #[inline(always)]
        || match as_symbols(values) {
            Some(values) if shift == 0 => {
                for (symbol, value) in symbols.iter_mut().zip(values) {
                    *symbol = (*value).min(ESCAPE);
                }
            }
            _ => {
                for (symbol, value) in symbols.iter_mut().zip(values) {
                    *symbol = (value.unsigned() >> shift).min(ESCAPE.into()) as u16;
                }
            }
        },
    );
    for (block, values) in symbols.chunks(BLOCK).zip(values.chunks(BLOCK)) {
        if has_escape(block) {
            let escaped = values.iter().zip(block).filter(|(_, s)| **s == ESCAPE);
            for (value, _) in escaped {
                let exception = value.unsigned() >> shift;
                rest.extend_from_slice(&exception.to_le_bytes()[..size_of::<W>()]);
            }
        }
    }
    symbols
}

/// The different residuals, in order, if they are few.
fn palette<W: Word>(values: &[W]) -> Option<Vec<W>> {
    let mut found: Vec<W> = Vec::new();
    for value in values {
        if let Err(place) = found.binary_search(value) {
            if found.len() == FEW {
                return None;
            }
            found.insert(place, *value);
        }
    }
    Some(found)
}

/// Symbols that are searched for exceptions at a time.
const BLOCK: usize = 64;

#[inline(always)]
fn has_escape(block: &[u16]) -> bool {
    block.iter().fold(false, |any, &s| any | (s == ESCAPE))
}

/// The largest shift leaves ten bits to the symbol.
fn max_shift<W: Word>() -> u32 {
    16 * W::PARTS as u32 - 10
}

/// The residuals as symbols, where they are of that type.
fn as_symbols<W: Word>(values: &[W]) -> Option<&[u16]> {
    (W::PARTS == 1).then(|| bytemuck::cast_slice(values))
}

/// The residuals as symbols, where they are of that type.
fn as_symbols_mut<W: Word>(values: &mut [W]) -> Option<&mut [u16]> {
    (W::PARTS == 1).then(|| bytemuck::cast_slice_mut(values))
}

/// The smallest shift that leaves few exceptions, as far as a sample tells.
fn shift_for<W: Word>(values: &[W]) -> u32 {
    let mut per_width = [0usize; 65];
    let sample = values.iter().step_by(values.len().div_ceil(SAMPLE).max(1));
    for value in sample {
        per_width[(u64::BITS - value.unsigned().leading_zeros()) as usize] += 1;
    }
    let total: usize = per_width.iter().sum();
    let exceptions = |shift: u32| per_width[11 + shift as usize..].iter().sum::<usize>();
    (0..max_shift::<W>())
        .find(|&shift| exceptions(shift) <= total / RARE)
        .unwrap_or(max_shift::<W>())
}

/// Undoes [`split`]: fills `values` by way of `decode`, which fills symbols, and takes the rest
/// from the front of `rest`.
pub(super) fn join<W: Word>(
    values: &mut [W],
    symbols: &mut Vec<u16>,
    rest: &mut &[u8],
    decode: impl FnOnce(&mut [u16]) -> Result<()>,
) -> Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    let shift = rest
        .split_off_first()
        .ok_or_else(|| Error::truncated("the shift is missing"))?;
    if *shift == PALETTE {
        let palette = take_palette::<W>(rest)?;
        symbols.clear();
        symbols.resize(values.len(), 0);
        decode(symbols)?;
        for (value, &place) in values.iter_mut().zip(&*symbols) {
            let found = palette.get(usize::from(place));
            *value = *found.ok_or_else(|| Error::corrupt("a residual that is not listed"))?;
        }
        return Ok(());
    }
    let shift = u32::from(*shift);
    if shift > max_shift::<W>() {
        return Err(Error::corrupt("impossible shift"));
    }
    let low = bits::Packed::take(rest, values.len(), shift)?;
    // The common case: symbols are the residuals, but for exceptions.
    if shift == 0
        && let Some(symbols) = as_symbols_mut(values)
    {
        decode(symbols)?;
        for block in symbols.chunks_mut(BLOCK) {
            if has_escape(block) {
                for symbol in block.iter_mut().filter(|s| **s == ESCAPE) {
                    *symbol = take_exception::<W>(rest)? as u16;
                }
            }
        }
        return Ok(());
    }
    symbols.clear();
    symbols.resize(values.len(), 0);
    decode(symbols)?;
    for ((value, &symbol), low) in values.iter_mut().zip(&*symbols).zip(low.iter()) {
        let high = match symbol {
            ESCAPE => take_exception::<W>(rest)?,
            symbol => symbol.into(),
        };
        *value = W::truncate(high << shift | low);
    }
    Ok(())
}

fn take_palette<W: Word>(rest: &mut &[u8]) -> Result<Vec<W>> {
    let count = *rest
        .split_off_first()
        .ok_or_else(|| Error::truncated("the list of residuals is missing"))?;
    (0..count)
        .map(|_| Ok(W::truncate(take_exception::<W>(rest)?)))
        .collect()
}

fn take_exception<W: Word>(rest: &mut &[u8]) -> Result<u64> {
    let (bytes, tail) = rest
        .split_at_checked(size_of::<W>())
        .ok_or_else(|| Error::truncated("exceptions are missing"))?;
    *rest = tail;
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    Ok(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<W: Word + std::fmt::Debug>(values: &[W]) -> Vec<u8> {
        let (mut buffer, mut rest) = (Vec::new(), Vec::new());
        let symbols = split(values, Level::detect(), &mut buffer, &mut rest).to_vec();
        assert!(symbols.iter().all(|&s| s <= ESCAPE));
        let mut back = vec![W::default(); values.len()];
        let mut bytes = rest.as_slice();
        join(&mut back, &mut Vec::new(), &mut bytes, |out| {
            out.copy_from_slice(&symbols);
            Ok(())
        })
        .unwrap();
        assert!(bytes.is_empty());
        assert_eq!(back, values);
        for cut in 0..rest.len() {
            let mut bytes = &rest[..cut];
            let result = join(&mut back, &mut Vec::new(), &mut bytes, |out| {
                out.copy_from_slice(&symbols);
                Ok(())
            });
            assert!(result.is_err());
        }
        rest
    }

    #[test]
    fn every_residual_comes_back() {
        assert!(round_trip::<u16>(&[]).is_empty());
        assert_eq!(round_trip::<u16>(&[0, 5, 1022]), [0]);
        assert_eq!(round_trip::<u32>(&[0, 5, 1022]), [0]);
        let mut values = vec![7u16; 1000];
        values[500] = 1023;
        values[501] = u16::MAX;
        // Three different ones are listed; many are not.
        assert_eq!(round_trip(&values).len(), 2 + 3 * 2);
        let kinds = (0..100).zip(&mut values);
        kinds.for_each(|(kind, value)| *value = kind);
        assert_eq!(round_trip(&values).len(), 1 + 2 * 2);
        let wide: Vec<u16> = (0..2000).map(|i| i * 17).collect();
        assert!(round_trip(&wide)[0] > 0);
        let wider: Vec<u32> = (0..2000).map(|i| i * 2_000_003).collect();
        assert!(round_trip(&wider)[0] > 15);
        round_trip(&[u32::MAX, 0, 3]);
        round_trip(&[u64::MAX, 0, 3, 1 << 40]);
        let widest: Vec<u64> = (0..999).map(|i| i << 53).collect();
        assert!(round_trip(&widest)[0] == 53);
    }
}
