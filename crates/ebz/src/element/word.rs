//! Unsigned integers for residuals, with wrapping arithmetic.

/// `u16`, `u32` or `u64`.
pub trait Word: Copy + Default + Ord + Send + Sync + bytemuck::Pod + 'static {
    /// 16-bit parts per word.
    const PARTS: usize;

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// Shift amounts must be less than the word size.
    fn shl(self, bits: u32) -> Self;
    fn shr(self, bits: u32) -> Self;
    /// Maps 0, −1, 1, −2 … to 0, 1, 2, 3 …
    fn zigzag(self) -> Self;
    fn unzigzag(self) -> Self;
    /// The low bits of an integer.
    fn truncate(bits: u64) -> Self;
    /// Zero-extended.
    fn unsigned(self) -> u64;
    /// Sign-extended.
    fn signed(self) -> i64;
    /// The `index`-th 16-bit part, lowest first.
    fn part(self, index: usize) -> u16;
    /// A word with one 16-bit part set.
    fn from_part(part: u16, index: usize) -> Self;
}

macro_rules! word {
    ($unsigned:ty, $signed:ty) => {
        impl Word for $unsigned {
            const PARTS: usize = size_of::<Self>() / 2;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn shl(self, bits: u32) -> Self {
                self << bits
            }
            #[inline(always)]
            fn shr(self, bits: u32) -> Self {
                self >> bits
            }
            #[inline(always)]
            fn zigzag(self) -> Self {
                (self << 1) ^ ((self as $signed) >> (Self::BITS - 1)) as Self
            }
            #[inline(always)]
            fn unzigzag(self) -> Self {
                (self >> 1) ^ (self & 1).wrapping_neg()
            }
            #[inline(always)]
            fn truncate(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn unsigned(self) -> u64 {
                u64::from(self)
            }
            #[inline(always)]
            fn signed(self) -> i64 {
                i64::from(self as $signed)
            }
            #[inline(always)]
            fn part(self, index: usize) -> u16 {
                (self >> (16 * index)) as u16
            }
            #[inline(always)]
            fn from_part(part: u16, index: usize) -> Self {
                Self::from(part) << (16 * index)
            }
        }
    };
}

word!(u16, i16);
word!(u32, i32);
word!(u64, i64);
