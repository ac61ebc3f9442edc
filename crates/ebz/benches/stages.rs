//! Speed of every stage by itself, in GB/s of its input, at every instruction set; the least of many
//! times, with a copy of 2 MiB beside. Whole codecs: `codecs`; fused stages: `fused`; entropy coder of
//! `interp`: `rans`.
//!
//! ```sh
//! cargo bench -p ebz --bench stages
//! ```

use ebz::internals::stages;
use ebz::simd::Level;
use std::time::{Duration, Instant};

const ROUNDS: usize = 25;

fn least(run: &mut dyn FnMut()) -> Duration {
    let one = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..ROUNDS).map(one).min().unwrap_or_default()
}

fn main() {
    println!("stage,level,forward_gbs,inverse_gbs,copy_gbs");
    let from = vec![1u8; 2 << 20];
    let mut to = vec![0u8; from.len()];
    let speed = |bytes: usize, time: Duration| bytes as f64 / time.as_secs_f64() / 1e9;
    for level in Level::available() {
        let copy = speed(from.len(), least(&mut || to.copy_from_slice(&from)));
        for stage in stages::all(level, least).expect("stages invert what they wrote") {
            let [forward, inverse] = stage.times.map(|time| speed(stage.bytes, time));
            let name = stage.name;
            println!("{name},{level:?},{forward:.2},{inverse:.2},{copy:.2}");
        }
    }
}
