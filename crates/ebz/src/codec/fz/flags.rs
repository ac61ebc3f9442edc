//! `layout=flags`: the encoding of FZ-GPU after the same quantization.
//!
//! ```text
//! values ─► dualquant, all lags ─► signs and magnitudes ─► tiles of 2,048 ─► flags, blocks, exceptions
//! ```

use super::Layout;
use super::header;
use crate::codec::{Context, Dims, Task};
use crate::element::Float;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::dualquant::{self, Estimate, Fetch, Plan, Sink};
use crate::stage::exceptions::Exceptions;
use crate::stage::flags::{self, FLAGS, MAX_TILE, TILE};
use crate::stage::fused::{self, Source};
use crate::stage::quantize::PointRange;

/// Bytes by which the output grows at a time.
const ROOM: usize = 4 * MAX_TILE;

/// Maximum number of 16-bit parts of a residual.
const MAX_PARTS: usize = 4;

/// Number of tiles of a chunk, for each 16-bit part of its residuals.
pub(super) fn tiles(values: usize) -> usize {
    values.div_ceil(TILE)
}

/// Selects the prediction of the paper: all lags, whatever the cost.
#[derive(Default)]
pub(super) struct EveryLag;

impl Estimate for EveryLag {
    fn samples(_: usize) -> usize {
        1
    }

    fn add<W: Word>(&mut self, _: Level, _: &[W; UNIT]) {}

    fn cost(&self) -> u64 {
        0
    }
}

/// Pending codes of the current tile, for each 16-bit part.
struct Tiles {
    codes: Box<[[u16; TILE]; MAX_PARTS]>,
    /// Codes of each part.
    count: usize,
}

impl Default for Tiles {
    fn default() -> Self {
        Self {
            codes: Box::new([[0; TILE]; MAX_PARTS]),
            count: 0,
        }
    }
}

/// Writes tiles directly to the output: the flags of each, and the concatenated blocks.
struct Writer<'a> {
    level: Level,
    tiles: &'a mut Tiles,
    parts: usize,
    out: &'a mut Vec<u8>,
    /// Offset of the chunk.
    start: usize,
    /// Offsets of the next flags and of the next blocks.
    flags: usize,
    blocks: usize,
}

impl Writer<'_> {
    fn tile(&mut self) {
        for part in 0..self.parts {
            if self.out.len() < self.blocks + MAX_TILE {
                self.out.resize(self.blocks + ROOM, 0);
            }
            let (before, blocks) = self.out.split_at_mut(self.blocks);
            let flags = before[self.flags..].first_chunk_mut();
            let (Some(flags), Some(blocks)) = (flags, blocks.first_chunk_mut()) else {
                return;
            };
            let codes = &self.tiles.codes[part];
            self.blocks += flags::encode(self.level, codes, flags, blocks);
            self.flags += FLAGS;
        }
        self.tiles.count = 0;
    }

    /// Pads the last tile with zeros.
    fn finish(&mut self) {
        if self.tiles.count > 0 {
            for codes in &mut self.tiles.codes[..self.parts] {
                codes[self.tiles.count..].fill(0);
            }
            self.tile();
        }
    }
}

impl Sink for Writer<'_> {
    type Estimate = EveryLag;

    fn restart<W: Word>(&mut self, units: usize) {
        self.parts = W::PARTS;
        self.tiles.count = 0;
        self.flags = self.start + header::SIZE;
        self.blocks = self.flags + tiles(units * UNIT) * W::PARTS * FLAGS;
        self.out.resize(self.blocks, 0);
    }

    #[inline(always)]
    fn unit<W: Word>(&mut self, residuals: &[W; UNIT]) {
        let count = self.tiles.count;
        for (part, codes) in self.tiles.codes.iter_mut().take(W::PARTS).enumerate() {
            for (code, &residual) in codes[count..].iter_mut().zip(residuals) {
                *code = flags::sign_magnitude(residual).part(part);
            }
        }
        self.tiles.count += UNIT;
        if self.tiles.count == TILE {
            self.tile();
        }
    }

    fn fused<T: Float>(
        &mut self,
        source: Source<'_, T>,
        context: &mut Context,
    ) -> Option<Option<PointRange>> {
        let (level, units) = (self.level, dualquant::units(source.dims.len()));
        fused::encode_each(context, source, units, &mut |unit| {
            level.run(
                #[inline(always)]
                || self.unit(unit),
            );
        })
    }
}

