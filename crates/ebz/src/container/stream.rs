//! Reading front to back, from a pipe.

use super::file_header::{FILE_HEADER, check_file_header, not_ebz, noted_index};
use super::index::{self, FramePlace, Place};
use super::limits::{self, Limits};
use super::record::{Kind, MARKER, MAX_HEADER, MIN_HEADER, Record};
use super::surplus::bytes_behind_end;
use crate::chunk::{Body, ChunkCoder, Cpu, Form, FrameHeader, FramePlan};
use crate::element::{Element, with_type};
use crate::error::{Error, Result};
use crate::parallel;
use crate::simd::Level;
use std::io::{ErrorKind, Read, Write};
use std::ops::Range;

/// An `.ebz` stream that is read once, front to back, in memory for a few slabs.
///
/// Every place that its indexes name is compared with the records that passed: a stream that holds
/// other values for a [`Reader`](super::Reader) is refused.
pub struct StreamReader<R> {
    records: Records<R>,
    limits: Limits,
    threads: usize,
    /// The frames that have passed.
    frames: Vec<FramePlace>,
    /// Where the index is behind which nothing counts, because an append is not complete; else 0.
    noted_index: u64,
    /// The header that was read last, while its chunks are still to come.
    open: Option<(FrameHeader, Place)>,
}

impl<R: Read + Send> StreamReader<R> {
    /// Reads the signature.
    pub fn new(mut input: R) -> Result<Self> {
        let mut header = Vec::new();
        (&mut input)
            .take(FILE_HEADER as u64)
            .read_to_end(&mut header)?;
        if header.len() < FILE_HEADER {
            return Err(not_ebz());
        }
        check_file_header(&header)?;
        Ok(Self {
            records: Records {
                input,
                position: FILE_HEADER as u64,
            },
            limits: Limits::default(),
            threads: 0,
            frames: Vec::new(),
            noted_index: noted_index(&header),
            open: None,
        })
    }

    /// Sets what is accepted before memory is reserved.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the number of threads; 0 means all cores.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The header of the next frame; `None` behind the last one. What is left of the frame before
    /// is verified and passed over.
    pub fn next_frame(&mut self) -> Result<Option<&FrameHeader>> {
        if self.open.is_some() {
            self.write_frame(&mut std::io::sink())?;
        }
        let mut body = Vec::new();
        let mut indexed = false;
        let most = self.limits.max_memory;
        while let Some((record, place)) = self.records.next(&mut body, most, indexed)? {
            match record.kind {
                Kind::Frame if record.frame as usize == self.frames.len() && record.number == 0 => {
                    self.limits.check_header(record.length)?;
                    let (header, _) = self.open.insert((FrameHeader::read_from(&body)?, place));
                    return Ok(Some(header));
                }
                // A file that was appended to also holds the indexes of its earlier states.
                Kind::Index if record.frame as usize == self.frames.len() => {
                    let mut expected = Vec::new();
                    index::write_frames(&self.frames, place.offset, &mut expected);
                    if body != expected {
                        return Err(Error::corrupt(
                            "the index names other places than those where the frames are",
                        ));
                    }
                    if place.offset == self.noted_index {
                        return Ok(None);
                    }
                    indexed = true;
                }
                _ => return Err(Error::corrupt("a record that belongs elsewhere")),
            }
        }
        if indexed && self.noted_index > 0 {
            return Err(Error::corrupt("no file index where one is noted"));
        }
        if indexed {
            return Ok(None);
        }
        Err(Error::truncated(
            "the stream ends without its index: its writer was stopped",
        ))
    }

    /// Decodes the frame whose header was read last and writes its raw little-endian values.
    pub fn write_frame(&mut self, out: &mut (dyn Write + Send)) -> Result<()> {
        let (header, place) = self
            .open
            .take()
            .ok_or_else(|| Error::invalid("no frame header has been read"))?;
        let place = with_type!(header.element, T => self.write_frame_as::<T>(&header, place, out)?);
        self.frames.push(place);
        Ok(())
    }

