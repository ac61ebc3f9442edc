//! Makes the offline codebooks of `ceaz`, and measures that of `symbols=centre` on other fields.
//!
//! ```text
//! offline_books histograms FIELD … > offline_histograms.txt    frequencies from raw fields
//! offline_books books < offline_histograms.txt > offline_books.bin
//! offline_books centred FIELD … > offline_centred.txt          the same for `symbols=centre`
//! offline_books others FIELD …                                 what a codebook loses on fields it was not made from
//! ```
//!
//! A field is a file of little-endian values whose name ends with its shape and type, as in
//! `density_64x128x128.f32`; what comes before the first `_` names its dataset. Fields are aligned
//! first: the bound of each is set so that its symbols take the same number of bits per value, by
//! the rule that a bound twice as large saves one bit. Then every field has the same weight.
//!
//! `centred` predicts like the paper, by the Lorenzo rule in all dimensions, with zeros outside of the
//! field and for fill values: the codebook does not depend on how `ceaz` chooses its predictions.
//! From the 20 fields of `docs/papers.md` in alphabetical order it gives `offline_centred.txt`, byte for byte.

use ebz::codec::Params;
use ebz::engine::Context;
use ebz::internals::{
    Dims, Float, Sort, Task, WIDE_ALPHABET, WideBook, centred_frequencies, frequencies,
    offline_books,
};
use ebz::{Error, Fill, FillValues, FiniteRange, Result, Tolerance, ValueScan};
use std::io::{Read, Write};
use std::path::Path;

/// Bits per value that fields are aligned to, one after the other.
const RATES: [f64; 3] = [1.0, 3.0, 6.0];
/// The same where there is one codebook, as in the paper: a ratio of 10.5 of `f32`.
const CENTRED_RATE: f64 = 3.0;
/// Encodings until a field is aligned.
const ROUNDS: usize = 6;
/// Bound of the fields that a codebook is measured on, relative to their range, as in Figure 8 of the paper.
const MEASURED_BOUND: f64 = 1e-4;
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
        Some((task, fields)) if task == "others" && !fields.is_empty() => others(fields),
        _ => Err(Error::InvalidArgument(
            "use: offline_books histograms|centred|others FIELD…, or offline_books books".into(),
        )),
    }
}

/// Frequencies of symbols; masks and symbols of each group alternate.
type Histograms = Vec<Vec<u32>>;

/// Whose frequencies.
#[derive(Clone, Copy)]
enum Symbols {
    /// Those of the default coder.
    Bytes,
    /// Those of `symbols=centre`.
    Centred,
    /// Those of the paper's predictor, in the alphabet of `symbols=centre`.
    Lorenzo,
}

/// A field in memory.
struct Field {
    shape: Vec<usize>,
    values: Values,
}

enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Field {
    fn read(name: &str) -> Result<Self> {
        let bytes = std::fs::read(name)?;
        let shape = shape_of(name)
            .ok_or_else(|| Error::InvalidArgument(format!("{name}: no shape in the name")))?;
        let single = |c: &[u8; 4]| f32::from_le_bytes(*c);
        let double = |c: &[u8; 8]| f64::from_le_bytes(*c);
        let values = match name.ends_with(".f32") {
            true => Values::F32(bytes.as_chunks().0.iter().map(single).collect()),
            false => Values::F64(bytes.as_chunks().0.iter().map(double).collect()),
        };
        Ok(Self { shape, values })
    }

    fn range(&self) -> f64 {
        match &self.values {
            Values::F32(values) => FiniteRange::of(values, &FillValues::NONE).extent(),
            Values::F64(values) => FiniteRange::of(values, &FillValues::NONE).extent(),
        }
    }

    fn histograms(&self, bound: f64, symbols: Symbols) -> Histograms {
        if let Symbols::Lorenzo = symbols {
            return vec![lorenzo(self.doubles(), &self.shape, bound)];
        }
        let dims = dims_of(&self.shape);
        match &self.values {
            Values::F32(values) => histograms_of(values, dims, bound, symbols),
            Values::F64(values) => histograms_of(values, dims, bound, symbols),
        }
    }

    fn doubles(&self) -> Vec<f64> {
        match &self.values {
            Values::F32(values) => doubles(values),
            Values::F64(values) => doubles(values),
        }
    }

    /// The histograms at each of these rates.
    fn aligned(&self, rates: &[f64], symbols: Symbols) -> Vec<Histograms> {
        let values: usize = self.shape.iter().product();
        let mut bound = 1e-3
            * match symbols {
                Symbols::Lorenzo => FiniteRange::of(&self.doubles(), &FillValues::NONE).extent(),
                _ => self.range(),
            };
        let at_rate = rates.iter().map(|target| {
            let mut found = Histograms::new();
            for _ in 0..ROUNDS {
                found = self.histograms(bound, symbols);
                let bits = found.iter().map(|counts| bits(counts)).sum::<f64>();
                bound *= (bits / values as f64 - target).exp2();
            }
            found
        });
        at_rate.collect()
    }
}

