//! Order-preserving map from floats to integers: nearby values get nearby integers.

use super::UNIT;
use crate::element::Float;
use crate::element::word::Word;

/// Reverses the order of negative numbers, given as left-aligned bits.
#[inline(always)]
fn flip_negative(bits: u64) -> u64 {
    let sign = bits.cast_signed() >> 63;
    bits ^ (sign.cast_unsigned() >> 1)
}

/// Maps a value to its integer.
#[inline(always)]
fn to_order<T: Float, W: Word>(value: T) -> W {
    let shift = 64 - 8 * T::SIZE;
    W::truncate(flip_negative(value.to_word() << shift) >> shift)
}

/// Maps an integer back to its value.
#[inline(always)]
fn from_order<T: Float, W: Word>(number: W) -> T {
    let shift = 64 - 8 * T::SIZE;
    T::from_word(flip_negative(number.signed().cast_unsigned() << shift) >> shift)
}

/// Maps a unit of values to integers.
#[inline(always)]
pub(crate) fn forward<T: Float, W: Word>(values: &[T; UNIT], numbers: &mut [W; UNIT]) {
    for (number, &value) in numbers.iter_mut().zip(values) {
        *number = to_order(value);
    }
}

/// Maps a unit of integers back to values.
#[inline(always)]
pub(crate) fn inverse<T: Float, W: Word>(numbers: &[W; UNIT], values: &mut [T; UNIT]) {
    for (value, &number) in values.iter_mut().zip(numbers) {
        *value = from_order(number);
    }
}
