//! Ratio and speed of `stage::block_transform` with the plane code of each codec of the zfp family,
//! by element type, number of axes, instruction set and bound.
//!
//! ```sh
//! cargo bench --bench zfp_family
//! ```

use ebz::codec::{Params, by_name};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{Element, FillValues, Tolerance};
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
    println!("codec,type,axes,level,bound,ratio,compress_GBps,decompress_GBps");
    for codec in ["de-zfp", "zfp-v"] {
        for dims in SHAPES {
            measure::<f32>(codec, dims);
            measure::<f64>(codec, dims);
        }
    }
}

fn measure<T: Element>(codec: &str, dims: Dims) {
    let values = waves::<T>(dims);
    let entry = by_name(codec).expect("the codec");
    let params = Params::default();
    for level in Level::available() {
        let mut context = Context::new(level);
        for bound in [1e-2, 1e-4] {
            let task = Task {
                dims,
                tolerance: Tolerance::Abs(bound),
                fill: FillValues::NONE,
                params: &params,
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
            let raw = (dims.len() * T::SIZE) as f64;
            let speed = |time: Duration| raw / time.as_secs_f64() / 1e9;
            println!(
                "{codec},{},{},{level:?},{bound:e},{:.2},{:.3},{:.3}",
                T::TYPE,
                dims.axes(),
                raw / bytes.len() as f64,
                speed(compress),
                speed(decompress),
            );
        }
    }
}

/// Waves of several lengths, between −1 and 1.
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

/// Processor time of this thread where the system tells it, so that other work does not count.
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
