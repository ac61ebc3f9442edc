//! Splits rows into classes of even and odd values, and merges them.

use super::geometry::{Block, Level, Pyramid};
use super::kernel::{Kernel, launch};
use crate::simd::{Level as Isa, memory};
use bytemuck::Pod;

/// Start of the row in each of the two classes that a row of a level is split into.
fn classes_of_row(pyramid: &Pyramid, level: &Level, z: usize, y: usize) -> [Option<usize>; 2] {
    let part = |a: usize, at: usize| {
        if pyramid.halved[a] {
            (at & 1, at / 2)
        } else {
            (0, at)
        }
    };
    let ((odd_z, z), (odd_y, y)) = (part(0, z), part(1, y));
    let class = 4 * odd_z + 2 * odd_y;
    let row = |block: &Block| (!block.is_empty()).then(|| block.row(z, y));
    [row(&level.classes[class]), row(&level.classes[class + 1])]
}

/// Splits a row into its classes in `to`.
fn split_row<V: Copy + Default>(
    isa: Isa,
    row: &[V],
    to: &mut [V],
    [even, odd]: [Option<usize>; 2],
) {
    let count = row.len();
    match (even, odd) {
        (Some(even), Some(odd)) => {
            let (low, high) = (even.min(odd), even.max(odd));
            let (first, second) = to.split_at_mut(high);
            let (first, second) = (&mut first[low..], second);
            let (e, o) = if even < odd {
                (first, second)
            } else {
                (second, first)
            };
            launch(
                isa,
                Split {
                    row,
                    even: &mut e[..count.div_ceil(2)],
                    odd: &mut o[..count / 2],
                },
            );
        }
        (Some(only), None) => to[only..only + count].copy_from_slice(row),
        _ => {}
    }
}

/// Merges a row from its classes.
fn join_row<V: Pod + Default>(
    isa: Isa,
    from: &[V],
    [even, odd]: [Option<usize>; 2],
    row: &mut [V],
    streaming: bool,
) {
    let count = row.len();
    match (even, odd) {
        (Some(e), Some(o)) => {
            let (even, odd) = (&from[e..e + count.div_ceil(2)], &from[o..o + count / 2]);
            let join = Join {
                even,
                odd,
                row,
                streaming,
            };
            launch(isa, join);
        }
        (Some(only), None) => row.copy_from_slice(&from[only..only + count]),
        _ => {}
    }
}

/// Splits the chunk, given row by row, into the classes of all levels.
pub(super) fn split_all<'a, V: Copy + Default + 'a>(
    isa: Isa,
    pyramid: &Pyramid,
    chunk_row: impl Fn(usize, usize) -> &'a [V],
    buffer: &mut [V],
) {
    let Some(level) = pyramid.levels.first() else {
        let [nz, ny, nx] = pyramid.top.extents;
        for (z, y) in rows(nz, ny) {
            let at = pyramid.top.row(z, y);
            buffer[at..at + nx].copy_from_slice(chunk_row(z, y));
        }
        return;
    };
    for (z, y) in rows(level.extents[0], level.extents[1]) {
        let places = classes_of_row(pyramid, level, z, y);
        split_row(isa, chunk_row(z, y), buffer, places);
    }
    for l in 1..pyramid.levels.len() {
        let level = &pyramid.levels[l];
        let source = pyramid.levels[l - 1].classes[0];
        let start = pyramid.level_start(l);
        let [nz, ny, nx] = level.extents;
        let (finer, coarser) = buffer.split_at_mut(start);
        for (z, y) in rows(nz, ny) {
            let at = source.row(z, y);
            let places = classes_of_row(pyramid, level, z, y).map(|p| p.map(|p| p - start));
            split_row(isa, &finer[at..at + nx], coarser, places);
        }
    }
}

