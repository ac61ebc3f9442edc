//! Chunks whose values are all the same, bit for bit: stored as that one value, whatever the codec
//! and the bound.

use crate::element::Element;
use crate::error::{Error, Result};

/// Values compared before looking whether any differed: enough for vector instructions.
const BLOCK: usize = 512;

/// The value that all of these are, if there are several; others are not looked at for long.
pub(super) fn forward<T: Element>(values: &[T]) -> Option<T> {
    let (&first, rest) = values.split_first()?;
    let word = first.to_word();
    let differ = |block: &[T]| block.iter().fold(0, |bits, v| bits | (v.to_word() ^ word)) != 0;
    // Most chunks are settled by their second value.
    let second = rest.first()?.to_word();
    (second == word && !rest.chunks(BLOCK).any(differ)).then_some(first)
}

/// Fills `out` with the value of a record's body.
pub(super) fn inverse<T: Element>(body: &[u8], out: &mut [T]) -> Result<()> {
    if body.len() != T::SIZE {
        return Err(Error::corrupt(format!(
            "a constant of {} bytes for {} values",
            body.len(),
            T::TYPE
        )));
    }
    out.fill(bytemuck::pod_read_unaligned(body));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_bits_are_constant() {
        for length in [2, 3, BLOCK, BLOCK + 1, BLOCK + 2, 3 * BLOCK + 7] {
            for value in [0.0, 1.5, f32::NAN, f32::INFINITY] {
                let mut values = vec![value; length];
                let found = forward(&values).map(f32::to_bits);
                assert_eq!(found, Some(value.to_bits()), "{length} of {value}");
                for at in [0, 1, length / 2, length - 1] {
                    // Another NaN, or the other zero.
                    values[at] = f32::from_bits(value.to_bits() ^ 1);
                    assert!(forward(&values).is_none(), "{length} of {value}, {at}");
                    values[at] = -value;
                    assert!(forward(&values).is_none(), "{length} of {value}, {at}");
                    values[at] = value;
                }
            }
        }
        assert!(forward::<f64>(&[]).is_none());
        // Raw values take as little.
        assert!(forward(&[1.0]).is_none());
    }

    #[test]
    fn a_body_of_another_size_is_refused() {
        let mut out = [0.0f64; 5];
        assert!(inverse(&2.5f64.to_le_bytes(), &mut out).is_ok());
        assert_eq!(out, [2.5; 5]);
        for length in [0, 4, 7, 9, 16] {
            assert!(inverse(&vec![0; length], &mut out).is_err(), "{length}");
        }
    }
}
