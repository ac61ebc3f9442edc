//! Reverse time migration: an image of the subsurface from a recorded shot.
//!
//! ```text
//! true velocities ──► record ──► recording
//! smooth velocities ─► forward ─► frames, and its own recording         ─► store
//! the difference ────► backward ─► image = Σ forward × backward         ◄─ store, last to first
//! ```

mod field;
mod fixed_rate;
mod image;
mod lanes;
mod model;
mod pass;
mod shot;
mod snapshots;
mod stencil;
mod storage;
#[cfg(test)]
mod tests;
mod wave;

pub use field::{Field, Layout};
pub use image::{Closeness, RELATIVE_ERRORS, closeness, middle_slice, sharpen};
pub use model::{Model, smooth};
pub use pass::{Give, Manner, Origin, Progress, Sink, Take, backward, forward, record};
pub use shot::{Setup, Shot};
pub use snapshots::{Run, migrate};
pub use storage::{FixedRate, HandOver, Storage};
pub use wave::{Planes, Wave, roof};
