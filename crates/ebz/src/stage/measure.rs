//! Each stage by itself, on waves with some noise, for the benchmark `stages`.

use super::exceptions::{Exceptions, restore};
use super::huffman::{self, Book, Histogram, Sort, Table};
use super::lags::{Differences, Lags, Numbers};
use super::occupancy::{Cursor, Occupancy};
use super::quantize::{self, Quantizer, Scale};
use super::{UNIT, dualquant, fields, flags, nonzero, ordered, planes};
use crate::error::Result;
use crate::fill::FillValues;
use crate::request::Dims;
use crate::simd::Level;

/// A stage with its times.
#[derive(Debug, Clone, Copy)]
pub struct Measured<R> {
    /// Its name.
    pub name: &'static str,
    /// Bytes of its input.
    pub bytes: usize,
    /// What the clock returned for both directions.
    pub times: [R; 2],
}

const DIMS: Dims = Dims {
    nz: 64,
    ny: 128,
    nx: 128,
};
const UNITS: usize = DIMS.nz * DIMS.ny * DIMS.nx / UNIT;
const BOUND: f64 = 1e-3;
/// Every so many units have fill values.
const UNITS_PER_MASK: usize = 8;
/// Bits of packed fields.
const FIELD_BITS: u32 = 5;

fn wave(i: usize) -> f32 {
    let noise = (i as u32).wrapping_mul(2_654_435_761) >> 20;
    (i as f32 * 0.01).sin() + (i / 16_384) as f32 * 0.02 + noise as f32 * 1e-6
}

