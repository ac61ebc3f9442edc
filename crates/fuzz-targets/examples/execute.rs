//! Runs every fuzz target, or those named, with mutated valid inputs for some seconds each, on a
//! stable compiler and without a sanitizer: ten times as many executions as under libFuzzer, without
//! its guidance. Prints rows of `fuzz/runs.csv` (see `scripts/fuzz`).

use ebz_fuzz_targets::TARGETS;
use ebz_testkit::random::Random;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn main() {
    let mut args = std::env::args().skip(1);
    let seconds = args.next().and_then(|text| text.parse().ok());
    let seconds: u64 = seconds.expect("usage: execute SECONDS [TARGET]...");
    let wanted: Vec<String> = args.collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = now.map_or(0, |time| time.as_nanos() as u64);
    for target in &TARGETS {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == target.name) {
            continue;
        }
        let seeds = (target.seeds)();
        let mut random = Random::new(seed);
        let start = Instant::now();
        let mut executions = 0u64;
        while start.elapsed() < Duration::from_secs(seconds) {
            for _ in 0..64 {
                let input = random.mutated(&seeds);
                // What a crash leaves behind.
                let result = std::panic::catch_unwind(|| (target.run)(&input));
                if result.is_err() {
                    let name = format!("crash-{}-{executions}", target.name);
                    std::fs::write(&name, &input).expect("the input of a crash");
                    eprintln!("{name} is the input");
                    std::process::exit(1);
                }
                executions += 1;
            }
        }
        let spent = start.elapsed().as_secs();
        println!("stable,{},{spent},{executions},,,0", target.name);
    }
}