/// Merges the classes of `level` to the even class of the next finer level; calls `finish` with the
/// buffer and the start of each row.
pub(super) fn join_level<V: Pod + Default>(
    isa: Isa,
    pyramid: &Pyramid,
    l: usize,
    buffer: &mut [V],
    mut finish: impl FnMut(&mut [V], usize),
) {
    let level = &pyramid.levels[l];
    let target = pyramid.levels[l - 1].classes[0];
    let start = pyramid.level_start(l);
    let [nz, ny, nx] = level.extents;
    let (finer, coarser) = buffer.split_at_mut(start);
    for (z, y) in rows(nz, ny) {
        let at = target.row(z, y);
        let places = classes_of_row(pyramid, level, z, y).map(|p| p.map(|p| p - start));
        join_row(isa, coarser, places, &mut finer[at..at + nx], false);
        finish(finer, at);
    }
}

/// Merges the classes of level 0 to the chunk, row by row; coarser levels must have been merged.
/// With `streaming`, rows are written with non-temporal stores.
pub(super) fn join_chunk<V: Pod + Default>(
    isa: Isa,
    pyramid: &Pyramid,
    buffer: &[V],
    mut chunk_row: impl FnMut(usize, usize) -> usize,
    out: &mut [V],
    streaming: bool,
) {
    let Some(level) = pyramid.levels.first() else {
        let [nz, ny, nx] = pyramid.top.extents;
        for (z, y) in rows(nz, ny) {
            let (from, to) = (pyramid.top.row(z, y), chunk_row(z, y));
            out[to..to + nx].copy_from_slice(&buffer[from..from + nx]);
        }
        return;
    };
    let [nz, ny, nx] = level.extents;
    for (z, y) in rows(nz, ny) {
        let places = classes_of_row(pyramid, level, z, y);
        let to = chunk_row(z, y);
        join_row(isa, buffer, places, &mut out[to..to + nx], streaming);
    }
    if streaming {
        memory::end_streaming();
    }
}

/// All rows in order.
pub(super) fn rows(nz: usize, ny: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..nz).flat_map(move |z| (0..ny).map(move |y| (z, y)))
}

struct Split<'a, V> {
    row: &'a [V],
    even: &'a mut [V],
    odd: &'a mut [V],
}

impl<V: Copy + Default> Kernel for Split<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (pairs, last) = self.row.as_chunks::<2>();
        for ((even, odd), pair) in self.even.iter_mut().zip(self.odd).zip(pairs) {
            [*even, *odd] = *pair;
        }
        if let ([value], Some(even)) = (last, self.even.last_mut()) {
            *even = *value;
        }
    }
}

struct Join<'a, V> {
    even: &'a [V],
    odd: &'a [V],
    row: &'a mut [V],
    streaming: bool,
}

impl<V: Pod + Default> Kernel for Join<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { even, odd, row, .. } = self;
        let done = if self.streaming {
            stream(even, odd, row)
        } else {
            0
        };
        join(&even[done / 2..], &odd[done / 2..], &mut row[done..]);
    }
}

/// Interleaves the values of two rows.
#[inline(always)]
fn join<V: Copy>(even: &[V], odd: &[V], row: &mut [V]) {
    let (pairs, last) = row.as_chunks_mut::<2>();
    for (pair, (&even, &odd)) in pairs.iter_mut().zip(even.iter().zip(odd)) {
        *pair = [even, odd];
    }
    if let ([value], Some(&even)) = (last, even.last()) {
        *value = even;
    }
}

/// The same for all whole blocks, with non-temporal stores; returns the number of values written.
#[inline(always)]
fn stream<V: Pod + Default>(even: &[V], odd: &[V], row: &mut [V]) -> usize {
    const BLOCK: usize = 64;
    let blocks = row.as_chunks_mut::<BLOCK>().0;
    let done = blocks.len() * BLOCK;
    let even = even.as_chunks::<{ BLOCK / 2 }>().0;
    let odd = odd.as_chunks::<{ BLOCK / 2 }>().0;
    for (to, (even, odd)) in blocks.iter_mut().zip(even.iter().zip(odd)) {
        let mut block = [V::default(); BLOCK];
        join(even, odd, &mut block);
        memory::copy_streaming(&block, to);
    }
    done
}
