//! Huge pages for large memory: first writes to fresh pages of 4 KiB take longer than decoding.

use std::mem::MaybeUninit;

/// Size and alignment of a huge page.
const PAGE_BYTES: usize = 2 << 20;

/// Smaller memory has hardly any whole huge page.
const MIN_BYTES: usize = 2 * PAGE_BYTES;

/// Asks for huge pages in memory that is about to be written for the first time.
pub(crate) fn advise<T>(memory: &mut [MaybeUninit<T>]) {
    let bytes = size_of_val(memory);
    if bytes < MIN_BYTES {
        return;
    }
    let start = memory.as_mut_ptr().cast::<u8>();
    let skipped = start.addr().next_multiple_of(PAGE_BYTES) - start.addr();
    let whole = bytes.saturating_sub(skipped) / PAGE_BYTES * PAGE_BYTES;
    #[cfg(target_os = "linux")]
    // SAFETY: the range lies within the memory. The call only gives advice, so it may also fail.
    unsafe {
        libc::madvise(
            start.wrapping_add(skipped).cast(),
            whole,
            libc::MADV_HUGEPAGE,
        );
    }
    #[cfg(not(target_os = "linux"))]
    let _ = whole;
}

/// [`advise`] for memory that is allocated but was not written since.
pub(crate) fn advise_zeroed<T>(memory: &mut [T]) {
    // SAFETY: same layout, and nothing is written through it.
    advise(unsafe { &mut *(std::ptr::from_mut(memory) as *mut [MaybeUninit<T>]) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_do_not_change() {
        for length in [0, 1, MIN_BYTES - 1, MIN_BYTES, 3 * MIN_BYTES + 5] {
            let mut memory: Vec<u8> = (0..length).map(|i| i as u8).collect();
            advise_zeroed(&mut memory);
            assert!(memory.iter().enumerate().all(|(i, &x)| x == i as u8));
            memory.reserve(2 * MIN_BYTES);
            advise(memory.spare_capacity_mut());
            assert_eq!(memory.len(), length);
        }
    }
}
