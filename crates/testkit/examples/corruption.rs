//! What readers make of damaged files: prints tables of docs/reliability.md.
//!
//! ```console
//! cargo run --release -p ebz-testkit --example corruption -- flips        # every bit and truncation of small files
//! cargo run --release -p ebz-testkit --example corruption -- random 100000    # damage to larger ones
//! cargo run --release -p ebz-testkit --example corruption -- forged 1000000   # damage with valid checksums
//! ```

use ebz::codec::{Entry, TABLE};
use ebz::simd::Level;
use ebz::{
    Bound, BoundKind, Element, ElementType, Error, Limits, Options, Reader, StreamReader, View,
    with_type,
};
use ebz_testkit::conformance::variants;
use ebz_testkit::corruption::{
    Outcome, SmallFile, decode_garbage, forge, outcome, read_all, small_files,
};
use ebz_testkit::fields::{Content, Field};
use ebz_testkit::random::Random;
use peak_alloc::PeakAlloc;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let count = args.get(1).and_then(|count| count.parse().ok());
    let count = count.unwrap_or(100_000);
    match args.first().map(String::as_str) {
        Some("flips") => flips(),
        Some("random") => random(count),
        Some("forged") => forged(count),
        _ => panic!("usage: corruption flips | random COUNT | forged COUNT"),
    }
}

/// Counts of outcomes: detected, right, silently wrong.
#[derive(Default)]
struct Row([u64; 3]);

impl Row {
    fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    fn print(&self, label: &str) {
        let [detected, right, wrong] = self.0;
        let all = detected + right + wrong;
        println!("| {label} | {all} | {detected} | {right} | {wrong} |");
    }
}

fn head(what: &str) {
    println!("| codec | {what} | detected | right values | silently wrong |");
    println!("|---|---|---|---|---|");
}

