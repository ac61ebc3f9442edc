//! A hundred million values against their bounds; `examples/torture.rs` checks more.

use ebz::codec::TABLE;
use ebz::{ElementType, bf16, f16, with_type};
use ebz_testkit::torture::{self, Counts, SWEEP_CHUNKS, Sweep};

/// Values of each codec and type in random chunks.
const MIXED_VALUES: u64 = 700_000;

/// Bit patterns of f32: one chunk in this many.
const EVERY_CHUNK: usize = 503;

/// Bounds for all patterns of 16-bit types.
const BOUNDS: usize = 8;

fn all() -> Result<Counts, String> {
    let mut counts = Counts::default();
    for entry in TABLE {
        let name = |what: String| format!("{}: {what}", entry.info.name);
        for element in ElementType::ALL {
            let seed = u64::from(entry.info.id);
            let mixed = with_type!(element, T => torture::mixed::<T>(entry, MIXED_VALUES, seed));
            counts = counts.and(mixed.map_err(name)?);
        }
        for sweep in Sweep::ALL {
            if entry.offers(sweep.kind()) {
                let chunks = (usize::from(entry.info.id)..SWEEP_CHUNKS as usize)
                    .step_by(EVERY_CHUNK)
                    .map(|chunk| chunk as u64);
                counts = counts.and(torture::sweep::<f32>(entry, sweep, chunks).map_err(name)?);
            }
        }
        counts = counts.and(torture::sixteen::<f16>(entry, BOUNDS).map_err(name)?);
        counts = counts.and(torture::sixteen::<bf16>(entry, BOUNDS).map_err(name)?);
    }
    Ok(counts)
}

#[test]
fn bounds_hold() {
    let counts = all().unwrap();
    println!("{counts:?}");
    assert!(counts.coded > 100_000_000, "{counts:?}");
}
