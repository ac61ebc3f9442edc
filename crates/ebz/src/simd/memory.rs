//! Hints to the memory system. They never change a result.

/// Asks for the 1 or 2 KiB that lie `ahead` bytes behind the start of `values`, so that they are in
/// the cache when their turn comes. The place may lie outside of any memory.
#[inline(always)]
pub(crate) fn prefetch<T, const N: usize>(values: &[T; N], ahead: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = values.as_ptr().cast::<i8>().wrapping_add(ahead);
        for line in (0..size_of_val(values)).step_by(64) {
            // SAFETY: a prefetch of any address is allowed.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, ahead);
}

/// Copies past the caches where the target is aligned for it.
#[inline(always)]
pub(crate) fn copy_streaming<T: bytemuck::Pod, const N: usize>(from: &[T; N], to: &mut [T; N]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let target = to.as_mut_ptr().cast::<__m128i>();
        if target.is_aligned() && size_of_val(from).is_multiple_of(16) {
            let source = from.as_ptr().cast::<__m128i>();
            for i in 0..size_of_val(from) / 16 {
                // SAFETY: both arrays hold that many blocks of 16 bytes, and the target is aligned.
                unsafe { _mm_stream_si128(target.add(i), _mm_loadu_si128(source.add(i))) };
            }
            return;
        }
    }
    *to = *from;
}

/// Makes everything visible that [`copy_streaming`] wrote.
#[inline(always)]
pub(crate) fn end_streaming() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has this instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
