//! Encoder of the layout.

use super::{Numbers, RUN_BLOCKS, Step, UNIT_COEFFICIENTS};
use crate::fill::TypedFill;
use crate::simd::Level;
use crate::stage::UNIT;
use crate::stage::block_transform::block_float::BlockFloat;
use crate::stage::block_transform::dispatch::{Dispatch, Kernel, dispatch};
use crate::stage::block_transform::grid::Grid;
use crate::stage::block_transform::lanes::{LANES, Lanes};
use crate::stage::block_transform::lift;
use crate::stage::block_transform::marks::Marks;
use crate::stage::block_transform::planes::sequency;
use crate::stage::block_transform::special::{self, largest_magnitudes};
use crate::stage::block_transform::vectors::Vectors;
use crate::stage::dualquant::scattered;
use crate::stage::planes::{self, MAX_UNIT};
use crate::stage::proof::Proof;

/// Values that the step is chosen by.
const SAMPLE_VALUES: usize = 1 << 13;

/// Rounds of the choice.
const ROUNDS: usize = 3;

/// The step is as large as exceptions are at most one value in this many, in blocks with one exception each. Each
/// takes about 45 bits, and doubling the step saves half a bit of most values.
const VALUES_PER_EXCEPTION: usize = 1024;

/// The layout is abandoned if one finite value in this many is an exception.
const MAX_EXCEPTIONS_SHARE: usize = 32;

/// Buffers reused between chunks.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Codes of the two parts of every unit.
    codes: Vec<[u8; 2]>,
    /// Bit planes, and room for more.
    planes: Vec<u8>,
    /// Number of bytes of bit planes.
    end: usize,
    /// The largest errors of sampled blocks.
    errors: Vec<f64>,
}

impl Buffers {
    /// Appends a unit; returns its code.
    #[inline(always)]
    fn push(&mut self, level: Level, unit: &[u16; UNIT]) -> u8 {
        if self.planes.len() < self.end + MAX_UNIT {
            self.planes.resize(2 * self.end + MAX_UNIT, 0);
        }
        let Some(place) = self.planes[self.end..].first_chunk_mut() else {
            return 0;
        };
        let (code, length) = planes::encode(level, unit, place);
        self.end += length;
        code
    }
}

/// What is encoded, and under which conditions.
pub struct Source<'a, T> {
    pub values: &'a [T],
    pub grid: Grid,
    pub axes: usize,
    pub bound: f64,
    pub fill: TypedFill<T>,
    pub simd: Level,
}

/// Appends a chunk and marks its exceptions; false if another layout is better, and then appends nothing.
pub fn encode<T: Dispatch>(
    source: Source<'_, T>,
    marks: &mut Marks,
    buffers: &mut Buffers,
    out: &mut Vec<u8>,
) -> bool {
    marks.reset(source.values.len());
    buffers.codes.clear();
    buffers.end = 0;
    let (axes, simd) = (source.axes, source.simd);
    let encoder = Encoder {
        limit: Proof::<T>::new(source.bound).limit(),
        source,
        marks,
        buffers,
        exceptions: 0,
        first_number: 0,
    };
    let step = match axes {
        1 => dispatch(simd, Runs::<_, 4>(encoder)),
        2 => dispatch(simd, Runs::<_, 16>(encoder)),
        _ => dispatch(simd, Runs::<_, 64>(encoder)),
    };
    let Some(step) = step else {
        return false;
    };
    let parts = 1 + usize::from(buffers.codes.iter().any(|codes| codes[1] != 0));
    out.extend_from_slice(&step.to_le_bytes());
    out.push(parts as u8);
    for codes in &buffers.codes {
        out.extend_from_slice(&codes[..parts]);
    }
    out.extend_from_slice(&buffers.planes[..buffers.end]);
    true
}

struct Encoder<'a, T> {
    source: Source<'a, T>,
    limit: T,
    marks: &'a mut Marks,
    buffers: &'a mut Buffers,
    /// Finite values among the marked ones.
    exceptions: usize,
    /// The first coefficient of the last block.
    first_number: i32,
}

