//! A complete grid at one time step.

use super::checkpoint::{self, Place};
use super::{Layout, State};
use crate::io::{DirectFile, Rate};
use ebz::{Element, Result};
use std::path::Path;
use std::sync::Arc;

/// One of the two alternating grids.
pub(super) struct Generation<T> {
    /// Its time step.
    pub step: u64,
    /// The frame number in its records, which identifies the pass that wrote them.
    pub frame: u32,
    pub body: Body<T>,
}

/// The values of a grid.
pub(super) enum Body<T> {
    /// Uncompressed.
    Raw(Vec<T>),
    /// The records of every slab.
    Packed(Vec<Vec<u8>>),
    /// In a file, raw or as records.
    File(Filed),
}

/// A file and the positions of its slabs.
pub(super) struct Filed {
    pub file: Arc<DirectFile>,
    pub places: Vec<Place>,
}

impl<T: Element> Generation<T> {
    /// A grid without contents.
    pub fn new(
        state: State,
        layout: &Layout,
        folder: &Path,
        number: usize,
        rate: &Arc<Rate>,
    ) -> Result<Self> {
        let body = match state {
            State::RawMemory => Body::Raw(vec![T::default(); layout.planes() * layout.plane_len()]),
            State::CompressedMemory => Body::Packed(vec![Vec::new(); layout.slabs()]),
            State::RawDisk | State::CompressedDisk => {
                checkpoint::invalidate(folder, number)?;
                let path = checkpoint::data_path(folder, number);
                Body::File(Filed {
                    file: Arc::new(DirectFile::create(path, true, rate.clone())?),
                    places: vec![0..0; layout.slabs()],
                })
            }
        };
        Ok(Self {
            step: 0,
            frame: 0,
            body,
        })
    }

    /// Stored size of the values.
    pub fn stored(&self) -> u64 {
        match &self.body {
            Body::Raw(values) => size_of_val(&values[..]) as u64,
            Body::Packed(slabs) => slabs.iter().map(|slab| slab.len() as u64).sum(),
            Body::File(filed) => filed.places.iter().map(|p| p.end - p.start).sum(),
        }
    }

    /// Memory use.
    pub fn memory(&self) -> u64 {
        match &self.body {
            Body::Raw(_) => self.stored(),
            Body::Packed(slabs) => slabs.iter().map(|slab| slab.capacity() as u64).sum(),
            Body::File(_) => 0,
        }
    }
}
