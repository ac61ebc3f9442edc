//! Storage of encoded frames in a file or in memory: written in order, read in any order.

use crate::failure::lock;
use crate::io::{AlignedBuffer, DirectFile, DirectWriter, Rate};
use crate::options::{StoreOptions, no_frame};
use crate::pieces::Coded;
use crate::report::Counters;
use ebz::slab::FramePlan;
use ebz::{Element, Error, Options, Reader, Result, Writer};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Location and plan of a frame.
struct Entry {
    plan: Arc<FramePlan>,
    /// Byte range of each slab's records, in the file or in `memory`.
    slabs: Vec<Range<u64>>,
    memory: Option<Arc<Vec<u8>>>,
}

/// Writes encoded frames.
pub(crate) struct FrameSink {
    file: Option<(Writer<Output>, Output)>,
    entries: Vec<Entry>,
    counters: Arc<Counters>,
    direct: bool,
}

/// The file of a writer, still accessible while the writer owns it.
#[derive(Clone)]
struct Output(Arc<Mutex<DirectWriter>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl FrameSink {
    pub fn new(options: &StoreOptions, coding: &Options, counters: Arc<Counters>) -> Result<Self> {
        let mut direct = false;
        let file = match options.file_path()? {
            None => None,
            Some(path) => {
                let rate = Arc::new(Rate::new(options.disk_rate));
                let file = DirectFile::create(path, options.direct, rate)?;
                direct = file.is_direct();
                let output = Output(Arc::new(Mutex::new(DirectWriter::new(file)?)));
                Some((Writer::new(output.clone(), coding.clone())?, output))
            }
        };
        Ok(Self {
            file,
            entries: Vec::new(),
            counters,
            direct,
        })
    }

    /// Whether the file uses direct I/O.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Stores a frame. Once this returns, a file contains it even if the process is killed.
    pub fn store(&mut self, coded: &Coded) -> Result<()> {
        let counters = self.counters.clone();
        let entry = counters.write.time(|| match &mut self.file {
            Some((writer, output)) => to_file(writer, output, coded),
            None => to_memory(coded),
        })?;
        let bytes = entry
            .slabs
            .iter()
            .map(|range| range.end - range.start)
            .sum();
        counters.stored_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.entries.push(entry);
        Ok(())
    }

    /// Completes the file and opens it for reading.
    pub fn finish(self) -> Result<StoredFrames> {
        let mut file = None;
        if let Some((writer, output)) = self.file {
            drop(writer.finish()?);
            let writer = Arc::into_inner(output.0).ok_or_else(|| Error::invalid("file in use"))?;
            let writer = writer
                .into_inner()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            file = Some(writer.finish()?);
        }
        Ok(StoredFrames {
            file,
            entries: self.entries,
            counters: self.counters,
        })
    }
}

fn to_file(writer: &mut Writer<Output>, output: &Output, coded: &Coded) -> Result<Entry> {
    let plan = coded.plan()?;
    let mut frame = writer.begin(plan)?;
    let mut slabs = Vec::new();
    coded.slabs.each(|slab| {
        slabs.push(frame.slab(slab)?);
        Ok(())
    })?;
    frame.end()?;
    lock(&output.0).sync_point()?;
    Ok(Entry {
        plan: plan.clone(),
        slabs,
        memory: None,
    })
}

fn to_memory(coded: &Coded) -> Result<Entry> {
    let mut length = 0;
    coded.slabs.each(|slab| {
        length += slab.bytes().len();
        Ok(())
    })?;
    let mut bytes = Vec::with_capacity(length);
    let mut slabs = Vec::new();
    coded.slabs.each(|slab| {
        let start = bytes.len() as u64;
        bytes.extend_from_slice(slab.bytes());
        slabs.push(start..bytes.len() as u64);
        Ok(())
    })?;
    Ok(Entry {
        plan: coded.plan()?.clone(),
        slabs,
        memory: Some(Arc::new(bytes)),
    })
}

/// Reads stored frames.
pub(crate) struct StoredFrames {
    file: Option<DirectFile>,
    entries: Vec<Entry>,
    counters: Arc<Counters>,
}

/// The records of a frame in memory.
pub(crate) struct Fetched {
    pub number: u32,
    pub plan: Arc<FramePlan>,
    slabs: Vec<Range<usize>>,
    bytes: Bytes,
}

enum Bytes {
    Read(AlignedBuffer),
    Held(Arc<Vec<u8>>),
}

impl StoredFrames {
    /// The frames of a complete file, which must all have the same shape and chunks.
    pub fn open<T: Element>(path: &Path, options: &StoreOptions) -> Result<Self> {
        let reader = Reader::open(path)?;
        let mut entries: Vec<Entry> = Vec::new();
        let counters: Arc<Counters> = Arc::default();
        for number in 0..reader.frames() {
            let frame = reader.frame(number)?;
            let plan = Arc::new(frame.plan()?);
            let header = plan.header();
            let first = entries.first().map_or(header, |entry| entry.plan.header());
            if header.element != T::TYPE || header.grid != first.grid {
                return Err(Error::unsupported(format!(
                    "frame {number} differs from the others: a frame store needs frames of one shape and \
                     chunk shape, of {} values here",
                    T::TYPE
                )));
            }
            let slabs = (0..plan.slabs()).map(|slab| frame.slab_bytes(slab));
            let slabs = slabs.collect::<Result<Vec<_>>>()?;
            let stored = slabs.iter().map(|range| range.end - range.start).sum();
            counters.stored_bytes.fetch_add(stored, Ordering::Relaxed);
            entries.push(Entry {
                plan,
                slabs,
                memory: None,
            });
        }
        let rate = Arc::new(Rate::new(options.disk_rate));
        Ok(Self {
            file: Some(DirectFile::open_to_read(path, options.direct, rate)?),
            entries,
            counters,
        })
    }

    pub fn frames(&self) -> usize {
        self.entries.len()
    }

    /// The plan of the first frame.
    pub fn first_plan(&self) -> Option<&FramePlan> {
        self.entries.first().map(|entry| &*entry.plan)
    }

    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Whether the file uses direct I/O.
    pub fn is_direct(&self) -> bool {
        self.file.as_ref().is_some_and(DirectFile::is_direct)
    }

    /// The records of a frame, read into the spare buffer unless they are in memory already.
    pub fn fetch(&self, number: usize, spare: Option<AlignedBuffer>) -> Result<Fetched> {
        let missing = || no_frame(number, self.frames());
        let entry = self.entries.get(number).ok_or_else(missing)?;
        let start = entry.slabs.first().map_or(0, |range| range.start);
        let end = entry.slabs.last().map_or(0, |range| range.end);
        let (bytes, shift) = match (&self.file, &entry.memory) {
            (Some(file), None) => {
                let mut buffer = spare.map_or_else(|| AlignedBuffer::new(0), Ok)?;
                let read = || file.read(start..end, &mut buffer);
                let place = self.counters.read.time(read)?;
                (Bytes::Read(buffer), place.start)
            }
            (_, Some(memory)) => (Bytes::Held(memory.clone()), 0),
            (None, None) => return Err(missing()),
        };
        let relative = |at: u64| (at.saturating_sub(start)) as usize + shift;
        let relative = |range: &Range<u64>| relative(range.start)..relative(range.end);
        Ok(Fetched {
            number: number as u32,
            plan: entry.plan.clone(),
            slabs: entry.slabs.iter().map(relative).collect(),
            bytes,
        })
    }
}

impl Fetched {
    /// The records of a slab.
    pub fn slab(&self, slab: usize) -> Result<&[u8]> {
        let bytes: &[u8] = match &self.bytes {
            Bytes::Read(buffer) => buffer,
            Bytes::Held(bytes) => bytes,
        };
        let range = self.slabs.get(slab).cloned();
        let records = range.and_then(|range| bytes.get(range));
        records.ok_or_else(|| Error::corrupt(format!("slab {slab} exceeds its frame")))
    }

    /// The buffer, for reuse.
    pub fn into_spare(self) -> Option<AlignedBuffer> {
        match self.bytes {
            Bytes::Read(buffer) => Some(buffer),
            Bytes::Held(_) => None,
        }
    }
}
