//! Bit packing of fields of any width.

use crate::bits::{BitReader, BitWriter, low_mask};
use crate::error::{Error, Result};

/// Appends the lowest `width` ≤ 63 bits of each word.
pub(crate) fn pack(words: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let mut writer = BitWriter::default();
    words.for_each(|word| writer.put_wide(word & low_mask(width), width));
    out.extend_from_slice(writer.finish());
}

/// Splits the bytes of `count` packed fields off the front of `bytes`.
pub(crate) fn split_off<'a>(bytes: &mut &'a [u8], count: usize, width: u32) -> Result<&'a [u8]> {
    let bits = count.checked_mul(width as usize);
    bits.and_then(|bits| bytes.split_off(..bits.div_ceil(8)))
        .ok_or_else(|| Error::truncated("packed fields are cut off"))
}

/// The words that [`pack`] wrote, followed by zeros.
pub(crate) fn unpack(packed: &[u8], width: u32) -> impl Iterator<Item = u64> {
    let mut reader = BitReader::new(packed);
    std::iter::repeat_with(move || reader.get_wide(width))
}
