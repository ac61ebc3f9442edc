//! Timing data of `docs/hardware.md`: `measure cycles` prints the table, `measure trace CORE`
//! prints the ports of a core in the first cycles, as CSV.

use ebz_rtl::zfp::{Blocks, Mode};
use ebz_rtl::{Conditions, RoundTrip, Simulated, fields, fre, zfp};
use std::error::Error;

/// The clock frequency of the papers.
const MHZ: f64 = 250.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["cycles"] => cycles(),
        ["trace", core] => trace(core),
        _ => Err("usage: measure cycles, or measure trace CORE".into()),
    }
}

fn cycles() -> Result<(), Box<dyn Error>> {
    let values = fields::sample()?.values;
    println!(
        "| core | compress: values per cycle | GB/s at 250 MHz | latency | decompress | GB/s | latency |"
    );
    println!("|---|---|---|---|---|---|---|");
    row(
        "FRE, 6 mantissa bits",
        values.len(),
        &fre::round_trip(6, std::slice::from_ref(&values), Conditions::SMOOTH)?,
    );
    for axes in [3, 2] {
        let array = Blocks::of(&values, [32, 64, 64], axes);
        for planes in [8, 15, 24, 32] {
            let run = zfp::round_trip(
                axes,
                Mode::Planes(planes),
                std::slice::from_ref(&array),
                Conditions::SMOOTH,
            )?;
            let name = if axes == 3 { "DE-ZFP" } else { "ZFP-V2" };
            row(
                &format!("{name}, {planes} planes"),
                array.values.len(),
                &run,
            );
        }
    }
    Ok(())
}

fn row(name: &str, values: usize, run: &RoundTrip) {
    let columns = |run: &Simulated| {
        let rate = values as f64 / run.cycles as f64;
        format!(
            "{rate:.2} | {:.2} | {}",
            rate * 4.0 * MHZ / 1e3,
            run.latency
        )
    };
    println!(
        "| {name} | {} | {} |",
        columns(&run.compress),
        columns(&run.decompress)
    );
}

fn trace(core: &str) -> Result<(), Box<dyn Error>> {
    let conditions = Conditions {
        stall_input: 10,
        stall_output: 25,
        seed: 4,
        trace: 72,
    };
    let values = fields::sample()?.values;
    let run = if core.starts_with("fre") {
        fre::round_trip(
            6,
            &[values[9000..9024].to_vec(), values[9100..9108].to_vec()],
            conditions,
        )?
    } else {
        let axes = if core.ends_with('3') { 3 } else { 2 };
        let part = Blocks::of(&values[16 * 64 * 64..], [4, 4, 64], axes);
        zfp::round_trip(axes, Mode::Planes(12), &[part], conditions)?
    };
    let run = if core.contains("decompress") {
        run.decompress
    } else {
        run.compress
    };
    println!("i_valid,i_ready,i_data,o_valid,o_ready,o_last,o_data");
    for cycle in run.trace {
        let [[i_valid, i_ready], [o_valid, o_ready]] =
            [cycle.input, cycle.output].map(|flags| flags.map(u8::from));
        let last = u8::from(cycle.last);
        println!(
            "{i_valid},{i_ready},{:08x},{o_valid},{o_ready},{last},{:08x}",
            cycle.input_data[0], cycle.output_data[0]
        );
    }
    Ok(())
}
