//! Sequential reading, for example from a pipe.

use super::file_header::{
    FILE_HEADER_BYTES, PREVIOUS_INDEX, check_file_header, not_ebz, read_offset,
};
use super::index::{self, FramePlace, Place};
use super::limits::{self, Limits};
use super::record::{Kind, MARKER, MAX_HEADER_BYTES, MIN_HEADER_BYTES, Record};
use super::trailing::trailing_bytes;
use crate::chunk::{Body, ChunkCoder, Cpu, Form, FrameHeader, FramePlan};
use crate::element::{Element, with_type};
use crate::error::{Error, Result};
use crate::parallel;
use crate::simd::Level;
use std::io::{ErrorKind, Read, Write};
use std::ops::Range;

/// An `.ebz` stream that is read once, front to back, with memory for a few slabs.
///
/// All indexes are compared with the records actually read, so that a stream cannot have different
/// content for a [`Reader`](super::Reader).
pub struct StreamReader<R> {
    records: Records<R>,
    limits: Limits,
    threads: usize,
    /// The frames read so far.
    frames: Vec<FramePlace>,
    /// During an append, the offset of the previous index, after which nothing counts; otherwise 0.
    previous_index: u64,
    /// The last frame header and its position, until its chunks are read.
    open: Option<(FrameHeader, Place)>,
}

impl<R: Read + Send> StreamReader<R> {
    /// Reads the file header.
    pub fn new(mut input: R) -> Result<Self> {
        let mut header = Vec::new();
        (&mut input)
            .take(FILE_HEADER_BYTES as u64)
            .read_to_end(&mut header)?;
        if header.len() < FILE_HEADER_BYTES {
            return Err(not_ebz());
        }
        check_file_header(&header)?;
        Ok(Self {
            records: Records {
                input,
                position: FILE_HEADER_BYTES as u64,
            },
            limits: Limits::default(),
            threads: 0,
            frames: Vec::new(),
            previous_index: read_offset(&header[PREVIOUS_INDEX]),
            open: None,
        })
    }

    /// Sets the memory limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the number of threads; 0 means all cores.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The header of the next frame; `None` after the last one. Verifies and skips unread chunks of
    /// the previous frame.
    pub fn next_frame(&mut self) -> Result<Option<&FrameHeader>> {
        if self.open.is_some() {
            self.write_frame(&mut std::io::sink())?;
        }
        let mut body = Vec::new();
        let mut indexed = false;
        let max_length = self.limits.max_memory;
        while let Some((record, place)) = self.records.next(&mut body, max_length, indexed)? {
            match record.kind {
                Kind::Frame if record.frame as usize == self.frames.len() && record.number == 0 => {
                    self.limits.check_header(record.length)?;
                    let (header, _) = self.open.insert((FrameHeader::read_from(&body)?, place));
                    return Ok(Some(header));
                }
                // A file that was appended to also has its earlier indexes.
                Kind::Index if record.frame as usize == self.frames.len() => {
                    let mut expected = Vec::new();
                    index::write_frames(&self.frames, place.offset, &mut expected);
                    if body != expected {
                        return Err(index::mismatch());
                    }
                    if place.offset == self.previous_index {
                        return Ok(None);
                    }
                    indexed = true;
                }
                _ => return Err(Error::corrupt("unexpected record")),
            }
        }
        if indexed && self.previous_index > 0 {
            return Err(Error::corrupt(
                "no file index at the offset in the file header",
            ));
        }
        if indexed {
            return Ok(None);
        }
        Err(Error::truncated(
            "the stream ends without its index: its writer was interrupted",
        ))
    }

    /// Decodes the current frame and writes its raw little-endian values.
    pub fn write_frame(&mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        let (header, place) = self
            .open
            .take()
            .ok_or_else(|| Error::invalid("no frame header has been read"))?;
        let place = with_type!(header.element, T => self.write_frame_as::<T>(&header, place, out)?);
        self.frames.push(place);
        Ok(())
    }

