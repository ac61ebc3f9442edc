//! The inner loops in portable Rust.

use super::MASKS;
use crate::element::word::Word;
use crate::stage::UNIT;

pub(super) fn masks<W: Word>(unit: &[W; UNIT]) -> ([u8; MASKS], usize) {
    let masks = std::array::from_fn(|j| {
        let octet = unit[8 * j..8 * j + 8].iter().enumerate();
        octet.fold(0, |mask, (i, &r)| mask | u8::from(r != W::default()) << i)
    });
    (masks, super::ones(&masks))
}

pub(super) fn compact<W: Word>(unit: &[W; UNIT], out: &mut [W; UNIT]) {
    let mut count = 0;
    for &residual in unit {
        out[count % UNIT] = residual;
        count += usize::from(residual != W::default());
    }
}

pub(super) fn expand<W: Word>(values: &[W; UNIT], masks: &[u8; MASKS], unit: &mut [W; UNIT]) {
    let mut count = 0;
    for (octet, mask) in unit.chunks_exact_mut(8).zip(masks) {
        for (i, residual) in octet.iter_mut().enumerate() {
            let present = mask >> i & 1 == 1;
            *residual = if present { values[count] } else { W::default() };
            count += usize::from(present);
        }
    }
}
