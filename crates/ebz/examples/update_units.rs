//! What the update units of `ceaz` with `symbols=centre` are worth, for the tables of `docs/papers.md`.
//!
//! ```text
//! update_units chi FIELD …     loss of size with the codebook of another unit, by the change χ of the deviation
//! update_units sort FIELD …    loss of size and time of Algorithm 1 against an exact sort
//! ```
//!
//! A field is a file of little-endian values whose name ends with its type, as in `density_100.f32`.

use ebz::codec::Params;
use ebz::engine::Context;
use ebz::internals::{Dims, Float, Sort, Task, WIDE_ALPHABET, WideBook, centred_frequencies};
use ebz::{Error, FillValues, FiniteRange, Result, Tolerance};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Values of a unit: 256 KiB of `f32`.
const UNIT: usize = 1 << 16;
/// Bounds, relative to the range of a field.
const BOUNDS: [f64; 3] = [1e-3, 1e-4, 1e-5];
/// Ends of the classes of χ, with the paper's thresholds among them.
const CLASSES: [f64; 8] = [0.5, 1.0, 2.0, 3.5, 5.18, 9.69, 16.0, f64::INFINITY];

type Counts = [u32; WIDE_ALPHABET];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, fields) = match arguments.split_first() {
        Some((task, fields)) if !fields.is_empty() => (task.as_str(), fields),
        _ => return Err(usage()),
    };
    let mut all = Vec::new();
    for field in fields {
        let bytes = std::fs::read(field)?;
        if field.ends_with(".f32") {
            let value = |c: &[u8; 4]| f32::from_le_bytes(*c);
            let values: Vec<f32> = bytes.as_chunks().0.iter().map(value).collect();
            all.extend(units(&values));
        } else {
            let value = |c: &[u8; 8]| f64::from_le_bytes(*c);
            let values: Vec<f64> = bytes.as_chunks().0.iter().map(value).collect();
            all.extend(units(&values));
        }
    }
    match task {
        "chi" => chi(&all),
        "sort" => sort(&all),
        _ => return Err(usage()),
    }
    Ok(())
}

fn usage() -> Error {
    Error::InvalidArgument("use: update_units chi FIELD…, or update_units sort FIELD…".into())
}

/// The frequencies of the units of a field, for each bound.
fn units<T: Float>(values: &[T]) -> Vec<Vec<Counts>> {
    let range = FiniteRange::of(values, &FillValues::NONE).extent();
    let params = Params::default();
    let mut context = Context::default();
    let mut of = |unit: &[T], bound: f64| {
        let dims = Dims {
            nz: 1,
            ny: 1,
            nx: unit.len(),
        };
        let task = Task {
            dims,
            tolerance: Tolerance::Abs(bound * range),
            fill: FillValues::NONE,
            params: &params,
        };
        let counts = centred_frequencies(unit, &task, &mut context);
        std::array::from_fn(|symbol| counts[symbol])
    };
    let units = values.as_chunks::<UNIT>().0;
    let bounds = BOUNDS.iter();
    bounds
        .map(|&bound| units.iter().map(|unit| of(unit, bound)).collect())
        .collect()
}

/// A codebook in which every symbol has a code.
fn book(counts: &Counts, sort: Sort) -> WideBook {
    WideBook::of(&counts.map(|count| count.max(1)), sort)
}

fn cost(book: &WideBook, counts: &Counts) -> f64 {
    let bits = book.lengths().iter().zip(counts);
    bits.map(|(&length, &count)| f64::from(length) * f64::from(count))
        .sum()
}

/// Standard deviation of the frequencies, in thousandths.
fn deviation(counts: &Counts) -> f64 {
    let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
    let mean = 1.0 / WIDE_ALPHABET as f64;
    let squares = counts
        .iter()
        .map(|&c| (f64::from(c) / total - mean).powi(2));
    1000.0 * (squares.sum::<f64>() / WIDE_ALPHABET as f64).sqrt()
}

fn chi(all: &[Vec<Counts>]) {
    let mut losses: [Vec<f64>; CLASSES.len()] = Default::default();
    for units in all {
        let books: Vec<_> = units.iter().map(|unit| book(unit, Sort::Exact)).collect();
        for (unit, own) in units.iter().zip(&books) {
            for (other, book) in units.iter().zip(&books) {
                let change = (deviation(unit) - deviation(other)).abs();
                let class = CLASSES.iter().take_while(|end| change > **end).count();
                if change > 0.0 {
                    losses[class].push(1.0 - cost(own, unit) / cost(book, unit));
                }
            }
        }
    }
    println!("| χ, thousandths | pairs of units | ratio lost, mean | median |");
    println!("|---|---|---|---|");
    let mut from = 0.0;
    for (end, losses) in CLASSES.iter().zip(&mut losses) {
        losses.sort_by(f64::total_cmp);
        let mean = 100.0 * losses.iter().sum::<f64>() / losses.len() as f64;
        let median = 100.0 * losses.get(losses.len() / 2).copied().unwrap_or(f64::NAN);
        println!(
            "| {from} to {end} | {} | {mean:.1} % | {median:.1} % |",
            losses.len()
        );
        from = *end;
    }
}

fn sort(all: &[Vec<Counts>]) {
    const REPEATS: u32 = 20;
    println!(
        "| symbols that occur | units | size with Algorithm 1 | codebook, exact sort | Algorithm 1 |"
    );
    println!("|---|---|---|---|---|");
    let mut from = 2;
    for most in [16, 64, 256, WIDE_ALPHABET] {
        let occurring = |unit: &&Counts| unit.iter().filter(|c| **c > 0).count();
        let units = all.iter().flatten();
        let units: Vec<_> = units
            .filter(|u| (from..=most).contains(&occurring(u)))
            .collect();
        let (mut larger, mut times) = (0.0, [Duration::ZERO; 2]);
        for unit in &units {
            let books = [Sort::Exact, Sort::Centre].map(|sort| WideBook::of(unit, sort));
            larger += cost(&books[1], unit) / cost(&books[0], unit) - 1.0;
            for (time, sort) in times.iter_mut().zip([Sort::Exact, Sort::Centre]) {
                let once = |_| {
                    let start = Instant::now();
                    black_box(WideBook::of(black_box(unit), sort));
                    start.elapsed()
                };
                *time += (0..REPEATS).map(once).min().unwrap_or_default();
            }
        }
        let count = units.len().max(1) as f64;
        let micros = times.map(|time| 1e6 * time.as_secs_f64() / count);
        println!(
            "| {from} to {most} | {} | +{:.2} % | {:.1} µs | {:.1} µs |",
            units.len(),
            100.0 * larger / count,
            micros[0],
            micros[1]
        );
        from = most + 1;
    }
}
