//! Owned arrays, and views of borrowed memory.

use super::copy::gather;
use super::shape::{PerAxis, contiguous_strides, display, element_count};
use crate::element::Element;
use crate::error::{Error, Result};
use std::borrow::Cow;

/// An array that owns its values, in C order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<T> {
    values: Vec<T>,
    shape: Vec<usize>,
}

impl<T: Element> Array<T> {
    /// An array from its values in C order (slowest axis first).
    pub fn new(values: Vec<T>, shape: &[usize]) -> Result<Self> {
        check_length(values.len(), shape)?;
        Ok(Self {
            values,
            shape: shape.to_vec(),
        })
    }

    /// The values in C order.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The values in C order, mutable.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Consumes the array, returning its values in C order.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }

    /// Extents, slowest axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// A view of the whole array.
    pub fn view(&self) -> View<'_, T> {
        View {
            data: &self.values,
            layout: Layout::contiguous(&self.shape),
        }
    }
}

/// Where the elements of a view lie within its memory.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub shape: PerAxis<usize>,
    pub strides: PerAxis<isize>,
    pub offset: usize,
}

impl Layout {
    fn contiguous(shape: &[usize]) -> Self {
        Self {
            shape: shape.into(),
            strides: contiguous_strides(shape),
            offset: 0,
        }
    }

    /// A strided layout; an error if an element lies outside of the `length` elements of memory.
    fn strided(length: usize, shape: &[usize], strides: &[isize], offset: usize) -> Result<Self> {
        if shape.len() != strides.len() {
            return Err(Error::invalid("a view needs one stride per axis"));
        }
        if element_count(shape)? > 0 {
            let (mut first, mut last) = (offset as i128, offset as i128);
            for (&extent, &stride) in shape.iter().zip(strides) {
                let reach = (extent as i128 - 1) * stride as i128;
                if reach < 0 {
                    first += reach
                } else {
                    last += reach
                }
            }
            if first < 0 || last >= length as i128 {
                return Err(Error::invalid(format!(
                    "a view of shape {} with these strides exceeds its memory of {length} elements",
                    display(shape)
                )));
            }
        }
        Ok(Self {
            shape: shape.into(),
            strides: strides.into(),
            offset,
        })
    }

    fn is_contiguous(&self) -> bool {
        let expected = contiguous_strides(&self.shape);
        self.shape.contains(&0)
            || (0..self.shape.len())
                .all(|axis| self.shape[axis] == 1 || self.strides[axis] == expected[axis])
    }

    /// The memory range of the elements if they are contiguous.
    fn run(&self) -> Option<std::ops::Range<usize>> {
        let count: usize = self.shape.iter().product();
        match count {
            0 => Some(0..0),
            _ if self.is_contiguous() => Some(self.offset..self.offset + count),
            _ => None,
        }
    }
}

/// A read-only array view, possibly strided.
#[derive(Debug, Clone)]
pub struct View<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) layout: Layout,
}

impl<'a, T: Element> View<'a, T> {
    /// A contiguous array in C order.
    pub fn new(data: &'a [T], shape: &[usize]) -> Result<Self> {
        check_length(data.len(), shape)?;
        Ok(Self {
            data,
            layout: Layout::contiguous(shape),
        })
    }

    /// An array view whose element `i` lies at `offset + Σ i[axis] · strides[axis]`.
    pub fn strided(
        data: &'a [T],
        shape: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> Result<Self> {
        Ok(Self {
            data,
            layout: Layout::strided(data.len(), shape, strides, offset)?,
        })
    }

    /// Extents, slowest axis first.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// The values in C order, if they are contiguous.
    pub fn as_slice(&self) -> Option<&'a [T]> {
        self.layout.run().map(|run| &self.data[run])
    }

    /// Copies the values in C order to `out`, which must have exactly that length.
    pub fn copy_to(&self, out: &mut [T]) -> Result<()> {
        let Layout {
            shape,
            strides,
            offset,
        } = &self.layout;
        check_length(out.len(), shape)?;
        match self.as_slice() {
            Some(values) => out.copy_from_slice(values),
            None => gather(self.data, shape, strides, *offset, out),
        }
        Ok(())
    }

    /// The values in C order, copied only if they are not contiguous.
    pub fn to_contiguous(&self) -> Cow<'a, [T]> {
        if let Some(values) = self.as_slice() {
            return Cow::Borrowed(values);
        }
        let Layout {
            shape,
            strides,
            offset,
        } = &self.layout;
        let mut values = vec![T::default(); shape.iter().product()];
        gather(self.data, shape, strides, *offset, &mut values);
        Cow::Owned(values)
    }
}

/// A mutable array view, possibly strided.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    pub(crate) data: &'a mut [T],
    pub(crate) layout: Layout,
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// A contiguous array in C order.
    pub fn new(data: &'a mut [T], shape: &[usize]) -> Result<Self> {
        check_length(data.len(), shape)?;
        Ok(Self {
            data,
            layout: Layout::contiguous(shape),
        })
    }

    /// An array view whose element `i` lies at `offset + Σ i[axis] · strides[axis]`.
    pub fn strided(
        data: &'a mut [T],
        shape: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> Result<Self> {
        let layout = Layout::strided(data.len(), shape, strides, offset)?;
        Ok(Self { data, layout })
    }

    /// Extents, slowest axis first.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// The values in C order, if they are contiguous.
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        self.layout.run().map(|run| &mut self.data[run])
    }
}

fn check_length(length: usize, shape: &[usize]) -> Result<()> {
    let count = element_count(shape)?;
    if length != count {
        return Err(Error::invalid(format!(
            "{length} values for an array of shape {}, which has {count}",
            display(shape)
        )));
    }
    Ok(())
}
