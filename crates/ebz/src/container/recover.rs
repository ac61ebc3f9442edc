//! Recovery of damaged files, or of files whose writer was killed.
//!
//! Scans the records one by one; after damage, it searches for the next marker. Frames with a valid
//! header and at least one valid chunk are written to a new file; lost chunks become NaN. A frame
//! with too many lost chunks is skipped, because a small file can claim any number of chunks.

use super::file_header::FILE_HEADER_BYTES;
use super::index::Place;
use super::limits::Limits;
use super::record::{Kind, MARKER, MAX_HEADER_BYTES, MIN_HEADER_BYTES, Record};
use super::source::Source;
use super::writer::Writer;
use crate::bound::Bound;
use crate::chunk::{Form, FrameHeader, MAX_CHUNK_BYTES};
use crate::element::{Element, ElementType, with_type};
use crate::error::{Error, Result};
use crate::options::Options;
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;

/// The outcome for one frame.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Recovered {
    /// Its index in the damaged file.
    pub frame: u32,
    /// Number of chunks.
    pub chunks: usize,
    /// Whether it was written. A frame is skipped if none of its chunks was found, or if the lost
    /// ones would make the output much larger than the damaged file.
    pub written: bool,
    /// Runs of lost chunks, which are NaN in the output.
    pub lost: Vec<Range<usize>>,
}

/// Bytes of the source buffered at once.
const WINDOW_BYTES: usize = 1 << 20;

/// Size of a lost chunk in the output: record header, a value, and its length in the end record.
const LOST_CHUNK_BYTES: u64 = MAX_HEADER_BYTES as u64 + 8 + 1;

/// Maximum total size of lost chunks: a constant plus a multiple of the size of the damaged file.
const MAX_LOST_BYTES: u64 = 1 << 20;
const MAX_LOST_FACTOR: u64 = 16;

/// Maximum total size of invalid records, as a multiple of the file size: each is read to its
/// claimed end, and they may overlap.
const MAX_INVALID_FACTOR: u64 = 16;

/// Writes everything readable in `source` to a new, complete file.
pub fn recover<S: Source, W: Write + Send>(source: &S, out: W) -> Result<(Vec<Recovered>, W)> {
    recover_within(source, out, Limits::default())
}

/// [`recover`] with other limits.
pub fn recover_within<S: Source, W: Write + Send>(
    source: &S,
    out: W,
    limits: Limits,
) -> Result<(Vec<Recovered>, W)> {
    let frames = find_frames(source, &limits)?;
    let mut allowed = source.size()?.saturating_mul(MAX_LOST_FACTOR) + MAX_LOST_BYTES;
    let mut writer = Writer::new(out, Options::new(Bound::Lossless))?;
    let mut report = Vec::new();
    let mut scratch = Vec::new();
    for (frame, found) in frames {
        let chunks = found.header.grid.chunks();
        let loss = ((chunks - found.chunks.len()) as u64).saturating_mul(LOST_CHUNK_BYTES);
        let written = (chunks == 0 || !found.chunks.is_empty()) && loss <= allowed;
        if written {
            allowed -= loss;
            writer.copy_frame(&found.header, |number, body| {
                let Some(&(form, place)) = found.chunks.get(&number) else {
                    body.extend_from_slice(&nan(found.header.element));
                    return Ok(Form::Constant);
                };
                body.extend_from_slice(source.fetch(
                    place.body(),
                    place.length as usize,
                    &mut scratch,
                )?);
                Ok(form)
            })?;
        }
        report.push(Recovered {
            frame,
            chunks,
            written,
            lost: found.lost(),
        });
    }
    if !report.iter().any(|frame| frame.written) {
        return Err(Error::corrupt(match report.len() {
            0 => "nothing in this file can be recovered".into(),
            frames => format!(
                "nothing in this file can be recovered: too few chunks are left (frames: {frames})"
            ),
        }));
    }
    Ok((report, writer.finish()?))
}

/// The bytes of a NaN.
fn nan(element: ElementType) -> Vec<u8> {
    with_type!(element, T => bytemuck::bytes_of(&T::from_f64(f64::NAN)).to_vec())
}

/// The valid parts of a frame.
struct Found {
    header: FrameHeader,
    chunks: BTreeMap<usize, (Form, Place)>,
}

impl Found {
    /// The runs of missing chunks.
    fn lost(&self) -> Vec<Range<usize>> {
        let end = self.header.grid.chunks();
        let after = self.chunks.keys().map(|number| number + 1);
        let runs = std::iter::once(0).chain(after);
        let runs = runs.zip(self.chunks.keys().copied().chain([end]));
        runs.map(|(start, end)| start..end)
            .filter(|run| !run.is_empty())
            .collect()
    }
}

