//! Where the zigzag differences of units come from: bit planes, or another decoder.

use crate::error::{Error, Result};
use crate::stage::UNIT;
#[cfg(target_arch = "x86_64")]
use {
    crate::simd::{Avx2, Level, memory},
    crate::stage::Aligned,
    crate::stage::planes::avx512::{Unit, load_unit, read},
    crate::stage::planes::{self, Shape},
    std::arch::x86_64::*,
};

/// Prefetch distance in the planes.
const PLANES_AHEAD: usize = 1024;

/// Source of units.
pub(super) trait Input {
    /// The differences of the next unit.
    ///
    /// # Safety
    /// The machine must have AVX-512 as of [`crate::simd::Avx512`].
    #[cfg(target_arch = "x86_64")]
    unsafe fn differences(&mut self) -> Result<Unit>;

    /// The next unit.
    #[cfg(target_arch = "x86_64")]
    fn unit(&mut self, avx2: Avx2, unit: &mut [u16; UNIT]) -> Result<()>;
}

/// Reads bit planes.
pub(super) struct PlaneReader<'a> {
    pub codes: &'a [u8],
    pub planes: &'a [u8],
}

impl PlaneReader<'_> {
    /// The code of the next unit.
    #[inline(always)]
    fn code(&mut self) -> Result<u8> {
        let (code, rest) = self
            .codes
            .split_first()
            .ok_or_else(|| Error::corrupt("too few units"))?;
        self.codes = rest;
        Ok(*code)
    }
}

impl Input for PlaneReader<'_> {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn differences(&mut self) -> Result<Unit> {
        let shape = Shape::of(self.code()?)?;
        // SAFETY: guaranteed by the caller.
        let mut unit = [unsafe { _mm512_setzero_si512() }; 8];
        let length = planes::with_room(
            self.planes,
            #[inline(always)]
            |bytes| {
                memory::prefetch(bytes, PLANES_AHEAD);
                let length;
                // SAFETY: guaranteed by the caller.
                (unit, length) = unsafe { read::<true>(shape, bytes) };
                length
            },
        )?;
        self.planes = &self.planes[length..];
        Ok(unit)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn unit(&mut self, avx2: Avx2, unit: &mut [u16; UNIT]) -> Result<()> {
        let length = planes::decode(Level::Avx2(avx2), self.code()?, self.planes, unit)?;
        self.planes = &self.planes[length..];
        Ok(())
    }
}

/// Asks for units.
pub(super) struct Each<'a>(pub &'a mut dyn FnMut(&mut [u16; UNIT]) -> Result<()>);

impl Input for Each<'_> {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn differences(&mut self) -> Result<Unit> {
        let mut zigzag = Aligned::<u16>::default();
        (self.0)(&mut zigzag.0)?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let one = _mm512_set1_epi16(1);
            Ok(load_unit(&zigzag.0).map(
                #[inline(always)]
                |v| {
                    let sign = _mm512_sub_epi16(_mm512_setzero_si512(), _mm512_and_si512(v, one));
                    _mm512_xor_si512(_mm512_srli_epi16::<1>(v), sign)
                },
            ))
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn unit(&mut self, _: Avx2, unit: &mut [u16; UNIT]) -> Result<()> {
        (self.0)(unit)
    }
}
