//! NumPy arrays as views, without copying.

use crate::error::{Error, Result};
use ebz::{ElementType, View, ViewMut, with_type};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// An element type of both the library and NumPy.
pub trait Element: ebz::Element + numpy::Element {}
impl<T: ebz::Element + numpy::Element> Element for T {}

/// Runs an expression with an array of any element type.
macro_rules! with_array {
    ($array:expr, $name:ident => $body:expr) => {
        ebz::with_type!($crate::array::element_of($array)?, T => {
            let $name = $array.cast::<numpy::PyArrayDyn<T>>().map_err(pyo3::PyErr::from)?;
            $body
        })
    };
}
pub(crate) use with_array;

/// The NumPy name of an element type.
pub fn dtype(element: ElementType) -> &'static str {
    with_type!(element, T => <T as ebz::Element>::NAMES[1])
}

/// Registers the element type with NumPy, if that takes another package.
pub fn import_dtype(py: Python<'_>, element: ElementType) -> PyResult<()> {
    static IMPORTED: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    if element == ElementType::BF16 {
        let import = || py.import("ml_dtypes").map(Bound::unbind);
        IMPORTED.get_or_try_init(py, import).map_err(|_| {
            PyImportError::new_err("bfloat16 needs the package ml_dtypes: pip install ml_dtypes")
        })?;
    }
    Ok(())
}

/// The element type of an array.
pub fn element_of(array: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    let is = |element: &ElementType| match element {
        // NumPy itself has no bfloat16, and requesting its type would fail.
        ElementType::BF16 => false,
        _ => with_type!(*element, T => array.cast::<PyArrayDyn<T>>().is_ok()),
    };
    if let Some(element) = ElementType::ALL.into_iter().find(is) {
        return Ok(element);
    }
    if let Ok(untyped) = array.cast::<PyUntypedArray>()
        && untyped.dtype().getattr("name")?.extract::<String>()? == dtype(ElementType::BF16)
    {
        import_dtype(array.py(), ElementType::BF16)?;
        return Ok(ElementType::BF16);
    }
    let known = ElementType::ALL.map(dtype).join(", ");
    Err(PyTypeError::new_err(format!(
        "the array must have one of the types {known}"
    )))
}

/// Memory layout of an array: strides in elements, and the span from the lowest to the highest
/// element.
struct Layout {
    strides: Vec<isize>,
    /// Elements before the first one.
    below: usize,
    /// Elements in the span.
    length: usize,
}

impl Layout {
    fn of<T: Element>(array: &Bound<'_, PyArrayDyn<T>>) -> Result<Self> {
        let size = size_of::<T>() as isize;
        if !array.data().is_aligned() {
            return Err(PyTypeError::new_err("the array must be aligned").into());
        }
        let (mut below, mut above) = (0, 0);
        let mut strides = Vec::with_capacity(array.ndim());
        for (&extent, &stride) in array.shape().iter().zip(array.strides()) {
            // The stride of an axis of length 0 or 1 is unused and may be anything.
            let stride = if extent > 1 { stride } else { 0 };
            if stride % size != 0 {
                return Err(PyTypeError::new_err(
                    "the strides must be multiples of the element size",
                )
                .into());
            }
            let stride = stride / size;
            let reach = extent.saturating_sub(1) * stride.unsigned_abs();
            if stride < 0 {
                below += reach;
            } else {
                above += reach;
            }
            strides.push(stride);
        }
        let length = if array.len() == 0 {
            0
        } else {
            below + above + 1
        };
        Ok(Self {
            strides,
            below,
            length,
        })
    }
}

/// Reads an array with the GIL released.
pub fn read<T: Element, R: Send>(
    array: &Bound<'_, PyArrayDyn<T>>,
    work: impl FnOnce(View<'_, T>) -> ebz::Result<R> + Send,
) -> Result<R> {
    // Held until the end: other calls may read the array meanwhile, but not write it.
    let _borrow = array.try_readonly().map_err(borrowed)?;
    let layout = Layout::of(array)?;
    let memory: &[T] = match layout.length {
        0 => &[],
        // SAFETY: NumPy guarantees that all elements lie in memory that is valid as long as the
        // array, which `array` keeps alive; the layout spans from the lowest to the highest of
        // them. The pointer is aligned. Memory between the elements may belong to others and is not
        // read.
        length => unsafe {
            std::slice::from_raw_parts(array.data().sub(layout.below).cast_const(), length)
        },
    };
    let view = View::strided(memory, array.shape(), &layout.strides, layout.below)?;
    Ok(array.py().detach(|| work(view))?)
}

/// Fills an array that is contiguous, in any axis order, with the GIL released.
pub fn write<T: Element>(
    array: &Bound<'_, PyArrayDyn<T>>,
    work: impl FnOnce(ViewMut<'_, T>) -> ebz::Result<()> + Send,
) -> Result<()> {
    let _borrow = array.try_readwrite().map_err(borrowed)?;
    let layout = Layout::of(array)?;
    if layout.length != array.len() {
        return Err(PyTypeError::new_err("the array must be contiguous").into());
    }
    let memory: &mut [T] = match layout.length {
        0 => &mut [],
        // SAFETY: as in `read`; there is no memory between the elements of the array, which is
        // writable, and the borrow excludes other calls.
        length => unsafe { std::slice::from_raw_parts_mut(array.data().sub(layout.below), length) },
    };
    let view = ViewMut::strided(memory, array.shape(), &layout.strides, layout.below)?;
    Ok(array.py().detach(|| work(view))?)
}

fn borrowed(error: numpy::BorrowError) -> Error {
    ebz::Error::invalid(match error {
        numpy::BorrowError::NotWriteable => {
            "the output array is read-only: pass a writable one".to_string()
        }
        _ => "another call is writing to this array: pass each call an array of its own".into(),
    })
    .into()
}