fn find_frames<S: Source>(source: &S, limits: &Limits) -> Result<BTreeMap<u32, Found>> {
    let mut scanner = Scanner::new(source, limits)?;
    let mut frames = BTreeMap::new();
    while let Some((record, place)) = scanner.next()? {
        match record.kind {
            Kind::Frame if limits.check_header(record.length).is_ok() => {
                if let Ok(header) = FrameHeader::read_from(scanner.body(place)?) {
                    let chunks = BTreeMap::new();
                    frames
                        .entry(record.frame)
                        .or_insert(Found { header, chunks });
                }
            }
            kind => {
                if let (Some(form), Some(found)) = (kind.form(), frames.get_mut(&record.frame)) {
                    let number = record.number as usize;
                    if number < found.header.grid.chunks() {
                        found.chunks.entry(number).or_insert((form, place));
                    }
                }
            }
        }
    }
    Ok(frames)
}

/// Iterates over the valid records of a source.
struct Scanner<'a, S> {
    source: &'a S,
    limits: &'a Limits,
    size: u64,
    /// Where to search next.
    at: u64,
    /// Buffered bytes of the source, and their offset.
    window: Vec<u8>,
    window_at: u64,
    /// A body that exceeds the window.
    scratch: Vec<u8>,
    /// Remaining budget for invalid records, in bytes.
    allowed: u64,
}

impl<'a, S: Source> Scanner<'a, S> {
    fn new(source: &'a S, limits: &'a Limits) -> Result<Self> {
        let size = source.size()?;
        Ok(Self {
            source,
            limits,
            size,
            at: FILE_HEADER_BYTES as u64,
            window: Vec::new(),
            window_at: 0,
            scratch: Vec::new(),
            allowed: size.saturating_mul(MAX_INVALID_FACTOR),
        })
    }

    /// The next valid record.
    fn next(&mut self) -> Result<Option<(Record, Place)>> {
        while let Some(start) = self.next_marker()? {
            let found = self.record_at(start)?;
            self.at = found.map_or(start + 1, |(_, place)| place.end());
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Offset of the next marker.
    fn next_marker(&mut self) -> Result<Option<u64>> {
        let mut offset = self.at;
        while offset.saturating_add(MIN_HEADER_BYTES as u64) <= self.size {
            let bytes = self.bytes_from(offset)?;
            let mut places = bytes.windows(MARKER.len());
            if let Some(at) = places.position(|bytes| bytes == MARKER) {
                return Ok(Some(offset + at as u64));
            }
            offset += (bytes.len() - (MARKER.len() - 1)) as u64;
        }
        Ok(None)
    }

    /// The buffered bytes from `offset`: at least a record header, unless the source ends.
    fn bytes_from(&mut self, offset: u64) -> Result<&[u8]> {
        let held = self.window_at..self.window_at + self.window.len() as u64;
        let needed = offset
            .saturating_add(MAX_HEADER_BYTES as u64)
            .min(self.size);
        if offset < held.start || needed > held.end {
            let length = (self.size - offset).min(WINDOW_BYTES as u64) as usize;
            let bytes = self.source.fetch(offset, length, &mut self.scratch)?;
            self.window.clear();
            self.window.extend_from_slice(bytes);
            self.window_at = offset;
        }
        Ok(&self.window[(offset - self.window_at) as usize..])
    }

    /// The record at this offset, if it is valid.
    fn record_at(&mut self, start: u64) -> Result<Option<(Record, Place)>> {
        let Ok(Some(unverified)) = Record::read(self.bytes_from(start)?) else {
            return Ok(None);
        };
        let place = Place::new(start, &unverified.record);
        if place.end() > self.size || place.length > self.allowed {
            return Ok(None);
        }
        // A chunk is held three times: as read, as copied, and as written.
        let memory = self.limits.check(place.length.saturating_mul(3));
        match unverified.record.kind.form().is_some() {
            true if place.length > MAX_CHUNK_BYTES as u64 => return Ok(None),
            true => memory?,
            // Other oversized records are not needed to recover chunks.
            false if memory.is_err() => return Ok(None),
            false => {}
        }
        let Ok(record) = unverified.verify(self.body(place)?) else {
            self.allowed -= place.length;
            return Ok(None);
        };
        Ok(Some((record, place)))
    }

    /// The body of a record that lies within the source.
    fn body(&mut self, place: Place) -> Result<&[u8]> {
        let start = place.body();
        let held = (start.checked_sub(self.window_at))
            .and_then(|at| self.window.get(at as usize..)?.get(..place.length as usize));
        match held {
            Some(body) => Ok(body),
            None => (self.source).fetch(start, place.length as usize, &mut self.scratch),
        }
    }
}