/// Runs every stage forwards and back; `clock` times a function.
pub fn all<R>(level: Level, clock: impl Fn(&mut dyn FnMut()) -> R) -> Result<Vec<Measured<R>>> {
    let values: Vec<f32> = (0..UNITS * UNIT).map(wave).collect();
    let units = values.as_chunks::<UNIT>().0;
    let mut back = vec![[0f32; UNIT]; UNITS];
    let mut measured = Vec::new();
    let mut add = |name, bytes, times| measured.push(Measured { name, bytes, times });
    let decode = |run: &mut dyn FnMut() -> Result<()>| {
        let mut done = Ok(());
        let time = clock(&mut || done = run());
        done.map(|()| time)
    };

    let step = quantize::step::<f32>(BOUND).unwrap_or(2.0 * BOUND);
    let quantizer =
        Quantizer::<f32, f32>::new(step, 0, dualquant::MAX_NARROW, BOUND, &FillValues::NONE);
    let mut coordinates = vec![[0u16; UNIT]; UNITS];
    let forward = clock(&mut || {
        level.run(
            #[inline(always)]
            || {
                for (unit, q) in units.iter().zip(&mut coordinates) {
                    quantizer.forward(unit, q);
                }
            },
        );
    });
    let inverse = clock(&mut || {
        level.run(
            #[inline(always)]
            || {
                for (q, unit) in coordinates.iter().zip(&mut back) {
                    Quantizer::inverse(step as f32, 0.0, q, unit);
                }
            },
        );
    });
    add("quantize", size_of_val(units), [forward, inverse]);

    let mut orders = vec![[0u32; UNIT]; UNITS];
    let forward = clock(&mut || {
        level.run(
            #[inline(always)]
            || {
                for (unit, order) in units.iter().zip(&mut orders) {
                    ordered::forward(unit, order);
                }
            },
        );
    });
    let inverse = clock(&mut || {
        level.run(
            #[inline(always)]
            || {
                for (order, unit) in orders.iter().zip(&mut back) {
                    ordered::inverse(order, unit);
                }
            },
        );
    });
    add("ordered", size_of_val(units), [forward, inverse]);

    let mut residuals = vec![[0u16; UNIT]; UNITS];
    let mut differences = Differences::default();
    let forward = clock(&mut || {
        let mut numbers = Numbers::default();
        differences.start(Lags(7), DIMS);
        for (q, residuals) in coordinates.iter().zip(&mut residuals) {
            *numbers.unit() = *q;
            differences.forward(level, &mut numbers, residuals);
            numbers.advance();
        }
    });
    let inverse = clock(&mut || {
        let mut numbers = Numbers::default();
        differences.start(Lags(7), DIMS);
        for (residuals, q) in residuals.iter().zip(&mut coordinates) {
            differences.inverse(level, &mut residuals.clone(), &mut numbers);
            *q = *numbers.unit();
            numbers.advance();
        }
    });
    let input = residuals.as_flattened();
    add("lags", size_of_val(input), [forward, inverse]);

    let (mut codes, mut bytes) = (Vec::new(), Vec::new());
    let forward = clock(&mut || {
        codes.clear();
        bytes.clear();
        let mut buffer = [0; planes::MAX_UNIT];
        for unit in &residuals {
            let (code, length) = planes::encode(level, unit, &mut buffer);
            codes.push(code);
            bytes.extend_from_slice(&buffer[..length]);
        }
    });
    let inverse = decode(&mut || {
        let mut at = 0;
        codes
            .iter()
            .zip(&mut coordinates)
            .try_for_each(|(&code, unit)| {
                at += planes::decode(level, code, &bytes[at..], unit)?;
                Ok(())
            })
    })?;
    add("planes", size_of_val(input), [forward, inverse]);

    let tiles = input.as_chunks::<{ flags::TILE }>().0;
    let mut codes = vec![[0; flags::FLAGS]; tiles.len()];
    let mut blocks = Vec::new();
    let forward = clock(&mut || {
        blocks.clear();
        let mut buffer = [0; flags::MAX_TILE];
        for (tile, flags) in tiles.iter().zip(&mut codes) {
            let length = flags::encode(level, tile, flags, &mut buffer);
            blocks.extend_from_slice(&buffer[..length]);
        }
    });
    let inverse = decode(&mut || {
        let mut at = 0;
        let tiles = coordinates.as_flattened_mut().as_chunks_mut().0;
        codes.iter().zip(tiles).try_for_each(|(flags, tile)| {
            at += flags::decode(level, flags, &blocks[at..], tile)?;
            Ok(())
        })
    })?;
    add("flags", size_of_val(input), [forward, inverse]);

    let mut occupancy = Occupancy::default();
    let forward = clock(&mut || {
        occupancy.clear();
        for unit in &residuals {
            occupancy.forward(unit, level);
        }
    });
    let inverse = decode(&mut || {
        let mut cursor = Cursor::default();
        coordinates
            .iter_mut()
            .try_for_each(|unit| occupancy.inverse(&mut cursor, unit, level))
    })?;
    add("occupancy", size_of_val(input), [forward, inverse]);

    let symbols: Vec<u8> = input.iter().map(|&residual| residual as u8).collect();
    let mut again = symbols.clone();
    let (mut scratch, mut coded) = (Vec::new(), Vec::new());
    let book = Book::of(&Histogram::of(&symbols), Sort::Exact);
    let forward = clock(&mut || {
        coded.clear();
        huffman::encode(&symbols, &book, level, &mut scratch, &mut coded);
    });
    let inverse = decode(&mut || {
        let table = Table::of(&book, symbols.len());
        huffman::decode(&mut &coded[..], &table, level, &mut again)
    })?;
    add("huffman", symbols.len(), [forward, inverse]);

    let (mut present, mut kept) = (Vec::new(), Vec::new());
    let forward = clock(&mut || nonzero::compact(&symbols, level, &mut present, &mut kept));
    // Kernels read whole words.
    kept.resize(kept.len() + 8, 0);
    let inverse = clock(&mut || nonzero::expand(&present, &kept, level, &mut again));
    add("nonzero", symbols.len(), [forward, inverse]);

    let mut packed = Vec::new();
    let forward = clock(&mut || {
        packed.clear();
        fields::pack(&symbols, FIELD_BITS, level, &mut packed);
    });
    let inverse = clock(&mut || fields::unpack(&packed, FIELD_BITS, level, &mut again));
    add("fields", symbols.len(), [forward, inverse]);

    let mut exceptions = Exceptions::default();
    let mut list = Vec::new();
    let (masked, fill) = ([true; UNIT], [1e20f32; UNIT]);
    let forward = clock(&mut || {
        list.clear();
        exceptions.clear();
        for unit in (0..UNITS).step_by(UNITS_PER_MASK) {
            exceptions.push_unit(unit, &fill, &masked, |x| x);
        }
        exceptions.write_to::<f32>(&mut list);
    });
    let inverse = decode(&mut || restore(&list, back.as_flattened_mut()))?;
    add(
        "exceptions",
        size_of_val(units) / UNITS_PER_MASK,
        [forward, inverse],
    );
    Ok(measured)
}
