//! Values of a chunk to bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | number of axes that blocks extend over; plus 4 if there are exceptions |
//! | … | the [segments](super::segments) |
//! | … | the [exceptions](super::exceptions), if there are any |
//!
//! A block is one bit 0 if its values come back as zeros. Else it is a bit 1, the number of planes,
//! the biased exponent, and the planes. The exponent of NaN marks a block whose values follow bit
//! for bit instead.

use super::dispatch::{Vectorised, dispatch};
use super::exceptions::Exceptions;
use super::grid::{Grid, LANES, Lanes};
use super::planes::Planes;
use super::real::{Int, Real};
use super::search::{Search, out_of_bound};
use super::segments::SegmentWriter;
use super::vectors::Vectors;
use super::{EXCEPTIONS, PlaneCode, count_bits, lift, truncate};
use crate::bound::Tolerance;
use crate::error::{Error, Result};
use crate::fill::TypedFill;
use crate::request::Task;
use crate::simd::Level;
use crate::workspace::Context;

/// What is kept from chunk to chunk.
#[derive(Debug, Default)]
struct Scratch {
    segments: SegmentWriter,
    exceptions: Exceptions,
}

/// How many planes blocks keep.
enum Goal<T> {
    Bound(Search<T>),
    Planes(u32),
}

/// Appends the coded chunk to `out`.
pub fn encode<T: Real, C: PlaneCode>(
    values: &[T],
    task: &Task<'_>,
    segment: u32,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut scratch: Box<Scratch> = context.take();
    let start = out.len();
    let result = encode_blocks::<T, C>(
        values,
        task,
        task.dims.axes(),
        segment,
        context.simd(),
        &mut scratch,
        out,
    );
    if let (Ok(()), Some(fewer)) = (&result, fewer_axes(task)) {
        // Blocks across a thin axis are mostly padding: judge by the size.
        let mut other = Vec::new();
        encode_blocks::<T, C>(
            values,
            task,
            fewer,
            segment,
            context.simd(),
            &mut scratch,
            &mut other,
        )?;
        if other.len() < out.len() - start {
            out.truncate(start);
            out.extend_from_slice(&other);
        }
    }
    context.put_back(scratch);
    result
}

/// The axes left if those of less than a block's side are not blocked.
fn fewer_axes(task: &Task<'_>) -> Option<usize> {
    let dims = task.dims;
    match dims.axes() {
        3 if dims.ny < 4 => Some(1),
        3 if dims.nz < 4 => Some(2),
        2 if dims.ny < 4 => Some(1),
        _ => None,
    }
}

fn encode_blocks<T: Real, C: PlaneCode>(
    values: &[T],
    task: &Task<'_>,
    axes: usize,
    segment: u32,
    simd: Level,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (goal, special) = match task.tolerance {
        Tolerance::Abs(e) => (
            Goal::Bound(Search::new(e, axes as u32)),
            first_special::<T>(e),
        ),
        Tolerance::Precision(planes) => (
            Goal::Planes(planes.min(T::Int::BITS)),
            first_special::<T>(f64::MAX),
        ),
        other => {
            return Err(Error::invalid(format!(
                "the zfp family cannot guarantee {other:?}: use abs, range or precision"
            )));
        }
    };
    scratch.exceptions.reset(values.len());
    scratch.segments.reset(segment as usize);
    let encoder = Encoder {
        values,
        grid: Grid::new(task.dims, axes),
        goal,
        special,
        fill: task.fill.typed(T::from_f64),
        segments: &mut scratch.segments,
        exceptions: &mut scratch.exceptions,
        code: std::marker::PhantomData::<C>,
    };
    match axes {
        1 => dispatch(simd, Groups::<_, 4>(encoder)),
        2 => dispatch(simd, Groups::<_, 16>(encoder)),
        _ => dispatch(simd, Groups::<_, 64>(encoder)),
    }
    let listed = if scratch.exceptions.any() {
        EXCEPTIONS
    } else {
        0
    };
    out.push(axes as u8 | listed);
    scratch.segments.write_to(out);
    scratch.exceptions.write_to(values, out);
    Ok(())
}

