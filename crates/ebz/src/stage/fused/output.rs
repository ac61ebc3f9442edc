//! Where the zigzag differences of units go: bit planes, or another encoder.

use crate::stage::UNIT;
use crate::stage::planes::{MAX_UNIT, Shape};
use std::mem::MaybeUninit;
#[cfg(target_arch = "x86_64")]
use {
    crate::stage::planes::avx2,
    crate::stage::planes::avx512::{Planes, Unit, store_unit},
};

/// Consumer of units.
pub(super) trait Output {
    /// The last unit, if it is written later than it is taken.
    #[cfg(target_arch = "x86_64")]
    type Pending: Default;

    /// Takes a unit.
    ///
    /// # Safety
    /// The machine must have AVX-512 as of [`crate::simd::Avx512`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn take(&mut self, pending: &mut Self::Pending, unit: &Unit);

    /// Writes the unit that was taken; false if there is no room.
    ///
    /// # Safety
    /// As [`Self::take`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn write(&mut self, pending: &Self::Pending) -> bool;

    /// Takes and writes a unit; false if there is no room.
    ///
    /// # Safety
    /// The machine must have AVX2 as of [`crate::simd::Avx2`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn unit(&mut self, unit: &[u16; UNIT]) -> bool;
}

/// Writes bit planes.
pub(super) struct PlaneWriter<'a> {
    pub codes: &'a mut Vec<u8>,
    /// Memory for the planes of all units, and how much of it is in use.
    pub out: &'a mut [MaybeUninit<u8>],
    pub length: usize,
}

impl PlaneWriter<'_> {
    /// Memory for a unit; there always is.
    #[inline(always)]
    fn room(&mut self) -> Option<&mut [MaybeUninit<u8>; MAX_UNIT]> {
        self.out.get_mut(self.length..)?.first_chunk_mut()
    }

    /// Adds a unit, of which `length` bytes have been written to the room.
    #[inline(always)]
    fn advance(&mut self, shape: Shape, length: usize) {
        self.codes.push(shape.code());
        self.length += length;
    }
}

impl Output for PlaneWriter<'_> {
    #[cfg(target_arch = "x86_64")]
    type Pending = Planes;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn take(&mut self, pending: &mut Planes, unit: &Unit) {
        // SAFETY: guaranteed by the caller.
        unsafe { pending.split(unit) };
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn write(&mut self, pending: &Planes) -> bool {
        let Some(room) = self.room() else {
            return false;
        };
        // SAFETY: guaranteed by the caller; there is room for a unit.
        let (shape, length) = unsafe { pending.write(room.as_mut_ptr().cast()) };
        self.advance(shape, length);
        true
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn unit(&mut self, unit: &[u16; UNIT]) -> bool {
        let Some(room) = self.room() else {
            return false;
        };
        // SAFETY: guaranteed by the caller; there is room for a unit.
        let (shape, length) = unsafe { avx2::write(unit, room.as_mut_ptr().cast()) };
        self.advance(shape, length);
        true
    }
}

/// Passes units on.
pub(super) struct Each<'a>(pub &'a mut dyn FnMut(&[u16; UNIT]));

impl Output for Each<'_> {
    #[cfg(target_arch = "x86_64")]
    type Pending = ();

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn take(&mut self, (): &mut (), unit: &Unit) {
        let mut zigzag = crate::stage::Aligned::<u16>::default();
        // SAFETY: guaranteed by the caller.
        unsafe { store_unit(unit, &mut zigzag.0) };
        (self.0)(&zigzag.0);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn write(&mut self, (): &()) -> bool {
        true
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn unit(&mut self, unit: &[u16; UNIT]) -> bool {
        (self.0)(unit);
        true
    }
}
