//! Reading front to back, from a pipe.

use super::coding::{Coded, Coding};
use super::frame::FrameHeader;
use super::index;
use super::reader::{
    FILE_HEADER, Limits, check_expansion, check_file_header, not_ebz, place_chunk,
};
use super::record::{HEADER, Kind, Record};
use crate::codec::Context;
use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::parallel;
use crate::simd::Level;
use std::io::{Read, Write};
use std::ops::Range;

/// An `.ebz` stream that is read once, front to back, in memory for a few chunks.
pub struct StreamReader<R> {
    input: R,
    limits: Limits,
    threads: usize,
    frames: u32,
    /// The header that was read last, while its chunks are still to come.
    open: Option<FrameHeader>,
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
            input,
            limits: Limits::default(),
            threads: 0,
            frames: 0,
            open: None,
        })
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
        while let Some(record) = read_record(&mut self.input, &mut body, u64::MAX)? {
            match record.kind {
                Kind::Frame if record.frame == self.frames && record.number == 0 => {
                    self.frames += 1;
                    self.open = Some(FrameHeader::read_from(&body)?);
                    return Ok(self.open.as_ref());
                }
                // A file that was appended to also holds the indexes of its earlier states.
                Kind::Index if record.frame == self.frames => {
                    index::read_frames(&body)?;
                    indexed = true;
                }
                _ => return Err(Error::corrupt("a record that belongs elsewhere")),
            }
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
        let header = self
            .open
            .take()
            .ok_or_else(|| Error::invalid("no frame header has been read"))?;
        match header.element {
            ElementType::F32 => self.write_frame_as::<f32>(&header, out),
            ElementType::F64 => self.write_frame_as::<f64>(&header, out),
        }
    }

    fn write_frame_as<T: Element>(
        &mut self,
        header: &FrameHeader,
        out: &mut (dyn Write + Send),
    ) -> Result<()> {
        struct Worker<T> {
            context: Context,
            /// Chunks of a slab as read.
            chunks: Vec<(Record, Vec<u8>)>,
            values: Vec<T>,
        }
        let grid = &header.grid;
        let coding = Coding::of(header)?;
        let frame = self.frames - 1;
        let threads = parallel::threads(self.threads).min(grid.slabs()).max(1);
        let mut workers: Vec<_> = (0..threads)
            .map(|_| Worker {
                context: Context::new(Level::detect()),
                chunks: Vec::new(),
                values: Vec::<T>::new(),
            })
            .collect();
        let per_slab = grid.chunks_per_slab();
        let mut slabs = 0..grid.slabs();
        let (input, limits) = (&mut self.input, self.limits);
        parallel::ordered(
            &mut workers,
            |worker| {
                let Some(slab) = slabs.next() else {
                    return Ok(None);
                };
                for (at, number) in (slab * per_slab..(slab + 1) * per_slab).enumerate() {
                    // One by one, because the number of chunks is only a claim so far.
                    if at == worker.chunks.len() {
                        let nothing = Record {
                            kind: Kind::Raw,
                            frame: 0,
                            number: 0,
                            length: 0,
                        };
                        worker.chunks.push((nothing, Vec::new()));
                    }
                    let chunk = &mut worker.chunks[at];
                    let raw = (grid.chunk_len(number) * T::SIZE) as u64;
                    chunk.0 = read_record(input, &mut chunk.1, raw)?.ok_or_else(|| {
                        Error::truncated(format!("the stream ends before chunk {number}"))
                    })?;
                    let record = chunk.0;
                    if !matches!(record.kind, Kind::Coded | Kind::Raw) || record.frame != frame {
                        return Err(Error::corrupt("a record that belongs elsewhere"));
                    }
                    if record.number as usize != number {
                        return Err(Error::unsupported(
                            "the chunks are not in order: read this stream from a file",
                        ));
                    }
                    check_expansion(raw, record.length + HEADER as u64, limits.max_expansion)?;
                }
                Ok(Some(slab))
            },
            |worker, slab| {
                let part = grid.slab_region(slab);
                let length = part.iter().map(Range::len).product();
                worker.values.resize(length, T::default());
                for (&(record, ref body), number) in worker.chunks.iter().zip(slab * per_slab..) {
                    let chunk = Coded { record, body };
                    let region = grid.region(number);
                    let values = &mut worker.values;
                    place_chunk(&coding, &chunk, &region, &part, &mut worker.context, values)?;
                }
                Ok(())
            },
            |worker| Ok(out.write_all(bytemuck::cast_slice(&worker.values))?),
        )?;
        let mut body = Vec::new();
        let length = grid.chunks() as u64 * 16;
        match read_record(&mut self.input, &mut body, length)? {
            Some(end) if end.kind == Kind::End && end.frame == frame && end.length == length => {
                Ok(())
            }
            Some(_) => Err(Error::corrupt("no end of a frame where it should be")),
            None => Err(Error::truncated("the stream ends before its frame does")),
        }
    }
}

/// Reads and verifies a record of at most `most` bytes into `body`; `None` at the end of the input.
fn read_record(input: &mut impl Read, body: &mut Vec<u8>, most: u64) -> Result<Option<Record>> {
    body.clear();
    input.by_ref().take(HEADER as u64).read_to_end(body)?;
    if body.is_empty() {
        return Ok(None);
    }
    let header: [u8; HEADER] = body[..]
        .try_into()
        .map_err(|_| Error::truncated("the stream ends within a record"))?;
    let unverified = Record::read(&header)?;
    let length = unverified.record.length;
    if length > most {
        return Err(Error::corrupt(format!(
            "a record of {length} bytes where at most {most} are possible"
        )));
    }
    // Grows as bytes arrive, whatever the header claims.
    body.clear();
    input.by_ref().take(length).read_to_end(body)?;
    if body.len() as u64 != length {
        return Err(Error::truncated("the stream ends within a record"));
    }
    unverified.verify(body).map(Some)
}