/// The loop over all runs of blocks of `N` values; returns the step.
struct Runs<E, const N: usize>(E);

impl<T: Dispatch, const N: usize> Kernel for Runs<Encoder<'_, T>, N> {
    type Element = T;
    type Output = Option<f64>;

    #[inline(always)]
    fn run<V: Vectors<T>>(mut self) -> Option<f64> {
        let step = self.0.choose_step::<V, N>()?;
        self.0.runs::<V, N>(&step).then_some(step.step)
    }
}

impl<T: BlockFloat> Encoder<'_, T> {
    /// The step for which few values of a sample are out of bound. `None` if there is none.
    #[inline(always)]
    fn choose_step<V: Vectors<T>, const N: usize>(&mut self) -> Option<Step<T>> {
        let groups = self.source.grid.blocks().div_ceil(LANES);
        let count = groups.min(SAMPLE_VALUES / (N * LANES));
        let stride = groups.checked_div(count)?;
        let limit = self.limit.to_f64();
        // Rounding errors of the coefficients double along every axis, and the largest are three times the average.
        let mut step = limit / 2f64.powi(self.source.axes as i32);
        for _ in 0..ROUNDS {
            let trial = Step::new(step)?;
            self.buffers.errors.clear();
            for i in 0..count {
                let first = (i * stride + scattered(stride, i)) * LANES;
                let mut numbers = [[0; LANES]; N];
                let errors = self.group::<V, N>(&trial, first, false, &mut numbers);
                self.buffers
                    .errors
                    .extend(errors.map(|error| error.to_f64()));
            }
            let errors = &mut self.buffers.errors[..];
            let rank = errors.len() * N / VALUES_PER_EXCEPTION;
            let (_, &mut error, _) = errors.select_nth_unstable_by(rank, |a, b| b.total_cmp(a));
            // Errors grow with the step, but more slowly, because more coefficients become zero.
            step *= (limit / error).clamp(0.25, 4.0);
        }
        Step::new(step)
    }

    /// Encodes all runs; false if there are too many exceptions.
    #[inline(always)]
    fn runs<V: Vectors<T>, const N: usize>(&mut self, step: &Step<T>) -> bool {
        let blocks = self.source.grid.blocks();
        let mut numbers: Numbers<N> = [[[0; LANES]; N]; RUN_BLOCKS / LANES];
        for first in (0..blocks).step_by(RUN_BLOCKS) {
            for (group, numbers) in numbers.iter_mut().enumerate() {
                let first = first + group * LANES;
                if first >= blocks {
                    *numbers = [[0; LANES]; N];
                    continue;
                }
                self.group::<V, N>(step, first, true, numbers);
            }
            if self.exceptions > self.source.values.len() / MAX_EXCEPTIONS_SHARE {
                return false;
            }
            self.write::<N>(&numbers);
        }
        true
    }

    /// Computes the numbers of a group, and marks exceptions if wanted; returns the largest error of each block.
    #[inline(always)]
    fn group<V: Vectors<T>, const N: usize>(
        &mut self,
        step: &Step<T>,
        first: usize,
        marking: bool,
        numbers: &mut [Lanes<i32>; N],
    ) -> Lanes<T> {
        let lanes = LANES.min(self.source.grid.blocks() - first);
        let mut values = [[T::default(); LANES]; N];
        // 1. Gather.
        let grid = self.source.grid;
        grid.gather::<T, V, N>(self.source.values, first, &mut values);
        // 2. Replace values that must be stored exactly.
        let most = T::from_f64(step.unit.to_f64() * T::MAX_FIXED).magnitude();
        let largest = largest_magnitudes::<T, V, N>(&values);
        for (lane, &magnitude) in largest.iter().enumerate().take(lanes) {
            if magnitude >= most || self.has_fill(&values, lane) {
                let special = |x: T| x.magnitude() >= most || self.near_fill(x);
                let which = special::replace(&mut values, lane, special);
                if marking {
                    self.mark(first + lane, which);
                }
            }
        }
        // 3. Integers. 4. Lifting. 5. Rounding.
        let mut work = [[T::Int::default(); LANES]; N];
        let scale = V::load(&[step.scale; LANES]);
        for (values, integers) in values.iter().zip(&mut work) {
            V::store_int(V::fixed(V::load(values), scale), integers);
        }
        lift::along_all_axes::<T, V, N>(&mut work);
        for (coefficients, numbers) in work.iter().zip(numbers.iter_mut()) {
            V::lower(V::load_int(coefficients), numbers);
        }
        // 6. The proof of the bound.
        let mut decoded = [[T::default(); LANES]; N];
        step.restore::<V, N>(numbers, &mut decoded);
        let mut largest = V::load(&[T::default(); LANES]);
        for (values, decoded) in values.iter().zip(&decoded) {
            largest = V::larger(largest, V::distance(V::load(values), V::load(decoded)));
        }
        let mut errors = [T::default(); LANES];
        V::store(largest, &mut errors);
        let limit = self.limit;
        for lane in (0..lanes).filter(|&lane| marking && errors[lane] > limit) {
            let outside = |position: usize| {
                let error = values[position][lane].distance(decoded[position][lane]);
                u64::from(error > limit) << position
            };
            let which = (0..N).fold(0, |which, position| which | outside(position));
            self.mark(first + lane, which);
        }
        errors
    }

    #[inline(always)]
    fn has_fill<const N: usize>(&self, group: &[Lanes<T>; N], lane: usize) -> bool {
        !self.source.fill.is_empty() && group.iter().any(|lanes| self.near_fill(lanes[lane]))
    }

    /// Whether a value is a fill value, or might decode to one.
    fn near_fill(&self, x: T) -> bool {
        let limit = self.limit.to_f64();
        let near = |fill: T| (x.to_f64() - fill.to_f64()).abs() <= limit;
        self.source.fill.any(near)
    }

    /// Marks positions of a block as exceptions.
    #[cold]
    fn mark(&mut self, block: usize, which: u64) {
        self.source.grid.for_each(block, |position, index| {
            if which >> position & 1 == 1 {
                self.marks.mark(index);
                let value = self.source.values[index];
                let finite = T::exponent(value.magnitude()) < T::SPECIAL_EXPONENT;
                let fill = self.source.fill.any(|fill| fill == value);
                self.exceptions += usize::from(finite && !fill);
            }
        });
    }

    /// Appends the units of a run.
    #[inline(always)]
    fn write<const N: usize>(&mut self, numbers: &Numbers<N>) {
        let order = const { sequency::<N>() };
        let (units, _) = order.as_chunks::<UNIT_COEFFICIENTS>();
        for (index, positions) in units.iter().enumerate() {
            let mut unit = [0; UNIT];
            let (rows, _) = unit.as_chunks_mut::<RUN_BLOCKS>();
            for (row, &position) in rows.iter_mut().zip(positions) {
                for (to, group) in row.as_chunks_mut::<LANES>().0.iter_mut().zip(numbers) {
                    *to = group[usize::from(position)];
                }
            }
            if index == 0 {
                let last = rows[0][RUN_BLOCKS - 1];
                for i in (1..RUN_BLOCKS).rev() {
                    rows[0][i] = rows[0][i].wrapping_sub(rows[0][i - 1]);
                }
                rows[0][0] = rows[0][0].wrapping_sub(self.first_number);
                self.first_number = last;
            }
            let (mut low, mut high) = ([0; UNIT], [0; UNIT]);
            let mut all = 0;
            for ((&number, low), high) in unit.iter().zip(&mut low).zip(&mut high) {
                let zigzag = (number << 1 ^ number >> 31).cast_unsigned();
                (*low, *high) = (zigzag as u16, (zigzag >> 16) as u16);
                all |= zigzag;
            }
            let low = self.buffers.push(self.source.simd, &low);
            let high = match all >> 16 {
                0 => 0,
                _ => self.buffers.push(self.source.simd, &high),
            };
            self.buffers.codes.push([low, high]);
        }
    }
}
