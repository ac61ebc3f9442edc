//! Advice for chunks: the first chunk of a group is asked, and all of the group hear it.
//!
//! Groups depend on the grid only, so that bytes do not depend on threads. A group lies within a slab
//! or is made of whole slabs and begins with the first chunk of one: who works on another slab waits
//! for nothing but the advice itself.

use super::grid::Grid;
use crate::codec::Advice;
use crate::error::Result;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Most chunks of a group.
const GROUP: usize = 16;

/// Where the advice of a group will be.
type Slot = Arc<OnceLock<Option<Advice>>>;

/// The advice for the chunks of one frame.
pub(super) struct Advisor {
    /// Chunks of one slab, or of some slabs that are one group.
    run: usize,
    /// By number of the group; grows as chunks come: a stream may claim any shape.
    groups: Mutex<Vec<Slot>>,
}

impl Advisor {
    /// For a frame that is cut like this.
    pub(super) fn new(grid: &Grid) -> Self {
        let slab = grid.chunks_per_slab().max(1);
        Self {
            run: (GROUP / slab).max(1) * slab,
            groups: Mutex::default(),
        }
    }

    /// The number of a chunk's group, and whether the chunk is its first.
    fn place(&self, chunk: usize) -> (usize, bool) {
        let (run, within) = (chunk / self.run, chunk % self.run);
        let number = run * self.run.div_ceil(GROUP) + within / GROUP;
        (number, within.is_multiple_of(GROUP))
    }

    fn slot(&self, group: usize) -> Slot {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.len() <= group {
            groups.resize_with(group + 1, Slot::default);
        }
        groups[group].clone()
    }

    /// The advice for a chunk: `ask` is called for the first of a group, the others wait for it.
    ///
    /// Slabs must be begun in order, each under a [`Duty`].
    pub(super) fn advice(
        &self,
        chunk: usize,
        ask: impl FnOnce() -> Result<Option<Advice>>,
    ) -> Result<Option<Advice>> {
        let (group, first) = self.place(chunk);
        let slot = self.slot(group);
        if !first {
            return Ok(*slot.wait());
        }
        let advice = ask()?;
        Ok(*slot.get_or_init(|| advice))
    }

    /// To be held while `chunks` are coded.
    pub(super) fn duty(&self, chunks: Range<usize>) -> Duty<'_> {
        Duty {
            advisor: self,
            chunks,
        }
    }
}

/// Sees to it that nobody waits for chunks that failed.
pub(super) struct Duty<'a> {
    advisor: &'a Advisor,
    chunks: Range<usize>,
}

impl Drop for Duty<'_> {
    fn drop(&mut self) {
        for chunk in self.chunks.clone() {
            if let (group, true) = self.advisor.place(chunk) {
                self.advisor.slot(group).get_or_init(|| None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// An array of `slabs` pairs of planes, each cut into `chunks` parts.
    fn advisor(slabs: usize, chunks: usize) -> Advisor {
        let grid = Grid::new(&[2 * slabs, chunks, 4], &[2, 1, 4], 4).unwrap();
        assert_eq!(grid.chunks_per_slab(), chunks);
        Advisor::new(&grid)
    }

    #[test]
    fn groups_are_not_too_large_and_begin_with_slabs() {
        for chunks in [1, 2, 3, 5, 16, 17, 35] {
            let advisor = advisor(30, chunks);
            let (mut group, mut size) = (0, 0);
            for chunk in 0..30 * chunks {
                let (number, first) = advisor.place(chunk);
                if chunk > 0 && first {
                    assert!(size == GROUP || chunk % chunks == 0, "{chunks}: {chunk}");
                    group += 1;
                    size = 0;
                }
                size += 1;
                assert!(size <= GROUP && number == group, "{chunks}: {chunk}");
                let slab_before = chunk.saturating_sub(size) / chunks;
                assert!(chunks < GROUP || slab_before.abs_diff(chunk / chunks) <= 1);
            }
        }
    }

    #[test]
    fn all_of_a_group_hear_what_its_first_chunk_said() {
        let advisor = advisor(40, 1);
        let advice = |n| Some(Advice([n; 16]));
        for chunk in 0..40usize {
            let said = advisor.advice(chunk, || Ok(advice(chunk as u8)));
            assert_eq!(said.unwrap(), advice((chunk / GROUP * GROUP) as u8));
        }
    }

    #[test]
    fn nobody_waits_for_a_chunk_that_failed() {
        for panics in [false, true] {
            let advisor = advisor(20, 1);
            std::thread::scope(|scope| {
                let follower = scope.spawn(|| advisor.advice(1, || unreachable!()).unwrap());
                let leader = scope.spawn(|| {
                    let _duty = advisor.duty(0..1);
                    assert!(!panics, "on purpose");
                    advisor.advice(0, || Err(Error::invalid("no")))
                });
                assert_eq!(leader.join().is_err(), panics);
                assert_eq!(follower.join().unwrap(), None);
            });
        }
    }
}
