//! Bytes of a chunk to values: the steps of `encode.rs`, from its end to its beginning.

use super::{Residuals, Scratch, books, symbols};
use crate::codec::{Context, Dims};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::dualquant::{self, Fetch, Plan};
use crate::stage::occupancy::Cursor;
use crate::stage::word::Word;
use crate::stage::{UNIT, varint};

pub(super) fn decode<T: Element>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    let mut scratch = context.take::<Scratch>();
    let result = decode_with(bytes, dims, context, &mut scratch, out);
    context.put_back(scratch);
    result
}

fn decode_with<T: Element>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    let simd = context.simd;
    let (plan, mut bytes) = bytes
        .split_first_chunk::<{ Plan::SIZE }>()
        .ok_or_else(|| Error::truncated("the plan of a chunk is cut off"))?;
    let plan = Plan::read_from(plan)?;
    let exceptions = take_block(&mut bytes)?;

    // 3. Residuals.
    let units = dualquant::units(out.len());
    match plan.parts::<T>() {
        1 => decode_residuals::<u16>(&mut bytes, units, simd, scratch)?,
        2 => decode_residuals::<u32>(&mut bytes, units, simd, scratch)?,
        _ => decode_residuals::<u64>(&mut bytes, units, simd, scratch)?,
    }
    if !bytes.is_empty() {
        return Err(Error::corrupt("a chunk is too long"));
    }

    // 2. and 1. Exact values, prediction and quantization.
    let mut source = Spread {
        residuals: &mut scratch.residuals,
        at: Cursor::default(),
        simd,
    };
    dualquant::inverse(&plan, dims, context, &mut source, exceptions, out)
}

fn decode_residuals<W: Word>(
    bytes: &mut &[u8],
    units: usize,
    simd: Level,
    scratch: &mut Scratch,
) -> Result<()> {
    let Scratch {
        residuals,
        symbols,
        mask_table,
        symbol_table,
        ..
    } = scratch;
    let residuals = residuals.of_width::<W>();

    // 3.1 Classes of units.
    let masks = residuals.set_classes(bytes, units)?;

    // 3.2 Masks.
    books::decode(bytes, mask_table, simd, masks)?;

    // 3.3 and 3.4 Symbols, and what did not fit them.
    let mut rest = take_block(bytes)?;
    symbols::join(residuals.set_masks(), symbols, &mut rest, |symbols| {
        books::decode(bytes, symbol_table, simd, symbols)
    })?;
    if !rest.is_empty() {
        return Err(Error::corrupt("exceptions are left over"));
    }
    Ok(())
}

/// Takes bytes behind their length.
fn take_block<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    let length = varint::read_length(bytes)?;
    bytes
        .split_off(..length)
        .ok_or_else(|| Error::truncated("a block is cut off"))
}

/// Gives residual units with their zeros.
struct Spread<'a> {
    residuals: &'a mut Residuals,
    at: Cursor,
    simd: Level,
}

impl Fetch for Spread<'_> {
    #[inline(always)]
    fn unit<W: Word>(&mut self, residuals: &mut [W; UNIT]) -> Result<()> {
        let occupancy = self.residuals.of_width();
        occupancy.inverse(&mut self.at, residuals, self.simd)
    }
}
