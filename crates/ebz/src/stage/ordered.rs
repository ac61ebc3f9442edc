//! Floats as integers in the same order: small changes of a value are small changes of its number.

use super::UNIT;
use crate::element::Float;
use crate::element::word::Word;

/// Reverses the order of negative numbers, in the top bits of a word.
#[inline(always)]
fn flip_negative(bits: u64) -> u64 {
    let sign = bits.cast_signed() >> 63;
    bits ^ (sign.cast_unsigned() >> 1)
}

/// The number of a value.
#[inline(always)]
fn to_order<T: Float, W: Word>(value: T) -> W {
    let shift = 64 - 8 * T::SIZE;
    W::truncate(flip_negative(value.to_word() << shift) >> shift)
}

/// The value of a number.
#[inline(always)]
fn from_order<T: Float, W: Word>(number: W) -> T {
    let shift = 64 - 8 * T::SIZE;
    T::from_word(flip_negative(number.signed().cast_unsigned() << shift) >> shift)
}

/// Numbers of a unit of values.
#[inline(always)]
pub(crate) fn forward<T: Float, W: Word>(values: &[T; UNIT], numbers: &mut [W; UNIT]) {
    for (number, &value) in numbers.iter_mut().zip(values) {
        *number = to_order(value);
    }
}

/// Values of a unit of numbers.
#[inline(always)]
pub(crate) fn inverse<T: Float, W: Word>(numbers: &[W; UNIT], values: &mut [T; UNIT]) {
    for (value, &number) in values.iter_mut().zip(numbers) {
        *value = from_order(number);
    }
}
