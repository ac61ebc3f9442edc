//! AVX2 vectors of both element types.
//!
//! The functions of [`Single`] and [`Double`] are not marked `unsafe` but require AVX2: only `dispatch`
//! uses them, with the token of AVX2.

mod double;
mod planes;
mod single;

pub use double::Double;
pub use single::Single;
