//! Encoder of a chunk.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | number of blocked axes, plus 4 if there are exceptions, plus 8 times the variant of the plane code, or plus 128 for the layout by [coefficients](super::coefficients) |
//! | … | that layout, or the [segments](super::segments): for each block its [header](super::header) and planes |
//! | … | the [exact side list](crate::stage::exceptions), if there are any |

use super::block_float::{BlockFloat, BlockInt};
use super::dispatch::{Dispatch, Kernel, dispatch};
use super::grid::Grid;
use super::header::Header;
use super::lanes::{LANES, Lanes};
use super::marks::Marks;
use super::plane_code::PlaneCode;
use super::planes::Planes;
use super::search::{Search, out_of_bound};
use super::segments::SegmentWriter;
use super::special::{self, largest_magnitudes};
use super::vectors::Vectors;
use super::{CODE_AT, COEFFICIENTS, EXCEPTIONS, coefficients, lift, truncate};
use crate::bound::Tolerance;
use crate::error::{Error, Result};
use crate::fill::{FillValues, TypedFill};
use crate::request::Dims;
use crate::simd::Level;
use crate::stage::exceptions::Exceptions;

/// Parameters of the encoder.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Extents; their product is the number of values.
    pub dims: Dims,
    /// The guarantee for every value.
    pub tolerance: Tolerance,
    /// Values to preserve exactly.
    pub fill: FillValues,
    /// Keep as many planes as zfp for a tolerance, truncated as in zfp; blocks that violate the bound are
    /// stored exactly.
    pub planes_by_formula: bool,
    /// Keep one coefficient of many blocks together, if the tolerance is absolute.
    pub by_coefficient: bool,
    /// Index of the variant of the plane code.
    pub code: u8,
    /// Approximate size of a segment in bytes.
    pub segment: u32,
    pub simd: Level,
}

/// Buffers reused between chunks.
#[derive(Debug, Default)]
pub struct Scratch {
    segments: SegmentWriter,
    coefficients: coefficients::Buffers,
    marks: Marks,
    exceptions: Exceptions,
}

/// What determines the number of planes of a block.
enum Goal<T> {
    Bound(Search<T>),
    Planes(u32),
}