/// Magnitude from which on values are kept exactly: their own precision is coarser than the bound,
/// so a transform gains nothing, and they would cost the block's other values theirs. At most a
/// quarter of what overflows: decoded integers reach twice the block's largest power of two, and
/// no finite value may come back infinite.
fn first_special<T: Real>(bound: f64) -> T::Int {
    let f64_bias = 1023;
    let bias = i64::from(T::SPECIAL_EXPONENT / 2);
    let binade = (bound.to_bits() >> 52) as i64 - f64_bias;
    let exponent = binade + bias + i64::from(T::MANTISSA_BITS) + 3;
    let exponent = exponent.clamp(1, i64::from(T::SPECIAL_EXPONENT) - 2) as u64;
    T::Int::from_word(exponent << T::MANTISSA_BITS)
}

struct Encoder<'a, T: Real, C> {
    values: &'a [T],
    grid: Grid,
    goal: Goal<T>,
    special: T::Int,
    fill: TypedFill<T>,
    segments: &'a mut SegmentWriter,
    exceptions: &'a mut Exceptions,
    code: std::marker::PhantomData<C>,
}

/// The work on all groups of blocks of `N` values.
struct Groups<E, const N: usize>(E);

impl<T: Real, C: PlaneCode, const N: usize> Vectorised for Groups<Encoder<'_, T, C>, N> {
    type Element = T;
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors<T>>(mut self) {
        self.0.groups::<V, N>();
    }
}

/// What a block becomes.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Zero,
    Planes(u32),
    Exact,
}

