//! Files that all ranks write and read together.

mod access;
mod cut;
mod read;
mod sketch;
mod write;

pub use read::FileReader;
pub use write::{FileWriter, FrameReport};
