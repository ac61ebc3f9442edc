//! The vector operations of the transform: a trait with a portable implementation, and one for AVX2
//! per element type.

use super::block_float::{BlockFloat, BlockInt, FRACTION_BITS};
use super::lanes::{LANES, Lanes};
use super::planes::{self, Planes};

/// Evaluates an expression for every lane, in a form that reliably vectorizes.
macro_rules! each {
    ($i:ident => $value:expr) => {{
        let mut lanes = [Default::default(); LANES];
        for $i in 0..LANES {
            lanes[$i] = $value;
        }
        lanes
    }};
}

/// Arithmetic on one position of every block of a group.
pub trait Vectors<T: BlockFloat>: Copy {
    /// Integers.
    type Int: Copy;
    /// Values.
    type Real: Copy;

    fn load_int(from: &Lanes<T::Int>) -> Self::Int;
    fn store_int(vector: Self::Int, to: &mut Lanes<T::Int>);
    fn load(from: &Lanes<T>) -> Self::Real;
    fn store(vector: Self::Real, to: &mut Lanes<T>);

    fn plus(a: Self::Int, b: Self::Int) -> Self::Int;
    fn minus(a: Self::Int, b: Self::Int) -> Self::Int;
    fn half(a: Self::Int) -> Self::Int;
    fn and(a: Self::Int, b: Self::Int) -> Self::Int;
    fn xor(a: Self::Int, b: Self::Int) -> Self::Int;
    fn larger_int(a: Self::Int, b: Self::Int) -> Self::Int;

    /// See [`BlockFloat::magnitude`].
    fn magnitude(a: Self::Real) -> Self::Int;
    /// See [`BlockFloat::quantize`].
    fn quantize(a: Self::Real, exponents: Self::Int) -> Self::Int;
    /// See [`BlockFloat::dequantize`].
    fn dequantize(a: Self::Int, units: Self::Real) -> Self::Real;
    /// See [`BlockFloat::distance`].
    fn distance(a: Self::Real, b: Self::Real) -> Self::Real;
    fn larger(a: Self::Real, b: Self::Real) -> Self::Real;

    /// Loads four adjacent values of each block.
    fn load_quads(from: &[T; 4 * LANES], to: &mut [Lanes<T>; 4]);
    /// Inverts [`Self::load_quads`].
    fn store_quads(from: &[Lanes<T>; 4], to: &mut [T; 4 * LANES]);

    /// See [`planes::split`].
    fn split<const N: usize>(bits: &[Lanes<T::Int>; N], needed: u32, planes: &mut [Planes; LANES]);
    /// See [`planes::join`].
    fn join<const N: usize>(
        planes: &mut [Planes; LANES],
        given: &Lanes<u32>,
        bits: &mut [Lanes<T::Int>; N],
    );

    /// See [`BlockFloat::fixed`].
    #[inline(always)]
    fn fixed(a: Self::Real, scale: Self::Real) -> Self::Int {
        let (mut values, mut scales) = ([T::default(); LANES], [T::default(); LANES]);
        Self::store(a, &mut values);
        Self::store(scale, &mut scales);
        Self::load_int(&each!(i => values[i].fixed(scales[i])))
    }
    /// Divides by 2^[`FRACTION_BITS`], rounded.
    #[inline(always)]
    fn lower(a: Self::Int, to: &mut Lanes<i32>) {
        let mut integers = [T::Int::default(); LANES];
        Self::store_int(a, &mut integers);
        let half = 1 << (FRACTION_BITS - 1);
        *to = each!(i => (integers[i].widen().wrapping_add(half) >> FRACTION_BITS) as i32);
    }
    /// Multiplies by 2^[`FRACTION_BITS`].
    #[inline(always)]
    fn raise(from: &Lanes<i32>) -> Self::Int {
        Self::load_int(&each!(i => T::Int::narrow(i64::from(from[i]) << FRACTION_BITS)))
    }

    /// Sets every lane to one integer.
    #[inline(always)]
    fn splat(value: T::Int) -> Self::Int {
        Self::load_int(&[value; LANES])
    }
}

/// Portable vectors.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl<T: BlockFloat> Vectors<T> for Portable {
    type Int = Lanes<T::Int>;
    type Real = Lanes<T>;

    #[inline(always)]
    fn load_int(from: &Lanes<T::Int>) -> Self::Int {
        *from
    }
    #[inline(always)]
    fn store_int(vector: Self::Int, to: &mut Lanes<T::Int>) {
        *to = vector;
    }
    #[inline(always)]
    fn load(from: &Lanes<T>) -> Self::Real {
        *from
    }
    #[inline(always)]
    fn store(vector: Self::Real, to: &mut Lanes<T>) {
        *to = vector;
    }

    #[inline(always)]
    fn plus(a: Self::Int, b: Self::Int) -> Self::Int {
        each!(i => a[i].plus(b[i]))
    }
    #[inline(always)]
    fn minus(a: Self::Int, b: Self::Int) -> Self::Int {
        each!(i => a[i].minus(b[i]))
    }
    #[inline(always)]
    fn half(a: Self::Int) -> Self::Int {
        each!(i => a[i].half())
    }
    #[inline(always)]
    fn and(a: Self::Int, b: Self::Int) -> Self::Int {
        each!(i => a[i].and(b[i]))
    }
    #[inline(always)]
    fn xor(a: Self::Int, b: Self::Int) -> Self::Int {
        each!(i => a[i].xor(b[i]))
    }
    #[inline(always)]
    fn larger_int(a: Self::Int, b: Self::Int) -> Self::Int {
        each!(i => if a[i] > b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn magnitude(a: Self::Real) -> Self::Int {
        each!(i => a[i].magnitude())
    }
    #[inline(always)]
    fn quantize(a: Self::Real, exponents: Self::Int) -> Self::Int {
        each!(i => a[i].quantize(exponents[i]))
    }
    #[inline(always)]
    fn dequantize(a: Self::Int, units: Self::Real) -> Self::Real {
        each!(i => T::dequantize(a[i], units[i]))
    }
    #[inline(always)]
    fn distance(a: Self::Real, b: Self::Real) -> Self::Real {
        each!(i => a[i].distance(b[i]))
    }
    #[inline(always)]
    fn larger(a: Self::Real, b: Self::Real) -> Self::Real {
        each!(i => if a[i] > b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn load_quads(from: &[T; 4 * LANES], to: &mut [Lanes<T>; 4]) {
        for (x, lanes) in to.iter_mut().enumerate() {
            for (lane, value) in lanes.iter_mut().enumerate() {
                *value = from[4 * lane + x];
            }
        }
    }
    #[inline(always)]
    fn store_quads(from: &[Lanes<T>; 4], to: &mut [T; 4 * LANES]) {
        for (lane, quad) in to.chunks_exact_mut(4).enumerate() {
            for (x, value) in quad.iter_mut().enumerate() {
                *value = from[x][lane];
            }
        }
    }

    #[inline(always)]
    fn split<const N: usize>(bits: &[Lanes<T::Int>; N], needed: u32, planes: &mut [Planes; LANES]) {
        planes::split(bits, needed, planes);
    }
    #[inline(always)]
    fn join<const N: usize>(
        planes: &mut [Planes; LANES],
        given: &Lanes<u32>,
        bits: &mut [Lanes<T::Int>; N],
    ) {
        planes::join(planes, given, bits);
    }
}
