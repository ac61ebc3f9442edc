//! Fixed-size groups of lanes: plain arrays that the compiler turns into vectors.

use super::real::Real;
use crate::stage::rans::LANES;

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

/// The lanes of a segment in which the condition holds, found in words rather than lane by lane.
#[inline(always)]
pub(super) fn lanes_where<A: Copy>(a: &[A; LANES], f: impl Fn(A) -> bool) -> LanesWhere {
    let flags: [u8; LANES] = each(*a, |a| u8::from(f(a)));
    LanesWhere(bytemuck::cast(flags))
}

/// A byte for each lane, 1 if it is one of the lanes.
pub(super) struct LanesWhere([u64; LANES / 8]);

impl LanesWhere {
    /// Whether there are any.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) != 0
    }

    /// Calls `f` with each of them, in order.
    #[inline(always)]
    pub(super) fn each(&self, mut f: impl FnMut(usize)) {
        for (i, &word) in self.0.iter().enumerate() {
            let mut rest = u64::from_le(word);
            while rest != 0 {
                f(8 * i + rest.trailing_zeros() as usize / 8);
                rest &= rest - 1;
            }
        }
    }
}

/// Four rows of neighbours along one axis, with their weights.
#[derive(Clone, Copy)]
pub(super) struct Taps<'a, T> {
    pub(super) rows: [&'a [T]; 4],
    pub(super) weights: [T; 4],
}

impl<T: Real> Taps<'_, T> {
    /// No rows at all.
    pub(super) fn none() -> Self {
        Self {
            rows: [&[]; 4],
            weights: [T::default(); 4],
        }
    }

    /// The weighted sum of one lane.
    pub(super) fn single(&self, lane: usize) -> T {
        let term = |k: usize| self.rows[k][lane] * self.weights[k];
        (term(1) + term(2)) + (term(0) + term(3))
    }

    /// The weighted sum, always added up in the same order.
    #[inline(always)]
    pub(super) fn at(&self, at: usize) -> Pack<T> {
        let term = |k: usize| each(load(self.rows[k], at), |v| v * self.weights[k]);
        let inner = zip(term(1), term(2), |a, b| a + b);
        let outer = zip(term(0), term(3), |a, b| a + b);
        zip(inner, outer, |a, b| a + b)
    }

    /// The same rows without lanes beyond `lanes`, so that bounds are checked once.
    #[inline(always)]
    pub(super) fn trimmed(&self, lanes: usize) -> Self {
        let [a, b, c, d] = self.rows;
        Self {
            rows: [&a[..lanes], &b[..lanes], &c[..lanes], &d[..lanes]],
            weights: self.weights,
        }
    }
}

/// The sum over the first `N` axes.
#[inline(always)]
pub(super) fn predict<T: Real, const N: usize>(axes: &[Taps<'_, T>; 3], at: usize) -> Pack<T> {
    let mut sum = [T::default(); WIDTH];
    for (k, axis) in axes.iter().enumerate().take(N) {
        let part = axis.at(at);
        sum = if k == 0 {
            part
        } else {
            zip(sum, part, |a, b| a + b)
        };
    }
    sum
}