/// Appends the encoded chunk to `out`.
pub fn encode<T: Dispatch, C: PlaneCode>(
    values: &[T],
    settings: &Settings,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<()> {
    let start = out.len();
    if let (true, Tolerance::Abs(bound)) = (settings.by_coefficient, settings.tolerance) {
        if encode_coefficients(values, settings, bound, scratch, out) {
            return Ok(());
        }
        out.truncate(start);
    }
    encode_blocks::<T, C>(values, settings, settings.dims.axes(), scratch, out)?;
    if let Some(fewer) = fewer_axes(settings.dims) {
        // Blocks across a thin axis are mostly padding: try both and keep the smaller output.
        let mut other = Vec::new();
        encode_blocks::<T, C>(values, settings, fewer, scratch, &mut other)?;
        if other.len() < out.len() - start {
            out.truncate(start);
            out.extend_from_slice(&other);
        }
    }
    Ok(())
}

/// The number of axes if thin ones are not blocked, unless it is the same.
fn fewer_axes(dims: Dims) -> Option<usize> {
    match dims.axes() {
        3 if dims.ny < 4 => Some(1),
        3 if dims.nz < 4 => Some(2),
        2 if dims.ny < 4 => Some(1),
        _ => None,
    }
}

/// Appends the chunk in the layout by coefficients; false if another layout is better.
fn encode_coefficients<T: Dispatch>(
    values: &[T],
    settings: &Settings,
    bound: f64,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> bool {
    let axes = fewer_axes(settings.dims).unwrap_or(settings.dims.axes());
    let source = coefficients::Source {
        values,
        grid: Grid::new(settings.dims, axes),
        axes,
        bound,
        fill: settings.fill.typed(T::from_f64),
        simd: settings.simd,
    };
    let start = out.len();
    out.push(axes as u8 | COEFFICIENTS);
    let (marks, buffers) = (&mut scratch.marks, &mut scratch.coefficients);
    let encoded = coefficients::encode(source, marks, buffers, out);
    if encoded && scratch.marks.any() {
        out[start] |= EXCEPTIONS;
        write_exceptions(values, scratch, out);
    }
    encoded
}

/// Appends the exact side list of the marked values.
fn write_exceptions<T: Dispatch>(values: &[T], scratch: &mut Scratch, out: &mut Vec<u8>) {
    scratch.exceptions.clear();
    for index in scratch.marks.indices() {
        scratch.exceptions.push(index, values[index]);
    }
    scratch.exceptions.write_to::<T>(out);
}

fn encode_blocks<T: Dispatch, C: PlaneCode>(
    values: &[T],
    settings: &Settings,
    axes: usize,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (goal, special) = match settings.tolerance {
        Tolerance::Abs(e) => (
            Goal::Bound(Search::new(e, axes as u32, settings.planes_by_formula)),
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
    scratch.marks.reset(values.len());
    scratch.segments.reset(settings.segment as usize);
    let code = C::ALL.get(usize::from(settings.code));
    let encoder = Encoder {
        values,
        grid: Grid::new(settings.dims, axes),
        goal,
        special,
        fill: settings.fill.typed(T::from_f64),
        segments: &mut scratch.segments,
        marks: &mut scratch.marks,
        code: *code.ok_or_else(|| Error::invalid("an unknown code of bit planes"))?,
    };
    match axes {
        1 => dispatch(settings.simd, Groups::<_, 4>(encoder)),
        2 => dispatch(settings.simd, Groups::<_, 16>(encoder)),
        _ => dispatch(settings.simd, Groups::<_, 64>(encoder)),
    }
    let listed = if scratch.marks.any() { EXCEPTIONS } else { 0 };
    out.push(axes as u8 | listed | settings.code << CODE_AT);
    scratch.segments.write_to(out);
    write_exceptions(values, scratch, out);
    Ok(())
}

/// Minimum magnitude of values that are stored exactly: their ulp exceeds the bound, so that the
/// transform gains nothing, and the other values of the block would lose precision. At most a quarter
/// of the overflow threshold: decoded integers reach twice the largest power of two of the block, and
/// no finite value may decode to an infinity.
fn first_special<T: BlockFloat>(bound: f64) -> T::Int {
    let f64_bias = 1023;
    let bias = i64::from(T::SPECIAL_EXPONENT / 2);
    let binade = (bound.to_bits() >> 52) as i64 - f64_bias;
    let exponent = binade + bias + i64::from(T::MANTISSA_BITS) + 3;
    let exponent = exponent.clamp(1, i64::from(T::SPECIAL_EXPONENT) - 2) as u64;
    T::Int::from_word(exponent << T::MANTISSA_BITS)
}

struct Encoder<'a, T: BlockFloat, C> {
    values: &'a [T],
    grid: Grid,
    goal: Goal<T>,
    special: T::Int,
    fill: TypedFill<T>,
    segments: &'a mut SegmentWriter,
    marks: &'a mut Marks,
    code: C,
}

/// The loop over all groups of blocks of `N` values.
struct Groups<E, const N: usize>(E);

impl<T: Dispatch, C: PlaneCode, const N: usize> Kernel for Groups<Encoder<'_, T, C>, N> {
    type Element = T;
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors<T>>(mut self) {
        self.0.groups::<V, N>();
    }
}

/// How a block is stored.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Zero,
    Planes(u32),
    Exact,
}

impl<T: BlockFloat, C: PlaneCode> Encoder<'_, T, C> {
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
            // 2. Replace values that must be stored exactly.
            let mut exact = [false; LANES];
            let mut largest = largest_magnitudes::<T, V, N>(&values);
            for lane in 0..lanes {
                if largest[lane] >= self.special || self.has_fill(&values, lane) {
                    exact[lane] = self.replace_special(&mut values, lane, first + lane);
                    largest[lane] = largest_magnitudes::<T, V, N>(&values)[lane];
                }
            }
            // 3. Block floating point with the exponent of the largest value.
            let exponents = largest.map(|m| T::exponent(m).max(T::MIN_EXPONENT));
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
            // 6. Convert to negabinary and truncate.
            let nearest = matches!(&self.goal, Goal::Bound(search) if !search.is_by_formula());
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
        !self.fill.is_empty() && group.iter().any(|lanes| self.near_fill(lanes[lane]))
    }

    /// Whether a value is a fill value, or might decode to one.
    fn near_fill(&self, x: T) -> bool {
        let reach = match &self.goal {
            Goal::Bound(search) => search.limit.to_f64(),
            Goal::Planes(_) => 0.0,
        };
        self.fill
            .any(|fill| (x.to_f64() - fill.to_f64()).abs() <= reach)
    }

    /// Replaces the special values of a block by neighbours and marks them as exceptions; returns
    /// whether the whole block should be stored exactly instead.
    #[cold]
    fn replace_special<const N: usize>(
        &mut self,
        group: &mut [Lanes<T>; N],
        lane: usize,
        block: usize,
    ) -> bool {
        let special = |x: T| x.magnitude() >= self.special || self.near_fill(x);
        let which = special::replace(group, lane, special);
        self.mark::<N>(block, which)
    }

    /// Marks positions of a block as exceptions, or returns true if storing the whole block exactly is
    /// cheaper.
    fn mark<const N: usize>(&mut self, block: usize, which: u64) -> bool {
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
                    self.marks.mark(index);
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
        let most = C::max_planes::<N>().min(T::Int::BITS);
        let search = match &mut self.goal {
            Goal::Planes(planes) => {
                let form = if *planes <= most {
                    Form::Planes(*planes)
                } else {
                    Form::Exact
                };
                for lane in 0..lanes {
                    if largest[lane] != T::Int::default() {
                        forms[lane] = form;
                    }
                }
                return forms;
            }
            Goal::Bound(search) => search,
        };
        let least = match search.is_by_formula() {
            true => T::default(),
            false => search.limit,
        };
        let wanted = largest.map(|m| T::of_magnitude(m) > least);
        if wanted == [false; LANES] {
            return forms;
        }
        let (limit, is_by_formula) = (search.limit, search.is_by_formula());
        let found = search.run::<V, N>(values, coefficients, exponents, &wanted, most);
        for lane in 0..lanes {
            if !wanted[lane] {
                continue;
            }
            forms[lane] = match found[lane] {
                Some(planes) => Form::Planes(planes),
                None if is_by_formula => Form::Exact,
                None => {
                    let which =
                        out_of_bound::<T, V, N>(values, coefficients, exponents, most, lane, limit);
                    if self.mark::<N>(first + lane, which) {
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
        let stream = self.segments.stream_of(block);
        match form {
            Form::Planes(count) if planes[..count as usize].iter().any(|&p| p != 0) => {
                Header::Planes { count, exponent }.write_to::<T>(stream);
                self.code.write::<N>(&planes[..count as usize], stream);
            }
            Form::Zero | Form::Planes(_) => Header::Zero.write_to::<T>(stream),
            Form::Exact => {
                Header::Exact.write_to::<T>(stream);
                let mut words = [0; N];
                self.grid.for_each(block, |position, index| {
                    words[position] = self.values[index].to_word();
                });
                for word in words {
                    stream.put_wide(word, 8 * T::SIZE as u32);
                }
            }
        }
    }
}
