//! Lorenzo mode: differences of quantized values along some of the axes.
//!
//! Values are quantized first and predicted as integers (dual quantization), so errors do not add
//! up, and both directions work on whole rows.

use super::context::{Around, Contexts, Magnitudes, classify};
use super::escape::Escape;
use super::geometry::{Extents, lanes};
use super::kernel::{Kernel, launch};
use super::number::{MAX_RESIDUAL, Number, Step};
use super::plan::Source;
use super::residual::ResidualRow;
use super::rows;
use super::stream::{StreamReader, StreamWriter};
use crate::error::{Error, Result};
use crate::fill::TypedFill;
use crate::simd::Level as Isa;

/// Context kind: the same as for classes with one odd axis.
const CONTEXT_KIND: usize = 0;
/// Row length that 1-D chunks are folded into, so that earlier rows provide contexts.
const FOLDED_ROW_VALUES: usize = 128;

/// Row layout of a chunk in this mode.
#[derive(Clone, Copy, Default, PartialEq)]
struct Shape {
    extents: Extents,
    /// Whether the chunk is a folded 1-D array; its last row may be short.
    folded: bool,
    count: usize,
}

impl Shape {
    fn new(extents: Extents) -> Self {
        let count: usize = extents.iter().product();
        let folded = extents[0] * extents[1] == 1 && count > FOLDED_ROW_VALUES;
        let extents = if folded {
            [1, count.div_ceil(FOLDED_ROW_VALUES), FOLDED_ROW_VALUES]
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
            (self.count - y * FOLDED_ROW_VALUES).min(FOLDED_ROW_VALUES)
        } else {
            self.extents[2]
        }
    }
}

/// Quantized values and magnitudes that later rows depend on: the current and the previous plane.
/// Reused between chunks.
#[derive(Default)]
pub(super) struct History {
    shape: Shape,
    axes: u8,
    width: usize,
    /// Distance between rows: one zero before each row and at least one after it.
    pitch: usize,
    quantized: Vec<i32>,
    /// Followed by a row of zeros.
    magnitudes: Vec<u8>,
    zeros: Vec<i32>,
    contexts: Contexts,
    residuals: Vec<i16>,
    /// The part of the prediction that comes from earlier rows.
    known: Vec<i32>,
}

impl History {
    /// Resizes the buffers for a chunk.
    fn prepare(&mut self, shape: Shape, axes: u8) {
        self.axes = axes;
        // Padding between rows stays zero if the layout does not change.
        if self.shape == shape {
            return;
        }
        self.shape = shape;
        self.width = lanes(shape.extents[2]);
        self.pitch = self.width + 2;
        let size = 2 * shape.extents[1] * self.pitch;
        for row in [&mut self.quantized, &mut self.zeros, &mut self.known] {
            row.clear();
        }
        self.quantized.resize(size, 0);
        self.zeros.resize(self.pitch, 0);
        self.known.resize(self.width, 0);
        self.magnitudes.clear();
        self.magnitudes.resize(size + self.pitch, 0);
        self.residuals.resize(self.width, 0);
        self.contexts.resize(self.width, CONTEXT_KIND);
    }

    fn start(&self, z: usize, y: usize) -> usize {
        ((z & 1) * self.shape.extents[1] + y) * self.pitch + 1
    }

    /// Computes the contexts of a row, and the prediction from earlier rows.
    fn predict_from_rows(&mut self, isa: Isa, z: usize, y: usize, count: usize) {
        let up = (y > 0).then(|| self.start(z, y - 1));
        let back = (z > 0).then(|| self.start(z - 1, y));
        let next = z > 0 && y + 1 < self.shape.extents[1];
        let beyond = next.then(|| self.start(z - 1, y + 1));
        let zeros = self.magnitudes.len() - self.pitch + 1;
        let some_back = back.or(up).unwrap_or(zeros);
        let around = Around {
            up: up.or(back).unwrap_or(zeros),
            back: some_back,
            beyond: beyond.unwrap_or(some_back),
            pitch: 0,
            sides: [zeros; 6],
            side_pitches: [0; 6],
            side_count: 0,
            double: false,
        };
        classify(isa, &self.magnitudes, &around, count, &mut self.contexts);
        let mut known = std::mem::take(&mut self.known);
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
        let rows = [above, behind, corner];
        launch(
            isa,
            Known {
                rows,
                out: &mut known,
            },
        );
        self.known = known;
    }

    /// The left neighbour of the first value: in a folded array, the last value of the previous
    /// row.
    fn before(&self, y: usize) -> i32 {
        if self.shape.folded && y > 0 && self.axes & 1 != 0 {
            self.quantized[self.start(0, y - 1) + FOLDED_ROW_VALUES - 1]
        } else {
            0
        }
    }

