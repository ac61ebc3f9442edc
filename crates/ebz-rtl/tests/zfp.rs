//! DE-ZFP and ZFP-V2: streams equal the codecs'.

use ebz_rtl::Conditions;
use ebz_rtl::zfp::{Blocks, Mode, round_trip};
use ebz_testkit::random::Random;

#[test]
fn smooth_and_rough_blocks() {
    for axes in [2, 3] {
        for planes in [0, 1, 2, 7, 12, 16, 23, 31, 32] {
            let mut random = Random::new(planes.into());
            let mut values = Vec::new();
            for i in 0..16 * 16 * 16 {
                let noise = 10f64.powi(random.below(9) as i32 - 9) * random.unit();
                values.push(((i as f64 * 0.01).sin() + noise) as f32);
            }
            let array = Blocks::of(&values, [16; 3], axes);
            for stall in [0, 40] {
                let conditions = Conditions { stall_input: stall, stall_output: stall, seed: 5, trace: 0 };
                let run = round_trip(axes, Mode::Planes(planes), &[array.clone()], conditions).unwrap();
                println!("{axes} {planes} {} {}", run.compress.cycles, run.decompress.cycles);
            }
        }
    }
}
