//! Statistics of the words of `fre`: `cargo run --release -p ebz-testkit --example fre_words`
//!
//! For one synthetic field and the real fields in the folder named by `EBZ_DATA`: the share of each
//! kind of word in percent, the bits per value according to the paper's table, and the ratios by
//! that count and of the codec, with 6 mantissa bits and truncation.

use ebz::{Bound, Options, View};
use ebz_testkit::fields::{AnyField, Content, shared_fields};
use ebz_testkit::fre_words::Count;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const KEPT: u32 = 6;
    let mut fields = shared_fields()?;
    fields.push(AnyField::F32(Content::Waves.field(&[64, 128, 128], 1)));
    println!("| field | `00` | `1`, d = 0 | 1–5 | 6–9 | `011` | `010` | bits | ideal | coded |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for field in &fields {
        let AnyField::F32(field) = field else {
            continue;
        };
        let count = Count::of(&field.values, KEPT);
        let options = Options::new(Bound::Precision(KEPT))
            .codec("fre")
            .param("rounding", "truncate");
        let bytes = ebz::compress(&View::new(&field.values, &field.shape)?, &options)?;
        let values = field.values.len() as f64;
        let share = |n: u64| format!("{:.2}", 100.0 * n as f64 / values);
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {:.2} | {:.3} | {:.3} |",
            field.name,
            share(count.same),
            share(count.level),
            share(count.near),
            share(count.middle),
            share(count.far),
            share(count.subnormal),
            count.bits as f64 / values,
            32.0 * values / count.bits as f64,
            4.0 * values / bytes.len() as f64,
        );
    }
    Ok(())
}
