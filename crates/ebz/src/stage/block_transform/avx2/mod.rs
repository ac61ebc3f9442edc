//! AVX2: the loops compiled for it, and the vectors of both element types.
//!
//! The functions of [`Single`] and [`Double`] are safe to name but only right to run inside
//! [`run`]; they are reached in no other way.

mod double;
mod planes;
mod single;

pub use double::Double;
pub use single::Single;

use super::dispatch::Vectorised;
use super::real::Real;

/// Runs a loop with AVX2; the caller has checked that this machine has it.
pub fn run<V: Vectorised>(work: V) -> V::Output {
    // SAFETY: `dispatch` calls this only where `Level::Avx2` is available.
    unsafe { with_avx2(work) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn with_avx2<V: Vectorised>(work: V) -> V::Output {
    work.run::<<V::Element as Real>::Avx2>()
}
