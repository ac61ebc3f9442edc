//! Bit streams, least significant bit first, and variable-length integers.

mod reader;
mod transpose;
pub(crate) mod varint;
mod writer;

pub(crate) use reader::{BitReader, fills_flit};
pub(crate) use transpose::transpose8;
pub(crate) use writer::BitWriter;

/// A mask of the lowest `count` ≤ 64 bits.
#[inline(always)]
pub(crate) const fn low_mask(count: u32) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let words: Vec<(u64, u32)> = (0..4000u64)
            .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15), (i * 7 % 65) as u32))
            .collect();
        let mut writer = BitWriter::default();
        for &(value, count) in &words {
            let narrow = count.min(32);
            writer.put((value & low_mask(narrow)) as u32, narrow);
            writer.put_with_prefix(0b101, 3, value & low_mask(count), count);
            writer.put_gamma(value as u32 | 1);
            writer.put_wide(value & low_mask(count), count);
        }
        let bytes = writer.finish().to_vec();
        let mut reader = BitReader::new(&bytes);
        for &(value, count) in &words {
            let narrow = count.min(32);
            assert_eq!(u64::from(reader.get(narrow)), value & low_mask(narrow));
            assert_eq!(reader.get(3), 0b101);
            assert_eq!(reader.get_wide(count), value & low_mask(count));
            assert_eq!(reader.get_gamma().unwrap(), value as u32 | 1);
            assert_eq!(reader.get_wide(count), value & low_mask(count));
        }
        reader.finish().unwrap();
    }

    #[test]
    fn reads_beyond_the_end_return_zeros_and_are_reported() {
        let bytes = [0xff, 0xff, 7];
        let mut reader = BitReader::new(&bytes);
        assert_eq!(reader.get(5), 31);
        assert_eq!(reader.rest().unwrap(), [0xff, 7]);
        assert!(matches!(reader.finish(), Err(crate::Error::Corrupt(_))));
        assert_eq!(reader.get_wide(64), 0x3fff);
        assert!(matches!(reader.rest(), Err(crate::Error::Truncated(_))));
        assert!(matches!(reader.finish(), Err(crate::Error::Truncated(_))));
        assert!(reader.get_gamma().is_err());
    }

    #[test]
    fn a_cleared_writer_is_empty() {
        let mut writer = BitWriter::default();
        assert!(writer.finish().is_empty());
        writer.put_wide(u64::MAX, 63);
        writer.clear();
        writer.put(1, 2);
        assert_eq!(writer.finish(), [1]);
    }
}
