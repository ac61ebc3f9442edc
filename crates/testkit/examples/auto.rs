//! How good codec `auto` is on the real fields of `EBZ_DATA`: how far its choice is from the best of all codecs, and how
//! long choosing takes. Prints the table of docs/guide/choose.md.
//!
//! What `auto` minimises is bytes · time^w, with the typical times of codecs; the best is found by coding the whole
//! array with every codec. Codecs that it never chooses count as if they took no longer than the fastest.

use ebz::codec::{AUTO, Entry, TABLE};
use ebz::internals::auto_weight;
use ebz::{Bound, Element, Favor, Options, View};
use ebz_testkit::fields::{AnyField, Field, shared_fields};
use std::time::{Duration, Instant};

/// Bytes of the arrays that choosing is timed on.
const TIMED: usize = 64 << 20;
/// A choice is good that is worse than the best by no more than this.
const GOOD: f64 = 0.03;

fn bounds() -> Vec<Bound> {
    let mut bounds = [1e-2, 1e-3, 1e-4, 1e-5].map(Bound::Range).to_vec();
    bounds.extend([Bound::Pointwise(1e-3), Bound::Lossless]);
    bounds
}

/// How far choices were from the best.
#[derive(Default, Clone, Copy)]
struct Tally {
    all: usize,
    good: usize,
    worst: f64,
    /// Worse than the default codec by more than 2 %.
    below_default: usize,
}

fn judge<T: Element>(field: &Field<T>, tallies: &mut [Tally; 3]) -> ebz::Result<()> {
    let view = View::new(&field.values, &field.shape)?;
    for bound in bounds() {
        let able = TABLE.iter().filter(|entry| entry.offers(bound.kind()));
        let mut sizes = Vec::new();
        for entry in able {
            let bytes = ebz::compress(&view, &Options::new(bound).codec(entry.info.name))?.len();
            sizes.push((entry, bytes as f64));
        }
        for (favor, tally) in Favor::ALL.into_iter().zip(&mut *tallies) {
            let choice = ebz::choose(&view, &Options::new(bound).codec(AUTO).favor(favor))?;
            let cost =
                |(entry, bytes): &(&Entry, f64)| bytes * auto_weight(entry, favor).unwrap_or(1.0);
            let of = |name: &str| sizes.iter().find(|size| size.0.info.name == name).map(cost);
            let best = sizes.iter().map(cost).fold(f64::INFINITY, f64::min);
            let chosen = of(choice.codec).unwrap_or(f64::INFINITY);
            let loss = chosen / best - 1.0;
            tally.all += 1;
            tally.good += usize::from(loss <= GOOD);
            tally.worst = tally.worst.max(loss);
            tally.below_default += usize::from(of("fz").is_some_and(|fz| chosen > 1.02 * fz));
            if loss > GOOD {
                eprintln!(
                    "{} {bound} {choice}: {:.1} % above the best",
                    field.name,
                    100.0 * loss
                );
            }
        }
    }
    Ok(())
}

/// The least times of several runs of each, alternating.
fn least<const N: usize>(mut works: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut times = [Duration::MAX; N];
    for _ in 0..15 {
        for (time, work) in times.iter_mut().zip(&mut works) {
            let start = Instant::now();
            work();
            *time = start.elapsed().min(*time);
        }
    }
    times
}

/// Share of the time that choosing adds, on one thread, for each wish.
fn overhead<T: Element>(field: &Field<T>) -> ebz::Result<[f64; 3]> {
    let tiles = TIMED.div_ceil(size_of_val(&field.values[..]));
    let values = field.values.repeat(tiles);
    let mut shape = field.shape.clone();
    shape[0] *= tiles;
    let view = View::new(&values, &shape)?;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut shares = [0.0; 3];
    for (favor, share) in Favor::ALL.into_iter().zip(&mut shares) {
        let auto = Options::new(Bound::Range(1e-3))
            .codec(AUTO)
            .favor(favor)
            .threads(1);
        let named = auto.clone().codec(ebz::choose(&view, &auto)?.codec);
        let [named, auto] = least([
            &mut || drop(ebz::compress_into(&view, &named, &mut first)),
            &mut || drop(ebz::compress_into(&view, &auto, &mut second)),
        ]);
        *share = auto.as_secs_f64() / named.as_secs_f64() - 1.0;
    }
    Ok(shares)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fields = shared_fields()?;
    if fields.is_empty() {
        return Err("name a folder of fields in EBZ_DATA".into());
    }
    let mut tallies = [Tally::default(); 3];
    let mut shares: [Vec<f64>; 3] = Default::default();
    for field in &fields {
        let added = match field {
            AnyField::F32(field) => {
                judge(field, &mut tallies)?;
                overhead(field)?
            }
            AnyField::F64(field) => {
                judge(field, &mut tallies)?;
                overhead(field)?
            }
        };
        for (all, one) in shares.iter_mut().zip(added) {
            all.push(one);
        }
    }
    println!(
        "| `--favor` | arrays and bounds | within 3 % of the best | worst | more than 2 % worse than `fz` | added time at 64 MiB, median | and maximum |"
    );
    println!("|---|---|---|---|---|---|---|");
    for ((favor, tally), shares) in Favor::ALL.into_iter().zip(tallies).zip(&mut shares) {
        shares.sort_by(f64::total_cmp);
        let median = (shares[(shares.len() - 1) / 2] + shares[shares.len() / 2]) / 2.0;
        println!(
            "| `{favor}` | {} | {:.1} % | {:.0} % | {} | {:.1} % | {:.1} % |",
            tally.all,
            100.0 * tally.good as f64 / tally.all as f64,
            100.0 * tally.worst,
            tally.below_default,
            100.0 * median,
            100.0 * shares[shares.len() - 1]
        );
    }
    Ok(())
}
