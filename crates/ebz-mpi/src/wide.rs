//! Compiles loops for wider vectors if the CPU supports them.

/// Runs `f`; code inlined into it may use AVX2.
#[inline(always)]
pub(crate) fn wide<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn run<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        // SAFETY: the CPU supports AVX2.
        return unsafe { run(f) };
    }
    f()
}
