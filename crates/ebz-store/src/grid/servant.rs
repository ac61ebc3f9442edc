//! Threads that wait for the disk so that nobody else has to: one reads ahead, one writes behind.

use super::buffers::Buffers;
use super::checkpoint::Place;
use crate::io::{AlignedBuffer, DirectFile};
use ebz::{Error, Result};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Segments that a servant has under way: one at the disk, one waiting, one at the worker.
pub(super) const SEGMENTS: usize = 3;

/// A run of slabs that lie one behind the other in a file.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub slabs: Range<usize>,
    pub place: Range<u64>,
}

/// Slabs grouped to segments of at most `most` bytes (or one slab).
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

/// A segment as it was read, and where in the buffer it is.
pub(super) struct Read {
    pub segment: Segment,
    pub buffer: AlignedBuffer,
    pub at: Range<usize>,
}

/// Reads segments ahead, in order.
pub(super) struct Ahead {
    full: Receiver<Result<Read>>,
    empty: Option<Sender<AlignedBuffer>>,
    servant: Option<JoinHandle<()>>,
    pub waited: Duration,
    pub bytes: u64,
}

impl Ahead {
    pub fn new(file: Arc<DirectFile>, jobs: Vec<Segment>, buffers: Arc<Buffers>) -> Result<Self> {
        let (to_worker, full) = channel();
        let (empty, to_servant) = channel::<AlignedBuffer>();
        let longest = jobs.iter().map(|job| job.place.end - job.place.start).max();
        for _ in 0..SEGMENTS.min(jobs.len()) {
            let bytes = longest.unwrap_or(0) as usize + crate::io::BLOCK;
            let _ = empty.send(buffers.segment(bytes)?);
        }
        let servant = std::thread::spawn(move || {
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
        });
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
        let gone = |_| Error::invalid("the planes of a grid are read in order, each once");
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

impl Drop for Ahead {
    fn drop(&mut self) {
        self.empty = None;
        if let Some(servant) = self.servant.take() {
            let _ = servant.join();
        }
    }
}

/// Writes segments behind the worker.
pub(super) struct Behind {
    full: Option<Sender<(AlignedBuffer, u64, usize)>>,
    empty: Receiver<Result<AlignedBuffer>>,
    servant: Option<JoinHandle<()>>,
    buffers: Arc<Buffers>,
    under_way: usize,
    pub waited: Duration,
    pub bytes: u64,
}

impl Behind {
    pub fn new(file: Arc<DirectFile>, buffers: Arc<Buffers>) -> Self {
        let (full, to_servant) = channel::<(AlignedBuffer, u64, usize)>();
        let (to_worker, empty) = channel();
        let servant = std::thread::spawn(move || {
            for (buffer, offset, length) in to_servant {
                let done = file.write_blocks(offset, &buffer, length);
                let failed = done.is_err();
                if to_worker.send(done.map(|()| buffer)).is_err() || failed {
                    break;
                }
            }
        });
        Self {
            full: Some(full),
            empty,
            servant: Some(servant),
            buffers,
            under_way: 0,
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    /// An empty buffer, once few enough segments are under way.
    pub fn buffer(&mut self, bytes: usize) -> Result<AlignedBuffer> {
        while self.under_way >= SEGMENTS - 1 {
            self.settle()?;
        }
        self.buffers.segment(bytes)
    }

    /// Hands the first `length` bytes of a buffer to the servant.
    pub fn write(&mut self, buffer: AlignedBuffer, offset: u64, length: usize) -> Result<()> {
        self.under_way += 1;
        self.bytes += length as u64;
        let sent = self
            .full
            .as_ref()
            .map(|full| full.send((buffer, offset, length)));
        match sent {
            Some(Ok(())) => Ok(()),
            // The servant has stopped: its error is waiting.
            _ => self.settle(),
        }
    }

    /// Waits until one segment is written.
    fn settle(&mut self) -> Result<()> {
        let start = Instant::now();
        let gone = |_| Error::invalid("writing has failed before: the new grid is not complete");
        let written = self.empty.recv().map_err(gone)?;
        self.waited += start.elapsed();
        self.under_way -= 1;
        self.buffers.give_segment(written?);
        Ok(())
    }

    /// Waits until everything is written.
    pub fn finish(&mut self) -> Result<()> {
        while self.under_way > 0 {
            self.settle()?;
        }
        Ok(())
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.full = None;
        if let Some(servant) = self.servant.take() {
            let _ = servant.join();
        }
    }
}
