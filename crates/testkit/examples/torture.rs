//! Bounds on many values: prints what was checked, a row per codec, or stops at the first violation.
//!
//! ```console
//! cargo run --release -p ebz-testkit --example torture -- mixed 1000000000 SEED    # of each codec and type
//! cargo run --release -p ebz-testkit --example torture -- f32                      # all 2³² bit patterns
//! cargo run --release -p ebz-testkit --example torture -- lossless                 # the same, bit for bit
//! cargo run --release -p ebz-testkit --example torture -- f64                      # 2³² of all exponents
//! cargo run --release -p ebz-testkit --example torture -- sixteen 1000             # all 2¹⁶, this many bounds
//! ```
//!
//! With further arguments, only these codecs.

use ebz::codec::TABLE;
use ebz::{ElementType, bf16, f16, with_type};
use ebz_testkit::torture::{self, Counts, SWEEP_CHUNKS, Sweep};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let part = args.first().map_or("", |part| part);
    let numbers: Vec<u64> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    let number = |at: usize, default: u64| numbers.get(at).copied().unwrap_or(default);
    let named = |name: &str| args.iter().any(|arg| arg == name);
    let some = TABLE.iter().any(|entry| named(entry.info.name));
    let mut all = Counts::default();
    println!("| codec | values | coded | stored raw | bounds | violations |");
    println!("|---|---|---|---|---|---|");
    let start = Instant::now();
    let mut row = |label: String, counts: Result<Counts, String>| {
        let counts = counts.unwrap_or_else(|what| panic!("{label}: {what}"));
        print(&label, counts);
        all = all.and(counts);
    };
    for entry in TABLE {
        let name = entry.info.name;
        if some && !named(name) {
            continue;
        }
        match part {
            "mixed" => {
                for element in ElementType::ALL {
                    let (values, seed) = (number(0, 1_000_000), number(1, 1));
                    let counts = with_type!(element, T => torture::mixed::<T>(entry, values, seed));
                    row(format!("{name}, {element}"), counts);
                }
            }
            "f32" | "lossless" | "f64" => {
                let sweeps: &[Sweep] = match part {
                    "f32" => &[Sweep::Fixed, Sweep::Scaled, Sweep::Pointwise],
                    "f64" => &[Sweep::Scaled, Sweep::Pointwise],
                    _ => &[Sweep::Lossless],
                };
                for &sweep in sweeps.iter().filter(|sweep| entry.offers(sweep.kind())) {
                    let counts = match part {
                        "f64" => torture::sweep::<f64>(entry, sweep, 0..SWEEP_CHUNKS),
                        _ => torture::sweep::<f32>(entry, sweep, 0..SWEEP_CHUNKS),
                    };
                    row(format!("{name}, {sweep:?}").to_lowercase(), counts);
                }
            }
            "sixteen" => {
                let bounds = number(0, 100) as usize;
                row(
                    format!("{name}, f16"),
                    torture::sixteen::<f16>(entry, bounds),
                );
                row(
                    format!("{name}, bf16"),
                    torture::sixteen::<bf16>(entry, bounds),
                );
            }
            _ => panic!("usage: torture mixed VALUES SEED | f32 | lossless | f64 | sixteen BOUNDS"),
        }
    }
    print("all", all);
    eprintln!("{:.0} s", start.elapsed().as_secs_f64());
}

fn print(label: &str, counts: Counts) {
    let Counts { coded, raw, .. } = counts;
    let bounds = counts.bounds.map_or("".into(), |(least, most)| {
        format!("{least:.1e} to {most:.1e}")
    });
    let numbers = [coded + raw, coded, raw].map(|number| number.to_string());
    println!("| {label} | {} | {bounds} | 0 |", numbers.join(" | "));
}