    /// Returns where the frame is, whose header was at `place`.
    fn write_frame_as<T: Element>(
        &mut self,
        header: &FrameHeader,
        place: Place,
        out: &mut (dyn Write + Send),
    ) -> Result<FramePlace> {
        struct Worker<T> {
            coder: ChunkCoder,
            /// Chunks of a slab as read.
            chunks: Vec<(Form, Vec<u8>)>,
            values: Vec<T>,
        }
        let grid = &header.grid;
        let plan = FramePlan::of(header.clone())?;
        let frame = self.frames.len() as u32;
        let threads = parallel::threads(self.threads).min(grid.slabs()).max(1);
        let whole: Vec<_> = grid.shape().iter().map(|&n| 0..n).collect();
        // As values and, if it did not shrink, as read.
        let slab = limits::slab_memory(grid, &whole, T::SIZE).saturating_mul(2);
        let each = limits::chunk_memory(grid, T::TYPE).saturating_add(slab);
        let threads = self.limits.workers(threads, 0, each)?;
        let mut workers: Vec<_> = (0..threads)
            .map(|_| Worker {
                coder: ChunkCoder::new(Level::detect()),
                chunks: Vec::new(),
                values: Vec::<T>::new(),
            })
            .collect();
        let per_slab = grid.chunks_per_slab();
        let mut slabs = 0..grid.slabs();
        let records = &mut self.records;
        // Grows as chunks come: their number is only a claim so far.
        let mut places = Vec::new();
        parallel::ordered(
            &mut workers,
            |worker| {
                let Some(slab) = slabs.next() else {
                    return Ok(None);
                };
                for (at, number) in (slab * per_slab..(slab + 1) * per_slab).enumerate() {
                    // One by one, because the number of chunks is only a claim so far.
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
                let part = grid.slab_region(slab);
                let length = part.iter().map(Range::len).product();
                limits::resize(&mut worker.values, length)?;
                for (&(form, ref bytes), number) in worker.chunks.iter().zip(slab * per_slab..) {
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
            let most = expected.len() as u64;
            let Some((end, place)) = self.records.next(&mut body, most, false)? else {
                return Err(Error::truncated("the stream ends before its frame does"));
            };
            if end.kind != Kind::End || end.frame != frame {
                return Err(Error::corrupt("no end of a frame where it should be"));
            }
            if body != expected {
                return Err(index::other_places());
            }
            frame_place.end = Some(place);
        }
        Ok(frame_place)
    }
}

/// The records of a stream, one behind the other.
struct Records<R> {
    input: R,
    /// Bytes read so far.
    position: u64,
}

impl<R: Read> Records<R> {
    /// Reads and verifies a record of at most `most` bytes into `body`; `None` at the end of the
    /// input. If the stream could be `complete`, anything that is no record lies behind its end.
    fn next(
        &mut self,
        body: &mut Vec<u8>,
        most: u64,
        complete: bool,
    ) -> Result<Option<(Record, Place)>> {
        body.clear();
        let mut header = MIN_HEADER;
        self.read(body, header as u64)?;
        if body.is_empty() {
            return Ok(None);
        }
        if complete && !MARKER.starts_with(&body[..body.len().min(MARKER.len())]) {
            return Err(bytes_behind_end(self.position));
        }
        let cut = || Error::truncated("the stream ends within a record");
        // No more than there must be, because whatever follows belongs to the body.
        let unverified = loop {
            if body.len() < header || header > MAX_HEADER {
                return Err(cut());
            }
            if let Some(unverified) = Record::read(body)? {
                break unverified;
            }
            header = Record::least_header(body).max(header + 1);
            self.read(body, (header - body.len()) as u64)?;
        };
        let length = unverified.record.length;
        if length > most {
            return Err(Error::corrupt(format!(
                "a record of {length} bytes where at most {most} are possible"
            )));
        }
        // Grows as bytes arrive, whatever the header claims.
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
