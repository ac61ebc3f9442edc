//! The order in which encoder and decoder go through a pyramid, and what each row sees.
//!
//! From the coarsest level to the finest: classes with one odd axis, then two, then three; rows in
//! order. A [`Coder`] turns each row into a stream or back; everything else is the same for both.

use super::context::{Around, Contexts, Magnitudes, classify};
use super::geometry::{Block, Extents, Pyramid, lanes};
use super::kernel::launch;
use super::pack::Taps;
use super::predict::{Predictor, extend, positions, taps};
use super::quantize::{Prediction, Row};
use super::real::{Real, Step};
use super::rearrange::{join_level, rows};
use crate::error::{Error, Result};
use crate::simd::Level as Isa;

/// Classes in coding order.
const ORDER: [usize; 7] = [1, 2, 4, 3, 5, 6, 7];

/// Buffers of a pyramid.
#[derive(Default)]
pub(super) struct Fields<T> {
    /// The values: original before a row is coded, reconstructed after.
    pub(super) values: Vec<T>,
    /// In packet mode, reconstructed differences to the base.
    pub(super) differences: Vec<T>,
    /// Magnitudes of residuals; zero wherever there are none.
    pub(super) magnitudes: Vec<u8>,
    zeros: Vec<u8>,
    shape: Option<(Extents, [bool; 3])>,
}

impl<T: Real> Fields<T> {
    /// Makes room for a pyramid.
    pub(super) fn prepare(&mut self, pyramid: &Pyramid, extents: Extents, packet: bool) {
        self.values.resize(pyramid.size, T::default());
        if packet {
            self.differences.resize(pyramid.size, T::default());
        }
        // Padding between rows stays zero as long as the rows stay where they are.
        let shape = Some((extents, pyramid.halved));
        if self.shape != shape {
            self.magnitudes.clear();
            self.magnitudes.resize(pyramid.size, 0);
            self.zeros.clear();
            self.zeros.resize(lanes(extents[2]) + 2, 0);
            self.shape = shape;
        }
    }
}

/// Planes that are coded together in packet mode: `first`, `first + 2 stride`, …
#[derive(Clone, Copy)]
pub(super) struct Planes {
    pub(super) first: usize,
    pub(super) stride: usize,
    /// log2 of the stride; one more for the first plane of all.
    pub(super) level: usize,
}

/// One way through a pyramid.
pub(super) struct Pass<'a> {
    pub(super) isa: Isa,
    /// Everything.
    pub(super) whole: &'a Pyramid,
    /// The part to be coded.
    pub(super) part: &'a Pyramid,
    pub(super) planes: Option<Planes>,
    pub(super) bound: f64,
}

/// Where a row is.
#[derive(Clone, Copy)]
pub(super) struct RowPlace {
    pub(super) level: usize,
    pub(super) class: usize,
    pub(super) z: usize,
    pub(super) y: usize,
}

/// A class about to be coded, for the choice of its predictor.
pub(super) struct ClassJob<'a, T> {
    pub(super) pass: &'a Pass<'a>,
    pub(super) fields: &'a Fields<T>,
    pub(super) level: usize,
    pub(super) class: usize,
    pub(super) step: Step<T>,
}

/// Encoder or decoder of rows.
pub(super) trait Coder<T> {
    /// Chooses or reads the predictor of a class.
    fn predictor(&mut self, job: &ClassJob<'_, T>) -> Result<Predictor>;

    /// Codes one row: fills `row` with what the decoder reconstructs.
    fn row(
        &mut self,
        prediction: &Prediction<'_, T>,
        step: Step<T>,
        original: &[T],
        place: RowPlace,
        contexts: &Contexts,
        row: &mut Row<T>,
    ) -> Result<()>;
}

/// Rows that are reused.
#[derive(Default)]
pub(super) struct Scratch<T> {
    row: Row<T>,
    contexts: Contexts,
}

impl Pass<'_> {
    /// How much the bound of a level is tightened: coarse values serve many finer ones.
    fn tightening(&self, level: usize) -> f64 {
        let power = |base: f64, exponent: usize, cap: f64| {
            let mut value = 1.0;
            for _ in 0..exponent {
                value = f64::min(value * base, cap);
            }
            value
        };
        match self.planes {
            None => power(1.15, level, 1.4),
            Some(planes) => power(1.07, planes.level, 1.2) * power(1.07, level, 1.2),
        }
    }

