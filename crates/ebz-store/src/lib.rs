//! Frames and grids that live compressed, on disk or in memory, moved by servant threads.
//!
//! ```text
//! application ─► slabs or whole frames ─► servants ─► file or memory      (FrameStore)
//! application ◄─ slabs or whole frames ◄─ servants ◄─ file or memory      (Frames)
//! ```
//!
//! `docs/store.md` has an example and says what the options and counters mean.
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
mod servants;
mod store;

pub use frames::{Frames, OpenFrame};
pub use options::{Plan, Policy, StoreOptions};
pub use report::Report;
pub use store::{FrameStore, NewFrame};

/// The example of the document is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/store.md")]
struct Document;