impl<T: Real, C: PlaneCode> Encoder<'_, T, C> {
    #[inline(always)]
    fn groups<V: Vectors<T>, const N: usize>(&mut self) {
        let mut values = [[T::default(); LANES]; N];
        let mut coefficients = [[T::Int::default(); LANES]; N];
        let mut planes = [[0; 64]; LANES];
        for first in (0..self.grid.blocks()).step_by(LANES) {
            let lanes = LANES.min(self.grid.blocks() - first);
            if lanes < LANES {
                values = [[T::default(); LANES]; N];
            }
            // 1. Gather.
            self.grid.gather::<T, V, N>(self.values, first, &mut values);
            // 2. Set aside what only exact storage can keep.
            let mut exact = [false; LANES];
            let mut largest = largest_magnitudes::<T, V, N>(&values);
            for lane in 0..lanes {
                if largest[lane] >= self.special || self.has_fill(&values, lane) {
                    exact[lane] = self.set_aside(&mut values, lane, first + lane);
                    largest[lane] = largest_magnitudes::<T, V, N>(&values)[lane];
                }
            }
            // 3. Block floating point with the exponent of the largest value.
            let exponents =
                largest.map(|m| ((m.to_word() >> T::MANTISSA_BITS) as u32).max(T::MIN_EXPONENT));
            // 4. Lifting.
            let words = exponents.map(|e| T::Int::from_word(u64::from(e)));
            lift::forward::<T, V, N>(&values, V::load_int(&words), &mut coefficients);
            // 5. Find the planes to keep.
            let mut forms =
                self.forms::<V, N>(&values, &largest, &coefficients, &exponents, first, lanes);
            for lane in 0..LANES {
                if exact[lane] {
                    forms[lane] = Form::Exact;
                }
            }
            let kept = forms.map(|form| if let Form::Planes(n) = form { n } else { 0 });
            let needed = kept.into_iter().max().unwrap_or(0);
            // 6. Negabinary, truncated.
            let nearest = matches!(self.goal, Goal::Bound(_));
            let kept = truncate::keep::<T, V>(&kept, nearest);
            for lanes in &mut coefficients {
                V::store_int(truncate::forward::<T, V>(&kept, V::load_int(lanes)), lanes);
            }
            // 7. Planes.
            V::split(&coefficients, needed, &mut planes);
            // 8. Write.
            for lane in 0..lanes {
                self.write::<N>(&planes[lane], forms[lane], exponents[lane], first + lane);
            }
            self.segments.end_group();
        }
    }

    #[inline(always)]
    fn has_fill<const N: usize>(&self, group: &[Lanes<T>; N], lane: usize) -> bool {
        !self.fill.is_empty() && group.iter().any(|lanes| self.fill.contains(lanes[lane]))
    }

    /// Replaces the special values of a block by neighbours and marks them as exceptions; if that
    /// would cost more than the whole block, says so instead.
    #[cold]
    fn set_aside<const N: usize>(
        &mut self,
        group: &mut [Lanes<T>; N],
        lane: usize,
        block: usize,
    ) -> bool {
        let special = |x: T| x.magnitude() >= self.special || self.fill.contains(x);
        let ordinary = |lanes: &&Lanes<T>| !special(lanes[lane]);
        let mut neighbour = group
            .iter()
            .find(ordinary)
            .map_or(T::default(), |l| l[lane]);
        let mut which = 0;
        for (position, lanes) in group.iter_mut().enumerate() {
            if special(lanes[lane]) {
                which |= 1 << position;
                lanes[lane] = neighbour;
            } else {
                neighbour = lanes[lane];
            }
        }
        self.except::<N>(block, which)
    }

    /// Marks positions of a block as exceptions, or says that the whole block is better kept
    /// exactly.
    fn except<const N: usize>(&mut self, block: usize, which: u64) -> bool {
        let mut runs = 0;
        let mut last = None;
        self.grid.for_each(block, |position, index| {
            let here = (which >> position & 1 == 1).then(|| (index, self.values[index].to_word()));
            if let Some((index, word)) = here {
                runs += usize::from(last != Some((index.wrapping_sub(1), word)));
            }
            last = here;
        });
        let exact = runs * (T::SIZE + 2) >= N * T::SIZE;
        if !exact {
            self.grid.for_each(block, |position, index| {
                if which >> position & 1 == 1 {
                    self.exceptions.mark(index);
                }
            });
        }
        exact
    }

    #[inline(always)]
    fn forms<V: Vectors<T>, const N: usize>(
        &mut self,
        values: &[Lanes<T>; N],
        largest: &Lanes<T::Int>,
        coefficients: &[Lanes<T::Int>; N],
        exponents: &Lanes<u32>,
        first: usize,
        lanes: usize,
    ) -> Lanes<Form> {
        let mut forms = [Form::Zero; LANES];
        let most = C::most_planes::<N>().min(T::Int::BITS);
        let search = match &mut self.goal {
            Goal::Planes(planes) => {
                let form = if *planes <= most {
                    Form::Planes(*planes)
                } else {
                    Form::Exact
                };
                for lane in 0..lanes {
                    if largest[lane].to_word() != 0 {
                        forms[lane] = form;
                    }
                }
                return forms;
            }
            Goal::Bound(search) => search,
        };
        let wanted = largest.map(|m| T::from_word(m.to_word()) > search.limit);
        if wanted == [false; LANES] {
            return forms;
        }
        let limit = search.limit;
        let found = search.run::<V, N>(values, coefficients, exponents, &wanted, most);
        for lane in 0..lanes {
            if !wanted[lane] {
                continue;
            }
            forms[lane] = match found[lane] {
                Some(planes) => Form::Planes(planes),
                None => {
                    let which =
                        out_of_bound::<T, V, N>(values, coefficients, exponents, most, lane, limit);
                    if self.except::<N>(first + lane, which) {
                        Form::Exact
                    } else {
                        Form::Planes(most)
                    }
                }
            };
        }
        forms
    }

    #[inline(always)]
    fn write<const N: usize>(&mut self, planes: &Planes, form: Form, exponent: u32, block: usize) {
        let field = count_bits::<T>();
        let header = 1 + field + T::EXPONENT_BITS;
        let stream = self.segments.of(block);
        match form {
            Form::Planes(kept) if planes[..kept as usize].iter().any(|&p| p != 0) => {
                stream.reserve(header as usize + C::most_bits::<N>(kept as usize));
                let count = u64::from(kept) & ((1 << field) - 1);
                stream.put(1 | count << 1 | u64::from(exponent) << (1 + field), header);
                C::write::<N>(&planes[..kept as usize], stream);
            }
            Form::Zero | Form::Planes(_) => {
                stream.reserve(1);
                stream.put(0, 1);
            }
            Form::Exact => {
                stream.reserve(header as usize + N * 8 * T::SIZE);
                stream.put(1 | u64::from(T::SPECIAL_EXPONENT) << (1 + field), header);
                let mut words = [0; N];
                self.grid.for_each(block, |position, index| {
                    words[position] = self.values[index].to_word();
                });
                for word in words {
                    stream.put(word, 8 * T::SIZE as u32);
                }
            }
        }
    }
}

#[inline(always)]
fn largest_magnitudes<T: Real, V: Vectors<T>, const N: usize>(
    group: &[Lanes<T>; N],
) -> Lanes<T::Int> {
    let mut largest = V::splat(T::Int::default());
    for lanes in group {
        largest = V::larger_int(largest, V::magnitude(V::load(lanes)));
    }
    let mut magnitudes = [T::Int::default(); LANES];
    V::store_int(largest, &mut magnitudes);
    magnitudes
}
