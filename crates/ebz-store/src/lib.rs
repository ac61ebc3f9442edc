//! Compressed frames and grids, on disk or in memory, moved by servant threads.
//!
//! ```text
//! application ─► slabs or whole frames ─► servants ─► file or memory      (FrameStore)
//! application ◄─ slabs or whole frames ◄─ servants ◄─ file or memory      (Frames)
//! ```
//!
//! `docs/store.md` has an example and explains options and statistics.
#![forbid(unsafe_code)]

mod coding;
mod failure;
mod frame_storage;
mod frames;
pub mod grid;
pub mod io;
mod options;
mod pieces;
mod prefetch;
mod report;
#[cfg(all(test, shuttle))]
mod schedules;
mod servants;
mod store;
mod sync;
#[doc(hidden)]
pub mod threads;

pub use frames::{Frames, OpenFrame};
pub use options::{Plan, Policy, StoreOptions};
pub use report::{Clock, Report};
pub use store::{FrameStore, NewFrame};

/// Compiles the example of the document as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/store.md")]
struct Document;
