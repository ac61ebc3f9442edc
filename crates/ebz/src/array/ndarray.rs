//! Conversion from views of the `ndarray` crate.

use super::view::View;
use crate::element::Element;
use crate::error::{Error, Result};
use ndarray::{ArrayView, Dimension};

impl<'a, T: Element, D: Dimension> TryFrom<ArrayView<'a, T, D>> for View<'a, T> {
    type Error = Error;

    /// Without copying, for any axis order; an error if the memory has gaps.
    fn try_from(array: ArrayView<'a, T, D>) -> Result<Self> {
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        let Some(memory) = array.to_slice_memory_order() else {
            return Err(Error::invalid(
                "this ndarray view is not dense in memory: copy it first with to_owned()",
            ));
        };
        // Axes with negative strides start at their far end.
        let far = shape
            .iter()
            .zip(&strides)
            .filter(|(_, stride)| **stride < 0);
        let offset = far.map(|(extent, stride)| extent.saturating_sub(1) * stride.unsigned_abs());
        View::strided(memory, &shape, &strides, offset.sum())
    }
}
