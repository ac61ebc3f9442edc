//! Arrays in memory: shapes, views with strides, and copies between them.

mod copy;
#[cfg(feature = "ndarray")]
mod ndarray;
mod range;
mod shape;
mod view;

pub(crate) use copy::{gather, scatter};
pub use range::FiniteRange;
pub use shape::{MAX_AXES, element_count};
pub(crate) use shape::{contiguous_strides, display};
pub use view::{Array, View, ViewMut};
