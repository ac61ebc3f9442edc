//! Writes a series of arrays to one file as they come, then reads a part of the last one.
//!
//! ```sh
//! cargo run --release -p ebz --example series -- series.ebz
//! ```

use ebz::{Bound, Options, Reader, Result, View, Writer};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or("series.ebz".into());
    let shape = [64, 128, 128];

    // Every value of every step within 0.001.
    let options = Options::new(Bound::Abs(1e-3)).codec("interp");
    let mut writer = Writer::create(&path, options)?;
    for step in 0..10 {
        let values = simulate(step, shape);
        let stats = writer.frame(&View::new(&values, &shape)?)?;
        println!(
            "step {step}: {} -> {} bytes",
            stats.raw_bytes, stats.stored_bytes
        );
    }
    writer.finish()?;

    // Only the chunks that the region touches are read and decoded.
    let reader = Reader::open(&path)?;
    let last = reader.frame(reader.frames() - 1)?;
    let part = last.region::<f32>(&[10..12, 0..128, 64..65])?;
    println!("{:?} of {:?}", part.shape(), last.header().shape());
    Ok(())
}

fn simulate(step: usize, [nz, ny, nx]: [usize; 3]) -> Vec<f32> {
    let value = |i: usize| {
        let (z, y, x) = (i / nx / ny, i / nx % ny, i % nx);
        let phase = 0.1 * x as f32 + 0.07 * y as f32 - 0.3 * step as f32;
        phase.sin() * (0.05 * z as f32).cos()
    };
    (0..nz * ny * nx).map(value).collect()
}
