//! Frames and grids that live compressed, on disk or in memory, moved by servant threads.
#![forbid(unsafe_code)]

mod coding;
mod failure;
mod frames;
pub mod io;
mod options;
mod pieces;
mod prefetch;
mod report;
mod servants;
mod shelf;
mod store;

pub use frames::{Frames, OpenFrame};
pub use options::{Plan, Policy, StoreOptions};
pub use report::Report;
pub use store::{FrameStore, NewFrame};
