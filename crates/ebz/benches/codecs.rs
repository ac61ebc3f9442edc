//! Ratio and speed of every codec on one chunk, compared with memcpy, by element type, number of
//! axes, instruction set and bound. Arguments select codecs by name.
//!
//! ```sh
//! cargo bench -p ebz --bench codecs -- fz ceaz
//! ```

use ebz::codec::{Entry, Params, TABLE};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{BoundKind, Element, FillValues, Tolerance, f16};
use ebz_testkit::conformance;
use std::time::{Duration, Instant};

/// Chunks of about a million values.
const SHAPES: [Dims; 3] = [
    Dims {
        nz: 1,
        ny: 1,
        nx: 1 << 20,
    },
    Dims {
        nz: 1,
        ny: 1024,
        nx: 1024,
    },
    Dims {
        nz: 64,
        ny: 128,
        nx: 128,
    },
];

fn main() {
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    println!("codec,type,axes,level,bound,ratio,compress_GBps,decompress_GBps,copy_GBps");
    let chosen = |entry: &&Entry| named.is_empty() || named.iter().any(|n| n == entry.info.name);
    for entry in TABLE.iter().filter(chosen) {
        for params in conformance::variants(entry) {
            for dims in SHAPES {
                measure::<f32>(entry, &params, dims);
                measure::<f64>(entry, &params, dims);
            }
            measure::<f16>(entry, &params, SHAPES[2]);
        }
    }
}

/// A loose and a tight bound of the first kind that the codec supports.
fn tolerances(entry: &Entry) -> [Tolerance; 2] {
    match entry.offers(BoundKind::Abs) {
        true => [1e-2, 1e-4].map(Tolerance::Abs),
        false => [1e-2, 1e-4].map(Tolerance::Pointwise),
    }
}

fn measure<T: Element>(entry: &Entry, params: &Params, dims: Dims) {
    let values = waves::<T>(dims);
    for level in Level::available() {
        let mut context = Context::new(level);
        for tolerance in tolerances(entry) {
            let task = Task {
                dims,
                tolerance,
                fill: FillValues::NONE,
                params,
            };
            let mut bytes = Vec::new();
            let compress = best(|| {
                bytes.clear();
                entry
                    .encode(&values, &task, &mut context, &mut bytes)
                    .expect("encoded");
            });
            let mut back = vec![T::default(); dims.len()];
            let decompress = best(|| {
                entry
                    .decode(&bytes, dims, &mut context, &mut back)
                    .expect("decoded");
            });
            let mut copied = vec![T::default(); dims.len()];
            let copy = best(|| copied.copy_from_slice(std::hint::black_box(&values)));
            let raw = (dims.len() * T::SIZE) as f64;
            let speed = |time: Duration| raw / time.as_secs_f64() / 1e9;
            println!(
                "{},{},{},{level:?},{tolerance:?},{:.2},{:.3},{:.3},{:.3}",
                conformance::name(entry, params),
                T::TYPE,
                dims.axes(),
                raw / bytes.len() as f64,
                speed(compress),
                speed(decompress),
                speed(copy),
            );
        }
    }
}

/// Waves of several wavelengths, between −1 and 1.
fn waves<T: Element>(dims: Dims) -> Vec<T> {
    (0..dims.len())
        .map(|i| {
            let x = (i % dims.nx) as f64;
            let y = (i / dims.nx % dims.ny) as f64;
            let z = (i / dims.nx / dims.ny) as f64;
            let wave = (0.03 * x + 0.05 * y).sin() * (0.04 * z - 0.01 * y).cos();
            T::from_f64(0.9 * wave + 0.1 * (0.7 * x + 0.9 * y + 0.5 * z).sin())
        })
        .collect()
}

/// CPU time of this thread if available, so that other processes do not count.
fn clock(start: Instant) -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|n| n.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn best(mut run: impl FnMut()) -> Duration {
    let origin = Instant::now();
    let once = |_| {
        let start = clock(origin);
        run();
        clock(origin) - start
    };
    (0..15).map(once).min().unwrap_or_default()
}
