//! How the values of a chunk are spread over lanes: contiguous parts, each a stream of its own.

use crate::error::{Error, Result};

/// Lanes of a large chunk: enough for a decoder to overlap their latencies.
pub(super) const LANES: usize = 32;

/// Values from which on a chunk has that many.
const MANY: usize = 1 << 16;

/// Values per lane, all but the last.
///
/// Odd multiples of 16, so that the lanes do not compete for the same sets of the caches.
pub(super) fn length(values: usize) -> usize {
    if values < MANY {
        values.max(1)
    } else {
        (values.div_ceil(16 * LANES) | 1) * 16
    }
}

/// The mantissa bits of a chunk and, behind each other, the sizes of its lanes and their bytes.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    /// Mantissa bits kept.
    pub kept: u32,
    /// Bytes of every lane.
    pub sizes: &'a [[u8; 4]],
    /// The lanes.
    pub streams: &'a [u8],
}

impl Layout<'_> {
    /// Appends what comes before the lanes.
    pub fn write_head(kept: u32, sizes: &[[u8; 4]], out: &mut Vec<u8>) {
        out.extend_from_slice(&[kept as u8, 0, 0, 0]);
        out.extend_from_slice(sizes.as_flattened());
    }
}

impl<'a> Layout<'a> {
    /// Reads what comes before the lanes of so many values with so many mantissa bits at most.
    pub fn read_from(bytes: &'a [u8], values: usize, most: u32) -> Result<Self> {
        let short = || Error::corrupt("fre chunk is too short");
        let (&[kept, reserved @ ..], rest) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
        if u32::from(kept) > most || reserved != [0; 3] {
            return Err(Error::corrupt("unknown kind of fre chunk"));
        }
        let lanes = values.div_ceil(length(values));
        let (sizes, streams) = rest.split_at_checked(4 * lanes).ok_or_else(short)?;
        Ok(Self {
            kept: kept.into(),
            sizes: sizes.as_chunks().0,
            streams,
        })
    }

    /// Where each lane begins, and at last the end of them all, which must be that of the bytes.
    pub fn starts(&self) -> Result<Vec<usize>> {
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
