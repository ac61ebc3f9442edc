//! The vectors of both element types with AVX2.
//!
//! The functions of [`Single`] and [`Double`] are safe to name but only right to run where AVX2 is
//! available: `dispatch` names them only with the token in hand, and no one else does.

mod double;
mod planes;
mod single;

pub use double::Double;
pub use single::Single;
