//! Encoder.

use super::books::Encoder;
use super::codebooks::OfResiduals;
use super::estimate::Entropy;
use super::{Residuals, Scratch, head, labels, masks, rule, sort, symbols};
use crate::bits::varint;
use crate::codec::{Context, Task};
use crate::element::Float;
use crate::element::word::Word;
use crate::error::Result;
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::dualquant::{self, Sink};
use crate::stage::huffman::Histogram;
use crate::stage::occupancy::{GROUPS, Occupancy};
use std::any::Any;

/// Encodes a chunk with prediction by lags. If its units cost less than `promising`, writes nothing
/// and returns the estimated cost of a unit.
pub(super) fn encode_by_lags<T: Float>(
    values: &[T],
    task: &Task<'_>,
    promising: u64,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<Option<u64>> {
    let mut scratch = context.take::<Scratch>();
    // 1. Quantize and predict; drop the zeros of residual units.
    let simd = context.simd();
    let mut sink = Gather::new(&mut scratch.residuals, simd, promising);
    let plan = dualquant::forward(values, task, context, &mut scratch.exceptions, &mut sink);
    let declined = sink.declined;
    if declined.is_none() {
        // 2. Exact values. 3. Residuals.
        head::write_to(&plan, out);
        encode_parts::<T>(plan.parts::<T>(), task, simd, &mut scratch, out)?;
    }
    context.put_back(scratch);
    Ok(declined)
}

/// Appends the side list and the residuals, which have `parts` times 16 bits, from the scratch
/// buffers.
pub(super) fn encode_parts<T: Float>(
    parts: usize,
    task: &Task<'_>,
    simd: Level,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<()> {
    scratch.exceptions.write_block_to::<T>(out);
    match parts {
        1 => encode_residuals::<u16>(task, simd, scratch, out),
        2 => encode_residuals::<u32>(task, simd, scratch, out),
        _ => encode_residuals::<u64>(task, simd, scratch, out),
    }
}

fn encode_residuals<W: Word>(
    task: &Task<'_>,
    simd: Level,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<()> {
    let Scratch {
        residuals,
        symbols,
        extra,
        streams,
        sparse,
        ..
    } = scratch;
    let residuals = residuals.of_width::<W>();
    let mut coder = Encoder {
        rule: rule(task.params)?,
        sort: sort(task.params)?,
        simd,
        streams,
    };

    // 3.1 Labels of units.
    labels::write_to(residuals.labels(), &mut coder, out);

    // 3.2 Masks.
    let all = std::array::from_fn(|group| residuals.masks(group));
    masks::write_to(all, &mut coder, sparse, out);

    // 3.3 Low bits, and bits of large residuals.
    extra.clear();
    for (group, symbols) in symbols.iter_mut().enumerate() {
        let values = residuals.values(group);
        symbols::split(values, simd, symbols, extra, out);
    }
    varint::write_block(extra.finish(), out);

    // 3.4 Symbols.
    coder.encode::<OfResiduals, GROUPS>(symbols.each_ref().map(|s| s.as_slice()), out);
    Ok(())
}

impl Residuals {
    /// The residuals of this width.
    #[inline(always)]
    pub(super) fn of_width<W: Word>(&mut self) -> &mut Occupancy<W> {
        let all: [&mut dyn Any; 3] = [&mut self.narrow, &mut self.wide, &mut self.widest];
        let mut found = all.into_iter().filter_map(|any| any.downcast_mut());
        found.next().unwrap_or_else(|| unreachable!())
    }
}

/// Collects residual units without their zeros.
pub(super) struct Gather<'a> {
    residuals: &'a mut Residuals,
    simd: Level,
    /// Units that cost less are declined: interpolation may predict better.
    promising: u64,
    /// The cost of a unit, if declined.
    declined: Option<u64>,
}

impl<'a> Gather<'a> {
    pub fn new(residuals: &'a mut Residuals, simd: Level, promising: u64) -> Self {
        Self {
            residuals,
            simd,
            promising,
            declined: None,
        }
    }
}

impl Sink for Gather<'_> {
    type Estimate = Entropy;

    fn wants(&mut self, cost: u64) -> bool {
        self.declined = (cost < self.promising).then_some(cost);
        self.declined.is_none()
    }

    fn restart<W: Word>(&mut self, _units: usize) {
        self.residuals.narrow.clear();
        self.residuals.wide.clear();
        self.residuals.widest.clear();
    }

    #[inline(always)]
    fn unit<W: Word>(&mut self, residuals: &[W; UNIT]) {
        self.residuals.of_width().forward(residuals, self.simd);
    }
}

/// Frequencies of masks and symbols in a chunk.
#[derive(Debug, Clone, Default)]
pub struct Frequencies {
    /// By group of units, and by mask of eight residuals.
    pub masks: Vec<Vec<u32>>,
    /// By group of units, and by symbol, for residuals that are stored.
    pub symbols: Vec<Vec<u32>>,
    /// Number of zero residuals, which are not stored.
    pub zeros: usize,
}

/// The frequencies that the codebooks of a chunk are built from, for analysis tools.
pub fn frequencies<T: Float>(values: &[T], task: &Task<'_>, context: &mut Context) -> Frequencies {
    let mut scratch = context.take::<Scratch>();
    let mut sink = Gather::new(&mut scratch.residuals, context.simd(), 0);
    let plan = dualquant::forward(values, task, context, &mut scratch.exceptions, &mut sink);
    let found = match plan.parts::<T>() {
        1 => count::<u16>(values.len(), context.simd(), &mut scratch),
        2 => count::<u32>(values.len(), context.simd(), &mut scratch),
        _ => count::<u64>(values.len(), context.simd(), &mut scratch),
    };
    context.put_back(scratch);
    found
}

fn count<W: Word>(values: usize, simd: Level, scratch: &mut Scratch) -> Frequencies {
    let residuals = scratch.residuals.of_width::<W>();
    let mut found = Frequencies {
        zeros: values.next_multiple_of(UNIT),
        ..Frequencies::default()
    };
    let mut low_bits = Vec::new();
    scratch.extra.clear();
    for (group, symbols) in (0..GROUPS).zip(&mut scratch.symbols) {
        let masks = Histogram::of(residuals.masks(group));
        symbols::split(
            residuals.values(group),
            simd,
            symbols,
            &mut scratch.extra,
            &mut low_bits,
        );
        found.zeros -= symbols.len();
        found.masks.push(masks.counts().to_vec());
        found.symbols.push(Histogram::of(symbols).counts().to_vec());
    }
    found
}
