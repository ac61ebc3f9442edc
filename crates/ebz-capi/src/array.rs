//! Arrays owned by C, as views.

use crate::status::{Failure, required};
use ebz::{Element, ElementType, View, ViewMut};
use std::ffi::c_void;

/// Extents and strides given by C.
pub struct Layout {
    shape: Vec<usize>,
    strides: Vec<isize>,
    /// Number of elements of memory that the array spans, and how many of them precede the first
    /// element.
    span: usize,
    before: usize,
}

/// The element type with this id.
pub fn element(number: i32) -> Result<ElementType, Failure> {
    let known = |e: &ElementType| *e as i32 == number;
    ElementType::ALL
        .into_iter()
        .find(known)
        .ok_or_else(|| Failure::invalid("the type must be EBZ_F16, EBZ_BF16, EBZ_F32 or EBZ_F64"))
}

/// The values of a C array, such as a shape.
///
/// # Safety
/// `values` is null or points to `count` values.
pub unsafe fn list<T: Copy>(values: *const T, count: usize, what: &str) -> Result<Vec<T>, Failure> {
    if count > ebz::MAX_AXES {
        return Err(Failure::invalid("at most 16 axes are supported"));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        required(values, what)?;
        Ok(std::slice::from_raw_parts(values, count).to_vec())
    }
}

impl Layout {
    /// # Safety
    /// `shape` points to `axes` numbers; so does `strides`, unless it is null.
    pub unsafe fn new(
        axes: usize,
        shape: *const usize,
        strides: *const isize,
    ) -> Result<Self, Failure> {
        // SAFETY: guaranteed by the caller.
        let shape = unsafe { list(shape, axes, "the shape") }?;
        let count = ebz::element_count(&shape)?;
        let mut layout = Self {
            strides: vec![1; axes],
            shape,
            span: count,
            before: 0,
        };
        if strides.is_null() {
            for axis in (1..axes).rev() {
                let step = layout.shape[axis].max(1) as isize;
                layout.strides[axis - 1] = layout.strides[axis] * step;
            }
            return Ok(layout);
        }
        // SAFETY: guaranteed by the caller.
        layout.strides = unsafe { list(strides, axes, "the strides") }?;
        if count > 0 {
            let reach = |sign: i128| -> i128 {
                let steps = layout.shape.iter().zip(&layout.strides);
                steps
                    .map(|(&n, &s)| (n as i128 - 1) * s as i128 * sign)
                    .filter(|step| *step > 0)
                    .sum()
            };
            let (before, after) = (reach(-1), reach(1));
            let most = isize::MAX as i128 / 16;
            if before > most || after > most {
                return Err(Failure::invalid("the strides exceed the address space"));
            }
            layout.before = before as usize;
            layout.span = (before + after) as usize + 1;
        }
        Ok(layout)
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// # Safety
    /// `values` points to the first element of an array of this layout that nobody modifies while
    /// the view is in use.
    pub unsafe fn view<'a, T: Element>(
        &self,
        values: *const c_void,
    ) -> Result<View<'a, T>, Failure> {
        let start = self.start(values.cast::<T>())?;
        // SAFETY: the caller guarantees an array of this layout, which spans that memory.
        let data = unsafe { std::slice::from_raw_parts(start, self.span) };
        Ok(View::strided(
            data,
            &self.shape,
            &self.strides,
            self.before,
        )?)
    }

    /// # Safety
    /// As [`Layout::view`], and nobody else reads the array meanwhile. Memory between strided
    /// elements is not modified.
    pub unsafe fn view_mut<'a, T: Element>(
        &self,
        values: *mut c_void,
    ) -> Result<ViewMut<'a, T>, Failure> {
        let start = self.start(values.cast::<T>())?.cast_mut();
        // SAFETY: the caller guarantees an array of this layout, which spans that memory.
        let data = unsafe { std::slice::from_raw_parts_mut(start, self.span) };
        Ok(ViewMut::strided(
            data,
            &self.shape,
            &self.strides,
            self.before,
        )?)
    }

    /// The lowest element in memory.
    fn start<T>(&self, values: *const T) -> Result<*const T, Failure> {
        if self.span == 0 {
            return Ok(std::ptr::dangling());
        }
        if values.is_null() || !values.is_aligned() {
            return Err(Failure::invalid("the values are null or not aligned"));
        }
        Ok(values.wrapping_sub(self.before))
    }
}
