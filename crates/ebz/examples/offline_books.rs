//! Makes the offline codebooks of `ceaz`.
//!
//! ```text
//! offline_books histograms FIELD … > offline_histograms.txt    frequencies from raw fields
//! offline_books books < offline_histograms.txt > offline_books.bin
//! offline_books centred FIELD … > offline_centred.txt          the same for `symbols=centre`
//! ```
//!
//! A field is a file of little-endian values whose name ends with its shape and type, as in
//! `density_64x128x128.f32`. Fields are aligned first: the bound of each is set so that its
//! symbols take the same number of bits per value, by the rule that a bound twice as large saves
//! one bit. Then every field has the same weight.

use ebz::codec::Params;
use ebz::engine::Context;
use ebz::internals::{Dims, Float, Task, centred_frequencies, frequencies, offline_books};
use ebz::{Error, FillValues, FiniteRange, Result, Tolerance};
use std::io::{Read, Write};

/// Bits per value that fields are aligned to, one after the other.
const RATES: [f64; 3] = [1.0, 3.0, 6.0];
/// The same where there is one book, as in the paper: a ratio of 10.5 of `f32`.
const CENTRED_RATE: f64 = 3.0;
/// Sum of the frequencies of a field in a group.
const WEIGHT: f64 = 65536.0;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((task, [])) if task == "books" => {
            let mut histograms = String::new();
            std::io::stdin().read_to_string(&mut histograms)?;
            std::io::stdout().write_all(&offline_books(&histograms)?)?;
            Ok(())
        }
        Some((task, fields)) if task == "histograms" && !fields.is_empty() => histograms(fields),
        Some((task, fields)) if task == "centred" && !fields.is_empty() => centred(fields),
        _ => Err(Error::InvalidArgument(
            "use: offline_books histograms FIELD…, offline_books centred FIELD…, or offline_books books"
                .into(),
        )),
    }
}

/// Sums of normalised frequencies, by group and symbol.
#[derive(Default)]
struct Sums {
    masks: Vec<Vec<f64>>,
    symbols: Vec<Vec<f64>>,
}

fn histograms(fields: &[String]) -> Result<()> {
    let mut sums = Sums::default();
    for field in fields {
        match read(field)? {
            (dims, Values::F32(values)) => add_field(&values, dims, &mut sums),
            (dims, Values::F64(values)) => add_field(&values, dims, &mut sums),
        }
    }
    println!(
        "# Average frequencies of masks and symbols of {} fields,",
        fields.len()
    );
    println!(
        "# aligned to {RATES:?} bits per value; a line of masks and one of symbols per group."
    );
    for (masks, symbols) in sums.masks.iter().zip(&sums.symbols) {
        for sums in [masks, symbols] {
            let total: f64 = sums.iter().sum::<f64>().max(1.0);
            // Every symbol has a code.
            let counts = sums.iter().map(|s| (s / total * WEIGHT) as u32 + 1);
            let words: Vec<String> = counts.map(|c| c.to_string()).collect();
            println!("{}", words.join(" "));
        }
    }
    Ok(())
}

/// The values of a field.
enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

fn read(field: &str) -> Result<(Dims, Values)> {
    let bytes = std::fs::read(field)?;
    let dims = dims_of(field)
        .ok_or_else(|| Error::InvalidArgument(format!("{field}: no shape in the name")))?;
    let single = |c: &[u8; 4]| f32::from_le_bytes(*c);
    let double = |c: &[u8; 8]| f64::from_le_bytes(*c);
    Ok(match field.ends_with(".f32") {
        true => (
            dims,
            Values::F32(bytes.as_chunks().0.iter().map(single).collect()),
        ),
        false => (
            dims,
            Values::F64(bytes.as_chunks().0.iter().map(double).collect()),
        ),
    })
}

