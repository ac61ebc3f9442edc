//! Groups of blocks that are processed together, one per vector lane.

/// Blocks per group.
pub const LANES: usize = 8;
/// One position of every block of a group.
pub type Lanes<V> = [V; LANES];
