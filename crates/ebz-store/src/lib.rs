//! Frames and grids that live compressed, on disk or in memory, moved by servant threads.

pub mod grid;
pub mod io;
