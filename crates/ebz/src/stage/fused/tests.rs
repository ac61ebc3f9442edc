//! Kernels against the stages one after the other.

use super::*;
use crate::element::real::Via;
use crate::fill::FillValues;
use crate::stage::lags::{Differences, Numbers};
use crate::stage::planes;
use crate::stage::quantize::{self, Quantizer, Scale};

const SHAPES: [(usize, usize, usize); 12] = [
    (1, 1, 5000),
    (1, 1, 255),
    (1, 20, 255),
    (3, 1, 700),
    (5, 30, 64),
    (9, 16, 256),
    (3, 11, 401),
    (9, 2, 32),
    (20, 8, 33),
    (4, 30, 128),
    (2, 5, 512),
    (2, 3, 2048),
];

/// Every set of lags that a chunk can claim, whatever its extents.
fn cases() -> impl Iterator<Item = (Dims, Lags)> {
    SHAPES.into_iter().flat_map(|(nz, ny, nx)| {
        let lags = (0..8).map(Lags);
        lags.map(move |lags| (Dims { nz, ny, nx }, lags))
    })
}

fn random() -> impl FnMut() -> u32 {
    let mut state = 5u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 32) as u32
    }
}

/// Numbers with residuals of all widths.
fn numbers(units: usize) -> Vec<u16> {
    let mut random = random();
    let mut number = || (random() as u16) >> (random() % 17).min(15);
    let mut last = 0u16;
    let mut next = || {
        last = last.wrapping_add(number());
        last
    };
    (0..units * UNIT).map(|_| next()).collect()
}

/// Codes and planes by the stages.
fn staged(numbers: &[u16], dims: Dims, lags: Lags) -> (Vec<u8>, Vec<u8>) {
    let mut differences = Differences::default();
    differences.start(lags, dims);
    let (mut codes, mut bytes) = (Vec::new(), Vec::new());
    let mut unit = Numbers::default();
    for part in numbers.as_chunks().0 {
        *unit.unit() = *part;
        let (mut residuals, mut out) = ([0; UNIT], [0; MAX_UNIT]);
        differences.forward(Level::Portable, &mut unit, &mut residuals);
        unit.advance();
        let (code, length) = planes::encode(Level::Portable, &residuals, &mut out);
        codes.push(code);
        bytes.extend_from_slice(&out[..length]);
    }
    (codes, bytes)
}

fn fused<T: Float>(
    context: &mut Context,
    (dims, lags): (Dims, Lags),
    plain: Option<(Plain<T>, &[T])>,
    coordinates: &mut Coordinates<'_>,
) -> Option<(Vec<u8>, Vec<u8>, PointRange)> {
    let mut scratch = context.take::<Scratch>();
    let mut out = vec![7; 3];
    let source = Source {
        dims,
        lags,
        plain,
        coordinates,
    };
    let units = dims.len().div_ceil(UNIT);
    let range = encode(context, source, units, &mut scratch, &mut out)?;
    let codes = scratch.codes.clone();
    context.put_back(scratch);
    Some((codes, out.split_off(3), range.unwrap()))
}

/// Contexts of the levels that have kernels, if they can run with these lags.
fn contexts(dims: Dims, lags: Lags) -> impl Iterator<Item = Context> {
    Level::available()
        .filter(|level| *level != Level::Portable)
        .map(Context::new)
        .filter(move |context| allows(context, lags, dims))
}

#[test]
fn encoders_match_the_stages_for_every_set_of_lags() {
    for (dims, lags) in cases() {
        let numbers = numbers(dims.len().div_ceil(UNIT));
        let units = numbers.as_chunks::<UNIT>().0;
        let expected = staged(&numbers, dims, lags);
        for mut context in contexts(dims, lags) {
            // The second time, the history is that of another chunk.
            for _ in 0..2 {
                let mut last = 0;
                let mut coordinates = |index: usize, before: u16, q: &mut [u16; UNIT]| {
                    assert_eq!(before, last);
                    *q = units[index];
                    last = q[UNIT - 1];
                    true
                };
                let result = fused::<f32>(&mut context, (dims, lags), None, &mut coordinates);
                let (codes, planes, range) = result.unwrap();
                assert_eq!(range, PointRange::EMPTY);
                assert!(
                    (&codes, &planes) == (&expected.0, &expected.1),
                    "{dims:?} {lags:?}"
                );
            }
        }
    }
}

