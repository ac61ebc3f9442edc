//! Lorenzo mode: differences of quantized values along some of the axes.
//!
//! Values are quantized first and predicted as integers (dual quantization), so errors do not add
//! up, and both directions work on whole rows.

use super::context::{Around, Contexts, Magnitudes, classify};
use super::encode::{Memory, Source};
use super::geometry::{Extents, lanes};
use super::kernel::launch;
use super::real::{LARGEST, Real, Step};
use super::{decode, rows};
use crate::error::{Error, Result};
use crate::simd::Level as Isa;

/// Contexts of this mode are those of classes with one odd axis.
const KIND: usize = 0;
/// One-dimensional chunks are folded into rows of this many values, so that there are earlier rows.
const FOLD: usize = 128;

/// Rows of a chunk in this mode.
#[derive(Clone, Copy)]
struct Shape {
    extents: Extents,
    /// The chunk is a line that was folded; the last row may be short.
    folded: bool,
    count: usize,
}

impl Shape {
    fn new(extents: Extents) -> Self {
        let count: usize = extents.iter().product();
        let folded = extents[0] * extents[1] == 1 && count > FOLD;
        let extents = if folded {
            [1, count.div_ceil(FOLD), FOLD]
        } else {
            extents
        };
        Self {
            extents,
            folded,
            count,
        }
    }

    fn row_length(&self, y: usize) -> usize {
        if self.folded {
            (self.count - y * FOLD).min(FOLD)
        } else {
            self.extents[2]
        }
    }
}

/// Quantized values and magnitudes of the rows that later rows look at: two planes in turn.
struct History {
    shape: Shape,
    axes: u8,
    width: usize,
    /// Elements of a row, with one zero before it and at least one behind.
    pitch: usize,
    quantized: Vec<i32>,
    magnitudes: Vec<u8>,
    zeros: Vec<i32>,
    quiet: Vec<u8>,
    contexts: Contexts,
    residuals: Vec<i16>,
    /// Sum of the earlier rows' part of the prediction.
    known: Vec<i32>,
}

impl History {
    fn new(shape: Shape, axes: u8) -> Self {
        let width = lanes(shape.extents[2]);
        let pitch = width + 2;
        let size = 2 * shape.extents[1] * pitch;
        let mut contexts = Contexts::default();
        contexts.resize(width, KIND);
        Self {
            shape,
            axes,
            width,
            pitch,
            quantized: vec![0; size],
            magnitudes: vec![0; size],
            zeros: vec![0; pitch],
            quiet: vec![0; pitch],
            contexts,
            residuals: vec![0; width],
            known: vec![0; width],
        }
    }

    fn start(&self, z: usize, y: usize) -> usize {
        ((z & 1) * self.shape.extents[1] + y) * self.pitch + 1
    }

    /// Contexts of a row, and what earlier rows say about its values.
    fn prepare(&mut self, isa: Isa, z: usize, y: usize, count: usize) {
        let wide = |row: usize| &self.magnitudes[row - 1..row + self.width + 1];
        let up = (y > 0).then(|| wide(self.start(z, y - 1)));
        let back = (z > 0).then(|| wide(self.start(z - 1, y)));
        let next = z > 0 && y + 1 < self.shape.extents[1];
        let beyond = next.then(|| wide(self.start(z - 1, y + 1)));
        let some_back = back.or(up).unwrap_or(&self.quiet);
        let around = Around {
            up: up.or(back).unwrap_or(&self.quiet),
            back: &some_back[1..],
            beyond: &beyond.unwrap_or(some_back)[1..],
            sides: [&self.quiet; 6],
            side_count: 0,
            double: false,
        };
        let mut contexts = std::mem::take(&mut self.contexts);
        classify(isa, &around, count, &mut contexts);
        let mut sums = std::mem::take(&mut self.known);
        // Along y and z the prediction is a + b − c over the rows that exist.
        let row = |exists: bool, z: usize, y: usize| {
            let start = if exists { self.start(z, y) } else { 1 };
            let from = if exists { &self.quantized } else { &self.zeros };
            &from[start..start + self.width]
        };
        let (along_z, along_y) = (self.axes & 4 != 0 && z > 0, self.axes & 2 != 0 && y > 0);
        let above = row(along_y, z, y.wrapping_sub(1));
        let behind = row(along_z, z.wrapping_sub(1), y);
        let corner = row(along_y && along_z, z.wrapping_sub(1), y.wrapping_sub(1));
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = above[i].wrapping_add(behind[i]).wrapping_sub(corner[i]);
        }
        self.contexts = contexts;
        self.known = sums;
    }

    /// What the first value of a row continues: in a folded line, the end of the row before.
    fn before(&self, y: usize) -> i32 {
        if self.shape.folded && y > 0 && self.axes & 1 != 0 {
            self.quantized[self.start(0, y - 1) + FOLD - 1]
        } else {
            0
        }
    }

    fn finish_row(&mut self, isa: Isa, z: usize, y: usize) {
        let start = self.start(z, y);
        let residuals = &self.residuals;
        let out = &mut self.magnitudes[start..start + self.width];
        launch(isa, Magnitudes { residuals, out });
    }
}

