//! Reads a file with any number of ranks, independent of how it was written.

use super::access::SharedFile;
use super::cut::volume;
use crate::comm::Comm;
use crate::error::{Error, Result};
use ebz::{Element, FrameHeader, Reader, Source, ViewMut};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Reads a file. All methods are collective, and fail on every rank or on none.
///
/// One rank reads the index and broadcasts it; then each reads the chunks that it needs.
pub struct FileReader<'c> {
    comm: &'c Comm,
    path: PathBuf,
    file: Option<SharedFile>,
    threads: usize,
}

impl<'c> FileReader<'c> {
    /// Opens a file.
    pub fn open(comm: &'c Comm, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let file = comm.settle(SharedFile::open(comm, &path))?;
        Ok(Self {
            comm,
            path,
            file: Some(file),
            threads: 1,
        })
    }

    /// Sets the number of threads per rank; one by default.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Number of frames, and the header of one of them.
    pub fn header(&self, frame: usize) -> Result<(usize, FrameHeader)> {
        let pieces = self.index(frame)?;
        let read = Reader::from_source(&pieces)
            .and_then(|reader| Ok((reader.frames(), reader.frame(frame)?.header().clone())));
        self.comm.settle(read.map_err(Error::from))
    }

    /// Reads a box of a frame: every rank its own, which may be empty.
    pub fn region<T: Element>(&self, frame: usize, region: &[Range<usize>]) -> Result<Vec<T>> {
        let pieces = self.index(frame)?;
        let places = Reader::from_source(&pieces)
            .and_then(|reader| reader.frame(frame)?.places(region))
            .map_err(Error::from);
        let places = self.comm.settle(places)?;
        let runs: Vec<_> = places
            .iter()
            .map(|place| (place.start, (place.end - place.start) as usize))
            .collect();
        let mut bytes = vec![0; runs.iter().map(|run| run.1).sum()];
        let file = self
            .file
            .as_ref()
            .ok_or_else(|| Error::from(ebz::Error::invalid("the file is closed")))?;
        let read = file.read_runs(&runs, &mut bytes);
        let read = read.and_then(|()| pieces.with(&runs, &bytes).read(frame, region, self.threads));
        self.comm.settle(read)
    }

    /// The bytes needed to locate the chunks of a frame, read by one rank for all.
    fn index(&self, frame: usize) -> Result<Pieces> {
        let mut bytes = Vec::new();
        let read = match self.comm.rank() {
            0 => recorded(&self.path, frame).map(|pieces| bytes = pieces.to_bytes()),
            _ => Ok(()),
        };
        self.comm.settle(read)?;
        self.comm.broadcast(0, &mut bytes)?;
        Pieces::from_bytes(&bytes)
    }

    /// Closes the file.
    pub fn close(mut self) -> Result<()> {
        match self.file.take() {
            Some(file) => self.comm.settle(file.close()),
            None => Ok(()),
        }
    }
}

/// Opens a file and a frame of it, and records every byte that this reads.
fn recorded(path: &Path, frame: usize) -> Result<Pieces> {
    let file = File::open(path)?;
    let recorder = Recorder {
        pieces: Mutex::new(Pieces {
            size: file.metadata()?.len(),
            pieces: BTreeMap::new(),
        }),
        file,
    };
    Reader::from_source(&recorder)?.frame(frame)?;
    let pieces = recorder.pieces.into_inner();
    pieces.map_err(|_| ebz::Error::invalid("a thread failed while it read the index").into())
}

struct Recorder {
    file: File,
    pieces: Mutex<Pieces>,
}

impl Source for &Recorder {
    fn size(&self) -> ebz::Result<u64> {
        self.file.size()
    }

    fn fetch<'a>(
        &'a self,
        offset: u64,
        length: usize,
        scratch: &'a mut Vec<u8>,
    ) -> ebz::Result<&'a [u8]> {
        let bytes = self.file.fetch(offset, length, scratch)?;
        if let Ok(mut pieces) = self.pieces.lock() {
            pieces.put(offset, bytes);
        }
        Ok(bytes)
    }
}

/// Parts of a file in memory.
#[derive(Debug)]
struct Pieces {
    size: u64,
    pieces: BTreeMap<u64, Vec<u8>>,
}

impl Pieces {
    /// Keeps the longest piece at each offset.
    fn put(&mut self, offset: u64, bytes: &[u8]) {
        let piece = self.pieces.entry(offset).or_default();
        if piece.len() < bytes.len() {
            *piece = bytes.to_vec();
        }
    }

    fn with(mut self, runs: &[(u64, usize)], bytes: &[u8]) -> Self {
        let mut rest = bytes;
        for &(offset, length) in runs {
            let (piece, after) = rest.split_at(length);
            self.put(offset, piece);
            rest = after;
        }
        self
    }

    fn read<T: Element>(
        &self,
        frame: usize,
        region: &[Range<usize>],
        threads: usize,
    ) -> Result<Vec<T>> {
        let reader = Reader::from_source(self)?.threads(threads);
        let frame = reader.frame(frame)?;
        frame.check_region(region)?;
        let mut values = vec![T::default(); volume(region)];
        let shape: Vec<_> = region.iter().map(Range::len).collect();
        frame.region_into(region, &mut ViewMut::new(&mut values, &shape)?)?;
        Ok(values)
    }

    /// Size, then offset, length and bytes of each piece.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.size.to_le_bytes().to_vec();
        for (offset, piece) in &self.pieces {
            out.extend_from_slice(&offset.to_le_bytes());
            out.extend_from_slice(&(piece.len() as u64).to_le_bytes());
            out.extend_from_slice(piece);
        }
        out
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let cut = || ebz::Error::truncated("the index is incomplete");
        let number = |bytes: &mut &[u8]| {
            let (word, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut)?;
            *bytes = rest;
            Ok::<_, ebz::Error>(u64::from_le_bytes(*word))
        };
        let mut rest = bytes;
        let mut all = Self {
            size: number(&mut rest)?,
            pieces: BTreeMap::new(),
        };
        while !rest.is_empty() {
            let (offset, length) = (number(&mut rest)?, number(&mut rest)?);
            let (piece, after) = rest.split_at_checked(length as usize).ok_or_else(cut)?;
            all.put(offset, piece);
            rest = after;
        }
        Ok(all)
    }
}

impl Source for &Pieces {
    fn size(&self) -> ebz::Result<u64> {
        Ok(self.size)
    }

    fn fetch<'a>(
        &'a self,
        offset: u64,
        length: usize,
        _scratch: &'a mut Vec<u8>,
    ) -> ebz::Result<&'a [u8]> {
        let before = self.pieces.range(..=offset).rev();
        let mut found = before.filter_map(|(start, piece)| {
            let from = usize::try_from(offset - start).ok()?;
            piece.get(from..)?.get(..length)
        });
        found.next().ok_or_else(|| {
            ebz::Error::truncated(format!("{length} bytes at offset {offset} were not read"))
        })
    }
}
