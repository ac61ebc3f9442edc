//! One time step of the wave equation on some planes: 8th order in space, 2nd in time.
//!
//! new = p + d (p − old) + v · Δp, where v = (velocity · dt / spacing)², and d is 1 except in the
//! absorbing boundary, where it is smaller.

use super::field::{Layout, REACH};
use super::lanes::{LANES, Lanes, prefetch};
use ebz::simd::Level;
use std::ops::Range;

/// Weights of the second derivative: the point itself (sum of three axes) and its neighbours.
pub const WEIGHTS: [f32; 5] = [
    -205.0 / 24.0,
    8.0 / 5.0,
    -1.0 / 5.0,
    8.0 / 315.0,
    -1.0 / 560.0,
];

/// Adding and subtracting this flushes negligible values to zero: subnormals ahead of the wave
/// would be a hundred times slower. (The CPU's flush-to-zero mode would also affect the codecs that
/// run in between.)
const NEGLIGIBLE: f32 = 1.0 / (1u128 << 80) as f32;

/// Tile height: rows processed plane by plane, so that shared planes stay in the cache.
const ROWS_PER_TILE: usize = 32;

/// Prefetch distance in rows.
const PREFETCH_ROWS: usize = 4;

/// Coefficients of a step.
#[derive(Debug)]
pub struct Medium<'a> {
    /// (velocity · dt / spacing)² at every point, 0 in the halo.
    pub speed: &'a [f32],
    /// Damping factors by depth, row and column (0 beyond the last column).
    pub keep: [&'a [f32]; 3],
}

/// Overwrites `old`, the previous values of the planes `planes`, with their next values; `now`
/// holds the current values of all planes. Returns the largest new value if requested.
pub fn step(
    level: Level,
    layout: &Layout,
    medium: &Medium<'_>,
    now: &[f32],
    old: &mut [f32],
    planes: Range<usize>,
    largest: bool,
) -> f32 {
    let inside = layout.planes(0..layout.extents[0]);
    let part = layout.planes(planes.clone());
    assert!(planes.end <= layout.extents[0] && part.len() == old.len());
    assert!(now.len() >= inside.end + REACH * layout.plane && medium.speed.len() == now.len());
    assert!(medium.keep[0].len() >= layout.extents[0] && medium.keep[1].len() >= layout.extents[1]);
    assert!(medium.keep[2].len() >= layout.width());
    let mut job = Job {
        layout,
        medium,
        now,
        old,
        planes,
        largest,
    };
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(avx512) => avx512.run(
            #[inline(always)]
            // SAFETY: lengths are checked above.
            || unsafe { job.run::<super::lanes::x86::Single>(avx512) },
        ),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(avx2) => avx2.run(
            #[inline(always)]
            // SAFETY: lengths are checked above.
            || unsafe { job.run::<super::lanes::x86::Pair>(avx2) },
        ),
        // SAFETY: lengths are checked above.
        _ => unsafe { job.run::<[f32; LANES]>(()) },
    }
}

struct Job<'a> {
    layout: &'a Layout,
    medium: &'a Medium<'a>,
    now: &'a [f32],
    old: &'a mut [f32],
    planes: Range<usize>,
    largest: bool,
}

impl Job<'_> {
    /// # Safety
    /// Lengths as checked by [`step`].
    #[inline(always)]
    unsafe fn run<V: Lanes>(&mut self, token: V::Token) -> f32 {
        let mut largest = V::splat(token, 0.0);
        let first = self.layout.planes(self.planes.clone()).start;
        let rows = self.layout.extents[1];
        for block in (0..rows).step_by(ROWS_PER_TILE) {
            for z in self.planes.clone() {
                for y in block..rows.min(block + ROWS_PER_TILE) {
                    let at = self.layout.at(z, y, 0);
                    let keep = self.medium.keep[0][z] * self.medium.keep[1][y];
                    let row = Row {
                        now: self.now[at..].as_ptr(),
                        old: self.old[at - first..].as_mut_ptr(),
                        speed: self.medium.speed[at..].as_ptr(),
                        keep: self.medium.keep[2].as_ptr(),
                        strides: [1, self.layout.row, self.layout.plane],
                    };
                    for x in (0..self.layout.width()).step_by(LANES) {
                        // SAFETY: the point and its neighbours are in the fields, halo included.
                        let new = unsafe { row.step::<V>(token, x, keep) };
                        if self.largest {
                            largest = largest.max(new.max(V::splat(token, 0.0).sub(new)));
                        }
                    }
                }
            }
        }
        let mut lanes = [0.0f32; LANES];
        // SAFETY: the array has LANES values.
        unsafe { largest.store(lanes.as_mut_ptr()) };
        lanes.into_iter().fold(0.0, f32::max)
    }
}

/// Pointers of a row.
struct Row {
    now: *const f32,
    old: *mut f32,
    speed: *const f32,
    keep: *const f32,
    strides: [usize; 3],
}

impl Row {
    /// # Safety
    /// The points from `x` on and all their neighbours must exist.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "k is a distance as well as an index"
    )]
    unsafe fn step<V: Lanes>(&self, token: V::Token, x: usize, keep: f32) -> V {
        let [_, row, plane] = self.strides;
        prefetch(
            self.now
                .wrapping_add(x + REACH * plane + PREFETCH_ROWS * row),
        );
        prefetch(self.old.wrapping_add(x + PREFETCH_ROWS * row));
        prefetch(self.speed.wrapping_add(x + PREFETCH_ROWS * row));
        // SAFETY: guaranteed by the caller.
        unsafe {
            let here = self.now.add(x);
            let p = V::load(token, here);
            let mut sum = p.mul(V::splat(token, WEIGHTS[0]));
            for k in 1..=REACH {
                let pair = |stride: usize| {
                    V::load(token, here.sub(k * stride)).add(V::load(token, here.add(k * stride)))
                };
                let [x, y, z] = self.strides.map(pair);
                sum = sum.add(x.add(y).add(z).mul(V::splat(token, WEIGHTS[k])));
            }
            let moved = p.sub(V::load(token, self.old.add(x)));
            let kept = moved.mul(V::load(token, self.keep.add(x)).mul(V::splat(token, keep)));
            let new = p.add(kept).add(sum.mul(V::load(token, self.speed.add(x))));
            let new = new
                .add(V::splat(token, NEGLIGIBLE))
                .sub(V::splat(token, NEGLIGIBLE));
            new.store(self.old.add(x));
            new
        }
    }
}
