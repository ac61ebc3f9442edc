//! Prefetches and non-temporal stores, which never change a result.

use super::Level;

/// Prefetches `size_of_val(values)` bytes from `ahead` bytes after the start of `values`. The
/// address need not be valid.
#[inline(always)]
pub(crate) fn prefetch<T, const N: usize>(values: &[T; N], ahead: usize) {
    for line in (0..size_of_val(values)).step_by(64) {
        prefetch_line(values, ahead + line);
    }
}

/// Prefetches the cache line `ahead` bytes after the start of `values`.
#[inline(always)]
pub(crate) fn prefetch_line<T, const N: usize>(values: &[T; N], ahead: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = values.as_ptr().cast::<i8>();
        // SAFETY: a prefetch may take any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(ahead)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, ahead);
}

/// [`stream`] with the baseline instruction set.
#[inline(always)]
pub(crate) fn copy_streaming<T: bytemuck::Pod, const N: usize>(from: &[T; N], to: &mut [T; N]) {
    stream(Level::Portable, from, to);
}

/// Copies with non-temporal stores if the target is aligned.
#[inline(always)]
pub(crate) fn stream<T: bytemuck::Pod, const N: usize>(
    level: Level,
    from: &[T; N],
    to: &mut [T; N],
) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        macro_rules! stream {
            ($vector:ty, $load:ident, $store:ident) => {{
                let (source, target) = (
                    from.as_ptr().cast::<$vector>(),
                    to.as_mut_ptr().cast::<$vector>(),
                );
                for i in 0..size_of_val(from) / size_of::<$vector>() {
                    // SAFETY: both arrays hold that many vectors, and the target is aligned.
                    unsafe { $store(target.add(i), $load(source.add(i))) };
                }
                return;
            }};
        }
        let fits = |size: usize| {
            size_of_val(from).is_multiple_of(size) && to.as_ptr().addr().is_multiple_of(size)
        };
        if level.avx2().is_some() && fits(32) {
            stream!(__m256i, _mm256_loadu_si256, _mm256_stream_si256);
        }
        if fits(16) {
            stream!(__m128i, _mm_loadu_si128, _mm_stream_si128);
        }
    }
    let _ = level;
    *to = *from;
}

/// Orders the stores of [`stream`] before later ones.
#[inline(always)]
pub(crate) fn end_streaming() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
