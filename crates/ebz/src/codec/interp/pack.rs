//! Fixed-size groups of lanes: plain arrays that the compiler turns into vectors.

use super::number::Number;

/// Values per group.
pub(super) const WIDTH: usize = 16;

/// A group of values.
pub(super) type Pack<T> = [T; WIDTH];

/// Loads the group at `at`.
#[inline(always)]
pub(super) fn load<T: Copy + Default, const N: usize>(row: &[T], at: usize) -> [T; N] {
    match row[at..at + N].first_chunk() {
        Some(group) => *group,
        None => [T::default(); N],
    }
}

/// Stores the group at `at`.
#[inline(always)]
pub(super) fn store<T: Copy, const N: usize>(row: &mut [T], at: usize, group: [T; N]) {
    row[at..at + N].copy_from_slice(&group);
}

// The equivalent functions of the standard library are not always inlined, and would then be
// compiled for the wrong instruction set.

/// An array from a function of the index.
#[inline(always)]
pub(super) fn build<R: Copy + Default, const N: usize>(f: impl Fn(usize) -> R) -> [R; N] {
    let mut result = [R::default(); N];
    for (i, r) in result.iter_mut().enumerate() {
        *r = f(i);
    }
    result
}

/// Maps each lane.
#[inline(always)]
pub(super) fn each<A: Copy, R: Copy + Default, const N: usize>(
    a: [A; N],
    f: impl Fn(A) -> R,
) -> [R; N] {
    build(|i| f(a[i]))
}

/// Combines two groups lane by lane.
#[inline(always)]
pub(super) fn zip<A: Copy, B: Copy, R: Copy + Default, const N: usize>(
    a: [A; N],
    b: [B; N],
    f: impl Fn(A, B) -> R,
) -> [R; N] {
    build(|i| f(a[i], b[i]))
}

/// Four rows of neighbours along one axis: their start in a buffer, and their weights.
#[derive(Clone, Copy)]
pub(super) struct Taps<T> {
    pub(super) starts: [usize; 4],
    pub(super) weights: [T; 4],
    /// Distance to the neighbours of the next row.
    pub(super) pitch: usize,
}

impl<T: Number> Taps<T> {
    /// No neighbours: all weights are zero.
    pub(super) fn none() -> Self {
        Self {
            starts: [0; 4],
            weights: [T::default(); 4],
            pitch: 0,
        }
    }

    /// The neighbours of a later row.
    pub(super) fn row(&self, row: usize) -> Self {
        let offset = row * self.pitch;
        Self {
            starts: self.starts.map(|start| start + offset),
            ..*self
        }
    }

    /// The largest index at which one of `rows` successive rows starts.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn last(&self, rows: usize) -> usize {
        let mut last = 0;
        for start in self.starts {
            last = last.max(start);
        }
        last + rows.saturating_sub(1) * self.pitch
    }

    /// The weighted sum of one lane.
    pub(super) fn single(&self, buffer: &[T], lane: usize) -> T {
        let term = |k: usize| buffer[self.starts[k] + lane] * self.weights[k];
        (term(1) + term(2)) + (term(0) + term(3))
    }

    /// The weighted sum of a group of lanes.
    pub(super) fn group(&self, buffer: &[T], lane: usize) -> Pack<T> {
        let rows = self.starts.map(|start| load(buffer, start + lane));
        weighted(rows, self.weights)
    }

    /// The weighted sum of the inner two neighbours: all of linear interpolation.
    pub(super) fn inner_group(&self, buffer: &[T], lane: usize) -> Pack<T> {
        let row = |k: usize| load(buffer, self.starts[k] + lane);
        let term = |k: usize| each(row(k), |v| v * self.weights[k]);
        zip(term(1), term(2), |a, b| a + b)
    }
}

/// The weighted sum of four groups, in a fixed order of additions.
#[inline(always)]
fn weighted<T: Number>(rows: [Pack<T>; 4], weights: [T; 4]) -> Pack<T> {
    let term = |k: usize| each(rows[k], |v| v * weights[k]);
    let inner = zip(term(1), term(2), |a, b| a + b);
    let outer = zip(term(0), term(3), |a, b| a + b);
    zip(inner, outer, |a, b| a + b)
}
