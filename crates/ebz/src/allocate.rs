//! Fallible allocation: out of memory is an error, not an abort.

use crate::error::{Error, Result};
use crate::huge_pages;

pub(crate) fn no_memory(bytes: u64) -> Error {
    Error::LimitExceeded(format!(
        "cannot allocate {bytes} bytes of memory: read a smaller region"
    ))
}

/// Allocates `length` zeroed values.
pub(crate) fn zeroed<T: bytemuck::Zeroable>(length: usize) -> Result<Vec<T>> {
    let mut values = bytemuck::allocation::try_zeroed_vec(length)
        .map_err(|()| no_memory((length as u64).saturating_mul(size_of::<T>() as u64)))?;
    huge_pages::advise_zeroed(&mut values);
    Ok(values)
}

/// Resizes `values`, filling with the default value.
pub(crate) fn resize<T: Copy + Default>(values: &mut Vec<T>, length: usize) -> Result<()> {
    let more = length.saturating_sub(values.len());
    values
        .try_reserve_exact(more)
        .map_err(|_| no_memory((length as u64).saturating_mul(size_of::<T>() as u64)))?;
    values.resize(length, T::default());
    Ok(())
}
