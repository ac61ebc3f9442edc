//! Differences and sums of a unit in one pass, generic over the vectors of an instruction set.

use super::ring::{WINDOW, Window};
use super::{FRONT, UNIT};
use crate::element::word::Word;

/// A vector of adjacent integers. Creating one requires the token of its instruction set, so that a
/// vector proves that the CPU has the instructions.
pub(super) trait Vector<W>: Copy {
    /// Proof that the CPU has the instructions.
    type Token: Copy;
    /// Integers in a vector: at most 32.
    const LANES: usize;

    /// Loads a vector; panics if it exceeds the slice.
    fn load(token: Self::Token, from: &[W], at: usize) -> Self;
    fn store(self, to: &mut [W], at: usize);
    /// Sets all lanes to one number.
    fn splat(token: Self::Token, number: W) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// See [`Word::zigzag`].
    fn zigzag(self) -> Self;
    fn unzigzag(self) -> Self;
    /// Inclusive prefix sum plus `carry`, whose lanes are all equal; and the next carry.
    fn prefix_sum(self, carry: Self) -> (Self, Self);
}

/// The buffers that a pass over a unit accesses.
pub(super) struct Buffers<'a, W> {
    /// `FRONT` integers, then the unit.
    pub numbers: &'a mut [W],
    pub residuals: &'a mut [W],
    pub row: Window<'a, W>,
    pub plane: Window<'a, W>,
}

impl<W: Word> Buffers<'_, W> {
    /// Casts to another word type of the same size.
    #[cfg(target_arch = "x86_64")]
    pub fn cast<X: Word>(&mut self) -> Buffers<'_, X> {
        fn window<'a, W: Word, X: Word>(window: &'a mut Window<'_, W>) -> Window<'a, X> {
            Window {
                numbers: bytemuck::cast_slice_mut(window.numbers),
                now: window.now,
                before: window.before,
            }
        }
        Buffers {
            numbers: bytemuck::cast_slice_mut(self.numbers),
            residuals: bytemuck::cast_slice_mut(self.residuals),
            row: window(&mut self.row),
            plane: window(&mut self.plane),
        }
    }

    /// Bounds all lengths and positions, so that the compiler can drop bounds checks.
    #[inline(always)]
    fn checked(&mut self) -> Buffers<'_, W> {
        let [row, plane] = [&mut self.row, &mut self.plane].map(
            #[inline(always)]
            |window| Window {
                numbers: &mut window.numbers[..WINDOW],
                now: window.now.min(UNIT),
                before: window.before.min(UNIT),
            },
        );
        Buffers {
            numbers: &mut self.numbers[..FRONT + UNIT],
            residuals: &mut self.residuals[..UNIT],
            row,
            plane,
        }
    }
}

/// Computes the zigzag residuals of a unit for the set `LAGS`.
#[inline(always)]
pub(super) fn forward<W: Word, V: Vector<W>, const LAGS: u8>(
    token: V::Token,
    unit: &mut Buffers<'_, W>,
) {
    let Buffers {
        numbers,
        residuals,
        row,
        plane,
    } = unit.checked();
    for at in (0..UNIT).step_by(V::LANES) {
        let mut v = V::load(token, numbers, FRONT + at);
        if LAGS & 1 != 0 {
            v = v.sub(V::load(token, numbers, FRONT - 1 + at));
        }
        if LAGS & 2 != 0 {
            let old = V::load(token, row.numbers, row.before + at);
            v.store(row.numbers, row.now + at);
            v = v.sub(old);
        }
        if LAGS & 4 != 0 {
            let old = V::load(token, plane.numbers, plane.before + at);
            v.store(plane.numbers, plane.now + at);
            v = v.sub(old);
        }
        v.zigzag().store(residuals, at);
    }
}

/// Inverts [`forward`].
#[inline(always)]
pub(super) fn inverse<W: Word, V: Vector<W>, const LAGS: u8>(
    token: V::Token,
    unit: &mut Buffers<'_, W>,
) {
    let Buffers {
        numbers,
        residuals,
        row,
        plane,
    } = unit.checked();
    let mut carry = V::splat(token, numbers[FRONT - 1]);
    for at in (0..UNIT).step_by(V::LANES) {
        let mut v = V::load(token, residuals, at).unzigzag();
        if LAGS & 4 != 0 {
            v = v.add(V::load(token, plane.numbers, plane.before + at));
            v.store(plane.numbers, plane.now + at);
        }
        if LAGS & 2 != 0 {
            v = v.add(V::load(token, row.numbers, row.before + at));
            v.store(row.numbers, row.now + at);
        }
        if LAGS & 1 != 0 {
            (v, carry) = v.prefix_sum(carry);
        }
        v.store(numbers, FRONT + at);
    }
}

/// Portable vectors.
impl<W: Word, const LANES: usize> Vector<W> for [W; LANES] {
    type Token = ();
    const LANES: usize = LANES;

    #[inline(always)]
    fn load((): (), from: &[W], at: usize) -> Self {
        let mut vector = [W::default(); LANES];
        vector.copy_from_slice(&from[at..at + LANES]);
        vector
    }

    #[inline(always)]
    fn store(self, to: &mut [W], at: usize) {
        to[at..at + LANES].copy_from_slice(&self);
    }

    #[inline(always)]
    fn splat((): (), number: W) -> Self {
        [number; LANES]
    }

    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for i in 0..LANES {
            self[i] = self[i].add(other[i]);
        }
        self
    }

    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        for i in 0..LANES {
            self[i] = self[i].sub(other[i]);
        }
        self
    }

    #[inline(always)]
    fn zigzag(self) -> Self {
        self.map(Word::zigzag)
    }

    #[inline(always)]
    fn unzigzag(self) -> Self {
        self.map(Word::unzigzag)
    }

    #[inline(always)]
    fn prefix_sum(mut self, carry: Self) -> (Self, Self) {
        let mut sum = carry[0];
        for number in &mut self {
            sum = sum.add(*number);
            *number = sum;
        }
        (self, [sum; LANES])
    }
}