    /// Computes the quantized values of a row from its residuals.
    fn accumulate(&mut self, start: usize, before: i32, count: usize) {
        let row = &mut self.quantized[start..start + count];
        let both = self.known.iter().zip(&self.residuals);
        let mut sum = before;
        for (quantized, (&known, &residual)) in row.iter_mut().zip(both) {
            // Along x, accumulate differences to the prediction from earlier rows.
            let from = if self.axes & 1 == 0 { 0 } else { sum };
            sum = from.wrapping_add(i32::from(residual));
            *quantized = sum.wrapping_add(known);
        }
    }

    /// The same for a row with escapes that predictions use.
    #[cold]
    fn accumulate_escaped<T: Number>(
        &mut self,
        step: Step<T>,
        escaped: &[(usize, T)],
        (start, before): (usize, i32),
        count: usize,
    ) {
        let mut next = escaped.iter().peekable();
        let mut sum = before;
        for i in 0..count {
            let from = if self.axes & 1 == 0 { 0 } else { sum };
            sum = from.wrapping_add(i32::from(self.residuals[i]));
            if let Some((_, value)) = next.next_if(|(at, _)| *at == i)
                && let Some(quantized) = step.quantize(*value)
            {
                sum = quantized.wrapping_sub(self.known[i]);
            }
            self.quantized[start + i] = sum.wrapping_add(self.known[i]);
        }
    }
}

/// The prediction from earlier rows: the sum of two neighbours minus their common one.
struct Known<'a> {
    rows: [&'a [i32]; 3],
    out: &'a mut [i32],
}

impl Kernel for Known<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [above, behind, corner] = self.rows;
        let both = above.iter().zip(behind).zip(corner);
        for (out, ((&a, &b), &c)) in self.out.iter_mut().zip(both) {
            *out = a.wrapping_add(b).wrapping_sub(c);
        }
    }
}

/// Quantizes and predicts a row; returns whether no value needs an escape.
struct Quantize<'a, T> {
    values: &'a [T],
    step: Step<T>,
    fill: TypedFill<T>,
    known: &'a [i32],
    /// The left neighbour of the first value, if x is an axis of the predictor.
    along_x: Option<i32>,
    quantized: &'a mut [i32],
    residuals: &'a mut [i16],
}

impl<T: Number> Kernel for Quantize<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let count = self.values.len();
        let quantized = &mut self.quantized[..count];
        let known = &self.known[..count];
        let residuals = &mut self.residuals[..count];
        let step = self.step;
        let mut bad = false;
        for (q, &value) in quantized.iter_mut().zip(self.values) {
            let scaled = value * step.inverse;
            *q = (scaled + T::ROUNDER).rounded();
            let exact = T::from_i64(i64::from(*q)) * step.size;
            let inside = scaled.abs() < T::MAX_EXACT;
            bad |= !inside | step.misses(value - exact);
        }
        if !self.fill.is_empty() {
            bad |= self.values.iter().any(|&value| self.fill.contains(value));
            let decoded = |q: &i32| T::from_i64(i64::from(*q)) * step.size;
            bad |= quantized.iter().any(|q| self.fill.contains(decoded(q)));
        }
        if bad {
            return false;
        }
        let largest = i32::from(MAX_RESIDUAL);
        let mut out_of_range = |difference: i32, residual: &mut i16| {
            bad |= difference.wrapping_add(largest) as u32 > 2 * largest as u32;
            *residual = difference as i16;
        };
        match self.along_x {
            None => {
                for ((residual, &q), &k) in residuals.iter_mut().zip(&*quantized).zip(known) {
                    out_of_range(q.wrapping_sub(k), residual);
                }
            }
            Some(before) => {
                let first = quantized[0].wrapping_sub(known[0]).wrapping_sub(before);
                out_of_range(first, &mut residuals[0]);
                let pairs = quantized.windows(2).zip(known.windows(2));
                for (residual, (q, k)) in residuals[1..].iter_mut().zip(pairs) {
                    let here = q[1].wrapping_sub(k[1]);
                    let left = q[0].wrapping_sub(k[0]);
                    out_of_range(here.wrapping_sub(left), residual);
                }
            }
        }
        !bad
    }
}

/// Scales quantized values to values.
struct Scale<'a, T> {
    quantized: &'a [i32],
    step: T,
    out: &'a mut [T],
}

impl<T: Number> Kernel for Scale<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (value, &quantized) in self.out.iter_mut().zip(self.quantized) {
            *value = T::from_i64(i64::from(quantized)) * self.step;
        }
    }
}

fn step<T: Number>(bound: f64) -> Result<Step<T>> {
    Step::new(bound, 1.0).ok_or_else(|| Error::corrupt("bound too small for the element type"))
}

