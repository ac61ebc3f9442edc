//! Makes the sample field of the project: `cargo run -p ebz-cli --example sample_field OUT.npy`.
//!
//! A spherical wave with its reflection, over weak noise: f32, 32 × 64 × 64. Only additions,
//! multiplications and square roots, which give the same bytes on every machine.

use std::io::Write;

const SHAPE: [usize; 3] = [32, 64, 64];

/// A smooth pulse around 0 that swings once and dies out.
fn pulse(x: f64) -> f64 {
    let square = x * x;
    (1.0 - square) / (1.0 + square * (1.0 + square * (0.5 + square)))
}

fn value(z: f64, y: f64, x: f64) -> f64 {
    let distance = |z0: f64, y0: f64, x0: f64| {
        ((z - z0) * (z - z0) + (y - y0) * (y - y0) + (x - x0) * (x - x0)).sqrt()
    };
    let (direct, mirrored) = (distance(8.0, 28.0, 30.0), distance(-12.0, 28.0, 30.0));
    20.0 * pulse((direct - 18.0) / 2.5) / (1.0 + 0.2 * direct)
        - 12.0 * pulse((mirrored - 30.0) / 2.5) / (1.0 + 0.2 * mirrored)
        + 0.01 * z
}

fn main() -> std::io::Result<()> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or("wave_32x64x64.npy".into());
    let mut text = format!(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}, {}), }}",
        SHAPE[0], SHAPE[1], SHAPE[2]
    );
    text += &" ".repeat(127 - 10 - text.len());
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    let mut state = 1u64;
    for z in 0..SHAPE[0] {
        for y in 0..SHAPE[1] {
            for x in 0..SHAPE[2] {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let noise = 0.002 * ((state >> 40) as f64 / (1u64 << 24) as f64 - 0.5);
                let value = (value(z as f64, y as f64, x as f64) + noise) as f32;
                bytes.extend(value.to_le_bytes());
            }
        }
    }
    std::fs::File::create(path)?.write_all(&bytes)
}
