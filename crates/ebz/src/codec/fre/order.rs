//! Which code the exponent differences of a magnitude have.

use std::cmp::Reverse;

/// Number of magnitudes with a code: 0 … 9.
pub(super) const MAGNITUDES: usize = 10;

/// Size of a [`Measured`] order in a chunk.
pub(super) const ORDER_BYTES: usize = MAGNITUDES / 2;

/// Assigns the magnitudes of exponent differences to codes, which are ranked by length.
pub(super) trait Order: Copy {
    /// The rank of a magnitude's code.
    fn rank(self, magnitude: u64) -> u64;
    /// The magnitude whose code has this rank.
    fn magnitude(self, rank: u64) -> u64;
}

/// Larger differences have longer codes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paper;

impl Order for Paper {
    #[inline(always)]
    fn rank(self, magnitude: u64) -> u64 {
        magnitude
    }
    #[inline(always)]
    fn magnitude(self, rank: u64) -> u64 {
        rank
    }
}

/// Rarer differences have longer codes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    ranks: [u8; MAGNITUDES],
    magnitudes: [u8; MAGNITUDES],
}

impl Order for Measured {
    #[inline(always)]
    fn rank(self, magnitude: u64) -> u64 {
        self.ranks[magnitude as usize].into()
    }
    #[inline(always)]
    fn magnitude(self, rank: u64) -> u64 {
        self.magnitudes[rank as usize].into()
    }
}

impl Measured {
    /// The best order if each magnitude occurs this often; `None` if it is that of the paper.
    pub fn of(counts: &[usize; MAGNITUDES]) -> Option<Self> {
        let mut magnitudes: [u8; MAGNITUDES] = std::array::from_fn(|rank| rank as u8);
        magnitudes.sort_by_key(|&magnitude| Reverse(counts[usize::from(magnitude)]));
        if magnitudes.is_sorted() {
            return None;
        }
        Self::by_rank(magnitudes)
    }

    /// The order with these magnitudes; `None` if they are not a permutation.
    fn by_rank(magnitudes: [u8; MAGNITUDES]) -> Option<Self> {
        const MISSING: u8 = u8::MAX;
        let mut ranks = [MISSING; MAGNITUDES];
        for (rank, &magnitude) in (0..).zip(&magnitudes) {
            *ranks.get_mut(usize::from(magnitude))? = rank;
        }
        (!ranks.contains(&MISSING)).then_some(Self { ranks, magnitudes })
    }

    /// The magnitudes by rank, four bits each.
    pub fn to_bytes(self) -> [u8; ORDER_BYTES] {
        std::array::from_fn(|i| self.magnitudes[2 * i] << 4 | self.magnitudes[2 * i + 1])
    }

    /// The order with these bytes; `None` if they are not a permutation.
    pub fn from_bytes(bytes: [u8; ORDER_BYTES]) -> Option<Self> {
        let half = |rank: usize| bytes[rank / 2] >> (4 - rank % 2 * 4) & 15;
        Self::by_rank(std::array::from_fn(half))
    }
}
