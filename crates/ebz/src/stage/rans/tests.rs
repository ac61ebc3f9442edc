use super::*;
use crate::simd::Level;

/// Symbols of contexts of different widths, with idle lanes and rare large symbols.
fn sample(segments: usize, contexts: usize) -> (Vec<u8>, Vec<u8>) {
    let mut seed = 7u64;
    let mut next = move || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as u32
    };
    let mut symbols = Vec::new();
    let mut which = Vec::new();
    for _ in 0..segments * LANES {
        let context = next() as usize % (contexts + 1);
        let symbol = if context == contexts {
            0
        } else {
            let rare = next() % 5000 == 0;
            let magnitude = next() % if rare { 32 } else { 1 << (context % 5) };
            // Both signs are equally likely.
            (2 * magnitude).saturating_sub(u32::from(magnitude > 0) & next())
        };
        symbols.push(symbol as u8);
        which.push(context as u8);
    }
    (symbols, which)
}

fn encode(level: Level, contexts: usize, symbols: &[u8], which: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let places = symbols.iter().zip(which).map(|(&s, &c)| place(c, s));
    let places: Vec<u16> = places.collect();
    Encoder::default().encode(level, contexts, &places, &mut out);
    out
}

fn decode(level: Level, contexts: usize, bytes: &[u8], which: &[u8]) -> crate::Result<Vec<u8>> {
    let mut decoder = Decoder::default();
    let words = decoder.begin(level, contexts, bytes)?;
    let mut symbols = vec![0; which.len()];
    // In pieces, like a codec whose contexts depend on decoded symbols.
    for (s, c) in symbols.chunks_mut(3 * LANES).zip(which.chunks(3 * LANES)) {
        decoder.decode(words, c, s)?;
    }
    decoder.finish(words)?;
    Ok(symbols)
}

#[test]
fn every_level_writes_and_reads_the_same_bytes() {
    for segments in [0, 1, 2, 7, 500] {
        for contexts in [1, 5, 96] {
            let (symbols, which) = sample(segments, contexts);
            let expected = encode(Level::Portable, contexts, &symbols, &which);
            for level in Level::available() {
                assert_eq!(encode(level, contexts, &symbols, &which), expected);
                assert_eq!(decode(level, contexts, &expected, &which).unwrap(), symbols);
            }
        }
    }
}

#[test]
fn size_is_close_to_the_entropy() {
    let contexts = 6;
    let (symbols, which) = sample(4000, contexts);
    let bytes = encode(Level::detect(), contexts, &symbols, &which).len();
    let mut counts = vec![[0f64; 64]; contexts];
    for (&s, &c) in symbols.iter().zip(&which) {
        if usize::from(c) < contexts {
            counts[usize::from(c)][usize::from(s)] += 1.0;
        }
    }
    let entropy: f64 = counts
        .iter()
        .flat_map(|row| {
            let total: f64 = row.iter().sum();
            row.iter()
                .map(move |&n| if n > 0.0 { n * (total / n).log2() } else { 0.0 })
        })
        .sum();
    let ideal = entropy / 8.0;
    assert!(
        (bytes as f64) < 1.02 * ideal + 300.0,
        "{bytes} bytes, entropy {ideal}"
    );
}

#[test]
fn damaged_streams_never_panic() {
    let contexts = 9;
    let (symbols, which) = sample(12, contexts);
    let bytes = encode(Level::Portable, contexts, &symbols, &which);
    for level in Level::available() {
        for length in 0..bytes.len() {
            if let Ok(other) = decode(level, contexts, &bytes[..length], &which) {
                assert_eq!(other.len(), symbols.len());
            }
        }
        for bit in 0..bytes.len() * 8 {
            let mut broken = bytes.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            if let Ok(other) = decode(level, contexts, &broken, &which) {
                assert_eq!(other.len(), symbols.len());
            }
        }
    }
}
