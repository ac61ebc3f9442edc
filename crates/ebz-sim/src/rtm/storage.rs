//! Where the frames of a migration are stored, and how they get there.

use super::pass::{Origin, Sink};
use ebz::Result;
use ebz_store::{Report, StoreOptions};
use std::sync::Arc;

/// How frames move between the compute threads and the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HandOver {
    /// Slab by slab: the thread that computed a slab encodes it while it is in its cache.
    Slabs,
    /// As whole frames, encoded by servants.
    Frames,
}

/// Where the frames of a migration are stored.
#[derive(Debug, Clone)]
pub struct Storage {
    /// The store.
    pub options: StoreOptions,
    /// How frames get there.
    pub hand_over: HandOver,
    /// Compresses in place of a codec, under the compressed policies.
    pub engine: Option<Arc<dyn FixedRate>>,
}

/// A compressor whose output has a known size.
pub trait FixedRate: Send + Sync + std::fmt::Debug {
    /// Number of 32-bit words of a compressed slab of these extents.
    fn words(&self, shape: [usize; 3]) -> usize;
    /// Compresses a slab to that many words; any bit pattern is allowed.
    fn encode(&self, values: &[f32], shape: [usize; 3], words: &mut [f32]) -> Result<()>;
    /// Decompresses a slab.
    fn decode(&self, words: &[f32], shape: [usize; 3], values: &mut [f32]) -> Result<()>;
}

/// A sink whose frames are read back.
pub(super) trait Store: Sink {
    type Reader: Stored;
    /// Stores all frames, to be read from the last to the first.
    fn into_reader(self) -> Result<Self::Reader>;
}

/// Frames that were stored.
pub(super) trait Stored: Origin {
    fn report(&self) -> Report;
}
