//! Latency of one call on small arrays: a one-shot call, and a coder that reuses its buffers.
//!
//! ```sh
//! cargo bench -p ebz --bench latency [-- CODEC …]
//! ```

use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, Options, Tolerance, View};
use std::time::Instant;

/// Repetitions of a call; the minimum counts.
const REPEATS: usize = 3000;

fn main() {
    let only: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    println!("codec,KB,compress_us,decompress_us,kept_encode_us,kept_decode_us,ratio");
    for entry in ebz::codec::TABLE {
        let listed = only.is_empty() || only.iter().any(|name| name == entry.info.name);
        if !listed || !entry.offers(ebz::BoundKind::Abs) {
            continue;
        }
        for kilobytes in [1, 4, 16, 64] {
            measure(entry.info.name, kilobytes);
        }
    }
}

fn measure(codec: &str, kilobytes: usize) {
    let count = kilobytes * 256;
    let values: Vec<f32> = (0..count)
        .map(|i| (i as f32 * 0.02).sin() + (i as f32 * 0.0031).cos())
        .collect();
    let shape = [count];
    let options = Options::new(Bound::Abs(2e-3)).codec(codec).threads(1);
    let view = View::new(&values, &shape).expect("a view");
    let mut bytes = Vec::new();
    let compress = least(|| {
        ebz::compress_into(&view, &options, &mut bytes).expect("compressed");
    });
    let mut back = vec![0f32; count];
    let decompress = least(|| {
        let mut out = ebz::ViewMut::new(&mut back, &shape).expect("a view");
        ebz::decompress_into(&bytes, &mut out).expect("decompressed");
    });
    let plan = FramePlan::new::<f32>(&shape, Tolerance::Abs(2e-3), &options).expect("a plan");
    let mut coder = SlabCoder::new(options.simd);
    let mut slab = EncodedSlab::default();
    let encode = least(|| {
        coder
            .encode(&plan, 0, 0, &view, &mut slab)
            .expect("encoded");
    });
    let decode = least(|| {
        coder
            .decode(&plan, 0, 0, slab.bytes(), &mut back)
            .expect("decoded");
    });
    println!(
        "{codec},{kilobytes},{compress:.2},{decompress:.2},{encode:.2},{decode:.2},{:.2}",
        4.0 * count as f64 / bytes.len() as f64
    );
}

/// Microseconds.
fn least(mut run: impl FnMut()) -> f64 {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..REPEATS).map(once).fold(f64::INFINITY, f64::min)
}