/// One line of frequencies: the paper has one book, at one rate.
fn centred(fields: &[String]) -> Result<()> {
    let mut sums = Vec::new();
    for field in fields {
        match read(field)? {
            (dims, Values::F32(values)) => add_centred(&values, dims, &mut sums),
            (dims, Values::F64(values)) => add_centred(&values, dims, &mut sums),
        }
    }
    println!(
        "# Average frequencies of residuals 0, -1, 1, -2, 2 … of {} fields, aligned to {CENTRED_RATE} bits",
        fields.len()
    );
    println!("# per value; the last one is that of all others.");
    let total: f64 = sums.iter().sum::<f64>().max(1.0);
    // Every symbol has a code.
    let counts = sums.iter().map(|s| (s / total * WEIGHT) as u32 + 1);
    let words: Vec<String> = counts.map(|c| c.to_string()).collect();
    println!("{}", words.join(" "));
    Ok(())
}

fn add_centred<T: Float>(values: &[T], dims: Dims, sums: &mut Vec<f64>) {
    let params = Params::default();
    let mut context = Context::default();
    let mut bound = 1e-3 * FiniteRange::of(values, &FillValues::NONE).extent();
    let mut found = Vec::new();
    for _ in 0..6 {
        let task = Task {
            dims,
            tolerance: Tolerance::Abs(bound),
            fill: FillValues::NONE,
            params: &params,
        };
        found = centred_frequencies(values, &task, &mut context);
        bound *= (bits(&found) / values.len() as f64 - CENTRED_RATE).exp2();
    }
    sums.resize(found.len(), 0.0);
    let total = found.iter().map(|&c| f64::from(c)).sum::<f64>().max(1.0);
    for (sum, &count) in sums.iter_mut().zip(&found) {
        *sum += f64::from(count) / total;
    }
}

/// Extents from a name like `density_64x128x128.f32`.
fn dims_of(name: &str) -> Option<Dims> {
    let (stem, _) = name.rsplit_once('.')?;
    let (_, shape) = stem.rsplit_once('_')?;
    let extents: std::result::Result<Vec<usize>, _> = shape.split('x').map(str::parse).collect();
    Some(match *extents.ok()?.as_slice() {
        [nx] => Dims { nz: 1, ny: 1, nx },
        [ny, nx] => Dims { nz: 1, ny, nx },
        [ref slow @ .., ny, nx] => Dims {
            nz: slow.iter().product(),
            ny,
            nx,
        },
        [] => return None,
    })
}

fn add_field<T: Float>(values: &[T], dims: Dims, sums: &mut Sums) {
    let params = Params::default();
    let mut context = Context::default();
    let mut bound = 1e-3 * FiniteRange::of(values, &FillValues::NONE).extent();
    for target in RATES {
        let mut found = ebz::internals::Frequencies::default();
        for _ in 0..6 {
            let task = Task {
                dims,
                tolerance: Tolerance::Abs(bound),
                fill: FillValues::NONE,
                params: &params,
            };
            found = frequencies(values, &task, &mut context);
            let histograms = found.masks.iter().chain(&found.symbols);
            let rate = histograms.map(|h| bits(h)).sum::<f64>() / values.len() as f64;
            bound *= (rate - target).exp2();
        }
        let kinds = [
            (&found.masks, &mut sums.masks),
            (&found.symbols, &mut sums.symbols),
        ];
        for (found, sums) in kinds {
            sums.resize(found.len(), Vec::new());
            for (counts, sums) in found.iter().zip(sums) {
                sums.resize(counts.len(), 0.0);
                let total: f64 = counts.iter().map(|&c| f64::from(c)).sum::<f64>().max(1.0);
                for (sum, &count) in sums.iter_mut().zip(counts) {
                    *sum += f64::from(count) / total;
                }
            }
        }
    }
}

/// Entropy of symbols with these frequencies.
fn bits(counts: &[u32]) -> f64 {
    let total: f64 = counts.iter().map(|&c| f64::from(c)).sum();
    let occurring = counts.iter().filter(|c| **c > 0).map(|&c| f64::from(c));
    occurring.map(|c| c * (total / c).log2()).sum()
}
