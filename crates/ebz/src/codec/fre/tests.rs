//! Tests of the kernels against the definition of the words, and of the words against the paper.

use super::grid::{MantissaGrid, Pattern};
use super::kernels::dispatch::Kernels;
use super::{decode, encode, lanes, word};
use crate::bound::Tolerance;
use crate::codec::Context;
use crate::fill::{FillValues, TypedFill};
use crate::simd::Level;

fn no_fill<P: Pattern>() -> TypedFill<P> {
    FillValues::NONE.typed(|_| P::default())
}

/// Every level, with plain loops and with other kernels, into the caches and past them.
fn ways() -> impl Iterator<Item = (Level, bool, bool)> {
    Level::available().flat_map(|level| {
        let ways = [(false, false), (true, false), (true, true)];
        ways.map(|(fused, streaming)| (level, fused, streaming))
    })
}

/// The bits of a word as text.
fn text<P: Pattern>(x: P, previous: P, grid: &MantissaGrid<P>) -> String {
    let (bits, length) = word::encode(x, previous, grid);
    format!("{bits:0width$b}", width = length as usize)
}

#[test]
fn words_match_the_paper() {
    let grid = MantissaGrid::<u32>::new(Tolerance::Precision(6), false, no_fill());
    let word = |x: f32, previous: f32| {
        let [x, previous] = [x, previous].map(|x| grid.round(x.to_bits()));
        text(x, previous, &grid)
    };
    assert_eq!(word(1.0, 1.0), "00");
    assert_eq!(word(1.001, 1.0), "00");
    assert_eq!(word(0.0, 0.0), "00");
    assert_eq!(word(-0.0, 0.0), format!("0101{:023b}", 0));
    assert_eq!(word(f32::from_bits(5), 1.0), format!("0100{:023b}", 5));
    assert_eq!(word(-1.5, 1.0), "111000000");
    assert_eq!(word(1.25, 1.0), "100100000");
    for (d, code) in [
        (1, "10"),
        (2, "110"),
        (3, "1110"),
        (4, "11110"),
        (5, "111110"),
        (6, "11111100"),
        (7, "11111101"),
        (8, "11111110"),
        (9, "11111111"),
    ] {
        assert_eq!(word(2f32.powi(d), 1.0), format!("10000000{code}0"));
        assert_eq!(word(-(2f32.powi(-d)), 1.0), format!("11000000{code}1"));
    }
    let mut zeros_as_words = grid;
    zeros_as_words.zeros_repeat = false;
    assert_eq!(text(0, 0, &zeros_as_words), format!("0100{:023b}", 0));
    assert_eq!(text(5, 5, &zeros_as_words), format!("0100{:023b}", 5));
    let one = 1f32.to_bits();
    assert_eq!(text(one, one, &zeros_as_words), "00");
    assert_eq!(word(1024.0, 1.0), format!("0110{:08b}000000", 137));
    assert_eq!(word(1.0, 1024.0), format!("0110{:08b}000000", 127));
    // The escape, which the paper does not have.
    let exact = |x: f32| format!("0110{:08b}{:031b}", 255, x.to_bits());
    assert_eq!(word(f32::INFINITY, 1.0), exact(f32::INFINITY));
    assert_eq!(word(f32::NAN, 1.0), exact(f32::NAN));
}

/// Patterns of every kind with different frequencies.
fn patterns<P: Pattern>(count: usize, seed: u64) -> Vec<P> {
    let mut state = seed;
    let mut last = 0u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 20
    };
    let mut one = || {
        let bits = next();
        let noise = next() << 24 ^ next();
        let exponent = P::exponent_bits().into();
        last = match bits % 64 {
            0 => noise,
            1 => exponent | (noise % 3),
            2..8 => last,
            8..16 => 0,
            16 => exponent - 1,
            _ => {
                let near = (127 << 3) % (1 << (P::EXPONENT - 1)) + bits / 64 % 14;
                (near << P::MANTISSA) | (noise & ((1 << P::MANTISSA) - 1)) | bits << 63
            }
        };
        P::truncate(last)
    };
    (0..count).map(|_| one()).collect()
}

