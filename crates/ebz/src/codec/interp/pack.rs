//! Fixed-size groups of lanes: plain arrays that the compiler turns into vectors.

use super::real::Real;

/// Values handled together.
pub(super) const WIDTH: usize = 8;

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

/// Lane by lane.
#[inline(always)]
pub(super) fn zip<A: Copy, B: Copy, R, const N: usize>(
    a: [A; N],
    b: [B; N],
    f: impl Fn(A, B) -> R,
) -> [R; N] {
    std::array::from_fn(|i| f(a[i], b[i]))
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
        let term = |k: usize| load::<T, WIDTH>(self.rows[k], at).map(|v| v * self.weights[k]);
        let inner = zip(term(1), term(2), |a, b| a + b);
        let outer = zip(term(0), term(3), |a, b| a + b);
        zip(inner, outer, |a, b| a + b)
    }

    /// The same rows without lanes beyond `lanes`, so that bounds are checked once.
    #[inline(always)]
    pub(super) fn trimmed(&self, lanes: usize) -> Self {
        Self {
            rows: self.rows.map(|row| &row[..lanes]),
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
