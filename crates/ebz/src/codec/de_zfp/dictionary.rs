//! The dictionary: a plane is encoded as the code of the smallest match that covers its highest set
//! bit, followed by that many low bits.

use crate::bits::{BitReader, BitWriter, low_mask};
use crate::stage::block_transform::{PlaneCode, Planes, STREAMS};

/// A match (number of low bits) and its code, first bit first.
type Entry = (u32, &'static str);

/// Planes of 64 bits: Figure 8 of the paper.
const PAPER: &[Entry] = &[
    (0, "00"),
    (1, "01"),
    (4, "1000"),
    (10, "1001"),
    (12, "1011000"),
    (15, "1011001"),
    (20, "1010"),
    (26, "1011010"),
    (32, "1011011"),
    (39, "1011100"),
    (42, "1011101"),
    (49, "1011110"),
    (54, "1011111"),
    (64, "11"),
];

/// Planes of 16 bits: matches and codes that minimize the size for the measured distribution (see
/// `docs/codecs/de-zfp.md`).
const TWO_AXES: &[Entry] = &[
    (1, "0"),
    (2, "1110"),
    (5, "100"),
    (9, "101"),
    (12, "1111"),
    (16, "110"),
];

/// Planes of 4 bits, chosen in the same way.
const ONE_AXIS: &[Entry] = &[(1, "0"), (4, "1")];

/// Length of the longest code in bits.
const LONGEST: usize = 7;

/// The dictionary as tables.
struct Tables {
    /// Indexed by the number of bits up to the highest set one.
    write: [Word; 65],
    /// Indexed by the next bits of the stream.
    read: [Word; 1 << LONGEST],
}

#[derive(Clone, Copy)]
struct Word {
    code: u8,
    length: u8,
    /// Number of plane bits after the code, their mask, and the length of code and bits.
    bits: u8,
    mask: u64,
    total: u8,
}

const fn tables(entries: &[Entry]) -> Tables {
    let mut write = [Word {
        code: 0,
        length: 0,
        bits: 0,
        mask: 0,
        total: 0,
    }; 65];
    let mut read = [write[0]; 1 << LONGEST];
    let mut entry = 0;
    let mut from = 0;
    while entry < entries.len() {
        let (bits, code) = entries[entry];
        let text = code.as_bytes();
        let mut word = Word {
            code: 0,
            length: text.len() as u8,
            bits: bits as u8,
            mask: low_mask(bits),
            total: text.len() as u8 + bits as u8,
        };
        let mut i = 0;
        while i < text.len() {
            word.code |= (text[i] - b'0') << i;
            i += 1;
        }
        while from <= bits as usize {
            write[from] = word;
            from += 1;
        }
        let mut next = word.code as usize;
        while next < read.len() {
            read[next] = word;
            next += 1 << text.len();
        }
        entry += 1;
    }
    Tables { write, read }
}

static THREE: Tables = tables(PAPER);
static TWO: Tables = tables(TWO_AXES);
static ONE: Tables = tables(ONE_AXIS);

/// Dictionary-coded planes.
#[derive(Debug, Clone, Copy)]
pub struct Dictionary;

impl Dictionary {
    #[inline(always)]
    fn tables<const N: usize>() -> &'static Tables {
        match N {
            64 => &THREE,
            16 => &TWO,
            _ => &ONE,
        }
    }
}

impl PlaneCode for Dictionary {
    const ALL: &'static [Self] = &[Self];

    #[inline(always)]
    fn write<const N: usize>(self, planes: &[u64], writer: &mut BitWriter) {
        let tables = Self::tables::<N>();
        for &plane in planes {
            let word = tables.write[64 - plane.leading_zeros() as usize];
            let (length, bits) = (u32::from(word.length), u32::from(word.bits));
            writer.put_with_prefix(u64::from(word.code), length, plane, bits);
        }
    }

    #[inline(always)]
    fn read<const N: usize>(
        self,
        readers: &mut [BitReader<'_>; STREAMS],
        counts: [usize; STREAMS],
        planes: &mut [Planes; STREAMS],
    ) {
        let tables = Self::tables::<N>();
        let shared = counts.into_iter().min().unwrap_or(0);
        for index in 0..shared {
            for (planes, reader) in planes.iter_mut().zip(readers.iter_mut()) {
                planes[index] = next(tables, reader);
            }
        }
        for stream in 0..STREAMS {
            for plane in &mut planes[stream][shared..counts[stream]] {
                *plane = next(tables, &mut readers[stream]);
            }
        }
    }
}

#[inline(always)]
fn next(tables: &Tables, reader: &mut BitReader<'_>) -> u64 {
    let (low, high) = reader.peek();
    let word = &tables.read[low as usize % tables.read.len()];
    let length = u32::from(word.length);
    reader.skip(usize::from(word.total));
    (low >> length | (high << 1) << (63 - length)) & word.mask
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 8 of the paper: matches and codes as printed there.
    #[test]
    fn codes_of_three_axes_are_those_of_the_paper() {
        let printed = [
            ("0", "00"),
            ("1", "01"),
            ("4", "1000"),
            ("10", "1001"),
            ("20", "1010"),
            ("12", "1011000"),
            ("15", "1011001"),
            ("26", "1011010"),
            ("32", "1011011"),
            ("39", "1011100"),
            ("42", "1011101"),
            ("49", "1011110"),
            ("54", "1011111"),
            ("64", "11"),
        ];
        for (bits, code) in printed {
            let bits: u32 = bits.parse().unwrap();
            // A plane whose highest bit is the last one of the match.
            let plane = if bits == 0 { 0 } else { 1 << (bits - 1) };
            let mut writer = BitWriter::default();
            Dictionary.write::<64>(&[plane], &mut writer);
            let bytes = writer.finish().to_vec();
            let mut reader = BitReader::new(&bytes);
            for digit in code.bytes() {
                assert_eq!(reader.get(1), u32::from(digit - b'0'), "{bits} {code}");
            }
            assert_eq!(reader.get_wide(bits), plane);
            reader.finish().unwrap();
        }
    }

    #[test]
    fn codes_are_complete_prefix_codes() {
        for entries in [PAPER, TWO_AXES, ONE_AXIS] {
            let space: usize = entries.iter().map(|(_, c)| 1 << (LONGEST - c.len())).sum();
            assert_eq!(space, 1 << LONGEST);
            for (i, (_, a)) in entries.iter().enumerate() {
                for (_, b) in &entries[i + 1..] {
                    assert!(!a.starts_with(b) && !b.starts_with(a), "{a} {b}");
                }
            }
        }
    }
}
