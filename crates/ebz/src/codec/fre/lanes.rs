//! How the values of a chunk are spread over lanes: contiguous parts, each a stream of its own.

use crate::error::{Error, Result};

/// Lanes of a large chunk: enough for a decoder to overlap their latencies.
pub(super) const LANES: usize = 32;

/// Values from which on a chunk has that many.
const MIN_VALUES_FOR_LANES: usize = 1 << 16;

/// Where each lane begins, and at last the end of the chunk.
///
/// Lanes begin at multiples of 16 values and are moved against each other by as many, so that they
/// do not compete for the same sets of the caches where their length is a power of two.
pub(super) fn starts(values: usize, one_lane: bool) -> Vec<usize> {
    let lanes = if one_lane || values < MIN_VALUES_FOR_LANES {
        1
    } else {
        LANES
    };
    let length = values / (16 * lanes) * 16;
    let start = |lane: usize| lane * length + 16 * lane.min(lanes - lane);
    (0..lanes).map(start).chain([values]).collect()
}

/// The values of each lane.
pub(super) fn split<P>(values: &[P], one_lane: bool) -> impl Iterator<Item = &[P]> {
    let starts = starts(values.len(), one_lane);
    (1..starts.len()).map(move |lane| &values[starts[lane - 1]..starts[lane]])
}

/// The mantissa bits of a chunk and, behind each other, the sizes of its lanes and their bytes.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    /// Mantissa bits kept.
    pub kept: u32,
    /// One lane, however many values there are.
    pub one_lane: bool,
    /// Bytes of every lane.
    pub sizes: &'a [[u8; 4]],
    /// The lanes.
    pub streams: &'a [u8],
}

impl Layout<'_> {
    /// Appends what comes before the lanes.
    pub fn write_head(kept: u32, one_lane: bool, sizes: &[[u8; 4]], out: &mut Vec<u8>) {
        out.extend_from_slice(&[kept as u8, one_lane.into(), 0, 0]);
        out.extend_from_slice(sizes.as_flattened());
    }
}

impl<'a> Layout<'a> {
    /// Reads what comes before the lanes of so many values with so many mantissa bits at most.
    pub fn read_from(bytes: &'a [u8], values: usize, most: u32) -> Result<Self> {
        let short = || Error::corrupt("fre chunk is too short");
        let (&[kept, one_lane, ref reserved @ ..], rest) =
            bytes.split_first_chunk::<4>().ok_or_else(short)?;
        if u32::from(kept) > most || one_lane > 1 || *reserved != [0; 2] {
            return Err(Error::corrupt("unknown kind of fre chunk"));
        }
        let one_lane = one_lane == 1;
        let lanes = starts(values, one_lane).len() - 1;
        let (sizes, streams) = rest.split_at_checked(4 * lanes).ok_or_else(short)?;
        Ok(Self {
            kept: kept.into(),
            one_lane,
            sizes: sizes.as_chunks().0,
            streams,
        })
    }

    /// Where the bytes of each lane begin, and at last the end of them all, which must be that of the bytes.
    pub fn stream_starts(&self) -> Result<Vec<usize>> {
        let mut starts = vec![0];
        let mut end = 0usize;
        for size in self.sizes {
            end = end.saturating_add(u32::from_le_bytes(*size) as usize);
            starts.push(end);
        }
        if end != self.streams.len() {
            return Err(Error::corrupt("lanes do not fill their chunk"));
        }
        Ok(starts)
    }
}
