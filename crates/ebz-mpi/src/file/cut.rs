//! Which rank encodes which chunk of a distributed array.

use crate::error::{Error, Result};
use std::ops::Range;

/// A box of an array.
pub(super) type Region = Vec<Range<usize>>;

/// Target size of a chunk in raw bytes, if chunks follow the blocks of the ranks.
const TARGET_CHUNK_BYTES: usize = 2 << 20;

pub(super) fn volume(region: &[Range<usize>]) -> usize {
    region.iter().map(Range::len).product()
}

pub(super) fn intersect(a: &[Range<usize>], b: &[Range<usize>]) -> Region {
    let both = a.iter().zip(b);
    both.map(|(a, b)| {
        let start = a.start.max(b.start);
        start..a.end.min(b.end).max(start)
    })
    .collect()
}

/// An error unless the blocks of all ranks cover the array exactly once.
pub(super) fn check(shape: &[usize], blocks: &[Region]) -> Result<()> {
    let wrong = |text: String| Err(Error::Disagree(text));
    for (rank, block) in blocks.iter().enumerate() {
        let inside = block
            .iter()
            .zip(shape)
            .all(|(r, &n)| r.start <= r.end && r.end <= n);
        if block.len() != shape.len() || !inside {
            return wrong(format!(
                "the block {block:?} of rank {rank} exceeds the array {shape:?}"
            ));
        }
    }
    let full: Vec<_> = blocks
        .iter()
        .enumerate()
        .filter(|(_, b)| volume(b) > 0)
        .collect();
    for (i, (rank, block)) in full.iter().enumerate() {
        for (other, second) in &full[..i] {
            if volume(&intersect(block, second)) > 0 {
                return wrong(format!("the blocks of ranks {other} and {rank} overlap"));
            }
        }
    }
    let held: usize = full.iter().map(|(_, block)| volume(block)).sum();
    match shape.iter().product::<usize>() {
        all if all == held => Ok(()),
        all => wrong(format!("the ranks hold {held} of the {all} values")),
    }
}

/// Chunk extents for blocks that are not whole rows or planes, such that few values move between ranks;
/// `None` if the library's default is as good.
pub(super) fn chunk_of_blocks(
    shape: &[usize],
    blocks: &[Region],
    size: usize,
) -> Option<Vec<usize>> {
    let full = || blocks.iter().filter(|block| volume(block) > 0);
    let whole = |block: &Region| block.iter().zip(shape).skip(1).all(|(r, &n)| r.len() == n);
    if full().all(whole) {
        return None;
    }
    let extent = |axis: usize| full().map(|block| block[axis].len()).max().unwrap_or(1);
    let mut chunk: Vec<usize> = (0..shape.len()).map(extent).collect();
    while chunk.iter().product::<usize>() * size > TARGET_CHUNK_BYTES {
        // The slowest of the longest axes: rows stay long.
        let longest = (0..chunk.len()).rev().max_by_key(|&axis| chunk[axis])?;
        chunk[longest] = chunk[longest].div_ceil(2);
    }
    Some(chunk)
}

/// The rank that holds most of a chunk.
pub(super) fn owner(chunk: &[Range<usize>], blocks: &[Region]) -> usize {
    let share = |rank: &usize| volume(&intersect(chunk, &blocks[*rank]));
    (0..blocks.len()).rev().max_by_key(share).unwrap_or(0)
}

/// Calls `f(outer, inner, length)` for every row of the box `part`, with its start in contiguous arrays
/// of the boxes `outer` and `part`.
pub(super) fn rows(
    part: &[Range<usize>],
    outer: &[Range<usize>],
    mut f: impl FnMut(usize, usize, usize),
) {
    let Some(length) = part.last().map(Range::len) else {
        return f(0, 0, 1);
    };
    let count = volume(part).checked_div(length).unwrap_or(0);
    for row in 0..count {
        let mut rest = row;
        let (mut at, mut stride) = (0, 1);
        for axis in (0..part.len()).rev() {
            let mut i = part[axis].start - outer[axis].start;
            if axis < part.len() - 1 {
                i += rest % part[axis].len();
                rest /= part[axis].len();
            }
            at += i * stride;
            stride *= outer[axis].len();
        }
        f(at, row * length, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_must_cover_the_array_once() {
        let halves = [vec![0..4, 0..3], vec![4..6, 0..3], vec![0..0, 0..3]];
        check(&[6, 3], &halves).unwrap();
        assert!(check(&[7, 3], &halves).is_err());
        assert!(check(&[5, 3], &halves).is_err());
        assert!(check(&[6, 3], &[vec![0..6, 0..3], vec![5..6, 0..1]]).is_err());
        assert!(check(&[6], &[vec![0..6, 0..3]]).is_err());
        // The right number of values, but some twice.
        assert!(check(&[2, 2], &[vec![0..1, 0..2], vec![0..1, 0..2]]).is_err());
    }

    #[test]
    fn rows_of_a_box() {
        let mut seen = Vec::new();
        rows(&[1..3, 2..4], &[0..3, 1..6], |a, b, n| seen.push((a, b, n)));
        assert_eq!(seen, [(6, 0, 2), (11, 2, 2)]);
        rows(&[1..1, 2..4], &[0..3, 1..6], |_, _, _| unreachable!());
        rows(&[1..2, 2..2], &[0..3, 1..6], |_, _, _| unreachable!());
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "boxes of one axis")]
    fn the_largest_share_owns_a_chunk() {
        let blocks = [vec![0..5], vec![5..10]];
        assert_eq!(owner(&[4..6], &blocks), 0);
        assert_eq!(owner(&[4..7], &blocks), 1);
    }
}
