//! Fixed-size groups of lanes: plain arrays that the compiler turns into vectors.

use super::real::Real;

/// Values handled together.
pub(super) const WIDTH: usize = 16;

/// Values of a group.
pub(super) type Pack<T> = [T; WIDTH];

/// The group at `at`.
#[inline(always)]
pub(super) fn load<T: Copy + Default, const N: usize>(row: &[T], at: usize) -> [T; N] {
    match row[at..at + N].first_chunk() {
        Some(group) => *group,
        None => [T::default(); N],
    }
}

/// Writes the group at `at`.
#[inline(always)]
pub(super) fn store<T: Copy, const N: usize>(row: &mut [T], at: usize, group: [T; N]) {
    row[at..at + N].copy_from_slice(&group);
}

// The functions of the standard library that do the same are not always inlined, and would then be
// compiled for the wrong instruction set.

/// An array from its indices.
#[inline(always)]
pub(super) fn build<R: Copy + Default, const N: usize>(f: impl Fn(usize) -> R) -> [R; N] {
    let mut result = [R::default(); N];
    for (i, r) in result.iter_mut().enumerate() {
        *r = f(i);
    }
    result
}

/// Each lane.
#[inline(always)]
pub(super) fn each<A: Copy, R: Copy + Default, const N: usize>(
    a: [A; N],
    f: impl Fn(A) -> R,
) -> [R; N] {
    build(|i| f(a[i]))
}

/// Lane by lane.
#[inline(always)]
pub(super) fn zip<A: Copy, B: Copy, R: Copy + Default, const N: usize>(
    a: [A; N],
    b: [B; N],
    f: impl Fn(A, B) -> R,
) -> [R; N] {
    build(|i| f(a[i], b[i]))
}

/// Four rows of neighbours along one axis: where they start in a buffer, and their weights.
#[derive(Clone, Copy)]
pub(super) struct Taps<T> {
    pub(super) starts: [usize; 4],
    pub(super) weights: [T; 4],
}

impl<T: Real> Taps<T> {
    /// No rows at all.
    pub(super) fn none() -> Self {
        Self {
            starts: [0; 4],
            weights: [T::default(); 4],
        }
    }

    /// The weighted sum of one lane.
    pub(super) fn single(&self, buffer: &[T], lane: usize) -> T {
        let term = |k: usize| buffer[self.starts[k] + lane] * self.weights[k];
        (term(1) + term(2)) + (term(0) + term(3))
    }

    /// The first `groups` groups of the rows.
    #[inline(always)]
    pub(super) fn of<'a>(&self, buffer: &'a [T], groups: usize) -> Neighbours<'a, T> {
        let [a, b, c, d] = self.starts;
        let row = |start: usize| in_groups(&buffer[start..], groups);
        Neighbours {
            rows: [row(a), row(b), row(c), row(d)],
            weights: self.weights,
        }
    }
}

/// The first `count` groups of a row, so that bounds are checked once.
#[inline(always)]
pub(super) fn in_groups<V>(row: &[V], count: usize) -> &[Pack<V>] {
    &row.as_chunks().0[..count]
}

/// The same of a row to be written.
#[inline(always)]
pub(super) fn in_groups_mut<V>(row: &mut [V], count: usize) -> &mut [Pack<V>] {
    &mut row.as_chunks_mut().0[..count]
}

/// Four rows of neighbours along one axis.
#[derive(Clone, Copy)]
pub(super) struct Neighbours<'a, T> {
    rows: [&'a [Pack<T>]; 4],
    weights: [T; 4],
}

impl<T: Real> Neighbours<'_, T> {
    /// No rows at all.
    pub(super) fn none() -> Self {
        Taps::none().of(&[], 0)
    }

    /// The weighted sum of a group, always added up in the same order.
    #[inline(always)]
    pub(super) fn at(&self, group: usize) -> Pack<T> {
        let term = |k: usize| each(self.rows[k][group], |v| v * self.weights[k]);
        let inner = zip(term(1), term(2), |a, b| a + b);
        let outer = zip(term(0), term(3), |a, b| a + b);
        zip(inner, outer, |a, b| a + b)
    }
}

/// The sum over the first `N` axes.
#[inline(always)]
pub(super) fn predict<T: Real, const N: usize>(
    axes: &[Neighbours<'_, T>; 3],
    group: usize,
) -> Pack<T> {
    let mut sum = [T::default(); WIDTH];
    for (k, axis) in axes.iter().enumerate().take(N) {
        let part = axis.at(group);
        sum = if k == 0 {
            part
        } else {
            zip(sum, part, |a, b| a + b)
        };
    }
    sum
}
