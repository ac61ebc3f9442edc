//! Error-bounded compression of floating-point arrays at memory speed.
//!
//! ```text
//! array ─► chunks ─► codec ─► records ─► .ebz stream          (compress)
//! array ◄─ chunks ◄─ codec ◄─ records ◄─ .ebz stream          (decompress)
//! ```

#[cfg(not(target_endian = "little"))]
compile_error!("ebz streams are little-endian and are written as memory holds them");

pub mod bound;
pub mod codec;
pub mod element;
pub mod error;
pub mod simd;
pub mod stage;

pub use bound::{Bound, BoundKind, Tolerance};
pub use element::{Element, ElementType};
pub use error::{Error, Result};
