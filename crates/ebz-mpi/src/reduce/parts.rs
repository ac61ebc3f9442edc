//! Partition of an array for sums: pieces that are packed separately, and a run of them per rank.

use std::ops::Range;

/// Target number of values per piece: about what fits into the inner caches with its scratch memory.
const TARGET_PIECE_VALUES: usize = 1 << 17;
/// Minimum number of values per piece.
const MIN_PIECE_VALUES: usize = 1 << 12;
/// Pieces per rank, so that one is added while the next is in flight.
const PIECES_PER_RANK: usize = 4;

/// The pieces of an array.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    length: usize,
    piece: usize,
    ranks: usize,
    /// Distances of neighbours, nearest first.
    lags: Vec<usize>,
}

impl Parts {
    pub fn new(shape: &[usize], ranks: usize) -> Self {
        let length: usize = shape.iter().product();
        let target =
            (length / (PIECES_PER_RANK * ranks)).clamp(MIN_PIECE_VALUES, TARGET_PIECE_VALUES);
        // Distances of neighbours along each axis, if a piece contains several of them.
        let mut lags = vec![1];
        let mut whole = 1;
        for &extent in shape.iter().skip(1).rev() {
            whole *= extent.max(1);
            if whole > target / 4 {
                break;
            }
            if Some(&whole) != lags.last() {
                lags.push(whole);
            }
        }
        // Whole rows or planes.
        let unit = lags.last().copied().unwrap_or(1);
        Self {
            length,
            piece: target.next_multiple_of(unit),
            ranks,
            lags,
        }
    }

    pub fn pieces(&self) -> usize {
        self.length.div_ceil(self.piece)
    }

    /// The range of values of a piece.
    pub fn values(&self, piece: usize) -> Range<usize> {
        let start = piece * self.piece;
        start..(start + self.piece).min(self.length)
    }

    /// The range of pieces of a rank.
    pub fn pieces_of(&self, rank: usize) -> Range<usize> {
        let at = |rank: usize| rank * self.pieces() / self.ranks;
        at(rank)..at(rank + 1)
    }

    /// The range of values of a rank.
    pub fn values_of(&self, rank: usize) -> Range<usize> {
        let pieces = self.pieces_of(rank);
        let at = |piece: usize| (piece * self.piece).min(self.length);
        at(pieces.start)..at(pieces.end)
    }

    /// The shape of a piece for codecs: rows and planes if it has whole ones.
    pub fn shape(&self, piece: usize) -> Vec<usize> {
        let length = self.values(piece).len();
        let mut shape = Vec::new();
        let mut before = 1;
        for &lag in &self.lags[1..] {
            if length.is_multiple_of(lag) {
                shape.insert(0, lag / before);
                before = lag;
            }
        }
        shape.insert(0, length / before);
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_ranks_cover_every_array_once() {
        for shape in [
            &[0][..],
            &[1],
            &[100_000],
            &[30, 192, 288],
            &[7, 1, 5000, 3],
            &[3, 0, 2],
        ] {
            for ranks in [1, 2, 3, 4, 7] {
                let parts = Parts::new(shape, ranks);
                let length = shape.iter().product::<usize>();
                let mut at = 0;
                for piece in 0..parts.pieces() {
                    let values = parts.values(piece);
                    assert_eq!(values.start, at);
                    assert!(!values.is_empty());
                    assert_eq!(parts.shape(piece).iter().product::<usize>(), values.len());
                    at = values.end;
                }
                assert_eq!(at, length);
                at = 0;
                for rank in 0..ranks {
                    assert_eq!(parts.values_of(rank).start, at);
                    at = parts.values_of(rank).end;
                }
                assert_eq!(at, length);
            }
        }
        assert_eq!(Parts::new(&[64, 128, 100], 4).lags, [1, 100, 12800]);
        assert_eq!(Parts::new(&[64, 128, 100], 4).shape(0), [4, 128, 100]);
    }
}
