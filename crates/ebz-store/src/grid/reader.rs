//! Reads the planes of a grid in order, three at a time.

use super::buffers::Buffers;
use super::checkpoint::Place;
use super::generation::{Body, Generation};
use super::servant::{Read, ReadAhead, segments};
use super::{Layout, Moved, Packing};
use crate::io::AlignedBuffer;
use ebz::slab::SlabCoder;
use ebz::{Element, Error, Result};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Reads a range of planes of a grid in order.
pub struct Reader<'g, T = f64> {
    layout: &'g Layout,
    source: Source<'g, T>,
    /// Planes that a window may need, oldest first.
    held: VecDeque<Held<T>>,
    moved: Moved,
}

enum Source<'g, T> {
    Memory(&'g [T]),
    Packed(&'g [Vec<u8>], Range<usize>, Decoder<'g, T>),
    RawFile(ReadAhead),
    PackedFile(ReadAhead, Option<Read>, &'g [Place], Decoder<'g, T>),
}

/// Fetched planes.
struct Held<T> {
    planes: Range<usize>,
    values: Values<T>,
}

enum Values<T> {
    Decoded(Vec<T>),
    Raw(AlignedBuffer, Range<usize>),
}

impl<T: Element> Values<T> {
    fn get(&self) -> &[T] {
        match self {
            Self::Decoded(values) => values,
            // Segments are block-aligned and slabs are whole values.
            Self::Raw(buffer, at) => bytemuck::cast_slice(&buffer[at.clone()]),
        }
    }
}

/// Decodes records to values.
struct Decoder<'g, T> {
    packing: &'g Packing,
    /// The frame number in the records.
    frame: u32,
    coder: Option<SlabCoder>,
    buffers: Arc<Buffers>,
    spare: Vec<Vec<T>>,
}

impl<T: Element> Decoder<'_, T> {
    fn decode(&mut self, layout: &Layout, slab: usize, records: &[u8]) -> Result<Held<T>> {
        let planes = layout.planes_of(slab);
        let mut values = self.spare.pop().unwrap_or_default();
        values.resize(planes.len() * layout.plane_len(), T::default());
        let simd = self.packing.simd;
        let coder = self.coder.get_or_insert_with(|| self.buffers.coder(simd));
        let plan = &self.packing.plan;
        coder
            .decode(plan, self.frame, slab, records, &mut values)
            .map_err(|error| damaged(&error, &planes))?;
        Ok(Held {
            planes,
            values: Values::Decoded(values),
        })
    }
}

impl<T> Drop for Decoder<'_, T> {
    fn drop(&mut self) {
        if let Some(coder) = self.coder.take() {
            self.buffers.give_coder(coder);
        }
    }
}

fn damaged(error: &Error, planes: &Range<usize>) -> Error {
    Error::corrupt(format!(
        "planes {} to {} of the grid are damaged ({error}): start over, or restore the folder",
        planes.start,
        planes.end - 1
    ))
}

impl<'g, T: Element> Reader<'g, T> {
    /// Reads the slabs that cover `planes`.
    pub(super) fn new(
        layout: &'g Layout,
        packing: Option<&'g Packing>,
        from: &'g Generation<T>,
        planes: Range<usize>,
        segment: usize,
        buffers: &Arc<Buffers>,
    ) -> Result<Self> {
        let slabs = layout.slabs_of(&planes);
        let decoder = |packing| Decoder {
            packing,
            frame: from.frame,
            coder: None,
            buffers: buffers.clone(),
            spare: Vec::new(),
        };
        let no_plan = || Error::invalid("a compressed grid needs a codec");
        let source = match &from.body {
            Body::Raw(values) => Source::Memory(values),
            Body::Packed(records) => {
                let decoder = decoder(packing.ok_or_else(no_plan)?);
                Source::Packed(records, slabs, decoder)
            }
            Body::File(filed) => {
                let jobs = segments(slabs, &filed.places, segment);
                let ahead = ReadAhead::new(filed.file.clone(), jobs, buffers.clone())?;
                match packing {
                    Some(packing) => {
                        Source::PackedFile(ahead, None, &filed.places, decoder(packing))
                    }
                    None => Source::RawFile(ahead),
                }
            }
        };
        Ok(Self {
            layout,
            source,
            held: VecDeque::new(),
            moved: Moved::default(),
        })
    }

