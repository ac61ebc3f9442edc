//! Floats as integers in the same order: small changes of a value are small changes of its number.

use super::UNIT;
use super::word::Word;
use crate::element::Element;

/// The number of a value: bit patterns of negative values are reversed.
#[inline(always)]
fn to_order<T: Element, W: Word>(value: T) -> W {
    let shift = 64 - 8 * T::SIZE;
    let bits = (value.to_word() << shift).cast_signed();
    W::truncate((bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()).cast_unsigned() >> shift)
}

/// The value of a number.
#[inline(always)]
fn from_order<T: Element, W: Word>(number: W) -> T {
    let number = number.signed();
    T::from_word((number ^ ((number >> 63).cast_unsigned() >> 1).cast_signed()).cast_unsigned())
}

/// Numbers of a unit of values.
#[inline(always)]
pub(crate) fn forward<T: Element, W: Word>(values: &[T; UNIT], numbers: &mut [W; UNIT]) {
    for (number, &value) in numbers.iter_mut().zip(values) {
        *number = to_order(value);
    }
}

/// Values of a unit of numbers.
#[inline(always)]
pub(crate) fn inverse<T: Element, W: Word>(numbers: &[W; UNIT], values: &mut [T; UNIT]) {
    for (value, &number) in values.iter_mut().zip(numbers) {
        *value = from_order(number);
    }
}