fn histograms_of<T: Float>(values: &[T], dims: Dims, bound: f64, symbols: Symbols) -> Histograms {
    let params = Params::default();
    let task = Task {
        dims,
        tolerance: Tolerance::Abs(bound),
        fill: FillValues::NONE,
        params: &params,
    };
    let mut context = Context::default();
    match symbols {
        Symbols::Bytes => {
            let found = frequencies(values, &task, &mut context);
            let groups = found.masks.into_iter().zip(found.symbols);
            groups
                .flat_map(|(masks, symbols)| [masks, symbols])
                .collect()
        }
        _ => vec![centred_frequencies(values, &task, &mut context)],
    }
}

/// Values in double precision, with zeros for fill values.
fn doubles<T: Float>(values: &[T]) -> Vec<f64> {
    let fill = ValueScan::of(values, Fill::Auto).fill().values();
    let known = |value: f64| match fill.as_slice().contains(&value) {
        true => 0.0,
        false => value,
    };
    values.iter().map(|value| known(value.to_f64())).collect()
}

/// Frequencies of the residuals of rounded values, which are their differences along every axis.
fn lorenzo(values: Vec<f64>, shape: &[usize], bound: f64) -> Vec<u32> {
    let points = values.iter().map(|x| (x / (2.0 * bound)).round_ties_even());
    let mut residuals: Vec<i64> = points.map(|point| point as i64).collect();
    for axis in 0..shape.len() {
        let lag: usize = shape[axis + 1..].iter().product();
        for row in residuals.chunks_exact_mut(shape[axis] * lag) {
            for at in (lag..row.len()).rev() {
                row[at] = row[at].wrapping_sub(row[at - lag]);
            }
        }
    }
    let mut counts = vec![0; WIDE_ALPHABET];
    for residual in residuals {
        let symbol = (residual << 1 ^ residual >> 63) as u64;
        counts[symbol.min(WIDE_ALPHABET as u64 - 1) as usize] += 1;
    }
    counts
}

/// Sums of normalised frequencies.
#[derive(Default)]
struct Sums(Vec<Vec<f64>>);

impl Sums {
    fn add(&mut self, histograms: &Histograms) {
        self.0.resize(histograms.len(), Vec::new());
        for (sums, counts) in self.0.iter_mut().zip(histograms) {
            sums.resize(counts.len(), 0.0);
            let total: f64 = counts.iter().map(|&c| f64::from(c)).sum::<f64>().max(1.0);
            for (sum, &count) in sums.iter_mut().zip(counts) {
                *sum += f64::from(count) / total;
            }
        }
    }

    /// Average frequencies, in which every symbol has a code.
    fn averages(&self) -> impl Iterator<Item = Vec<u32>> {
        self.0.iter().map(|sums| {
            let total: f64 = sums.iter().sum::<f64>().max(1.0);
            sums.iter()
                .map(|s| (s / total * WEIGHT) as u32 + 1)
                .collect()
        })
    }

    fn print(&self) {
        for counts in self.averages() {
            let words: Vec<String> = counts.iter().map(u32::to_string).collect();
            println!("{}", words.join(" "));
        }
    }
}

/// Sums over the fields, aligned to these rates.
fn sums(fields: &[String], rates: &[f64], symbols: Symbols) -> Result<Sums> {
    let mut sums = Sums::default();
    for field in fields {
        for histograms in Field::read(field)?.aligned(rates, symbols) {
            sums.add(&histograms);
        }
    }
    Ok(sums)
}

fn histograms(fields: &[String]) -> Result<()> {
    let sums = sums(fields, &RATES, Symbols::Bytes)?;
    let count = fields.len();
    println!("# Average frequencies of masks and symbols of {count} fields,");
    println!(
        "# aligned to {RATES:?} bits per value; a line of masks and one of symbols per group."
    );
    sums.print();
    Ok(())
}

