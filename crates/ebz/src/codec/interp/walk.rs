//! The traversal of a pyramid that encoder and decoder share, with the contexts and the prediction
//! of each row.
//!
//! From the coarsest level to the finest: classes with one odd axis, then two, then three; rows in
//! order. A [`Coder`] encodes or decodes each row; everything else is common.

use super::context::{Around, Contexts};
use super::geometry::{Block, Extents, Pyramid, lanes};
use super::number::{Number, Step};
use super::pack::Taps;
use super::plan::Mode;
use super::predict::{Predictor, extend, positions, rows_alike, taps};
use super::quantize::{Buffers, Prediction, Rows};
use super::rearrange::join_level;
use crate::error::{Error, Result};
use crate::simd::Level as Isa;

/// Classes in coding order.
const CODING_ORDER: [usize; 7] = [1, 2, 4, 3, 5, 6, 7];

/// Classes smaller than this use [`Predictor::fallback`].
pub(super) const MIN_VALUES_TO_CHOOSE_PREDICTOR: usize = 64;

/// Buffers of a pyramid.
#[derive(Default)]
pub(super) struct Fields<T> {
    /// The values: original before a row is encoded, reconstructed afterwards.
    pub(super) values: Vec<T>,
    /// In packet mode, reconstructed differences to the interpolation between planes.
    pub(super) differences: Vec<T>,
    /// Magnitudes of residuals; zero in the padding. The longest row of zeros follows.
    pub(super) magnitudes: Vec<u8>,
    /// Start of that row.
    zeros: usize,
    shape: Option<(Extents, [bool; 3])>,
}

impl<T: Number> Fields<T> {
    /// Resizes the buffers for a pyramid.
    pub(super) fn prepare(&mut self, pyramid: &Pyramid, extents: Extents, packet: bool) {
        self.values.resize(pyramid.size, T::default());
        if packet {
            self.differences.resize(pyramid.size, T::default());
        }
        // Padding between rows stays zero if the layout does not change.
        let shape = Some((extents, pyramid.halved));
        if self.shape != shape {
            self.zeros = pyramid.size + 1;
            self.magnitudes.clear();
            let size = self.zeros + lanes(extents[2]) + 1;
            self.magnitudes.resize(size, 0);
            self.shape = shape;
        }
    }

    /// The buffers that rows are read from and written to.
    pub(super) fn buffers(&mut self, packet: bool) -> Buffers<'_, T> {
        let (inner, outer) = if packet {
            (&mut self.differences, Some(&mut self.values[..]))
        } else {
            (&mut self.values, None)
        };
        Buffers {
            inner,
            outer,
            magnitudes: &mut self.magnitudes,
        }
    }
}

/// Planes that packet mode codes together: `first`, `first + 2 stride`, …
#[derive(Clone, Copy)]
pub(super) struct Planes {
    pub(super) first: usize,
    pub(super) stride: usize,
    /// log2 of the stride.
    pub(super) level: usize,
}

impl Planes {
    /// Index of the z-th of these planes.
    fn plane(&self, z: usize) -> usize {
        self.first + 2 * self.stride * z
    }
}

/// One pass over a pyramid.
pub(super) struct Pass<'a> {
    pub(super) isa: Isa,
    /// The pyramid of the chunk.
    pub(super) whole: &'a Pyramid,
    /// The part that this pass codes.
    pub(super) part: &'a Pyramid,
    pub(super) planes: Option<Planes>,
    pub(super) bound: f64,
}

/// The passes of a mode: one, or in packet mode one per distance between planes.
pub(super) fn passes(mode: Mode, extents: Extents) -> Vec<Option<Planes>> {
    if mode != Mode::Packet {
        return vec![None];
    }
    let levels = extents[0].next_power_of_two().ilog2() as usize;
    let first = Planes {
        first: 0,
        stride: 1 << levels,
        level: levels,
    };
    let finer = (0..levels).rev().map(|level| Planes {
        first: 1 << level,
        stride: 1 << level,
        level,
    });
    std::iter::once(first).chain(finer).map(Some).collect()
}

/// The part of a pyramid that a pass codes.
pub(super) fn part(pyramid: &Pyramid, planes: Option<Planes>) -> Pyramid {
    match planes {
        None => pyramid.clone(),
        Some(planes) => pyramid.planes(planes.first, 2 * planes.stride),
    }
}

/// The class being coded.
pub(super) struct ClassJob<'a, T> {
    pub(super) pass: &'a Pass<'a>,
    pub(super) level: usize,
    pub(super) class: usize,
    pub(super) step: Step<T>,
    /// Its rows in the part that the pass codes.
    pub(super) block: &'a Block,
    /// Its rows in the whole pyramid.
    whole: &'a Block,
}

