//! Memory layout: dyadic levels, each split by the parity of the coordinates into classes whose
//! rows are contiguous and padded.
//!
//! Level 0 is the chunk. The class without odd axes of a level is the whole next level. A class
//! index has three bits: 4 for odd z, 2 for odd y, 1 for odd x.

use crate::stage::rans::LANES;

/// Padding elements before the first value of a row: kernels read index −1, and extrapolated values
/// are stored there.
pub(super) const LEFT_PADDING: usize = 8;
/// Padding elements after the last segment of a row, for the same purpose.
const RIGHT_PADDING: usize = 8;

/// Extents, slowest axis first.
pub(super) type Extents = [usize; 3];

/// Lanes of a row of `values`, rounded up to whole segments.
pub(super) fn lanes(values: usize) -> usize {
    values.next_multiple_of(LANES)
}

/// Rows of one class of one level.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    start: usize,
    z_pitch: usize,
    /// Distance between rows.
    pub(super) y_pitch: usize,
    pub(super) extents: Extents,
}

impl Block {
    fn new(start: usize, extents: Extents) -> Self {
        let y_pitch = LEFT_PADDING + lanes(extents[2]) + RIGHT_PADDING;
        Self {
            start: start + LEFT_PADDING,
            z_pitch: y_pitch * extents[1],
            y_pitch,
            extents,
        }
    }

    fn size(&self) -> usize {
        if self.is_empty() {
            0
        } else {
            self.z_pitch * self.extents[0]
        }
    }

    /// Whether the class has no values.
    pub(super) fn is_empty(&self) -> bool {
        self.extents.contains(&0)
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.extents.iter().product()
    }

    /// Index of the first value of a row.
    #[inline(always)]
    pub(super) fn row(&self, z: usize, y: usize) -> usize {
        self.start + z * self.z_pitch + y * self.y_pitch
    }

    /// Only the planes `first`, `first + step`, ….
    fn planes(&self, first: usize, step: usize) -> Self {
        let mut part = *self;
        part.start += first * self.z_pitch;
        part.z_pitch *= step;
        part.extents[0] = self.extents[0].saturating_sub(first).div_ceil(step);
        part
    }
}

/// One level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// Extents of the level before it is split.
    pub(super) extents: Extents,
    pub(super) classes: [Block; 8],
}

/// All levels of a chunk.
#[derive(Debug, Clone, Default)]
pub(super) struct Pyramid {
    pub(super) levels: Vec<Level>,
    /// The coarsest values, when nothing can be halved any more.
    pub(super) top: Block,
    /// Which axes are halved from level to level.
    pub(super) halved: [bool; 3],
    /// Required buffer size in elements.
    pub(super) size: usize,
}

impl Pyramid {
    /// The levels of a chunk that is halved along some of its axes.
    pub(super) fn new(extents: Extents, halved: [bool; 3]) -> Self {
        let mut levels = Vec::new();
        let mut rest = extents;
        let mut size = 0;
        while (0..3).any(|a| halved[a] && rest[a] > 1) {
            let classes = std::array::from_fn(|class| {
                let part = std::array::from_fn(|a| match (halved[a], class >> (2 - a) & 1) {
                    (true, odd) => (rest[a] + 1 - odd) / 2,
                    (false, 0) => rest[a],
                    (false, _) => 0,
                });
                let block = Block::new(size, part);
                size += block.size();
                block
            });
            levels.push(Level {
                extents: rest,
                classes,
            });
            rest = classes[0].extents;
        }
        let top = match levels.last() {
            Some(level) => level.classes[0],
            None => {
                let block = Block::new(0, rest);
                size = block.size();
                block
            }
        };
        Self {
            levels,
            top,
            halved,
            // Kernels may read a whole pitch from the start of the last row.
            size: size + LEFT_PADDING + RIGHT_PADDING,
        }
    }

    /// Only the planes `first`, `first + step`, …, of a pyramid that is not halved along z.
    pub(super) fn planes(&self, first: usize, step: usize) -> Self {
        Self {
            levels: self
                .levels
                .iter()
                .map(|level| Level {
                    extents: [
                        level.extents[0].saturating_sub(first).div_ceil(step),
                        level.extents[1],
                        level.extents[2],
                    ],
                    classes: level.classes.map(|block| block.planes(first, step)),
                })
                .collect(),
            top: self.top.planes(first, step),
            ..*self
        }
    }

    /// The rows of a class; after the last level, of the top block.
    pub(super) fn block(&self, level: usize, class: usize) -> &Block {
        match self.levels.get(level) {
            Some(level) => &level.classes[class],
            None => &self.top,
        }
    }

    /// Index of the first element of a level; finer levels come before it.
    pub(super) fn level_start(&self, level: usize) -> usize {
        self.levels[level].classes[0].start - LEFT_PADDING
    }

    /// Coordinates in the chunk of a value of a class.
    pub(super) fn place(&self, level: usize, class: usize, at: Extents) -> Extents {
        std::array::from_fn(|a| {
            if self.halved[a] {
                (2 * at[a] + (class >> (2 - a) & 1)) << level
            } else {
                at[a]
            }
        })
    }
}
