//! Runs a fuzz target with mutated valid inputs for some seconds, on a stable compiler and without a
//! sanitizer: ten times as many executions as under libFuzzer, without its guidance. Prints the numbers
//! of executions, of calls of a decoder by the target itself, and of those that gave values (see
//! `scripts/fuzz`); an input that crashes is kept in the given folder.

use ebz_fuzz_targets::TARGETS;
use ebz_fuzz_targets::chunks::{DECODED, DECODES};
use ebz_testkit::random::Random;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [seconds, name, crashes] = &args[..] else {
        panic!("usage: execute SECONDS TARGET CRASHES");
    };
    let seconds = Duration::from_secs(seconds.parse().expect("a number of seconds"));
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.expect("the name of a target");
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut random = Random::new(now.map_or(0, |time| time.as_nanos() as u64));
    let seeds = (target.seeds)();
    let start = Instant::now();
    let mut executions = 0u64;
    let mut crashed = false;
    while start.elapsed() < seconds && !crashed {
        for _ in 0..64 {
            let input = random.mutated(&seeds);
            executions += 1;
            if std::panic::catch_unwind(|| (target.run)(&input)).is_err() {
                let path = format!("{crashes}/crash-{name}-{executions}");
                std::fs::write(&path, &input).expect("the input of a crash");
                eprintln!("{path} is the input");
                crashed = true;
                break;
            }
        }
    }
    let [decodes, decoded] = [&DECODES, &DECODED].map(|number| number.load(Ordering::Relaxed));
    println!("{executions} {decodes} {decoded}");
    std::process::exit(crashed.into());
}