    /// The planes below, at and above `at`, which must not decrease between calls. At the ends of
    /// the grid the last plane replaces the missing one.
    pub fn window(&mut self, at: usize) -> Result<[&[T]; 3]> {
        let last = self.layout.planes() - 1;
        let [below, above] = [at.saturating_sub(1), (at + 1).min(last)];
        self.hold(below..above + 1)?;
        Ok([self.held(below)?, self.held(at)?, self.held(above)?])
    }

    /// One plane; `at` must not decrease between calls.
    pub fn plane(&mut self, at: usize) -> Result<&[T]> {
        self.hold(at..at + 1)?;
        self.held(at)
    }

    /// A plane that is already fetched.
    fn held(&self, plane: usize) -> Result<&[T]> {
        let length = self.layout.plane_len();
        let slice = |values: &'_ [T], first: usize| {
            let start = (plane - first) * length;
            start..(start + length).min(values.len())
        };
        if let Source::Memory(values) = self.source {
            return Ok(&values[slice(values, 0)]);
        }
        let held = self.held.iter().find(|held| held.planes.contains(&plane));
        let held = held.ok_or_else(|| Error::invalid("planes must be read in order"))?;
        let values = held.values.get();
        Ok(&values[slice(values, held.planes.start)])
    }

    /// Drops the planes before this range, and fetches the range.
    fn hold(&mut self, planes: Range<usize>) -> Result<()> {
        if matches!(self.source, Source::Memory(_)) {
            return Ok(());
        }
        let passed = |held: &Held<T>| held.planes.end <= planes.start;
        while self.held.front().is_some_and(passed) {
            let Some(old) = self.held.pop_front() else {
                break;
            };
            match (old.values, &mut self.source) {
                (Values::Raw(buffer, _), Source::RawFile(ahead)) => ahead.give_back(buffer),
                (
                    Values::Decoded(values),
                    Source::Packed(.., decoder) | Source::PackedFile(.., decoder),
                ) => decoder.spare.push(values),
                _ => (),
            }
        }
        while self
            .held
            .back()
            .is_none_or(|held| held.planes.end < planes.end)
        {
            let next = self.fetch()?;
            if next.planes.end > planes.start {
                self.held.push_back(next);
            }
        }
        Ok(())
    }

    /// The next slab or, in a raw file, the next segment.
    fn fetch(&mut self) -> Result<Held<T>> {
        let layout = self.layout;
        match &mut self.source {
            Source::Memory(_) => Err(Error::invalid("a grid in memory is not fetched")),
            Source::Packed(records, slabs, decoder) => {
                let end =
                    || Error::invalid("the planes of a grid must be read in order, each once");
                let slab = slabs.next().ok_or_else(end)?;
                self.moved.read += records[slab].len() as u64;
                decoder.decode(layout, slab, &records[slab])
            }
            Source::RawFile(ahead) => {
                let Read {
                    segment,
                    buffer,
                    at,
                } = ahead.next()?;
                let first = layout.planes_of(segment.slabs.start).start;
                let end = layout.planes_of(segment.slabs.end - 1).end;
                let planes = first..end;
                let expected = planes.len() * layout.plane_len() * T::SIZE;
                if at.len() != expected || at.start % align_of::<T>() != 0 {
                    let wrong = Error::corrupt("the index does not match the size of the segment");
                    return Err(damaged(&wrong, &planes));
                }
                Ok(Held {
                    planes,
                    values: Values::Raw(buffer, at),
                })
            }
            Source::PackedFile(ahead, current, places, decoder) => {
                if current
                    .as_ref()
                    .is_none_or(|read| read.segment.slabs.is_empty())
                {
                    if let Some(old) = current.take() {
                        ahead.give_back(old.buffer);
                    }
                    *current = Some(ahead.next()?);
                }
                let Some(read) = current else {
                    return Err(Error::invalid("the segment is missing"));
                };
                let slab = read.segment.slabs.start;
                read.segment.slabs.start += 1;
                let place = &places[slab];
                let start = read.at.start + (place.start - read.segment.place.start) as usize;
                let records = &read.buffer[start..start + (place.end - place.start) as usize];
                decoder.decode(layout, slab, records)
            }
        }
    }

    /// Statistics so far.
    pub(super) fn moved(&self) -> Moved {
        let mut moved = self.moved;
        if let Source::RawFile(ahead) | Source::PackedFile(ahead, ..) = &self.source {
            moved.read += ahead.bytes;
            moved.waited_reading += ahead.waited;
        }
        moved
    }
}
