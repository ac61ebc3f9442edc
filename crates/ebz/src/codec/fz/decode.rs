//! Decoder of a chunk.

use super::too_short;
use crate::codec::{Context, Dims};
use crate::element::Float;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::dualquant::{self, Fetch, Plan};
use crate::stage::fused;
use crate::stage::planes;

/// Encoded units: a code for each 16-bit part of a unit, and the concatenated planes.
struct CodedUnits<'a> {
    level: Level,
    codes: std::slice::Iter<'a, u8>,
    planes: &'a [u8],
}

impl Fetch for CodedUnits<'_> {
    #[inline(always)]
    fn unit<W: Word>(&mut self, residuals: &mut [W; UNIT]) -> Result<()> {
        if W::PARTS > 1 {
            residuals.fill(W::default());
        }
        for part in 0..W::PARTS {
            let code = *self.codes.next().ok_or_else(too_short)?;
            let length = match bytemuck::try_cast_mut(residuals) {
                Ok(unit) => planes::decode(self.level, code, self.planes, unit)?,
                Err(_) => {
                    let mut unit = [0; UNIT];
                    let length = planes::decode(self.level, code, self.planes, &mut unit)?;
                    for (residual, value) in residuals.iter_mut().zip(unit) {
                        *residual = residual.add(W::from_part(value, part));
                    }
                    length
                }
            };
            self.planes = self.planes.get(length..).ok_or_else(too_short)?;
        }
        Ok(())
    }

    fn fused<T: Float>(
        &mut self,
        plan: &Plan,
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Option<Result<()>> {
        let place = (plan.lags, dims);
        let lattice = (plan.step, plan.base);
        let bytes = (self.codes.as_slice(), self.planes);
        let done = fused::decode(context, place, lattice, bytes, out)?;
        Some(done.map(|rest| self.planes = rest))
    }
}

/// Decodes the bytes after the header of a chunk into `out`.
pub(super) fn decode<T: Float>(
    plan: &Plan,
    length: usize,
    rest: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    // 3. Codes, planes, exceptions.
    let codes = dualquant::units(out.len()) * plan.parts::<T>();
    let (codes, rest) = rest.split_at_checked(codes).ok_or_else(too_short)?;
    let (planes, exceptions) = rest.split_at_checked(length).ok_or_else(too_short)?;

    // 2. Bit planes of every unit. 1. Invert prediction and quantization.
    let mut units = CodedUnits {
        level: context.simd(),
        codes: codes.iter(),
        planes,
    };
    dualquant::inverse(plan, dims, context, &mut units, exceptions, out)?;
    if !units.planes.is_empty() {
        return Err(Error::corrupt("trailing bytes after the last bit plane"));
    }
    Ok(())
}