fn step<T: Real>(bound: f64) -> Result<Step<T>> {
    Step::new(bound, 1.0).ok_or_else(|| Error::corrupt("a bound too small for the element type"))
}

/// Codes a chunk into `memory.streams`.
pub(super) fn encode<T: Real>(
    isa: Isa,
    source: &Source<'_, T>,
    extents: Extents,
    strides: Extents,
    axes: u8,
    memory: &mut Memory<T>,
) -> Result<()> {
    let step = step::<T>(source.bound)?;
    let shape = Shape::new(extents);
    let mut history = History::new(shape, axes);
    let streams = &mut memory.streams;
    let mut copy = Vec::new();
    for (z, y) in super::rearrange::rows(shape.extents[0], shape.extents[1]) {
        let count = shape.row_length(y);
        let row = if shape.folded {
            Some(&source.values[y * FOLD..y * FOLD + count])
        } else {
            rows::read(source.values, extents, strides, (z, y), &mut copy)
        };
        let row = row.unwrap_or(&copy);
        history.prepare(isa, z, y, count);
        // 1. Quantize and subtract the prediction.
        let start = history.start(z, y);
        let mut left = history.before(y);
        // Along x, what counts is the difference of the rest.
        let mut left_known = 0;
        for (i, &value) in row.iter().enumerate() {
            let known = history.known[i];
            let predicted = if axes & 1 == 0 {
                known
            } else {
                left.wrapping_add(known).wrapping_sub(left_known)
            };
            let quantized = step.quantize(value).unwrap_or(predicted);
            let exact = T::from_i32(quantized) * step.size;
            let difference = quantized.wrapping_sub(predicted);
            let fits = difference.unsigned_abs() <= u32::from(LARGEST.unsigned_abs());
            let good = !step.misses(value - exact) && Some(value) != source.fill;
            let (mut quantized, mut difference) = (quantized, difference);
            if !good || !fits {
                let absent = step.quantize(value).is_none() || Some(value) == source.fill;
                let position = streams.position + i as u32;
                streams.escapes.push(position, value, absent);
                if absent {
                    quantized = predicted;
                }
                difference = 0;
            }
            history.quantized[start + i] = quantized;
            history.residuals[i] = difference as i16;
            left = quantized;
            left_known = known;
        }
        history.residuals[count..].fill(0);
        // 2. Residuals.
        streams
            .residuals
            .push(isa, &history.contexts, &history.residuals);
        streams.position += count as u32;
        history.finish_row(isa, z, y);
    }
    Ok(())
}

/// Fills `out` from the streams of a chunk.
pub(super) fn decode<T: Real>(
    isa: Isa,
    bound: f64,
    extents: Extents,
    strides: Extents,
    axes: u8,
    streams: &mut decode::Streams<'_>,
    out: &mut [T],
) -> Result<()> {
    let step = step::<T>(bound)?;
    let shape = Shape::new(extents);
    let mut history = History::new(shape, axes);
    let mut copy = Vec::new();
    let mut escaped = Vec::new();
    for (z, y) in super::rearrange::rows(shape.extents[0], shape.extents[1]) {
        let count = shape.row_length(y);
        history.prepare(isa, z, y, count);
        // 2. Residuals.
        streams
            .residuals
            .pull(isa, &history.contexts, &mut history.residuals)?;
        escaped.clear();
        let end = streams.position + count as u32;
        while streams.escapes.any_before(end) {
            let (position, escape) = streams.escapes.next::<T>()?;
            let i = position
                .checked_sub(streams.position)
                .ok_or_else(|| Error::corrupt("escapes out of order"))?;
            escaped.push((i as usize, escape));
        }
        streams.position = end;
        // 1. Add the prediction and scale.
        let start = history.start(z, y);
        let mut left = history.before(y);
        let mut left_known = 0;
        let mut next = escaped.iter().peekable();
        for i in 0..count {
            let known = history.known[i];
            let predicted = if axes & 1 == 0 {
                known
            } else {
                left.wrapping_add(known).wrapping_sub(left_known)
            };
            let mut quantized = predicted.wrapping_add(i32::from(history.residuals[i]));
            if let Some((_, escape)) = next.next_if(|(at, _)| *at == i)
                && !escape.absent
            {
                quantized = step.quantize(escape.value).unwrap_or(predicted);
            }
            history.quantized[start + i] = quantized;
            left = quantized;
            left_known = known;
        }
        history.finish_row(isa, z, y);
        let quantized = &history.quantized[start..start + count];
        let mut fill = |row: &mut [T]| {
            for (value, &quantized) in row.iter_mut().zip(quantized) {
                *value = T::from_i32(quantized) * step.size;
            }
            for (i, escape) in &escaped {
                row[*i] = escape.value;
            }
        };
        if shape.folded {
            fill(&mut out[y * FOLD..y * FOLD + count]);
        } else {
            rows::write(out, extents, strides, (z, y), &mut copy, &mut fill);
        }
    }
    Ok(())
}
