//! Differences and sums of a unit in one pass, over vectors of any instruction set.

use super::ring::{WINDOW, Window};
use super::{FRONT, UNIT};
use crate::element::word::Word;

/// Some numbers that lie one after the other. They can only be made with the proof that the machine has
/// their instructions, and so are a proof themselves.
pub(super) trait Vector<W>: Copy {
    /// The proof.
    type Token: Copy;
    /// Numbers in a vector: at most 32.
    const LANES: usize;

    /// The vector at a place, which must lie inside.
    fn load(token: Self::Token, from: &[W], at: usize) -> Self;
    fn store(self, to: &mut [W], at: usize);
    /// The same number in all lanes.
    fn splat(token: Self::Token, number: W) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// See [`Word::zigzag`].
    fn zigzag(self) -> Self;
    fn unzigzag(self) -> Self;
    /// Each lane plus all before it, and `carry`, whose lanes are all the same; and the next carry.
    fn prefix_sum(self, carry: Self) -> (Self, Self);
}

/// What a pass over a unit touches.
pub(super) struct Buffers<'a, W> {
    /// The unit behind `FRONT` others.
    pub numbers: &'a mut [W],
    pub residuals: &'a mut [W],
    pub row: Window<'a, W>,
    pub plane: Window<'a, W>,
}

impl<'a, W: Word> Buffers<'a, W> {
    /// The same as words of another name for the same size.
    #[cfg(target_arch = "x86_64")]
    pub fn cast<X: Word>(self) -> Buffers<'a, X> {
        let window = |window: Window<'a, W>| Window {
            numbers: bytemuck::cast_slice_mut(window.numbers),
            now: window.now,
            before: window.before,
        };
        Buffers {
            numbers: bytemuck::cast_slice_mut(self.numbers),
            residuals: bytemuck::cast_slice_mut(self.residuals),
            row: window(self.row),
            plane: window(self.plane),
        }
    }

    /// The same, with lengths and places that the compiler knows.
    #[inline(always)]
    fn checked(self) -> Self {
        let window = |window: Window<'a, W>| Window {
            numbers: &mut window.numbers[..WINDOW],
            now: window.now.min(UNIT),
            before: window.before.min(UNIT),
        };
        Self {
            numbers: &mut self.numbers[..FRONT + UNIT],
            residuals: &mut self.residuals[..UNIT],
            row: window(self.row),
            plane: window(self.plane),
        }
    }
}

/// Zigzag residuals of the numbers behind `FRONT`, by the lags of the set `LAGS`.
#[inline(always)]
pub(super) fn forward<W: Word, V: Vector<W>, const LAGS: u8>(
    token: V::Token,
    unit: Buffers<'_, W>,
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

/// Undoes [`forward`].
#[inline(always)]
pub(super) fn inverse<W: Word, V: Vector<W>, const LAGS: u8>(
    token: V::Token,
    unit: Buffers<'_, W>,
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

/// Plain Rust.
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
