//! The vectors of both element types with AVX2.
//!
//! The functions of [`Single`] and [`Double`] are safe to name but only right to run where AVX2 is
//! available: `dispatch` sees to that, and they are reached in no other way.

mod double;
mod planes;
mod single;

pub use double::Double;
pub use single::Single;