fn plain_units_match<T: Float + Via<T>>() {
    let mut random = random();
    let bound = 1e-3;
    let step = quantize::step::<T>(bound).unwrap();
    let lattice = Quantizer::<T, T>::new(step, 0, 32_766, bound, &FillValues::NONE);
    for (dims, lags) in cases() {
        let values: Vec<T> = (0..dims.len())
            .map(|i| match random() % 3000 {
                0 => T::from_word(u64::from(random()) << 32 | u64::from(random())),
                1 => T::from_f64(f64::NAN),
                2 => T::from_f64(step * 32_766.6),
                // Ties.
                n if n < 1000 => T::from_f64((f64::from(n) - 500.5) * step),
                n => T::from_f64(f64::from(n) * 0.01 + (i as f64 * 0.01).sin()),
            })
            .collect();
        let units = dims.len().div_ceil(UNIT);
        // Coordinates of units with exceptions; here the largest replace them.
        let mut good = vec![false; units];
        let mut all = Vec::new();
        let mut expected = PointRange::EMPTY;
        for (index, unit) in values.chunks(UNIT).enumerate() {
            let mut q = [9u16; UNIT];
            if let Some(unit) = unit.first_chunk() {
                good[index] = lattice.forward(unit, &mut q);
            }
            if good[index] {
                for q in q.map(|q| f64::from(q.cast_signed())) {
                    expected.join(PointRange { min: q, max: q });
                }
            } else {
                q = [9; UNIT];
            }
            all.extend(q);
        }
        let (codes, planes) = staged(&all, dims, lags);
        for mut context in contexts(dims, lags) {
            let here = matches!(context.simd(), Level::Avx512(_));
            let mut asked = vec![true; units];
            let mut coordinates = |index: usize, before: u16, q: &mut [u16; UNIT]| {
                assert_eq!(
                    before,
                    index.checked_sub(1).map_or(0, |i| all[i * UNIT + 255])
                );
                asked[index] = false;
                *q = all.as_chunks().0[index];
                true
            };
            let plain = lattice.plain().map(|plain| (plain, &values[..]));
            let result = fused(&mut context, (dims, lags), plain, &mut coordinates).unwrap();
            if here {
                assert_eq!(asked, good);
            }
            assert!((result.0, result.1) == (codes.clone(), planes.clone()));
            // Units after one with exceptions start a new range.
            if here && good[..dims.len() / UNIT].iter().all(|good| *good) {
                assert_eq!(result.2, expected);
            }
        }
    }
}

#[test]
fn plain_units_match_the_quantizer_and_others_are_left_to_the_caller() {
    plain_units_match::<f32>();
    plain_units_match::<f64>();
}

fn decoders_match<T: Float>() {
    for (dims, lags) in cases() {
        let mut numbers = numbers(dims.len().div_ceil(UNIT));
        let (codes, planes) = staged(&numbers, dims, lags);
        numbers.truncate(dims.len());
        let (step, base) = (quantize::step::<T>(0.013).unwrap(), 70_000.0);
        let point = |q: u16| T::from_f64(f64::from(q.cast_signed()) + base);
        let expected: Vec<T> = numbers
            .iter()
            .map(|&q| point(q).mul(T::from_f64(step)))
            .collect();
        for mut context in contexts(dims, lags) {
            for (offset, streaming) in [(0, false), (0, true), (1, true), (4, true), (15, true)] {
                context.streaming = streaming;
                let mut memory = vec![T::default(); dims.len() + 32];
                let start = memory.as_ptr().align_offset(64) + offset;
                let out = &mut memory[start..start + dims.len()];
                let bytes = (&codes[..], &planes[..]);
                let rest = decode(&mut context, (lags, dims), (step, base), bytes, out);
                assert!(rest.unwrap().unwrap().is_empty());
                assert!(out == expected, "{dims:?} {lags:?} {offset} {streaming}");
                // Nothing before and after it.
                let others = memory[..start].iter().chain(&memory[start + dims.len()..]);
                assert!(others.copied().all(|x| x == T::default()));
            }
        }
    }
}

#[test]
fn decoders_match_the_stages_for_every_set_of_lags() {
    decoders_match::<f32>();
    decoders_match::<f64>();
}

#[test]
fn damaged_units_are_errors() {
    let dims = Dims {
        nz: 3,
        ny: 11,
        nx: 401,
    };
    let (codes, planes) = staged(&numbers(dims.len().div_ceil(UNIT)), dims, Lags(7));
    for mut context in contexts(dims, Lags(7)) {
        let mut out = vec![0f32; dims.len()];
        let mut decoded = |codes: &[u8], planes: &[u8]| {
            decode(
                &mut context,
                (Lags(7), dims),
                (1.0, 0.0),
                (codes, planes),
                &mut out,
            )
            .unwrap()
            .map(<[u8]>::len)
        };
        assert_eq!(decoded(&codes, &planes).unwrap(), 0);
        assert!(decoded(&codes[1..], &planes).is_err());
        for length in (0..planes.len()).step_by(97) {
            assert!(decoded(&codes, &planes[..length]).is_err());
        }
        let mut random = random();
        for _ in 0..200 {
            let codes: Vec<u8> = codes.iter().map(|_| random() as u8 % 160).collect();
            let planes: Vec<u8> = planes.iter().map(|_| random() as u8).collect();
            let _ = decoded(&codes, &planes);
        }
    }
}