/// Every bit flip and truncation of small files, by codec and type.
fn flips() -> Result<(), Error> {
    let mut rows = BTreeMap::<String, (Row, Row)>::new();
    for file in small_files()? {
        let words: Vec<&str> = file.name.split(' ').collect();
        let (flips, cuts) = rows.entry(words[..2].join(", ")).or_default();
        let mut damaged = file.bytes.clone();
        for bit in 0..damaged.len() * 8 {
            damaged[bit / 8] ^= 1 << (bit % 8);
            flips.add(outcome(&file, &damaged));
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..damaged.len() {
            cuts.add(outcome(&file, &damaged[..length]));
        }
    }
    let mut all = [Row::default(), Row::default()];
    println!("| codec, type | bits flipped | detected | truncations | detected | silently wrong |");
    println!("|---|---|---|---|---|---|");
    let print = |label: &str, [flips, cuts]: [&Row; 2]| {
        let sum = |row: &Row| row.0.iter().sum::<u64>();
        let (bits, lengths) = (sum(flips), sum(cuts));
        let wrong = flips.0[2] + cuts.0[2];
        let found = [flips.0[0], lengths, cuts.0[0], wrong].map(|number| number.to_string());
        println!("| {label} | {bits} | {} |", found.join(" | "));
    };
    for (label, (flips, cuts)) in &rows {
        print(label, [flips, cuts]);
        for (sum, row) in all.iter_mut().zip([flips, cuts]) {
            (0..3).for_each(|i| sum.0[i] += row.0[i]);
        }
    }
    print("all", [&all[0], &all[1]]);
    Ok(())
}

/// `count` times one to five places of larger files, all codecs and types in turn.
fn random(count: u64) -> Result<(), Error> {
    let mut random = Random::new(5);
    let mut all = Row::default();
    head("damaged in up to five places");
    for entry in TABLE {
        let mut row = Row::default();
        for element in ElementType::ALL {
            let file = with_type!(element, T => larger::<T>(entry))?;
            let share = count / (TABLE.len() * ElementType::ALL.len()) as u64 + 1;
            let mut done = 0;
            while done < share {
                let damaged = random.mutated(std::slice::from_ref(&file.bytes));
                if damaged != file.bytes {
                    row.add(outcome(&file, &damaged));
                    done += 1;
                }
            }
        }
        row.print(entry.info.name);
        (0..3).for_each(|i| all.0[i] += row.0[i]);
    }
    all.print("all");
    Ok(())
}

/// A file of eight chunks and 65,536 values.
fn larger<T: Element>(entry: &Entry) -> Result<SmallFile, Error> {
    let kind = entry.info.tolerances[0];
    let value = match kind {
        BoundKind::Precision => 12.0,
        _ => 1e-2,
    };
    let options = Options::new(Bound::new(kind, value)?)
        .codec(entry.info.name)
        .chunk(&[8, 32, 32]);
    let field: Field<T> = Content::Smooth.field(&[64, 32, 32], 2);
    let bytes = ebz::compress(&View::new(&field.values, &field.shape)?, &options)?;
    let frames = read_all(&bytes, Level::detect())?;
    let name = entry.info.name.into();
    Ok(SmallFile {
        name,
        bytes,
        frames,
    })
}

/// The slowest call, and the most memory beyond its output.
#[derive(Default)]
struct Worst {
    calls: u64,
    time: Duration,
    memory: usize,
}

impl Worst {
    fn watch(&mut self, call: impl FnOnce()) {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let start = Instant::now();
        call();
        self.time = self.time.max(start.elapsed());
        self.memory = self.memory.max(MEMORY.peak_usage().saturating_sub(before));
        self.calls += 1;
    }

    fn print(&self, label: &str) {
        let Self {
            calls,
            time,
            memory,
        } = self;
        let (time, memory) = (time.as_secs_f64() * 1e3, *memory as f64 / (1 << 20) as f64);
        println!("| {label} | {calls} | 0 | {time:.1} ms | {memory:.2} MiB |");
    }
}

/// Damaged chunks for every decoder, and damaged files with valid checksums for every reader.
fn forged(count: u64) -> Result<(), Error> {
    println!("| | calls | panics | slowest | most memory |");
    println!("|---|---|---|---|---|");
    let shapes: [&[usize]; 3] = [&[3000], &[40, 75], &[12, 16, 16]];
    for entry in TABLE {
        let mut worst = Worst::default();
        let share = count / (2 * TABLE.len() * ElementType::ALL.len() * shapes.len()) as u64;
        for (shape, params) in shapes
            .iter()
            .flat_map(|shape| variants(entry).into_iter().map(move |p| (shape, p)))
        {
            for element in ElementType::ALL {
                // Of every tolerance and level.
                let rounds = (share / 30 + 1) as usize;
                let result = with_type!(element, T => decode_garbage::<T>(
                    entry, &params, shape, rounds, |_, decode| worst.watch(decode)
                ));
                result.unwrap_or_else(|what| panic!("{}: {what}", entry.info.name));
            }
        }
        worst.print(&format!("decoder of {}", entry.info.name));
    }
    let files: Vec<Vec<u8>> = small_files()?.into_iter().map(|file| file.bytes).collect();
    let mut random = Random::new(6);
    let mut worst = [Worst::default(), Worst::default(), Worst::default()];
    let limits = Limits::new(1 << 20, 64 << 20);
    for _ in 0..count / 6 {
        let file = forge(&files, &mut random);
        let [by_index, by_pipe, recovery] = &mut worst;
        by_index.watch(|| {
            let Ok(reader) = Reader::from_source(&file[..]) else {
                return;
            };
            let reader = reader.limits(limits).threads(1);
            for number in 0..reader.frames().min(8) {
                let Ok(frame) = reader.frame(number) else {
                    continue;
                };
                with_type!(frame.header().element, T => drop(frame.read::<T>()));
            }
        });
        by_pipe.watch(|| {
            let Ok(reader) = StreamReader::new(&file[..]) else {
                return;
            };
            let mut reader = reader.limits(limits).threads(1);
            while reader.next_frame().is_ok_and(|frame| frame.is_some())
                && reader.write_frame(&mut std::io::sink()).is_ok()
            {}
        });
        recovery.watch(|| drop(ebz::recover_within(&&file[..], std::io::sink(), limits)));
    }
    for (worst, label) in worst.iter().zip(["by index", "from a pipe", "recovery"]) {
        worst.print(&format!("files, {label}"));
    }
    Ok(())
}
