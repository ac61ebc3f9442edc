//! Threads that wait for the disk: one reads ahead, one writes behind.

use super::buffers::Buffers;
use super::checkpoint::Place;
use crate::io::{AlignedBuffer, DirectFile};
use ebz::{Error, Result};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Segments in flight per servant: one at the disk, one queued, one at the worker.
pub(super) const MAX_SEGMENTS: usize = 3;

/// A run of slabs that are contiguous in a file.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub slabs: Range<usize>,
    pub place: Range<u64>,
}

/// Groups slabs into segments of at most `most` bytes, or one slab.
pub(super) fn segments(slabs: Range<usize>, places: &[Place], most: usize) -> Vec<Segment> {
    let mut all: Vec<Segment> = Vec::new();
    for slab in slabs {
        let place = places[slab].clone();
        match all.last_mut() {
            Some(last)
                if last.place.end == place.start && place.end - last.place.start <= most as u64 =>
            {
                last.place.end = place.end;
                last.slabs.end = slab + 1;
            }
            _ => all.push(Segment {
                slabs: slab..slab + 1,
                place,
            }),
        }
    }
    all
}

/// A segment and its range in the buffer.
pub(super) struct Read {
    pub segment: Segment,
    pub buffer: AlignedBuffer,
    pub at: Range<usize>,
}

/// Reads segments ahead, in order.
pub(super) struct ReadAhead {
    full: Receiver<Result<Read>>,
    empty: Option<Sender<AlignedBuffer>>,
    servant: Option<JoinHandle<()>>,
    pub waited: Duration,
    pub bytes: u64,
}

impl ReadAhead {
    pub fn new(file: Arc<DirectFile>, jobs: Vec<Segment>, buffers: Arc<Buffers>) -> Result<Self> {
        let (to_worker, full) = channel();
        let (empty, to_servant) = channel::<AlignedBuffer>();
        let longest = jobs.iter().map(|job| job.place.end - job.place.start).max();
        for _ in 0..MAX_SEGMENTS.min(jobs.len()) {
            let bytes = longest.unwrap_or(0) as usize + crate::io::BLOCK_BYTES;
            let _ = empty.send(buffers.segment(bytes)?);
        }
        let servant = Builder::new().spawn(move || {
            for segment in jobs {
                let Ok(mut buffer) = to_servant.recv() else {
                    break;
                };
                let read = file.read(segment.place.clone(), &mut buffer);
                let read = read.map(|at| Read {
                    segment,
                    buffer,
                    at,
                });
                let failed = read.is_err();
                if to_worker.send(read).is_err() || failed {
                    break;
                }
            }
            to_servant.iter().for_each(|b| buffers.give_segment(b));
        })?;
        Ok(Self {
            full,
            empty: Some(empty),
            servant: Some(servant),
            waited: Duration::ZERO,
            bytes: 0,
        })
    }

    /// The next segment.
    pub fn next(&mut self) -> Result<Read> {
        let start = Instant::now();
        let gone = |_| Error::invalid("the planes of a grid must be read in order, each once");
        let read = self.full.recv().map_err(gone)??;
        self.waited += start.elapsed();
        self.bytes += read.segment.place.end - read.segment.place.start;
        Ok(read)
    }

    pub fn give_back(&self, buffer: AlignedBuffer) {
        if let Some(empty) = &self.empty {
            let _ = empty.send(buffer);
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.empty = None;
        if let Some(servant) = self.servant.take() {
            let _ = servant.join();
        }
    }
}

/// Writes segments in the background.
pub(super) struct WriteBehind {
    full: Option<Sender<(AlignedBuffer, u64, usize)>>,
    empty: Receiver<Result<AlignedBuffer>>,
    servant: Option<JoinHandle<()>>,
    buffers: Arc<Buffers>,
    in_flight: usize,
    pub waited: Duration,
    pub bytes: u64,
}

impl WriteBehind {
    pub fn new(file: Arc<DirectFile>, buffers: Arc<Buffers>) -> Result<Self> {
        let (full, to_servant) = channel::<(AlignedBuffer, u64, usize)>();
        let (to_worker, empty) = channel();
        let servant = Builder::new().spawn(move || {
            for (buffer, offset, length) in to_servant {
                let done = file.write_blocks(offset, &buffer, length);
                let failed = done.is_err();
                if to_worker.send(done.map(|()| buffer)).is_err() || failed {
                    break;
                }
            }
        })?;
        Ok(Self {
            full: Some(full),
            empty,
            servant: Some(servant),
            buffers,
            in_flight: 0,
            waited: Duration::ZERO,
            bytes: 0,
        })
    }

    /// An empty buffer, as soon as few enough segments are in flight.
    pub fn buffer(&mut self, bytes: usize) -> Result<AlignedBuffer> {
        while self.in_flight >= MAX_SEGMENTS - 1 {
            self.wait_for_one()?;
        }
        self.buffers.segment(bytes)
    }

    /// Passes the first `length` bytes of a buffer to the servant.
    pub fn write(&mut self, buffer: AlignedBuffer, offset: u64, length: usize) -> Result<()> {
        self.in_flight += 1;
        self.bytes += length as u64;
        let sent = self
            .full
            .as_ref()
            .map(|full| full.send((buffer, offset, length)));
        match sent {
            Some(Ok(())) => Ok(()),
            // The servant has stopped because of an error, which is returned below.
            _ => self.wait_for_one(),
        }
    }

    /// Waits until one segment is written.
    fn wait_for_one(&mut self) -> Result<()> {
        let start = Instant::now();
        let gone = |_| Error::invalid("an earlier write failed: the new grid is incomplete");
        let written = self.empty.recv().map_err(gone)?;
        self.waited += start.elapsed();
        self.in_flight -= 1;
        self.buffers.give_segment(written?);
        Ok(())
    }

    /// Waits until everything is written.
    pub fn finish(&mut self) -> Result<()> {
        while self.in_flight > 0 {
            self.wait_for_one()?;
        }
        Ok(())
    }
}

impl Drop for WriteBehind {
    fn drop(&mut self) {
        self.full = None;
        if let Some(servant) = self.servant.take() {
            let _ = servant.join();
        }
    }
}