/// Reads the tiles of a chunk.
struct Reader<'a> {
    level: Level,
    tiles: &'a mut Tiles,
    flags: std::slice::Iter<'a, [u8; FLAGS]>,
    blocks: &'a [u8],
}

impl Fetch for Reader<'_> {
    #[inline(always)]
    fn unit<W: Word>(&mut self, residuals: &mut [W; UNIT]) -> Result<()> {
        if self.tiles.count == 0 {
            for codes in self.tiles.codes.iter_mut().take(W::PARTS) {
                let flags = self.flags.next().ok_or_else(super::too_short)?;
                let length = flags::decode(self.level, flags, self.blocks, codes)?;
                self.blocks = &self.blocks[length..];
            }
            self.tiles.count = TILE;
        }
        let start = TILE - self.tiles.count;
        if let Ok(unit) = bytemuck::try_cast_mut::<_, [u16; UNIT]>(residuals) {
            for (residual, &code) in unit.iter_mut().zip(&self.tiles.codes[0][start..]) {
                *residual = flags::zigzag(code);
            }
        } else {
            residuals.fill(W::default());
            for (part, codes) in self.tiles.codes.iter().take(W::PARTS).enumerate() {
                for (residual, &code) in residuals.iter_mut().zip(&codes[start..]) {
                    *residual = residual.or(W::from_part(code, part));
                }
            }
            for residual in residuals {
                *residual = flags::zigzag(*residual);
            }
        }
        self.tiles.count -= UNIT;
        Ok(())
    }

    fn fused<T: Float>(
        &mut self,
        plan: &Plan,
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Option<Result<()>> {
        let (level, lattice) = (self.level, (plan.step, plan.base));
        let mut unit = |unit: &mut [u16; UNIT]| {
            level.run(
                #[inline(always)]
                || self.unit(unit),
            )
        };
        fused::decode_each(context, (plan.lags, dims), lattice, &mut unit, out)
    }
}

/// Appends the encoded chunk.
pub(super) fn encode<T: Float>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) {
    let mut exceptions = context.take::<Exceptions>();
    let mut tiles = context.take::<Tiles>();
    let start = out.len();
    let mut writer = Writer {
        level: context.simd(),
        tiles: &mut tiles,
        parts: 1,
        out,
        start,
        flags: start,
        blocks: start,
    };

    // 1. Quantize and predict. 2. Tiles.
    let plan = dualquant::forward(values, task, context, &mut exceptions, &mut writer);
    writer.finish();

    // 3. Header, flags, blocks, exceptions.
    let Writer { flags, blocks, .. } = writer;
    out.truncate(blocks);
    header::write(Layout::Flags, &plan, blocks - flags, &mut out[start..]);
    exceptions.write_to::<T>(out);
    context.put_back(tiles);
    context.put_back(exceptions);
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
    // 3. Flags, blocks, exceptions.
    let count = tiles(out.len()) * plan.parts::<T>() * FLAGS;
    let (flags, rest) = rest.split_at_checked(count).ok_or_else(super::too_short)?;
    let split = rest.split_at_checked(length);
    let (blocks, exceptions) = split.ok_or_else(super::too_short)?;

    // 2. Tiles. 1. Invert prediction and quantization.
    let mut tiles = context.take::<Tiles>();
    tiles.count = 0;
    let mut reader = Reader {
        level: context.simd(),
        tiles: &mut tiles,
        flags: flags.as_chunks().0.iter(),
        blocks,
    };
    let done = dualquant::inverse(plan, dims, context, &mut reader, exceptions, out);
    let left = reader.blocks.len();
    context.put_back(tiles);
    done?;
    if left > 0 {
        return Err(Error::corrupt("trailing bytes after the last block"));
    }
    Ok(())
}
