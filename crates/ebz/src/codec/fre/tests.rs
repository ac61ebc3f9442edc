//! Tests of the kernels against the definition of the words, and of the words against the paper.

use super::grid::{MantissaGrid, Pattern};
use super::kernels::dispatch::Kernels;
use super::order::{MAGNITUDES, Measured, ORDER_BYTES, Order, Paper};
use super::{decode, encode, lanes, word};
use crate::bound::Tolerance;
use crate::codec::Context;
use crate::error::Error;
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
    digits(word::encode(x, previous, grid, Paper))
}

fn digits((bits, length): word::Bits) -> String {
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
    naive_in(None, values, grid, one_lane)
}

fn naive_in<P: Pattern>(
    order: Option<Measured>,
    values: &[P],
    grid: &MantissaGrid<P>,
    one_lane: bool,
) -> Vec<u8> {
    let mut sizes = Vec::new();
    let mut streams = Vec::new();
    for lane in lanes::split(values, one_lane) {
        let mut bits = String::new();
        let mut previous = P::default();
        for &value in lane {
            let x = grid.round(value);
            bits += &match order {
                None => text(x, previous, grid),
                Some(order) => digits(word::encode(x, previous, grid, order)),
            };
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
    lanes::Layout::write_head(grid.kept, one_lane, order, &sizes, &mut out);
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
                    encode::encode(&values, &grid, one_lane, false, &mut context, &mut out);
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
    let orders = [None, Some(shuffled())];
    let good = orders.map(|order| naive_in(order, &values, &grid, false));
    for round in 0..40 {
        let mut bytes = good[round % 2].clone();
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

/// Any order but the paper's.
fn shuffled() -> Measured {
    Measured::of(&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3]).unwrap()
}

#[test]
fn orders_rank_by_frequency_and_are_stored() {
    let order = shuffled();
    let magnitudes = [5, 7, 4, 8, 2, 0, 9, 6, 1, 3];
    for (rank, magnitude) in (0..).zip(magnitudes) {
        assert_eq!(order.magnitude(rank), magnitude);
        assert_eq!(order.rank(magnitude), rank);
    }
    let bytes = [0x57, 0x48, 0x20, 0x96, 0x13];
    assert_eq!(order.to_bytes(), bytes);
    assert_eq!(Measured::from_bytes(bytes), Some(order));
    assert_eq!(Measured::of(&[7; MAGNITUDES]), None);
    assert_eq!(Measured::of(&[9, 8, 8, 7, 3, 3, 3, 1, 0, 0]), None);
}

#[test]
fn codes_of_any_order_are_free_of_prefixes_and_decode() {
    let grid = MantissaGrid::<u32>::new(Tolerance::Precision(6), true, no_fill());
    let one = 1f32.to_bits();
    let reversed = Measured::of(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    for order in [shuffled(), reversed] {
        let mut codes = Vec::new();
        for d in -9i64..=9 {
            let rank = order.rank(d.unsigned_abs());
            let code = digits(word::difference(d, rank));
            // As long as the paper's of this rank, but for the sign.
            let signs = |magnitude| usize::from(magnitude != 0);
            let paper = digits(word::difference(rank.cast_signed(), rank));
            assert_eq!(
                code.len() - signs(d.unsigned_abs()),
                paper.len() - signs(rank)
            );
            codes.push(code);

            let x = (-1.5 * 2f32.powi(d as i32)).to_bits();
            let (bits, length) = word::encode(x, one, &grid, order);
            let rest = 128 - length;
            let window = (bits << rest) | ((1 << rest) - 1);
            assert_eq!(word::decode(window, one, grid.kept, order), (x, length));
        }
        for (i, code) in codes.iter().enumerate() {
            let begins = |(j, other): (usize, &String)| i != j && other.starts_with(code);
            assert!(!codes.iter().enumerate().any(begins), "{codes:?}");
        }
    }
}

/// Values whose exponents differ by 3, 2, 2, 2, 3, 8 and so on, or one more or less.
fn jumps<P: Pattern>(count: usize) -> Vec<P> {
    let value = |(i, noise): (usize, P)| {
        let exponent = 100 + [0, 3, 1, 3, 5, 8][i % 6];
        let mantissa = noise & P::truncate((1 << P::MANTISSA) - 1);
        P::truncate(exponent << P::MANTISSA) | mantissa
    };
    patterns(count, 3)
        .into_iter()
        .enumerate()
        .map(value)
        .collect()
}

fn measured_words_gain<P: Pattern>()
where
    Level: Kernels<P>,
{
    for count in [100, 3000, 70_001] {
        for (values, gains) in [
            (jumps::<P>(count), true),
            (vec![P::default(); count], false),
        ] {
            let grid = MantissaGrid::<P>::new(Tolerance::Precision(6), true, no_fill());
            let rounded: Vec<P> = values.iter().map(|&x| grid.round(x)).collect();
            for one_lane in [false, true] {
                let paper = naive(&values, &grid, one_lane);
                for (level, fused, streaming) in ways() {
                    let mut context = Context::new(level);
                    (context.fused, context.streaming) = (fused, streaming);
                    let mut out = vec![7];
                    encode::encode(&values, &grid, one_lane, true, &mut context, &mut out);
                    assert_eq!(out.remove(0), 7);
                    assert_eq!(out.len() < paper.len(), gains, "{count}");
                    let layout = lanes::Layout::read_from(&out, count, P::MANTISSA).unwrap();
                    assert_eq!(layout.order.is_some(), gains);
                    assert_eq!(out, naive_in(layout.order, &values, &grid, one_lane));
                    let mut back = vec![P::truncate(77); count];
                    decode::decode(&out, &context, &mut back).unwrap();
                    assert!(back == rounded, "{level:?} {count} {one_lane}");
                }
            }
        }
    }
}

#[test]
fn measured_words_gain_f32() {
    measured_words_gain::<u32>();
}

#[test]
fn measured_words_gain_f64() {
    measured_words_gain::<u64>();
}

#[test]
fn an_order_that_costs_more_than_it_gains_is_not_stored() {
    let grid = MantissaGrid::<u32>::new(Tolerance::Precision(6), true, no_fill());
    let encoded = |count: usize, measured| {
        let mut out = Vec::new();
        let values = jumps::<u32>(count);
        encode::encode(
            &values,
            &grid,
            true,
            measured,
            &mut Context::default(),
            &mut out,
        );
        out
    };
    let sizes = |count| [false, true].map(|measured| encoded(count, measured).len());
    let first = (1..500).find(|&count| {
        let [paper, measured] = sizes(count);
        paper != measured
    });
    let first = first.unwrap();
    assert!(first > ORDER_BYTES, "{first}");
    assert_eq!(encoded(first - 1, true), encoded(first - 1, false));
    let [paper, measured] = sizes(first);
    assert_eq!(measured, paper - 1);
}

#[test]
fn orders_that_are_not_permutations_are_errors() {
    let values = jumps::<u32>(3000);
    let grid = MantissaGrid::<u32>::new(Tolerance::Precision(6), true, no_fill());
    for one_lane in [false, true] {
        let good = naive_in(Some(shuffled()), &values, &grid, one_lane);
        let result = |bytes: &[u8]| {
            let mut out = vec![0u32; values.len()];
            decode::decode(bytes, &Context::default(), &mut out)
        };
        result(&good).unwrap();
        // A magnitude twice, and one that has no code.
        for (at, byte) in [(4, 0x55), (5, 0x58), (8, 0x1a), (8, 0xf3)] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            let error = result(&bytes).unwrap_err();
            assert!(error.to_string().contains("not a permutation"), "{error}");
        }
        // Without the flag, the order would be lengths; other flags do not exist.
        for flag in [2, 4, 128] {
            let mut bytes = good.clone();
            bytes[1] ^= flag;
            assert!(matches!(result(&bytes), Err(Error::Corrupt(_))), "{flag}");
        }
        for length in 0..20 {
            assert!(result(&good[..length]).is_err());
        }
    }
}