    fn step<T: Real>(&self, level: usize) -> Result<Step<T>> {
        Step::new(self.bound, self.tightening(level))
            .ok_or_else(|| Error::corrupt("a bound too small for the element type"))
    }

    /// Which set of contexts a class uses.
    fn kind(&self, level: usize, class: usize) -> usize {
        let odd = class.count_ones().max(1) as usize - 1;
        match self.planes {
            None => odd + if level > 0 { 3 } else { 0 },
            Some(planes) => {
                (if level > 0 { 2 } else { odd }) + if planes.level > 0 { 3 } else { 0 }
            }
        }
    }

    /// The interpolation between planes that rows of a packet are differences to.
    pub(super) fn base<'b, T: Real>(
        &self,
        values: &'b [T],
        place: RowPlace,
    ) -> Option<Taps<'b, T>> {
        let planes = self.planes.filter(|p| p.first > 0)?;
        let block = self.block(self.whole, place);
        let apart = 2 * planes.stride;
        let (at, weights) = positions(true, place.z, block.extents[0].div_ceil(apart));
        let width = lanes(block.extents[2]);
        let rows = at.map(|i| {
            let start = block.row(i * apart, place.y);
            &values[start..start + width]
        });
        Some(Taps {
            rows,
            weights: weights.map(T::from_f64),
        })
    }

    fn block<'b>(&self, pyramid: &'b Pyramid, place: RowPlace) -> &'b Block {
        match pyramid.levels.get(place.level) {
            Some(level) => &level.classes[place.class],
            None => &pyramid.top,
        }
    }

    /// Goes through the part.
    pub(super) fn run<T: Real, C: Coder<T>>(
        &self,
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
        coder: &mut C,
    ) -> Result<()> {
        let part = self.part;
        let top = RowPlace {
            level: part.levels.len(),
            class: 0,
            z: 0,
            y: 0,
        };
        // 1. What is left when nothing can be halved.
        let step = self.step(top.level)?;
        for (z, y) in rows(part.top.extents[0], part.top.extents[1]) {
            let place = RowPlace { z, y, ..top };
            self.row(fields, scratch, coder, Predictor::fallback(0), step, place)?;
        }
        // 2. Level by level, class by class, row by row.
        for level in (0..part.levels.len()).rev() {
            if level + 1 < part.levels.len() {
                self.join(fields, level + 1);
            }
            let step = self.step(level)?;
            for class in ORDER {
                let block = &part.levels[level].classes[class];
                if block.is_empty() {
                    continue;
                }
                let predictor = coder.predictor(&ClassJob {
                    pass: self,
                    fields,
                    level,
                    class,
                    step,
                })?;
                for (z, y) in rows(block.extents[0], block.extents[1]) {
                    let place = RowPlace { level, class, z, y };
                    self.row(fields, scratch, coder, predictor, step, place)?;
                }
            }
        }
        Ok(())
    }

    /// Puts a level together as the class without odd axes of the next finer one.
    fn join<T: Real>(&self, fields: &mut Fields<T>, level: usize) {
        let target = &self.part.levels[level - 1];
        let count = target.classes[0].extents[2];
        let even = target.extents[2].is_multiple_of(2);
        let buffer = match self.planes {
            None => &mut fields.values,
            Some(_) => &mut fields.differences,
        };
        join_level(self.isa, self.part, level, buffer, |row, start| {
            extend(row, start, count, even);
        });
        join_level(
            self.isa,
            self.part,
            level,
            &mut fields.magnitudes,
            |_, _| {},
        );
    }

    fn row<T: Real, C: Coder<T>>(
        &self,
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
        coder: &mut C,
        predictor: Predictor,
        step: Step<T>,
        place: RowPlace,
    ) -> Result<()> {
        let block = self.block(self.part, place);
        let count = block.extents[2];
        let width = lanes(count);
        let start = block.row(place.z, place.y);
        let Scratch { row, contexts } = scratch;
        row.resize(width);
        contexts.resize(width, self.kind(place.level, place.class));
        // 1. Contexts from magnitudes that are known.
        let around = self.around(fields, place, width);
        classify(self.isa, &around, count, contexts);
        // 2. Prediction from values that are known, and the row itself.
        let source = match self.planes {
            None => &fields.values,
            Some(_) => &fields.differences,
        };
        let weight = predictor.weight::<T>();
        let mut axes = [Taps::none(); 3];
        let mut axis_count = 0;
        for axis in 0..3 {
            if predictor.axes & 4 >> axis != 0 {
                let level = &self.part.levels[place.level];
                let kind = (predictor.cubic, weight);
                let at = (place.z, place.y);
                axes[axis_count] = taps(source, level, place.class, axis, kind, at);
                axis_count += 1;
            }
        }
        let prediction = Prediction {
            axes,
            axis_count,
            base: self.base(&fields.values, place),
        };
        let original = &fields.values[start..start + count];
        coder.row(&prediction, step, original, place, contexts, row)?;
        // 3. What later rows need of it.
        let with_base = prediction.base.is_some();
        let outer = if with_base { &row.outer } else { &row.inner };
        fields.values[start..start + count].copy_from_slice(&outer[..count]);
        if self.planes.is_some() {
            fields.differences[start..start + count].copy_from_slice(&row.inner[..count]);
        }
        let level = self
            .part
            .levels
            .get(place.level)
            .or(self.part.levels.last());
        if let (0, Some(level)) = (place.class & 1, level) {
            // Classes with odd x will be interpolated from this row.
            let even = level.extents[2].is_multiple_of(2);
            let buffer = match self.planes {
                None => &mut fields.values,
                Some(_) => &mut fields.differences,
            };
            extend(buffer, start, count, even);
        }
        launch(
            self.isa,
            Magnitudes {
                residuals: &row.residuals,
                out: &mut fields.magnitudes[start..start + width],
            },
        );
        Ok(())
    }

    /// Magnitudes around a row.
    fn around<'b, T: Real>(
        &self,
        fields: &'b Fields<T>,
        place: RowPlace,
        width: usize,
    ) -> Around<'b> {
        let RowPlace { level, class, z, y } = place;
        let part = self.block(self.part, place);
        let all = &fields.magnitudes;
        // From one lane before the row to one behind it.
        let wide = |start: usize| &all[start - 1..start + width + 1];
        let up = (y > 0).then(|| wide(part.row(z, y - 1)));
        let (back, beyond) = match self.planes {
            None => {
                let back = (z > 0).then(|| wide(part.row(z - 1, y)));
                let next = z > 0 && y + 1 < part.extents[1];
                (back, next.then(|| wide(part.row(z - 1, y + 1))))
            }
            Some(planes) if planes.first > 0 => {
                let whole = self.block(self.whole, place);
                let plane = planes.first + 2 * planes.stride * z;
                let after = plane + planes.stride;
                let before = wide(whole.row(plane - planes.stride, y));
                let behind = (after < whole.extents[0]).then(|| wide(whole.row(after, y)));
                (Some(before), behind)
            }
            Some(_) => (None, None),
        };
        // Where there is no such row, another one has to do.
        let zeros = &fields.zeros[..width + 2];
        let some_up = up.or(back).unwrap_or(zeros);
        let some_back = back.or(up).unwrap_or(zeros);
        let some_beyond = beyond.unwrap_or(some_back);
        let mut around = Around {
            up: some_up,
            back: &some_back[1..],
            beyond: &some_beyond[1..],
            sides: [zeros; 6],
            side_count: 0,
            double: class.count_ones() > 1,
        };
        for axis in 0..3 {
            if class & 4 >> axis == 0 {
                continue;
            }
            let from = &self.part.levels[level].classes[class ^ (4 >> axis)];
            let first = from.row(z, y);
            let second = match axis {
                0 if z + 1 < from.extents[0] => from.row(z + 1, y),
                1 if y + 1 < from.extents[1] => from.row(z, y + 1),
                2 => first + 1,
                _ => first,
            };
            for start in [first, second] {
                around.sides[around.side_count] = &all[start..start + width];
                around.side_count += 1;
            }
        }
        around
    }
}
