//! Transposition of bits.

/// Transposes an 8 × 8 bit matrix: swaps bit j of byte i with bit i of byte j.
#[inline(always)]
pub(crate) fn transpose8(mut bits: u64) -> u64 {
    for (shift, mask) in [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ] {
        let swap = (bits ^ bits >> shift) & mask;
        bits ^= swap ^ swap << shift;
    }
    bits
}
