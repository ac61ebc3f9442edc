//! Decoder: the steps of `encode.rs` in reverse order.

use super::books::Decoder;
use super::codebooks::{OfMasks, OfResiduals};
use super::{Residuals, Scratch, Tables, head, labels, masks, symbols};
use crate::bits::BitReader;
use crate::bits::varint;
use crate::codec::{Context, Dims};
use crate::element::Float;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::dualquant::{self, Fetch};
use crate::stage::occupancy::{Cursor, GROUPS};

/// Decodes the output of `encode_by_lags`.
pub(super) fn decode_by_lags<T: Float>(
    mut bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    let plan = head::read_from(&mut bytes)?;
    let mut scratch = context.take::<Scratch>();
    let units = dualquant::units(out.len());
    let simd = context.simd();
    // 3. Residuals. 2. and 1. Exact values, prediction and quantization.
    let result = decode_parts(plan.parts::<T>(), bytes, units, simd, &mut scratch).and_then(
        |(exceptions, mut source)| {
            dualquant::inverse(&plan, dims, context, &mut source, exceptions, out)
        },
    );
    context.put_back(scratch);
    result
}

/// Decodes the output of `encode_parts`: the side list, and the residuals of `units` units.
pub(super) fn decode_parts<'a, 'b>(
    parts: usize,
    mut bytes: &'b [u8],
    units: usize,
    simd: Level,
    scratch: &'a mut Scratch,
) -> Result<(&'b [u8], Spread<'a>)> {
    let exceptions = varint::read_block(&mut bytes)?;
    match parts {
        1 => decode_residuals::<u16>(&mut bytes, units, simd, scratch)?,
        2 => decode_residuals::<u32>(&mut bytes, units, simd, scratch)?,
        _ => decode_residuals::<u64>(&mut bytes, units, simd, scratch)?,
    }
    if !bytes.is_empty() {
        return Err(Error::corrupt("trailing bytes after a chunk"));
    }
    let source = Spread {
        residuals: &mut scratch.residuals,
        at: Cursor::default(),
        simd,
    };
    Ok((exceptions, source))
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
        sparse,
        tables,
        ..
    } = scratch;
    let Tables {
        masks: mask_table,
        symbols: symbol_table,
    } = tables;
    let residuals = residuals.of_width::<W>();

    // 3.1 Labels of units.
    let mut decoder = Decoder::<OfMasks>::new(mask_table, simd);
    labels::read_from(bytes, &mut decoder, residuals.set_labels(units))?;

    // 3.2 Masks.
    masks::read_from(bytes, &mut decoder, sparse, residuals)?;

    // 3.3 Low bits, and bits of large residuals.
    let mut rests = Vec::with_capacity(GROUPS);
    for group in 0..GROUPS {
        let count = residuals.count_values(group, simd);
        rests.push(symbols::Rest::<W>::read_from(bytes, count)?);
    }
    let mut exceptions = BitReader::new(varint::read_block(bytes)?);

    // 3.4 Symbols.
    let mut decoder = Decoder::<OfResiduals>::new(symbol_table, simd);
    let symbols = &mut symbols[0];
    for (group, rest) in rests.iter().enumerate() {
        let values = residuals.set_values(group);
        symbols.resize(values.len().max(symbols.len()), 0);
        let symbols = &mut symbols[..values.len()];
        decoder.decode(bytes, symbols)?;
        symbols::join(symbols, rest, simd, &mut exceptions, values)?;
    }
    exceptions.finish()
}

/// Yields residual units with their zeros restored.
pub(super) struct Spread<'a> {
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
