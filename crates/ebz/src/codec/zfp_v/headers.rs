//! ZFP-V2: level 1 of the header has a bit per plane, level 2 a code for each plane whose bit is 1;
//! then come the bits of all planes. Both levels precede the first plane, so that the position of
//! every plane is known at once.

use crate::bits::{BitReader, BitWriter, low_mask};

/// Level-2 codes of a plane width.
struct Level2 {
    /// Length of a code in bits.
    length: u32,
    /// Number of plane bits of each code.
    widths: &'static [u32],
}

/// Planes of 16 bits: Table 2 of the paper.
const TWO_AXES: Level2 = Level2 {
    length: 2,
    widths: &[2, 4, 8, 16],
};

/// Widths that minimize the size for the measured distribution (see `docs/codecs/de-zfp.md`).
const TWO_AXES_MEASURED: Level2 = Level2 {
    length: 2,
    widths: &[5, 9, 14, 16],
};

/// Planes of 64 bits: the widths at which the total frequency of the coefficients increases.
const THREE_AXES: Level2 = Level2 {
    length: 3,
    widths: &[4, 10, 20, 32, 44, 54, 60, 64],
};

#[inline(always)]
const fn level2<const N: usize>(measured: bool) -> &'static Level2 {
    match (N, measured) {
        (16, false) => &TWO_AXES,
        (16, true) => &TWO_AXES_MEASURED,
        _ => &THREE_AXES,
    }
}

/// Level-2 code for each number of bits up to the highest set one.
const fn codes<const N: usize>(measured: bool) -> [u8; 65] {
    let widths = level2::<N>(measured).widths;
    let mut codes = [0; 65];
    let mut bits = 0;
    while bits <= N {
        while widths[codes[bits] as usize] < bits as u32 {
            codes[bits] += 1;
        }
        bits += 1;
    }
    codes
}

/// Appends planes.
#[inline(always)]
pub fn write<const N: usize>(measured: bool, planes: &[u64], writer: &mut BitWriter) {
    let codes = match measured {
        false => const { &codes::<N>(false) },
        true => const { &codes::<N>(true) },
    };
    let Level2 { length, widths } = level2::<N>(measured);
    let mut level1 = 0;
    for (index, &plane) in planes.iter().enumerate() {
        level1 |= u64::from(plane > 1) << index;
    }
    writer.put_wide(level1, planes.len() as u32);
    for &plane in planes.iter().filter(|&&p| p > 1) {
        let bits = 64 - plane.leading_zeros() as usize;
        writer.put(codes[bits].into(), *length);
    }
    for &plane in planes {
        let bits = 64 - plane.leading_zeros() as usize;
        let width = if plane > 1 {
            widths[usize::from(codes[bits])]
        } else {
            1
        };
        writer.put_wide(plane, width);
    }
}

/// Reads planes.
#[inline(always)]
pub fn read<const N: usize>(measured: bool, reader: &mut BitReader<'_>, planes: &mut [u64]) {
    let Level2 { length, widths } = level2::<N>(measured);
    let level1 = reader.get_wide(planes.len() as u32);
    for (index, plane) in planes.iter_mut().enumerate() {
        *plane = 1;
        if level1 >> index & 1 == 1 {
            let code = reader.get(*length) as usize;
            *plane = u64::from(widths[code % widths.len()]);
        }
    }
    for plane in planes {
        let width = *plane as u32;
        *plane = reader.get_wide(width) & low_mask(N as u32);
    }
}
