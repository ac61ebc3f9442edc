//! Words of a block of values, and the words of two and of four values as one.

use crate::codec::fre::grid::{Grid, Pattern};

/// Values per block.
pub(crate) const BLOCK: usize = 256;

/// Bits that can be appended to a stream at once.
pub(crate) const FITS: u32 = 56;

/// The length of what does not fit; the sum of four of them is no smaller, and no shift by it
/// matters.
const TOO_LONG: u64 = 0x1000;

/// A block under way.
pub(crate) struct Words<P> {
    /// What the decoder will give for the value before the block, and for the block.
    rounded: [P; BLOCK + 1],
    words: [P; BLOCK],
    lengths: [P; BLOCK],
    pairs: [u64; BLOCK / 2],
    pair_lengths: [u64; BLOCK / 2],
    fours: [u64; BLOCK / 4],
    four_lengths: [u64; BLOCK / 4],
}

impl<P: Pattern> Default for Words<P> {
    fn default() -> Self {
        Self {
            rounded: [P::default(); BLOCK + 1],
            words: [P::default(); BLOCK],
            lengths: [P::default(); BLOCK],
            pairs: [0; BLOCK / 2],
            pair_lengths: [0; BLOCK / 2],
            fours: [0; BLOCK / 4],
            four_lengths: [0; BLOCK / 4],
        }
    }
}

impl<P: Pattern> Words<P> {
    /// Rounds the values of a block and finds their words.
    #[inline(always)]
    pub fn of(&mut self, values: &[P; BLOCK], grid: &Grid<P>) {
        grid.round_all(values, &mut self.rounded[1..]);
        for i in 0..BLOCK {
            let (word, length) = one(self.rounded[i + 1], self.rounded[i], grid);
            self.words[i] = word;
            self.lengths[i] = length;
        }
        for i in 0..BLOCK / 2 {
            let [first, second] = [self.words[2 * i], self.words[2 * i + 1]].map(Into::into);
            let [size, by] = [self.lengths[2 * i], self.lengths[2 * i + 1]].map(Into::into);
            self.pairs[i] = first.wrapping_shl(by as u32) | second;
            self.pair_lengths[i] = size + by;
        }
        for i in 0..BLOCK / 4 {
            let by = self.pair_lengths[2 * i + 1];
            self.fours[i] = self.pairs[2 * i].wrapping_shl(by as u32) | self.pairs[2 * i + 1];
            self.four_lengths[i] = self.pair_lengths[2 * i] + by;
        }
    }

    /// The words of four values and their length, more than [`FITS`] if it means nothing.
    #[inline(always)]
    pub fn four(&self, i: usize) -> (u64, u32) {
        (self.fours[i], self.four_lengths[i] as u32)
    }

    /// The words of two values and their length, more than [`FITS`] if it means nothing.
    #[inline(always)]
    pub fn two(&self, i: usize) -> (u64, u32) {
        (self.pairs[i], self.pair_lengths[i] as u32)
    }

    /// A value of the block and the one before it, as the decoder will give them.
    pub fn rounded(&self, i: usize) -> (P, P) {
        (self.rounded[i + 1], self.rounded[i])
    }

    /// The last value of the block.
    pub fn last(&self) -> P {
        self.rounded[0]
    }

    /// Makes the last value of the block the one before the next.
    pub fn next_block(&mut self) {
        self.rounded[0] = self.rounded[BLOCK];
    }
}

/// The word of a rounded pattern as `word::encode` defines it, where it fits a pattern.
#[inline(always)]
fn one<P: Pattern>(x: P, previous: P, grid: &Grid<P>) -> (P, P) {
    let number = |n: u32| P::of(n.into());
    let (zero, ones) = (P::default(), number((1 << P::EXPONENT) - 1));
    let kept = grid.kept;
    let field = |x: P| (x & P::exponent_bits()) >> P::MANTISSA;
    let sign = x >> (P::BITS - 1);
    let exponent = field(x);
    let mantissa = x & P::of((1 << P::MANTISSA) - 1);
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

    // Off the grid, or longer than a pattern.
    let off = (exponent == ones) | (x & grid.dropped != zero) | (length > number(P::BITS));
    length = if off { P::of(TOO_LONG) } else { length };

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
