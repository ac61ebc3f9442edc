//! Coding of unit labels: runs if there are few, Huffman codes otherwise.

use super::books::{Decoder, Encoder};
use super::codebooks::OfMasks;
use crate::bits::varint;
use crate::error::{Error, Result};
use crate::stage::occupancy::LABELS;

/// First byte: how the labels are stored.
const RUNS: u8 = 0;
const CODED: u8 = 1;

/// Bits of a run that store the label.
const LABEL_BITS: u32 = LABELS.ilog2();

/// Appends the labels of units.
pub(super) fn write_to(labels: &[u8], coder: &mut Encoder<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(RUNS);
    // A Huffman-coded label takes about two bits.
    let most = labels.len() / 4 + 32;
    for run in labels.chunk_by(|a, b| a == b) {
        varint::write((run.len() as u64) << LABEL_BITS | u64::from(run[0]), out);
        if out.len() - start > most {
            out.truncate(start);
            out.push(CODED);
            coder.encode::<OfMasks, 1>([labels], out);
            return;
        }
    }
}

/// Reads the labels of units and advances `bytes` past them.
pub(super) fn read_from(
    bytes: &mut &[u8],
    decoder: &mut Decoder<'_, OfMasks>,
    labels: &mut [u8],
) -> Result<()> {
    let kind = bytes
        .split_off_first()
        .ok_or_else(|| Error::truncated("unit labels are cut off"))?;
    match *kind {
        RUNS => {
            let mut rest = labels;
            while !rest.is_empty() {
                let run = varint::read_length(bytes)?;
                let length = run >> LABEL_BITS;
                if length == 0 || length > rest.len() {
                    return Err(Error::corrupt(
                        "runs of unit labels do not match the number of units",
                    ));
                }
                let (now, later) = rest.split_at_mut(length);
                now.fill((run & ((1 << LABEL_BITS) - 1)) as u8);
                rest = later;
            }
            Ok(())
        }
        CODED => {
            decoder.decode(bytes, labels)?;
            match labels.iter().all(|&label| label < LABELS) {
                true => Ok(()),
                false => Err(Error::corrupt("unknown unit label")),
            }
        }
        _ => Err(Error::corrupt("unknown coding of unit labels")),
    }
}
