//! Maps small integers to symbols: 0 and ±1 … ±12 have their own, larger ones share a symbol per power
//! of two and have extra bits.

use crate::bits::{BitReader, BitWriter};

/// Largest magnitude with its own symbols.
pub(crate) const DIRECT: i16 = 12;
/// First symbol with extra bits.
const FIRST_WIDE: u8 = 2 * DIRECT as u8 + 1;
/// Last symbol of a 16-bit number.
const LAST: u8 = FIRST_WIDE + 2 * 14 - 1;

/// Number of magnitudes of the symbols 2i + 1 and 2i + 2.
pub(super) fn magnitudes_of_pair(index: usize) -> usize {
    let direct = DIRECT as usize;
    1 << (index + 1).saturating_sub(direct).min(30)
}

/// The symbol of a value of magnitude at most [`DIRECT`]; meaningless for others.
#[inline(always)]
pub(crate) fn narrow(value: i16) -> u8 {
    let twice = value.wrapping_shl(1);
    // −2v for v ≤ 0, 2v − 1 for v > 0; branch-free, so that it vectorizes.
    let positive = if value > 0 { -1i16 } else { 0 };
    ((twice ^ positive)
        .wrapping_sub(positive)
        .wrapping_neg()
        .wrapping_add(positive)) as u8
}

/// The value of a symbol below [`FIRST_WIDE`]; above [`DIRECT`] in magnitude for others.
#[inline(always)]
pub(crate) fn widen(symbol: u8) -> i16 {
    let symbol = i16::from(symbol);
    let magnitude = (symbol + 1) >> 1;
    // Odd symbols are positive.
    let sign = (symbol & 1) - 1;
    (magnitude ^ sign) - sign
}

/// The symbol of a value of magnitude above [`DIRECT`]; its low bits go to `extra`.
pub(crate) fn put_wide(value: i16, extra: &mut BitWriter) -> u8 {
    let magnitude = u32::from(value.unsigned_abs()) - DIRECT as u32 + 1;
    let length = magnitude.ilog2();
    extra.put(magnitude & !(1 << length), length);
    FIRST_WIDE + 2 * (length as u8 - 1) + u8::from(value < 0)
}

/// The value of a symbol of at least [`FIRST_WIDE`], or `None` if the symbol is invalid.
pub(crate) fn get_wide(symbol: u8, extra: &mut BitReader<'_>) -> Option<i16> {
    if symbol > LAST {
        return None;
    }
    let above = symbol - FIRST_WIDE;
    let length = u32::from(above / 2 + 1);
    // Damaged streams may exceed 16 bits.
    let magnitude = (extra.get(length) | 1 << length) as i32 + i32::from(DIRECT - 1);
    let value = if above & 1 == 1 {
        -magnitude
    } else {
        magnitude
    };
    Some(value as i16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_round_trip() {
        let mut writer = BitWriter::default();
        let values = -32000..=32000i16;
        let symbols: Vec<u8> = values
            .clone()
            .map(|v| match v.unsigned_abs() {
                0..=12 => narrow(v),
                _ => put_wide(v, &mut writer),
            })
            .collect();
        let bytes = writer.finish().to_vec();
        let mut reader = BitReader::new(&bytes);
        for (v, s) in values.zip(symbols) {
            let back = if s < FIRST_WIDE {
                widen(s)
            } else {
                get_wide(s, &mut reader).unwrap()
            };
            assert_eq!(back, v);
        }
        reader.finish().unwrap();
    }
}