/// The chunk encoded word by word.
fn naive<P: Pattern>(values: &[P], grid: &MantissaGrid<P>, one_lane: bool) -> Vec<u8> {
    let mut sizes = Vec::new();
    let mut streams = Vec::new();
    for lane in lanes::split(values, one_lane) {
        let mut bits = String::new();
        let mut previous = P::default();
        for &value in lane {
            let x = grid.round(value);
            bits += &text(x, previous, grid);
            previous = x;
        }
        let byte = |bits: &[u8]| {
            bits.iter()
                .rev()
                .enumerate()
                .map(|(i, b)| (b & 1) << i)
                .sum()
        };
        bits += &"0".repeat(bits.len().next_multiple_of(8) - bits.len());
        let bytes: Vec<u8> = bits.as_bytes().chunks(8).map(byte).collect();
        sizes.push((bytes.len() as u32).to_le_bytes());
        streams.extend(bytes);
    }
    let mut out = Vec::new();
    lanes::Layout::write_head(grid.kept, one_lane, &sizes, &mut out);
    out.extend(streams);
    out
}

fn kernels_match_the_definition<P: Pattern>()
where
    Level: Kernels<P>,
{
    for count in [0, 1, 255, 257, 3000, 70_001] {
        let values: Vec<P> = patterns(count, count as u64);
        let full = P::MANTISSA;
        for kept in [0, 1, 6, 10, 16, 17, 20, 21, 22, full - 1, full] {
            for nearest in [true, false] {
                // The patterns of some of the values as fill values.
                let places = FillValues::new(&[3.0, 5.0][..usize::from(nearest) + 1]).unwrap();
                let fill = places.typed(|at| values.get(at as usize).copied().unwrap_or_default());
                let mut grid = MantissaGrid::<P>::new(Tolerance::Precision(kept), nearest, fill);
                // The variants of the paper, in all combinations.
                grid.zeros_repeat = nearest || kept % 2 == 0;
                let one_lane = kept % 3 == 1;
                let expected = naive(&values, &grid, one_lane);
                let rounded: Vec<P> = values.iter().map(|&x| grid.round(x)).collect();
                for (level, fused, streaming) in ways() {
                    let mut context = Context::new(level);
                    (context.fused, context.streaming) = (fused, streaming);
                    let mut out = Vec::new();
                    encode::encode(&values, &grid, one_lane, &mut context, &mut out);
                    if out.len() >= size_of_val(&values[..]) && expected.len() > 4 {
                        assert!(expected.len() + 8000 > out.len());
                    } else {
                        assert_eq!(out, expected, "{level:?} {count} {kept}");
                    }
                    let mut back = vec![P::truncate(77); count];
                    decode::decode(&expected, &context, &mut back).unwrap();
                    assert!(back == rounded, "{level:?} {count} {kept}");
                }
            }
        }
    }
}

#[test]
fn kernels_match_the_definition_f32() {
    kernels_match_the_definition::<u32>();
}

#[test]
fn kernels_match_the_definition_f64() {
    kernels_match_the_definition::<u64>();
}

#[test]
fn damaged_lanes_decode_identically_at_every_level() {
    let values: Vec<u32> = patterns(66_000, 9);
    let grid = MantissaGrid::<u32>::new(Tolerance::Precision(6), true, no_fill());
    let good = naive(&values, &grid, false);
    for round in 0..40 {
        let mut bytes = good.clone();
        let at = 4 + round * 7919 % (bytes.len() - 4);
        bytes[at] ^= 1 << (round % 8);
        let all = ways().map(|(level, fused, streaming)| {
            let mut out = vec![0u32; values.len()];
            let mut context = Context::new(level);
            (context.fused, context.streaming) = (fused, streaming);
            let result = decode::decode(&bytes, &context, &mut out);
            result.map(|()| out).map_err(|error| error.to_string())
        });
        let all: Vec<_> = all.collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "byte {at}");
    }
}

#[test]
fn rounding_to_nearest_needs_one_bit_less_than_truncation() {
    let kept =
        |e, nearest| MantissaGrid::<u32>::new(Tolerance::Pointwise(e), nearest, no_fill()).kept;
    for (e, bits) in [(0.5, 0), (0.25, 1), (1.0 / 64.0, 5), (1e-3, 9), (1e-9, 23)] {
        assert_eq!(kept(e, true), bits);
        assert_eq!(kept(e, false), (bits + 1).min(23));
    }
}
