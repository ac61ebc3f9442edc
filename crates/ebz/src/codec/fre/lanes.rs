//! Lanes: contiguous parts of a chunk, each a bit stream of its own.

use super::order::{Measured, ORDER_BYTES};
use crate::error::{Error, Result};

/// Lanes of a large chunk: enough to overlap their latencies when decoding.
pub(super) const LANES: usize = 32;

/// Minimum number of values of a chunk with several lanes.
const MIN_VALUES_FOR_LANES: usize = 1 << 16;

/// Start of each lane, and the end of the chunk.
///
/// Starts are multiples of 16 values, staggered so that lanes with a power-of-two length do not
/// compete for the same cache sets.
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

/// Flag of a chunk with one lane, whatever the number of values.
const ONE_LANE: u8 = 1;
/// Flag of a chunk with an order of exponent codes.
const MEASURED: u8 = 2;

/// A parsed chunk: header, order, lane sizes, lanes.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    /// Mantissa bits kept.
    pub kept: u32,
    /// Whether there is only one lane, whatever the number of values.
    pub one_lane: bool,
    /// The order of the exponent codes, if it is not that of the paper.
    pub order: Option<Measured>,
    /// Size of every lane in bytes.
    pub sizes: &'a [[u8; 4]],
    /// The lanes.
    pub streams: &'a [u8],
}

impl Layout<'_> {
    /// Appends the header, the order and the lane sizes.
    pub fn write_head(
        kept: u32,
        one_lane: bool,
        order: Option<Measured>,
        sizes: &[[u8; 4]],
        out: &mut Vec<u8>,
    ) {
        let flags = (u8::from(one_lane) * ONE_LANE) | (u8::from(order.is_some()) * MEASURED);
        out.extend_from_slice(&[kept as u8, flags, 0, 0]);
        out.extend(order.iter().flat_map(|order| order.to_bytes()));
        out.extend_from_slice(sizes.as_flattened());
    }
}

impl<'a> Layout<'a> {
    /// Parses a chunk of this many values with at most `max_kept` mantissa bits.
    pub fn read_from(bytes: &'a [u8], values: usize, max_kept: u32) -> Result<Self> {
        let short = || Error::corrupt("fre chunk is too short");
        let (&[kept, flags, ref reserved @ ..], mut rest) =
            bytes.split_first_chunk::<4>().ok_or_else(short)?;
        if u32::from(kept) > max_kept || flags & !(ONE_LANE | MEASURED) != 0 || *reserved != [0; 2]
        {
            return Err(Error::corrupt("fre chunk with an invalid header"));
        }
        let one_lane = flags & ONE_LANE != 0;
        let mut order = None;
        if flags & MEASURED != 0 {
            let (bytes, after) = rest.split_first_chunk::<ORDER_BYTES>().ok_or_else(short)?;
            order = Some(Measured::from_bytes(*bytes).ok_or_else(|| {
                Error::corrupt("the order of a fre chunk's exponent codes is not a permutation")
            })?);
            rest = after;
        }
        let lanes = starts(values, one_lane).len() - 1;
        let (sizes, streams) = rest.split_at_checked(4 * lanes).ok_or_else(short)?;
        Ok(Self {
            kept: kept.into(),
            one_lane,
            order,
            sizes: sizes.as_chunks().0,
            streams,
        })
    }

    /// Start of each lane in the stream, and the end, which must be that of the chunk.
    pub fn stream_starts(&self) -> Result<Vec<usize>> {
        let mut starts = vec![0];
        let mut end = 0usize;
        for size in self.sizes {
            end = end.saturating_add(u32::from_le_bytes(*size) as usize);
            starts.push(end);
        }
        if end != self.streams.len() {
            return Err(Error::corrupt(
                "fre lanes do not match the size of their chunk",
            ));
        }
        Ok(starts)
    }
}
