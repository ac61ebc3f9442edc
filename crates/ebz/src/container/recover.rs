//! Saving what is left of a file whose writer was stopped, or that was damaged.
//!
//! The records are walked one by one; behind damage the next marker is looked for. Frames whose
//! header survives are written again; chunks that are lost become NaN. A frame that claims more
//! values than any writer puts into a file of this size is left out: it would be written in full.

use super::frame::FrameHeader;
use super::grid::{dims, extents};
use super::index::Place;
use super::reader::{FILE_HEADER, Limits, check_expansion};
use super::record::{HEADER, Kind, MARKER, Record};
use super::source::Source;
use super::writer::Writer;
use crate::bound::Bound;
use crate::codec::{self, Context, Params, Task};
use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::fill::FillValues;
use crate::options::Options;
use std::collections::BTreeMap;
use std::io::Write;

/// What became of one frame.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Recovered {
    /// Its number in the damaged file.
    pub frame: u32,
    /// Number of chunks.
    pub chunks: usize,
    /// Chunks that are lost; their values are NaN now.
    pub lost: Vec<usize>,
}

/// Bytes looked through at once for the next record.
const WINDOW: usize = 1 << 20;

/// Writes everything that can be read of `source` as a complete file, frame by frame.
pub fn recover<S: Source, W: Write + Send>(source: &S, out: W) -> Result<(Vec<Recovered>, W)> {
    let mut scratch = Vec::new();
    let frames = find_frames(source, &mut scratch)?;
    if frames.is_empty() {
        return Err(Error::corrupt("nothing in this file can be recovered"));
    }
    let mut writer = Writer::new(out, Options::new(Bound::Lossless))?;
    let mut report = Vec::new();
    for (frame, found) in frames {
        let chunks = found.header.grid.chunks();
        let mut lost = Vec::new();
        writer.copy_frame(&found.header, |number, body| {
            let Some(&(kind, place)) = found.chunks.get(&number) else {
                lost.push(number);
                return nan_chunk(&found.header, number, body);
            };
            let start = place.offset + HEADER as u64;
            body.extend_from_slice(source.fetch(start, place.length as usize, &mut scratch)?);
            Ok(kind)
        })?;
        report.push(Recovered {
            frame,
            chunks,
            lost,
        });
    }
    Ok((report, writer.finish()?))
}

/// The readable parts of a frame.
struct Found {
    header: FrameHeader,
    chunks: BTreeMap<usize, (Kind, Place)>,
}

fn find_frames<S: Source>(source: &S, scratch: &mut Vec<u8>) -> Result<BTreeMap<u32, Found>> {
    let size = source.size()?;
    let mut frames = BTreeMap::new();
    let mut offset = FILE_HEADER as u64;
    while let Some(start) = next_marker(source, offset, size, scratch)? {
        let Some((record, body)) = record_at(source, start, size, scratch)? else {
            offset = start + 1;
            continue;
        };
        let place = Place {
            offset: start,
            length: record.length,
        };
        match record.kind {
            Kind::Frame => {
                // A frame of which next to nothing can be there would only be a lot of NaN.
                let sane = |header: &FrameHeader| {
                    let most = Limits::default().max_expansion;
                    check_expansion(header.raw_bytes() as u64, size, most).is_ok()
                };
                let header = FrameHeader::read_from(body).ok();
                if let Some(header) = header.filter(sane) {
                    let chunks = BTreeMap::new();
                    frames
                        .entry(record.frame)
                        .or_insert(Found { header, chunks });
                }
            }
            Kind::Coded | Kind::Raw => {
                if let Some(found) = frames.get_mut(&record.frame) {
                    let number = record.number as usize;
                    if number < found.header.grid.chunks() {
                        found.chunks.entry(number).or_insert((record.kind, place));
                    }
                }
            }
            Kind::End | Kind::Index => {}
        }
        offset = place.end();
    }
    Ok(frames)
}

/// Where the next record may start.
fn next_marker<S: Source>(
    source: &S,
    mut offset: u64,
    size: u64,
    scratch: &mut Vec<u8>,
) -> Result<Option<u64>> {
    while offset + HEADER as u64 <= size {
        let length = (size - offset).min(WINDOW as u64) as usize;
        let window = source.fetch(offset, length, scratch)?;
        let found = window
            .windows(MARKER.len())
            .position(|bytes| bytes == MARKER);
        if let Some(at) = found {
            return Ok(Some(offset + at as u64));
        }
        offset += (length - (MARKER.len() - 1)) as u64;
    }
    Ok(None)
}

/// The record that starts here, if it is whole and its checksum matches.
fn record_at<'a, S: Source>(
    source: &'a S,
    start: u64,
    size: u64,
    scratch: &'a mut Vec<u8>,
) -> Result<Option<(Record, &'a [u8])>> {
    if start + HEADER as u64 > size {
        return Ok(None);
    }
    let mut header = [0; HEADER];
    header.copy_from_slice(source.fetch(start, HEADER, scratch)?);
    let Ok(unverified) = Record::read(&header) else {
        return Ok(None);
    };
    let place = Place {
        offset: start,
        length: unverified.record.length,
    };
    if place.end() > size {
        return Ok(None);
    }
    let body = source.fetch(start + HEADER as u64, place.length as usize, scratch)?;
    Ok(unverified.verify(body).ok().map(|record| (record, body)))
}

/// The body of a chunk of NaN, as the frame's own codec or raw.
fn nan_chunk(header: &FrameHeader, number: usize, body: &mut Vec<u8>) -> Result<Kind> {
    match header.element {
        ElementType::F32 => nan_chunk_of::<f32>(header, number, body),
        ElementType::F64 => nan_chunk_of::<f64>(header, number, body),
    }
}

fn nan_chunk_of<T: Element>(
    header: &FrameHeader,
    number: usize,
    body: &mut Vec<u8>,
) -> Result<Kind> {
    let region = header.grid.region(number);
    let values = vec![T::from_f64(f64::NAN); header.grid.chunk_len(number)];
    let task = Task {
        dims: dims(&extents(&region)),
        tolerance: header.tolerance,
        fill: FillValues::NONE,
        params: &Params::default(),
        advice: None,
    };
    codec::by_id(header.codec)?.encode(&values, &task, &mut Context::default(), body)?;
    if body.len() < values.len() * T::SIZE {
        return Ok(Kind::Coded);
    }
    body.clear();
    body.extend_from_slice(bytemuck::cast_slice(&values));
    Ok(Kind::Raw)
}
