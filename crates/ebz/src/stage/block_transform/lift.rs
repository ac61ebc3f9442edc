//! zfp's integer lifting transform along each axis of a group of blocks.
//!
//! In: integers in raster order. Out: coefficients in raster order. The steps lose low bits, so
//! the order of axes and of operations is zfp's: with it, decoded values equal zfp's bit for bit.

use super::grid::Lanes;
use super::real::Real;
use super::vectors::Vectors;

/// The four positions of line `line` along the axis with stride `step`.
#[inline(always)]
pub fn line(line: usize, step: usize) -> [usize; 4] {
    let at = line / step * step * 4 + line % step;
    [at, at + step, at + 2 * step, at + 3 * step]
}

/// Lifts lines along x of what `take` gives, then all along y, then all along z.
#[inline(always)]
pub fn forward<T: Real, V: Vectors<T>, const N: usize>(
    take: impl Fn(usize) -> V::Int,
    group: &mut [Lanes<T::Int>; N],
) {
    for i in 0..N / 4 {
        let at = line(i, 1);
        store::<T, V, N>(forward_line::<T, V>(at.map(&take)), at, group);
    }
    let mut step = 4;
    while step < N {
        for i in 0..N / 4 {
            let at = line(i, step);
            let lifted = forward_line::<T, V>(at.map(|p| V::load_int(&group[p])));
            store::<T, V, N>(lifted, at, group);
        }
        step *= 4;
    }
}

/// The reverse: lines of what `take` gives along the slowest axis, then along the others; what
/// comes out goes to `put`, four positions of a line along x at a time.
#[inline(always)]
pub fn inverse<T: Real, V: Vectors<T>, const N: usize>(
    take: impl Fn(usize) -> V::Int,
    work: &mut [Lanes<T::Int>; N],
    mut put: impl FnMut([usize; 4], [V::Int; 4]),
) {
    if N == 4 {
        let at = line(0, 1);
        return put(at, inverse_line::<T, V>(at.map(&take)));
    }
    let mut step = N / 4;
    for i in 0..N / 4 {
        let at = line(i, step);
        store::<T, V, N>(inverse_line::<T, V>(at.map(&take)), at, work);
    }
    step /= 4;
    while step > 1 {
        for i in 0..N / 4 {
            let at = line(i, step);
            let lifted = inverse_line::<T, V>(at.map(|p| V::load_int(&work[p])));
            store::<T, V, N>(lifted, at, work);
        }
        step /= 4;
    }
    for i in 0..N / 4 {
        let at = line(i, 1);
        put(at, inverse_line::<T, V>(at.map(|p| V::load_int(&work[p]))));
    }
}

#[inline(always)]
fn store<T: Real, V: Vectors<T>, const N: usize>(
    vectors: [V::Int; 4],
    at: [usize; 4],
    group: &mut [Lanes<T::Int>; N],
) {
    for (vector, position) in vectors.into_iter().zip(at) {
        V::store_int(vector, &mut group[position]);
    }
}

#[inline(always)]
fn forward_line<T: Real, V: Vectors<T>>([mut x, mut y, mut z, mut w]: [V::Int; 4]) -> [V::Int; 4] {
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
fn inverse_line<T: Real, V: Vectors<T>>([mut x, mut y, mut z, mut w]: [V::Int; 4]) -> [V::Int; 4] {
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
