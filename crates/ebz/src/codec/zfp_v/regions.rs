//! ZFP-V1 for blocks of four values. Region 1 is the first coefficient, one bit per plane. Regions 2
//! and 3 are the other three coefficients, 24 planes each, in sub-groups of 6 planes; a header gives
//! the number of sub-groups written, counted from the least significant one.

use crate::bits::{BitReader, BitWriter};

/// Two regions of 24 planes.
pub const MAX_PLANES: u32 = 48;

const REGION: usize = 24;
const SUB_GROUP: usize = 6;

/// Appends planes.
#[inline(always)]
pub fn write(planes: &[u64], writer: &mut BitWriter) {
    let mut first = 0;
    for (index, plane) in planes.iter().enumerate() {
        first |= (plane & 1) << index;
    }
    writer.put_wide(first, planes.len() as u32);
    for region in planes.chunks(REGION) {
        let groups = region.len().div_ceil(SUB_GROUP);
        let zero = |group: &&[u64]| group.iter().all(|plane| plane >> 1 == 0);
        let skipped = region.chunks(SUB_GROUP).take_while(zero).count();
        let written = (groups - skipped).max(1);
        writer.put(written as u32 - 1, 2);
        for group in region.chunks(SUB_GROUP).skip(groups - written) {
            let mut bits = 0;
            for (index, plane) in group.iter().enumerate() {
                bits |= (plane >> 1) << (3 * index);
            }
            writer.put(bits as u32, 3 * group.len() as u32);
        }
    }
}

/// Reads planes.
#[inline(always)]
pub fn read(reader: &mut BitReader<'_>, planes: &mut [u64]) {
    // A damaged stream may count up to 64 planes.
    let first = reader.get_wide(planes.len() as u32);
    for (index, plane) in planes.iter_mut().enumerate() {
        *plane = first >> index & 1;
    }
    for region in planes.chunks_mut(REGION) {
        let groups = region.len().div_ceil(SUB_GROUP);
        // A damaged stream may ask for more than there are.
        let written = (reader.get(2) as usize + 1).min(groups);
        for group in region.chunks_mut(SUB_GROUP).skip(groups - written) {
            let bits = reader.get(3 * group.len() as u32);
            for (index, plane) in group.iter_mut().enumerate() {
                *plane |= u64::from(bits >> (3 * index) & 7) << 1;
            }
        }
    }
}
