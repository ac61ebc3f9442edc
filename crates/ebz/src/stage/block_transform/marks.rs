//! Bitmap of the values of a chunk that go to the exact side list: NaN, infinities, fill values, and
//! values that cannot be kept within the bound. Blocks mark them in block order; the list is in
//! raster order.

/// A bit per value.
#[derive(Debug, Default)]
pub struct Marks {
    words: Vec<u64>,
    any: bool,
}

impl Marks {
    /// Clears the marks of `len` values.
    pub fn reset(&mut self, len: usize) {
        if self.any || self.words.len() != len.div_ceil(64) {
            self.words.clear();
            self.words.resize(len.div_ceil(64), 0);
        }
        self.any = false;
    }

    /// Marks a value.
    pub fn mark(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
        self.any = true;
    }

    /// Whether there are marks.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Indices of the marked values, in order.
    pub fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            std::iter::successors(Some(word), |m| Some(m & m.wrapping_sub(1)))
                .take_while(|&m| m != 0)
                .map(move |m| 64 * i + m.trailing_zeros() as usize)
        })
    }
}
