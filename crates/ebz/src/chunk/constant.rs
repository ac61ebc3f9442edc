//! Chunks of bit-identical values: the value is stored once, whatever the codec and the bound.

use crate::element::Element;
use crate::error::{Error, Result};

/// Values compared between checks; long enough to vectorize.
const BLOCK_VALUES: usize = 512;

/// The common value if there are at least two values and all are identical; exits early otherwise.
pub(super) fn forward<T: Element>(values: &[T]) -> Option<T> {
    let (&first, rest) = values.split_first()?;
    let word = first.to_word();
    let differ = |block: &[T]| block.iter().fold(0, |bits, v| bits | (v.to_word() ^ word)) != 0;
    // The second value settles it for most chunks.
    let second = rest.first()?.to_word();
    (second == word && !rest.chunks(BLOCK_VALUES).any(differ)).then_some(first)
}

/// Fills `out` with the value in the body of a record.
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
        for length in [
            2,
            3,
            BLOCK_VALUES,
            BLOCK_VALUES + 1,
            BLOCK_VALUES + 2,
            3 * BLOCK_VALUES + 7,
        ] {
            for value in [0.0, 1.5, f32::NAN, f32::INFINITY] {
                let mut values = vec![value; length];
                let found = forward(&values).map(f32::to_bits);
                assert_eq!(found, Some(value.to_bits()), "{length} of {value}");
                for at in [0, 1, length / 2, length - 1] {
                    // A NaN with another payload, or the zero of the other sign.
                    values[at] = f32::from_bits(value.to_bits() ^ 1);
                    assert!(forward(&values).is_none(), "{length} of {value}, {at}");
                    values[at] = -value;
                    assert!(forward(&values).is_none(), "{length} of {value}, {at}");
                    values[at] = value;
                }
            }
        }
        assert!(forward::<f64>(&[]).is_none());
        // A single value is stored raw, which is as short.
        assert!(forward(&[1.0]).is_none());
    }

    #[test]
    fn wrong_body_sizes_are_rejected() {
        let mut out = [0.0f64; 5];
        assert!(inverse(&2.5f64.to_le_bytes(), &mut out).is_ok());
        assert_eq!(out, [2.5; 5]);
        for length in [0, 4, 7, 9, 16] {
            assert!(inverse(&vec![0; length], &mut out).is_err(), "{length}");
        }
    }
}
