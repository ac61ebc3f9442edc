//! Words of a block of values, also combined into pairs and groups of four.

use crate::codec::fre::grid::{MantissaGrid, Pattern};

/// Values per block.
pub(crate) const BLOCK_VALUES: usize = 256;

/// Maximum number of bits that can be appended to a stream at once.
pub(crate) const MAX_PUT_BITS: u32 = 56;

/// Length of a word that does not fit a pattern: sums with it exceed [`MAX_PUT_BITS`], and shifts by
/// it are harmless.
pub(super) const TOO_LONG: u64 = 0x1000;

/// Buffers for a block.
pub(crate) struct Words<P> {
    /// Rounded values: the one before the block, then the block.
    pub(super) rounded: [P; BLOCK_VALUES + 1],
    words: [P; BLOCK_VALUES],
    lengths: [P; BLOCK_VALUES],
    pub(super) pairs: [u64; BLOCK_VALUES / 2],
    pub(super) pair_lengths: [u64; BLOCK_VALUES / 2],
    pub(super) fours: [u64; BLOCK_VALUES / 4],
    pub(super) four_lengths: [u64; BLOCK_VALUES / 4],
}

impl<P: Pattern> Default for Words<P> {
    fn default() -> Self {
        Self {
            rounded: [P::default(); BLOCK_VALUES + 1],
            words: [P::default(); BLOCK_VALUES],
            lengths: [P::default(); BLOCK_VALUES],
            pairs: [0; BLOCK_VALUES / 2],
            pair_lengths: [0; BLOCK_VALUES / 2],
            fours: [0; BLOCK_VALUES / 4],
            four_lengths: [0; BLOCK_VALUES / 4],
        }
    }
}

impl<P: Pattern> Words<P> {
    /// Rounds the values of a block and builds their words.
    #[inline(always)]
    pub fn build(&mut self, values: &[P; BLOCK_VALUES], grid: &MantissaGrid<P>) {
        grid.round_all(values, &mut self.rounded[1..]);
        for i in 0..BLOCK_VALUES {
            let (word, length) = one(self.rounded[i + 1], self.rounded[i], grid);
            self.words[i] = word;
            self.lengths[i] = length;
        }
        for i in 0..BLOCK_VALUES / 2 {
            let [first, second] = [self.words[2 * i], self.words[2 * i + 1]].map(Into::into);
            let [size, by] = [self.lengths[2 * i], self.lengths[2 * i + 1]].map(Into::into);
            self.pairs[i] = first.wrapping_shl(by as u32) | second;
            self.pair_lengths[i] = size + by;
        }
        for i in 0..BLOCK_VALUES / 4 {
            let by = self.pair_lengths[2 * i + 1];
            self.fours[i] = self.pairs[2 * i].wrapping_shl(by as u32) | self.pairs[2 * i + 1];
            self.four_lengths[i] = self.pair_lengths[2 * i] + by;
        }
    }

    /// The words of four values and their length; only valid up to [`MAX_PUT_BITS`].
    #[inline(always)]
    pub fn four(&self, i: usize) -> (u64, u32) {
        (self.fours[i], self.four_lengths[i] as u32)
    }

    /// The words of two values and their length; only valid up to [`MAX_PUT_BITS`].
    #[inline(always)]
    pub fn two(&self, i: usize) -> (u64, u32) {
        (self.pairs[i], self.pair_lengths[i] as u32)
    }

    /// A rounded value of the block and the one before it.
    pub fn rounded(&self, i: usize) -> (P, P) {
        (self.rounded[i + 1], self.rounded[i])
    }

    /// The last rounded value of the previous block.
    pub fn last(&self) -> P {
        self.rounded[0]
    }

    /// Starts the next block.
    pub fn next_block(&mut self) {
        self.rounded[0] = self.rounded[BLOCK_VALUES];
    }
}

/// The word that `word::encode` defines, if it fits a pattern.
#[inline(always)]
fn one<P: Pattern>(x: P, previous: P, grid: &MantissaGrid<P>) -> (P, P) {
    let number = |n: u32| P::truncate(n.into());
    let (zero, ones) = (P::default(), number((1 << P::EXPONENT) - 1));
    let kept = grid.kept;
    let field = |x: P| (x & P::exponent_bits()) >> P::MANTISSA;
    let sign = x >> (P::BITS - 1);
    let exponent = field(x);
    let mantissa = x & P::truncate((1 << P::MANTISSA) - 1);
    let high = mantissa >> (P::MANTISSA - kept);

    // `1` sign, kept mantissa bits, difference.
    let before = field(previous);
    let size = exponent.max(before).sub(exponent.min(before));
    let negative = if exponent < before { number(1) } else { zero };
    let unary = number(2).shift_left(size).sub(number(2));
    let code = if size > number(5) {
        size.add(number(0xfc - 6))
    } else {
        unary
    };
    let code = if size == zero {
        zero
    } else {
        code << 1 | negative
    };
    let code_length = if size > number(5) {
        number(9)
    } else {
        size.add(number(2))
    };
    let code_length = if size == zero { number(1) } else { code_length };
    let head = (number(2) | sign) << kept | high;
    let mut word = head.shift_left(code_length) | code;
    let mut length = code_length.add(number(2 + kept));

    // `011` sign, exponent, kept mantissa bits.
    let far = size > number(9);
    let prefix = (number(0b0110) | sign) << P::EXPONENT | exponent;
    word = if far { prefix << kept | high } else { word };
    length = if far {
        number(4 + P::EXPONENT + kept)
    } else {
        length
    };

    // Not representable, or longer than a pattern.
    let off = (exponent == ones) | (x & grid.dropped != zero) | (length > number(P::BITS));
    length = if off { P::truncate(TOO_LONG) } else { length };

    // `010` sign, mantissa.
    let subnormal = exponent == zero;
    let all = (number(0b0100) | sign) << P::MANTISSA | mantissa;
    word = if subnormal { all } else { word };
    length = if subnormal {
        number(4 + P::MANTISSA)
    } else {
        length
    };

    // `00`.
    let same = (x == previous) & (!subnormal | grid.zeros_repeat);
    word = if same { zero } else { word };
    length = if same { number(2) } else { length };
    (word, length)
}
