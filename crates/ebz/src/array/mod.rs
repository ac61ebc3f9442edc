//! Arrays in memory: shapes, strided views, and copies between them.

mod copy;
mod extremes;
mod missing;
#[cfg(feature = "ndarray")]
mod ndarray;
mod range;
mod scan;
mod shape;
mod view;

pub(crate) use copy::{gather, scatter};
pub(crate) use missing::is_known as is_known_fill;
pub use range::FiniteRange;
pub use scan::{FoundFill, ValueScan, may_be_missing};
pub(crate) use scan::{chunk_fill, may_have_fill};
pub use shape::{MAX_AXES, element_count};
pub(crate) use shape::{PerAxis, contiguous_strides, display};
pub use view::{Array, View, ViewMut};