/// One line of frequencies: the paper has one codebook, at one rate.
fn centred(fields: &[String]) -> Result<()> {
    let sums = sums(fields, &[CENTRED_RATE], Symbols::Lorenzo)?;
    println!(
        "# Average frequencies of residuals 0, -1, 1, -2, 2 … of {} fields by the Lorenzo prediction in all dimensions,",
        fields.len()
    );
    println!("# aligned to {CENTRED_RATE} bits per value; the last one is that of all others.");
    sums.print();
    Ok(())
}

/// What one codebook for all fields loses on each of them: made from all fields, and from other datasets only.
fn others(fields: &[String]) -> Result<()> {
    let mut found = Vec::new();
    for name in fields {
        let field = Field::read(name)?;
        let aligned = field.aligned(&[CENTRED_RATE], Symbols::Lorenzo);
        let measured = field.histograms(MEASURED_BOUND * field.range(), Symbols::Centred);
        found.push((dataset(name), aligned, measured));
    }
    println!(
        "| field | residual 0 | ±1 | ±2 to 4 | ±5 to 32 | more | own codebook, bits per value | offline, of all fields | of other datasets |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, (own, _, measured)) in fields.iter().zip(&found) {
        let lost = |which: &dyn Fn(&str) -> bool| {
            let mut sums = Sums::default();
            for (_, aligned, _) in found.iter().filter(|(dataset, ..)| which(dataset)) {
                aligned.iter().for_each(|histograms| sums.add(histograms));
            }
            let average = sums.averages().next().unwrap_or_default();
            let counts = &measured[0];
            100.0 * (cost(counts, counts) / cost(&average, counts) - 1.0)
        };
        let values: f64 = measured[0].iter().map(|&count| f64::from(count)).sum();
        // Residuals of up to n have the symbols up to 2n.
        let shares = [0..1, 1..3, 3..9, 9..65, 65..WIDE_ALPHABET].map(|symbols| {
            let counts = measured[0][symbols].iter();
            100.0 * counts.map(|&count| f64::from(count)).sum::<f64>() / values
        });
        let stem = Path::new(name).file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy();
        println!(
            "| {} | {} | {:.2} | {:+.1} % | {:+.1} % |",
            stem.rsplit_once('_').map_or(&*stem, |(name, _)| name),
            shares.map(|share| format!("{share:.1} %")).join(" | "),
            cost(&measured[0], &measured[0]) / values,
            lost(&|_| true),
            lost(&|dataset| dataset != own)
        );
    }
    Ok(())
}

/// Bits of symbols with a codebook made from other frequencies.
fn cost(made_from: &[u32], counts: &[u32]) -> f64 {
    let frequencies: [u32; WIDE_ALPHABET] =
        std::array::from_fn(|symbol| made_from.get(symbol).copied().unwrap_or(0).max(1));
    let book = WideBook::of(&frequencies, Sort::Exact);
    let bits = book.lengths().iter().zip(counts);
    bits.map(|(&length, &count)| f64::from(length) * f64::from(count))
        .sum()
}

/// The dataset of a field, from its name.
fn dataset(name: &str) -> String {
    let file = Path::new(name).file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    file.split('_').next().unwrap_or_default().to_string()
}

/// Extents from a name like `density_64x128x128.f32`.
fn shape_of(name: &str) -> Option<Vec<usize>> {
    let (stem, _) = name.rsplit_once('.')?;
    let (_, shape) = stem.rsplit_once('_')?;
    shape.split('x').map(|extent| extent.parse().ok()).collect()
}

/// As codecs see it: with the slow axes as one.
fn dims_of(shape: &[usize]) -> Dims {
    let (slow, fast) = shape.split_at(shape.len().saturating_sub(2));
    Dims {
        nz: slow.iter().product(),
        ny: fast[..fast.len() - 1].iter().product(),
        nx: fast[fast.len() - 1],
    }
}

/// Entropy of symbols with these frequencies.
fn bits(counts: &[u32]) -> f64 {
    let total: f64 = counts.iter().map(|&c| f64::from(c)).sum();
    let occurring = counts.iter().filter(|c| **c > 0).map(|&c| f64::from(c));
    occurring.map(|c| c * (total / c).log2()).sum()
}