/// Encoder or decoder of rows.
pub(super) trait Coder<T> {
    /// Chooses or reads the predictor of a class.
    fn predictor(&mut self, job: &ClassJob<'_, T>, fields: &Fields<T>) -> Result<Predictor>;

    /// Encodes or decodes the rows of a class from (z, y) on; leaves the reconstruction in the
    /// fields.
    fn rows(
        &mut self,
        job: &ClassJob<'_, T>,
        at: (usize, usize),
        prediction: &Prediction<T>,
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
    ) -> Result<()>;
}

/// Reusable row buffers.
#[derive(Default)]
pub(super) struct Scratch<T> {
    pub(super) rows: Rows<T>,
    pub(super) contexts: Contexts,
}

/// Most lanes of rows that are coded together, so that they stay in the cache.
const MAX_LANES_TOGETHER: usize = 1 << 12;

impl Pass<'_> {
    /// Factor by which the bound of a level is tightened: many finer values are predicted from
    /// coarse ones.
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

    fn step<T: Number>(&self, level: usize) -> Result<Step<T>> {
        Step::new(self.bound, self.tightening(level))
            .ok_or_else(|| Error::corrupt("bound too small for the element type"))
    }

    /// The context kind of a class.
    fn kind(&self, level: usize, class: usize) -> usize {
        let odd = class.count_ones().max(1) as usize - 1;
        match self.planes {
            None => odd + if level > 0 { 3 } else { 0 },
            Some(planes) => {
                (if level > 0 { 2 } else { odd }) + if planes.level > 0 { 3 } else { 0 }
            }
        }
    }

    /// A class, or the top block after the last level.
    fn job<T: Number>(&self, level: usize, class: usize) -> Result<ClassJob<'_, T>> {
        Ok(ClassJob {
            pass: self,
            level,
            class,
            step: self.step(level)?,
            block: self.part.block(level, class),
            whole: self.whole.block(level, class),
        })
    }

    /// Runs the pass.
    pub(super) fn run<T: Number, C: Coder<T>>(
        &self,
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
        coder: &mut C,
    ) -> Result<()> {
        let levels = self.part.levels.len();
        // 1. The top block.
        let top = self.job(levels, 0)?;
        top.run(Predictor::fallback(0), fields, scratch, coder)?;
        // 2. Level by level, class by class.
        for level in (0..levels).rev() {
            if level + 1 < levels {
                self.join(fields, level + 1);
            }
            for class in CODING_ORDER {
                let job = self.job(level, class)?;
                if !job.block.is_empty() {
                    let predictor = coder.predictor(&job, fields)?;
                    job.run(predictor, fields, scratch, coder)?;
                }
            }
        }
        Ok(())
    }

    /// Merges a level to the even class of the next finer one.
    fn join<T: Number>(&self, fields: &mut Fields<T>, level: usize) {
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
}

