//! zfp's integer lifting transform along each axis of a group of blocks.
//!
//! Converts integers in raster order to coefficients in raster order. The steps lose low bits, so that
//! the order of axes and operations matters: with zfp's order, decoded values are bit-identical to
//! zfp's.

use super::block_float::BlockFloat;
use super::lanes::Lanes;
use super::vectors::Vectors;

/// The four positions of line `line` along the axis with stride `step`.
#[inline(always)]
fn line(line: usize, step: usize) -> [usize; 4] {
    let at = line / step * step * 4 + line % step;
    [at, at + step, at + 2 * step, at + 3 * step]
}

/// Source of the coefficients and sink of the integers of the inverse transform. A trait instead of two
/// closures, because closures are not inlined reliably enough for vector code.
pub trait Endpoints<T: BlockFloat, V: Vectors<T>> {
    /// The coefficients at a position.
    fn take(&self, position: usize) -> V::Int;
    /// Consumes the integers at a position.
    fn put(&mut self, position: usize, integers: V::Int);
}

/// Quantizes and lifts along x, then along y, then along z.
#[inline(always)]
pub fn forward<T: BlockFloat, V: Vectors<T>, const N: usize>(
    values: &[Lanes<T>; N],
    exponents: V::Int,
    group: &mut [Lanes<T::Int>; N],
) {
    for (from, to) in values.iter().zip(group.iter_mut()) {
        V::store_int(V::quantize(V::load(from), exponents), to);
    }
    along_all_axes::<T, V, N>(group);
}

/// Lifts integers along x, then along y, then along z.
#[inline(always)]
pub fn along_all_axes<T: BlockFloat, V: Vectors<T>, const N: usize>(
    group: &mut [Lanes<T::Int>; N],
) {
    let mut step = 1;
    while step < N {
        for i in 0..N / 4 {
            let at = line(i, step);
            let [x, y, z, w] = forward_line::<T, V>(load::<T, V, N>(group, at));
            store::<T, V, N>([x, y, z, w], at, group);
        }
        step *= 4;
    }
}

/// Inverts the lifting of [`forward`]: along the slowest axis first, along x last.
#[inline(always)]
pub fn inverse<T: BlockFloat, V: Vectors<T>, const N: usize>(
    ends: &mut impl Endpoints<T, V>,
    work: &mut [Lanes<T::Int>; N],
) {
    let mut step = N / 4;
    for i in 0..N / 4 {
        let at = line(i, step);
        let [x, y, z, w] = at;
        let taken = [ends.take(x), ends.take(y), ends.take(z), ends.take(w)];
        store::<T, V, N>(inverse_line::<T, V>(taken), at, work);
    }
    while step > 4 {
        step /= 4;
        for i in 0..N / 4 {
            let at = line(i, step);
            store::<T, V, N>(inverse_line::<T, V>(load::<T, V, N>(work, at)), at, work);
        }
    }
    for i in 0..N / 4 {
        let at = line(i, 1);
        let mut lifted = load::<T, V, N>(work, at);
        if N > 4 {
            lifted = inverse_line::<T, V>(lifted);
        }
        for (position, integers) in at.into_iter().zip(lifted) {
            ends.put(position, integers);
        }
    }
}

#[inline(always)]
fn load<T: BlockFloat, V: Vectors<T>, const N: usize>(
    group: &[Lanes<T::Int>; N],
    [x, y, z, w]: [usize; 4],
) -> [V::Int; 4] {
    [
        V::load_int(&group[x]),
        V::load_int(&group[y]),
        V::load_int(&group[z]),
        V::load_int(&group[w]),
    ]
}

#[inline(always)]
fn store<T: BlockFloat, V: Vectors<T>, const N: usize>(
    vectors: [V::Int; 4],
    at: [usize; 4],
    group: &mut [Lanes<T::Int>; N],
) {
    for (vector, position) in vectors.into_iter().zip(at) {
        V::store_int(vector, &mut group[position]);
    }
}

#[inline(always)]
fn forward_line<T: BlockFloat, V: Vectors<T>>(
    [mut x, mut y, mut z, mut w]: [V::Int; 4],
) -> [V::Int; 4] {
    x = V::half(V::plus(x, w));
    w = V::minus(w, x);
    z = V::half(V::plus(z, y));
    y = V::minus(y, z);
    x = V::half(V::plus(x, z));
    z = V::minus(z, x);
    w = V::half(V::plus(w, y));
    y = V::minus(y, w);
    w = V::plus(w, V::half(y));
    y = V::minus(y, V::half(w));
    [x, y, z, w]
}

#[inline(always)]
fn inverse_line<T: BlockFloat, V: Vectors<T>>(
    [mut x, mut y, mut z, mut w]: [V::Int; 4],
) -> [V::Int; 4] {
    y = V::plus(y, V::half(w));
    w = V::minus(w, V::half(y));
    y = V::plus(y, w);
    w = V::minus(V::plus(w, w), y);
    z = V::plus(z, x);
    x = V::minus(V::plus(x, x), z);
    y = V::plus(y, z);
    z = V::minus(V::plus(z, z), y);
    w = V::plus(w, x);
    x = V::minus(V::plus(x, x), w);
    [x, y, z, w]
}
