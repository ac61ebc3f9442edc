//! Sizes of files before they are written.

use super::file_header::FILE_HEADER_BYTES;
use super::index::{self, FramePlace, Place};
use super::record::{Kind, Record};
use crate::bits::varint;
use crate::bound::Tolerance;
use crate::chunk::{FramePlan, chunk_header_len};
use crate::clip::Clip;
use crate::element::{ElementType, with_type};
use crate::error::{Error, Result};
use crate::fill::{Fill, FillValues};
use crate::options::Options;

/// Maximum size of the stream of an array: the size with all chunks stored raw.
pub fn max_compressed_size(
    shape: &[usize],
    element: ElementType,
    options: &Options,
) -> Result<usize> {
    // A tolerance that depends on the values is an absolute bound or lossless.
    let unknown = || Err(Error::invalid("the range is not known"));
    let tolerances = match options.tolerance(unknown) {
        Ok(tolerance) => vec![tolerance],
        Err(_) => vec![Tolerance::Abs(1.0), Tolerance::Lossless],
    };
    if options.is_auto() {
        let mut sizes = options.candidates().map(|(entry, _)| {
            max_compressed_size(shape, element, &options.clone().codec(entry.info.name))
        });
        return sizes.try_fold(0, |most, size| Ok(most.max(size?)));
    }
    let plan = |tolerance| with_type!(element, T => FramePlan::new::<T>(shape, tolerance, options));
    let max_fill = FillValues::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
    let mut max_header = 0;
    let mut frame = Vec::new();
    for tolerance in tolerances {
        frame.clear();
        let mut plan = plan(tolerance)?;
        if options.fill.is_auto() && options.scans() {
            plan = plan.with_fill(Fill::Found(max_fill));
        }
        if options.clip != Clip::None {
            plan = plan.with_clip(Clip::Between(0.0, 1.0));
        }
        plan.header().write_to(&mut frame);
        max_header = max_header.max(frame.len());
    }
    let plan = plan(Tolerance::Lossless)?;
    let raw = plan.header().grid.chunk_lens();
    let raw = raw.map(|(values, chunks)| ((values * element.size()) as u64, chunks as u64));
    Ok(size_of(max_header, raw) as usize)
}

/// Size of a file with one frame, from the body length of its header, and the body lengths of its
/// chunks with the number of chunks that have each.
pub(super) fn size_of(header: usize, bodies: impl Iterator<Item = (u64, u64)>) -> u64 {
    let header = Record::other(Kind::Frame, 0, header as u64);
    let header = Place::new(FILE_HEADER_BYTES as u64, &header);
    let (mut chunks, mut count, mut lengths) = (0, 0, 0);
    for (length, chunks_of_it) in bodies {
        chunks += length * chunks_of_it;
        lengths += varint::length(length) as u64 * chunks_of_it;
        count += chunks_of_it;
    }
    // Headers of chunks differ by the lengths of their numbers.
    let mut first = 0;
    while first < count {
        let end = count.min((first << 7).max(1 << 7));
        chunks += (end - first) * chunk_header_len(0, first as usize) as u64;
        first = end;
    }
    let mut frame = FramePlace {
        header,
        chunks,
        end: None,
    };
    if count > 1 {
        let at = header.end() + chunks;
        frame.end = Some(Place::new(at, &Record::other(Kind::End, 0, lengths)));
    }
    let mut index = Vec::new();
    index::write_frames(&[frame], frame.end(), &mut index);
    let index = Record::other(Kind::Index, 1, index.len() as u64);
    Place::new(frame.end(), &index).end()
}