impl<T: Number> ClassJob<'_, T> {
    /// Codes the class: rows whose neighbours are at the same distances together.
    fn run<C: Coder<T>>(
        &self,
        predictor: Predictor,
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
        coder: &mut C,
    ) -> Result<()> {
        let [nz, ny, nx] = self.block.extents;
        let width = lanes(nx);
        let kind = self.pass.kind(self.level, self.class);
        scratch.contexts.resize(width, kind);
        let most = (MAX_LANES_TOGETHER / width).clamp(1, ny.max(1));
        scratch.rows.reserve(most * width);
        for z in 0..nz {
            let mut y = 0;
            while y < ny {
                let alike = match predictor.axes & 2 {
                    0 => ny,
                    _ => rows_alike(predictor.cubic, y, self.neighbours(1).extents[1]),
                };
                let rows = alike.min(ny - y).min(most);
                let prediction = self.prediction(predictor, (z, y), rows);
                coder.rows(self, (z, y), &prediction, fields, scratch)?;
                self.extend(&prediction, fields);
                y += rows;
            }
        }
        Ok(())
    }

    /// The class whose values are next to those of this one along an odd axis.
    fn neighbours(&self, axis: usize) -> &Block {
        &self.pass.part.levels[self.level].classes[self.class ^ (4 >> axis)]
    }

    /// The prediction of rows from known values.
    #[inline(always)]
    fn prediction(&self, predictor: Predictor, at: (usize, usize), rows: usize) -> Prediction<T> {
        let mut prediction = Prediction {
            axes: [Taps::none(); 3],
            axis_count: 0,
            base: self.base(at),
            start: self.block.row(at.0, at.1),
            pitch: self.block.y_pitch,
            count: self.block.extents[2],
            rows,
        };
        let weight = predictor.weight::<T>();
        for axis in 0..3 {
            if predictor.axes & 4 >> axis != 0 {
                let level = &self.pass.part.levels[self.level];
                prediction.axes[prediction.axis_count] =
                    taps(level, self.class, axis, (predictor.cubic, weight), at);
                prediction.axis_count += 1;
            }
        }
        prediction
    }

    /// Extrapolates rows at both ends if classes with odd x are interpolated from them.
    fn extend(&self, prediction: &Prediction<T>, fields: &mut Fields<T>) {
        let levels = &self.pass.part.levels;
        if let (0, Some(level)) = (self.class & 1, levels.get(self.level).or(levels.last())) {
            let even = level.extents[2].is_multiple_of(2);
            let inner = fields.buffers(self.pass.planes.is_some()).inner;
            for row in 0..prediction.rows {
                let start = prediction.start + row * prediction.pitch;
                extend(inner, start, prediction.count, even);
            }
        }
    }

    /// The magnitudes around rows, the first one at `at`.
    pub(super) fn rows_around(&self, fields: &Fields<T>, at: (usize, usize)) -> RowsAround<'_, T> {
        RowsAround {
            job: self,
            zeros: fields.zeros,
            at,
            around: self.around(fields.zeros, at),
            begun: false,
        }
    }

    /// Coordinates of the first value of a row in the chunk, and the distance between its values.
    pub(super) fn origin(&self, (z, y): (usize, usize)) -> (Extents, usize) {
        let Pass { whole, planes, .. } = self.pass;
        let z = planes.map_or(z, |p| p.plane(z));
        match whole.levels.len() {
            0 => ([z, y, 0], 1),
            levels if self.level < levels => {
                let origin = whole.place(self.level, self.class, [z, y, 0]);
                (origin, 2 << self.level)
            }
            levels => (whole.place(levels - 1, 0, [z, y, 0]), 1 << levels),
        }
    }

    /// The interpolation between planes that is subtracted in packet mode.
    pub(super) fn base(&self, (z, y): (usize, usize)) -> Option<Taps<T>> {
        let planes = self.pass.planes.filter(|p| p.first > 0)?;
        let apart = 2 * planes.stride;
        let (at, weights) = positions(true, z, self.whole.extents[0].div_ceil(apart));
        Some(Taps {
            starts: at.map(|i| self.whole.row(i * apart, y)),
            weights: weights.map(T::from_f64),
            pitch: self.whole.y_pitch,
        })
    }

    /// The magnitudes around a row; `zeros` is the start of a row of zeros.
    fn around(&self, zeros: usize, (z, y): (usize, usize)) -> Around {
        let block = self.block;
        let up = (y > 0).then(|| block.row(z, y - 1));
        let (back, beyond) = match self.pass.planes {
            None => {
                let back = (z > 0).then(|| block.row(z - 1, y));
                let next = z > 0 && y + 1 < block.extents[1];
                (back, next.then(|| block.row(z - 1, y + 1)))
            }
            Some(planes) if planes.first > 0 => {
                let plane = planes.plane(z);
                let after = plane + planes.stride;
                let before = self.whole.row(plane - planes.stride, y);
                let behind = (after < self.whole.extents[0]).then(|| self.whole.row(after, y));
                (Some(before), behind)
            }
            Some(_) => (None, None),
        };
        // Substitute another row for one that does not exist.
        let some_back = back.or(up).unwrap_or(zeros);
        let mut around = Around {
            up: up.or(back).unwrap_or(zeros),
            back: some_back,
            beyond: beyond.unwrap_or(some_back),
            pitch: block.y_pitch,
            sides: [zeros; 6],
            side_pitches: [0; 6],
            side_count: 0,
            double: self.class.count_ones() > 1,
        };
        for axis in 0..3 {
            if self.class & 4 >> axis == 0 {
                continue;
            }
            let from = self.neighbours(axis);
            let first = from.row(z, y);
            let second = match axis {
                0 if z + 1 < from.extents[0] => from.row(z + 1, y),
                1 if y + 1 < from.extents[1] => from.row(z, y + 1),
                2 => first + 1,
                _ => first,
            };
            for start in [first, second] {
                around.sides[around.side_count] = start;
                around.side_pitches[around.side_count] = from.y_pitch;
                around.side_count += 1;
            }
        }
        around
    }
}

/// The magnitudes around one row after the other.
pub(super) struct RowsAround<'a, T> {
    job: &'a ClassJob<'a, T>,
    zeros: usize,
    at: (usize, usize),
    /// Those of the row at `at`.
    pub(super) around: Around,
    begun: bool,
}

impl<T: Number> RowsAround<'_, T> {
    /// Those around the next row.
    #[inline(always)]
    pub(super) fn next_row(&mut self) -> &Around {
        if self.begun {
            let job = self.job;
            self.at.1 += 1;
            let (y, ny) = (self.at.1, job.block.extents[1]);
            // Next to the first and the last row, some rows around do not exist.
            let odd = job.class & 2 != 0;
            if y > 1 && y + 1 < ny && !(odd && y + 1 >= job.neighbours(1).extents[1]) {
                self.around.advance();
            } else {
                self.around = job.around(self.zeros, self.at);
            }
        }
        self.begun = true;
        &self.around
    }
}
