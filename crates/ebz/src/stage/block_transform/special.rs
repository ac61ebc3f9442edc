//! Values that must be stored exactly.

use super::block_float::BlockFloat;
use super::lanes::{LANES, Lanes};
use super::vectors::Vectors;

/// Largest magnitude of each block of a group.
#[inline(always)]
pub fn largest_magnitudes<T: BlockFloat, V: Vectors<T>, const N: usize>(
    group: &[Lanes<T>; N],
) -> Lanes<T::Int> {
    let mut largest = V::splat(T::Int::default());
    for lanes in group {
        largest = V::larger_int(largest, V::magnitude(V::load(lanes)));
    }
    let mut magnitudes = [T::Int::default(); LANES];
    V::store_int(largest, &mut magnitudes);
    magnitudes
}

/// Replaces the special values of a block by neighbours; returns a bitmap of their positions.
#[cold]
pub fn replace<T: BlockFloat, const N: usize>(
    group: &mut [Lanes<T>; N],
    lane: usize,
    special: impl Fn(T) -> bool,
) -> u64 {
    let ordinary = |lanes: &&Lanes<T>| !special(lanes[lane]);
    let mut neighbour = group
        .iter()
        .find(ordinary)
        .map_or(T::default(), |l| l[lane]);
    let mut which = 0;
    for (position, lanes) in group.iter_mut().enumerate() {
        if special(lanes[lane]) {
            which |= 1 << position;
            lanes[lane] = neighbour;
        } else {
            neighbour = lanes[lane];
        }
    }
    which
}