/// Encodes a chunk into `streams`.
pub(super) fn encode<T: Number>(
    isa: Isa,
    source: &Source<'_, T>,
    (extents, strides, axes): (Extents, Extents, u8),
    history: &mut History,
    streams: &mut StreamWriter,
) -> Result<()> {
    let step = step::<T>(source.bound)?;
    let shape = Shape::new(extents);
    history.prepare(shape, axes);
    let mut copy = Vec::new();
    for (z, y) in super::rearrange::rows(shape.extents[0], shape.extents[1]) {
        let count = shape.row_length(y);
        let row = if shape.folded {
            Some(&source.values[y * FOLDED_ROW_VALUES..y * FOLDED_ROW_VALUES + count])
        } else {
            rows::read(source.values, extents, strides, (z, y), &mut copy)
        };
        let row = row.unwrap_or(&copy);
        history.predict_from_rows(isa, z, y, count);
        // 1. Quantize and subtract the prediction.
        let start = history.start(z, y);
        let before = history.before(y);
        let good = launch(
            isa,
            Quantize {
                values: row,
                step,
                fill: source.fill,
                known: &history.known,
                along_x: (axes & 1 != 0).then_some(before),
                quantized: &mut history.quantized[start..],
                residuals: &mut history.residuals,
            },
        );
        if !good {
            escape(row, step, source.fill, history, (start, before), streams);
        }
        history.residuals[count..].fill(0);
        // 2. Residuals.
        streams
            .residuals
            .push(isa, &history.contexts, &history.residuals);
        streams.position += count;
        let out = &mut history.magnitudes[start..start + history.width];
        let residuals = &history.residuals;
        launch(isa, Magnitudes { residuals, out });
    }
    Ok(())
}

/// Quantizes and predicts a row in which some values need an escape.
#[cold]
fn escape<T: Number>(
    row: &[T],
    step: Step<T>,
    fill: TypedFill<T>,
    history: &mut History,
    (start, before): (usize, i32),
    streams: &mut StreamWriter,
) {
    let mut left = before;
    // Along x, the prediction adds the difference of the predictions from earlier rows.
    let mut left_known = 0;
    for (i, &value) in row.iter().enumerate() {
        let known = history.known[i];
        let predicted = if history.axes & 1 == 0 {
            known
        } else {
            left.wrapping_add(known).wrapping_sub(left_known)
        };
        let mut quantized = step.quantize(value).unwrap_or(predicted);
        let exact = T::from_i64(i64::from(quantized)) * step.size;
        let mut difference = quantized.wrapping_sub(predicted);
        let fits = difference.unsigned_abs() <= u32::from(MAX_RESIDUAL.unsigned_abs());
        let good = !step.misses(value - exact) && !fill.contains(value) && !fill.contains(exact);
        if !good || !fits {
            let excluded = step.quantize(value).is_none() || fill.contains(value);
            let escape = Escape { value, excluded };
            streams.escapes.push(streams.position + i, escape);
            if excluded {
                quantized = predicted;
            }
            difference = 0;
        }
        history.quantized[start + i] = quantized;
        history.residuals[i] = difference as i16;
        left = quantized;
        left_known = known;
    }
}

/// Decodes a chunk into `out`.
pub(super) fn decode<T: Number>(
    isa: Isa,
    bound: f64,
    (extents, strides, axes): (Extents, Extents, u8),
    history: &mut History,
    streams: &mut StreamReader<'_, T>,
    out: &mut [T],
) -> Result<()> {
    let step = step::<T>(bound)?;
    let shape = Shape::new(extents);
    history.prepare(shape, axes);
    let mut copy = Vec::new();
    let (mut used, mut excluded) = (Vec::new(), Vec::new());
    for (z, y) in super::rearrange::rows(shape.extents[0], shape.extents[1]) {
        let count = shape.row_length(y);
        history.predict_from_rows(isa, z, y, count);
        // 2. Residuals.
        let start = history.start(z, y);
        let row = ResidualRow {
            residuals: &mut history.residuals,
            magnitudes: &mut history.magnitudes[start..start + history.width],
        };
        streams.residuals.pull(isa, &history.contexts, row)?;
        used.clear();
        excluded.clear();
        let end = streams.position + count;
        while let Some((position, escape)) = streams.escapes.next_before(end)? {
            let list = match escape.excluded {
                true => &mut excluded,
                false => &mut used,
            };
            list.push((position - streams.position, escape.value));
        }
        streams.position = end;
        // 1. Add the prediction and scale.
        let before = history.before(y);
        history.accumulate(start, before, count);
        if !used.is_empty() {
            history.accumulate_escaped(step, &used, (start, before), count);
        }
        let quantized = &history.quantized[start..start + count];
        let mut fill = |row: &mut [T]| {
            launch(
                isa,
                Scale {
                    quantized,
                    step: step.size,
                    out: row,
                },
            );
            for &(i, value) in used.iter().chain(&excluded) {
                row[i] = value;
            }
        };
        if shape.folded {
            fill(&mut out[y * FOLDED_ROW_VALUES..y * FOLDED_ROW_VALUES + count]);
        } else {
            rows::write(out, extents, strides, (z, y), &mut copy, &mut fill);
        }
    }
    Ok(())
}