    /// Returns the position of the frame, whose header is at `place`.
    fn write_frame_as<T: Element>(
        &mut self,
        header: &FrameHeader,
        place: Place,
        out: &mut (dyn Write + Send),
    ) -> Result<FramePlace> {
        struct Worker<T> {
            coder: ChunkCoder,
            /// Encoded chunks of a slab.
            chunks: Vec<(Form, Vec<u8>)>,
            values: Vec<T>,
        }
        let grid = &header.grid;
        let plan = FramePlan::of(header.clone())?;
        let frame = self.frames.len() as u32;
        let threads = parallel::threads(self.threads).min(grid.slabs()).max(1);
        // Memory for decoded values and for incompressible chunks.
        let slab = limits::slab_memory(grid, &grid.whole(), T::SIZE).saturating_mul(2);
        let each = limits::chunk_memory(grid, T::TYPE).saturating_add(slab);
        let threads = self.limits.workers(threads, 0, each)?;
        let mut workers: Vec<_> = (0..threads)
            .map(|_| Worker {
                coder: ChunkCoder::new(Level::detect()),
                chunks: Vec::new(),
                values: Vec::<T>::new(),
            })
            .collect();
        let mut slabs = 0..grid.slabs();
        let records = &mut self.records;
        // Grows with the chunks read: their number in the header is not trusted.
        let mut places = Vec::new();
        parallel::ordered(
            &mut workers,
            |worker| {
                let Some(slab) = slabs.next() else {
                    return Ok(None);
                };
                for (at, number) in grid.chunks_of(slab).enumerate() {
                    // Grows with the chunks read, for the same reason.
                    if at == worker.chunks.len() {
                        worker.chunks.push((Form::Raw, Vec::new()));
                    }
                    let chunk = &mut worker.chunks[at];
                    let raw = (grid.chunk_len(number) * T::SIZE) as u64;
                    let read = records.next(&mut chunk.1, raw, false)?;
                    let (record, place) = read.ok_or_else(|| {
                        Error::truncated(format!("the stream ends before chunk {number}"))
                    })?;
                    chunk.0 = record.chunk(frame, number, &[])?.form;
                    places.push(place);
                }
                Ok(Some(slab))
            },
            |worker, slab| {
                let part = grid.slab_box(slab);
                let length = part.iter().map(Range::len).product();
                limits::resize(&mut worker.values, length)?;
                for (&(form, ref bytes), number) in worker.chunks.iter().zip(grid.chunks_of(slab)) {
                    let (coder, values) = (&mut worker.coder, &mut worker.values);
                    let body = Body { form, bytes };
                    coder.decode(&Cpu, &plan, number, body, &part, values)?;
                }
                Ok(())
            },
            |worker| Ok(out.write_all(bytemuck::cast_slice(&worker.values))?),
        )?;
        let mut frame_place = FramePlace {
            header: place,
            chunks: self.records.position - place.end(),
            end: None,
        };
        if places.len() > 1 {
            let mut expected = Vec::new();
            index::write_chunks(&places, &mut expected);
            let mut body = Vec::new();
            let max_length = expected.len() as u64;
            let Some((end, place)) = self.records.next(&mut body, max_length, false)? else {
                return Err(Error::truncated("the stream ends within a frame"));
            };
            if end.kind != Kind::End || end.frame != frame {
                return Err(Error::corrupt("a frame has no end record"));
            }
            if body != expected {
                return Err(index::mismatch());
            }
            frame_place.end = Some(place);
        }
        Ok(frame_place)
    }
}

/// The records of a stream, in order.
struct Records<R> {
    input: R,
    /// Bytes read so far.
    position: u64,
}

impl<R: Read> Records<R> {
    /// Reads and verifies a record with a body of at most `max_length` bytes; `None` at the end of
    /// the input. If the stream may be `complete` already, anything but a record is trailing data.
    fn next(
        &mut self,
        body: &mut Vec<u8>,
        max_length: u64,
        complete: bool,
    ) -> Result<Option<(Record, Place)>> {
        body.clear();
        let mut header = MIN_HEADER_BYTES;
        self.read(body, header as u64)?;
        if body.is_empty() {
            return Ok(None);
        }
        if complete && !MARKER.starts_with(&body[..body.len().min(MARKER.len())]) {
            return Err(trailing_bytes(self.position));
        }
        let cut = || Error::truncated("the stream ends within a record");
        // Never read more than the minimum: the bytes that follow belong to the body.
        let unverified = loop {
            if body.len() < header || header > MAX_HEADER_BYTES {
                return Err(cut());
            }
            if let Some(unverified) = Record::read(body)? {
                break unverified;
            }
            header = Record::min_header_len(body).max(header + 1);
            self.read(body, (header - body.len()) as u64)?;
        };
        let length = unverified.record.length;
        if length > max_length {
            return Err(Error::corrupt(format!(
                "a record of {length} bytes exceeds the maximum of {max_length}"
            )));
        }
        // Grows as bytes arrive: the length is not trusted.
        body.clear();
        self.read(body, length)?;
        if body.len() as u64 != length {
            return Err(cut());
        }
        let record = unverified.verify(body)?;
        let place = Place::new(self.position, &record);
        self.position = place.end();
        Ok(Some((record, place)))
    }

    fn read(&mut self, body: &mut Vec<u8>, length: u64) -> Result<()> {
        let read = self.input.by_ref().take(length).read_to_end(body);
        read.map(drop).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => limits::no_memory(length),
            _ => error.into(),
        })
    }
}
