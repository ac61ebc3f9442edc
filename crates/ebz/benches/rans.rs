//! Speed and size of the entropy coder for symbols of several magnitudes.
//!
//! ```sh
//! cargo bench --bench rans
//! ```

use ebz::internals::rans::{Decoder, Encoder, LANES, place};
use ebz::simd::Level;
use std::time::{Duration, Instant};

const SYMBOLS: usize = 1 << 22;
const CONTEXTS: usize = 96;

fn main() {
    println!("magnitudes,level,bits_per_symbol,encode_Msymbols,decode_Msymbols");
    for spread in [1u32, 2, 4, 12] {
        let (symbols, contexts) = sample(spread);
        let places = symbols.iter().zip(&contexts).map(|(&s, &c)| place(c, s));
        let places: Vec<u16> = places.collect();
        for level in Level::available() {
            let mut encoder = Encoder::default();
            let mut bytes = Vec::new();
            let encode = best(|| {
                bytes.clear();
                encoder.encode(level, CONTEXTS, &places, &mut bytes);
            });
            let mut decoder = Decoder::default();
            let mut back = vec![0; symbols.len()];
            let decode = best(|| {
                let words = decoder.begin(level, CONTEXTS, &bytes).expect("a header");
                decoder
                    .decode(words, &contexts, &mut back)
                    .expect("symbols");
                decoder.finish(words).expect("the end");
            });
            assert!(back == symbols, "the decoded symbols differ");
            let rate = |time: Duration| symbols.len() as f64 / time.as_secs_f64() / 1e6;
            println!(
                "0..{spread},{level:?},{:.3},{:.0},{:.0}",
                8.0 * bytes.len() as f64 / symbols.len() as f64,
                rate(encode),
                rate(decode),
            );
        }
    }
}

/// Symbols of both signs with decreasing frequencies, in contexts that change slowly.
fn sample(spread: u32) -> (Vec<u8>, Vec<u8>) {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as u32
    };
    let symbols = (0..SYMBOLS).map(|_| {
        let magnitude = (next() % (spread + 1)).min(next() % (spread + 1));
        (2 * magnitude).saturating_sub(u32::from(magnitude > 0) & next()) as u8
    });
    let symbols = symbols.collect();
    let contexts = (0..SYMBOLS).map(|i| (i / (64 * LANES) % CONTEXTS) as u8);
    (symbols, contexts.collect())
}

fn best(mut run: impl FnMut()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..7).map(once).min().unwrap_or_default()
}
