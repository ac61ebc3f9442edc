//! The order in which encoder and decoder go through a pyramid, and what each row sees.
//!
//! From the coarsest level to the finest: classes with one odd axis, then two, then three; rows in
//! order. A [`Coder`] turns each row into a stream or back; everything else is the same for both.

use super::context::{Around, Contexts, classify};
use super::geometry::{Block, Extents, Pyramid, lanes};
use super::pack::Taps;
use super::plan::Mode;
use super::predict::{Predictor, extend, positions, taps};
use super::quantize::{Buffers, Prediction, Row};
use super::real::{Real, Step};
use super::rearrange::{join_level, rows};
use crate::error::{Error, Result};
use crate::simd::Level as Isa;

/// Classes in coding order.
const ORDER: [usize; 7] = [1, 2, 4, 3, 5, 6, 7];

/// Classes smaller than this use [`Predictor::fallback`].
pub(super) const MIN_VALUES_TO_CHOOSE_PREDICTOR: usize = 64;

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

    /// What rows are read from and written to, in packet mode or another.
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

/// Planes that are coded together in packet mode: `first`, `first + 2 stride`, …
#[derive(Clone, Copy)]
pub(super) struct Planes {
    pub(super) first: usize,
    pub(super) stride: usize,
    /// log2 of the stride; one more for the first plane of all.
    pub(super) level: usize,
}

impl Planes {
    /// The z-th of them.
    fn plane(&self, z: usize) -> usize {
        self.first + 2 * self.stride * z
    }
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

/// The passes of a mode: one, or in packet mode one for each distance of planes.
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

/// A class on its way: what is the same for all of its rows.
pub(super) struct ClassJob<'a, T> {
    pub(super) pass: &'a Pass<'a>,
    pub(super) level: usize,
    pub(super) class: usize,
    pub(super) step: Step<T>,
    /// Its rows in the part to be coded.
    pub(super) block: &'a Block,
    /// Its rows in everything.
    whole: &'a Block,
}

/// Encoder or decoder of rows.
pub(super) trait Coder<T> {
    /// Chooses or reads the predictor of a class.
    fn predictor(&mut self, job: &ClassJob<'_, T>, fields: &Fields<T>) -> Result<Predictor>;

    /// Codes the row at (z, y) of a class: fills it with what the decoder reconstructs.
    fn row(
        &mut self,
        job: &ClassJob<'_, T>,
        at: (usize, usize),
        prediction: &Prediction<T>,
        buffers: &mut Buffers<'_, T>,
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

    /// A class, or what is left when nothing can be halved.
    fn job<T: Real>(&self, level: usize, class: usize) -> Result<ClassJob<'_, T>> {
        Ok(ClassJob {
            pass: self,
            level,
            class,
            step: self.step(level)?,
            block: self.part.block(level, class),
            whole: self.whole.block(level, class),
        })
    }

    /// Goes through the part.
    pub(super) fn run<T: Real, C: Coder<T>>(
        &self,
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
        coder: &mut C,
    ) -> Result<()> {
        let levels = self.part.levels.len();
        // 1. What is left when nothing can be halved.
        let top = self.job(levels, 0)?;
        top.run(Predictor::fallback(0), fields, scratch, coder)?;
        // 2. Level by level, class by class.
        for level in (0..levels).rev() {
            if level + 1 < levels {
                self.join(fields, level + 1);
            }
            for class in ORDER {
                let job = self.job(level, class)?;
                if !job.block.is_empty() {
                    let predictor = coder.predictor(&job, fields)?;
                    job.run(predictor, fields, scratch, coder)?;
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
}

impl<T: Real> ClassJob<'_, T> {
    /// Row by row.
    fn run<C: Coder<T>>(
        &self,
        predictor: Predictor,
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
        coder: &mut C,
    ) -> Result<()> {
        let [nz, ny, nx] = self.block.extents;
        let width = lanes(nx);
        scratch.row.resize(width);
        let kind = self.pass.kind(self.level, self.class);
        scratch.contexts.resize(width, kind);
        for at in rows(nz, ny) {
            self.row(predictor, at, fields, scratch, coder)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn row<C: Coder<T>>(
        &self,
        predictor: Predictor,
        at: (usize, usize),
        fields: &mut Fields<T>,
        scratch: &mut Scratch<T>,
        coder: &mut C,
    ) -> Result<()> {
        let pass = self.pass;
        let Scratch { row, contexts } = scratch;
        let count = self.block.extents[2];
        let start = self.block.row(at.0, at.1);
        // 1. Contexts from magnitudes that are known.
        let around = self.around(fields, at, contexts.sums.len());
        classify(pass.isa, &around, count, contexts);
        // 2. Prediction from values that are known, and the row itself.
        let mut prediction = Prediction {
            axes: [Taps::none(); 3],
            axis_count: 0,
            base: self.base(at),
            start,
            count,
        };
        let weight = predictor.weight::<T>();
        for axis in 0..3 {
            if predictor.axes & 4 >> axis != 0 {
                let level = &pass.part.levels[self.level];
                prediction.axes[prediction.axis_count] =
                    taps(level, self.class, axis, (predictor.cubic, weight), at);
                prediction.axis_count += 1;
            }
        }
        let mut buffers = fields.buffers(pass.planes.is_some());
        coder.row(self, at, &prediction, &mut buffers, contexts, row)?;
        // 3. What later rows need of it.
        let levels = &pass.part.levels;
        if let (0, Some(level)) = (self.class & 1, levels.get(self.level).or(levels.last())) {
            // Classes with odd x will be interpolated from this row.
            let even = level.extents[2].is_multiple_of(2);
            extend(buffers.inner, start, count, even);
        }
        Ok(())
    }

    /// Where the first value of a row lies in the chunk, and how far apart its values are.
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

    /// The interpolation between planes that rows of a packet are differences to.
    pub(super) fn base(&self, (z, y): (usize, usize)) -> Option<Taps<T>> {
        let planes = self.pass.planes.filter(|p| p.first > 0)?;
        let apart = 2 * planes.stride;
        let (at, weights) = positions(true, z, self.whole.extents[0].div_ceil(apart));
        Some(Taps {
            starts: at.map(|i| self.whole.row(i * apart, y)),
            weights: weights.map(T::from_f64),
        })
    }

    /// Magnitudes around a row.
    fn around<'b>(
        &self,
        fields: &'b Fields<T>,
        (z, y): (usize, usize),
        width: usize,
    ) -> Around<'b> {
        let block = self.block;
        let all = &fields.magnitudes;
        // From one lane before the row to one behind it.
        let wide = |start: usize| &all[start - 1..start + width + 1];
        let up = (y > 0).then(|| wide(block.row(z, y - 1)));
        let (back, beyond) = match self.pass.planes {
            None => {
                let back = (z > 0).then(|| wide(block.row(z - 1, y)));
                let next = z > 0 && y + 1 < block.extents[1];
                (back, next.then(|| wide(block.row(z - 1, y + 1))))
            }
            Some(planes) if planes.first > 0 => {
                let plane = planes.plane(z);
                let after = plane + planes.stride;
                let before = wide(self.whole.row(plane - planes.stride, y));
                let behind =
                    (after < self.whole.extents[0]).then(|| wide(self.whole.row(after, y)));
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
            double: self.class.count_ones() > 1,
        };
        for axis in 0..3 {
            if self.class & 4 >> axis == 0 {
                continue;
            }
            let from = &self.pass.part.levels[self.level].classes[self.class ^ (4 >> axis)];
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
