//! Times several variants of an operation in turn.

use ebz_mpi::{Comm, Estimate};
use serde_json::json;
use std::time::Instant;

/// The result of one run on this rank.
#[derive(Default)]
pub struct Run {
    pub compressed: bool,
    /// Bytes sent over a link, or the size of the file.
    pub bytes: u64,
    pub estimate: Option<Estimate>,
}

/// A variant.
pub struct Way<'a> {
    name: String,
    /// Restores the input; not timed.
    prepare: Box<dyn FnMut() + 'a>,
    run: Box<dyn FnMut() -> Run + 'a>,
}

impl<'a> Way<'a> {
    pub fn new(name: impl Into<String>, run: impl FnMut() -> Run + 'a) -> Self {
        Self {
            name: name.into(),
            prepare: Box::new(|| {}),
            run: Box::new(run),
        }
    }

    pub fn after(mut self, prepare: impl FnMut() + 'a) -> Self {
        self.prepare = Box::new(prepare);
        self
    }
}

/// Number of repetitions: EBZ_ROUNDS, or 5.
pub fn rounds() -> usize {
    let rounds = std::env::var("EBZ_ROUNDS").ok();
    rounds.and_then(|n| n.parse().ok()).unwrap_or(5)
}

/// Label of the link, from EBZ_PLACE.
pub fn place() -> String {
    std::env::var("EBZ_PLACE").unwrap_or_default()
}

/// Runs all variants in turn and prints a line for each: least and median time of the slowest rank,
/// and the speed-up over the first variant, which moves `raw_bytes`.
pub fn compare(comm: &Comm, operation: &str, raw_bytes: u64, mut ways: Vec<Way>) {
    let mut times = vec![Vec::new(); ways.len()];
    let mut last: Vec<Run> = Vec::new();
    for _ in 0..rounds() {
        last.clear();
        for (way, times) in ways.iter_mut().zip(&mut times) {
            (way.prepare)();
            comm.allgather_pair([0; 2]).expect("all ranks");
            let start = Instant::now();
            let done = (way.run)();
            let own = start.elapsed().as_nanos() as u64;
            let all = comm.allgather_pair([own, done.bytes]).expect("all ranks");
            let slowest = all.iter().map(|pair| pair[0]).max().unwrap_or(0);
            times.push(slowest as f64 / 1e9);
            let bytes = all.iter().map(|pair| pair[1]).sum();
            last.push(Run { bytes, ..done });
        }
    }
    if comm.rank() != 0 {
        return;
    }
    for times in &mut times {
        times.sort_by(f64::total_cmp);
    }
    for ((way, run), own) in ways.iter().zip(&last).zip(&times) {
        let (least, median) = (own[0], own[own.len() / 2]);
        let mut line = json!({
            "operation": operation,
            "place": place(),
            "way": way.name,
            "compressed": run.compressed,
            "bytes": run.bytes,
            "raw_bytes": raw_bytes,
            "ratio": raw_bytes as f64 / run.bytes.max(1) as f64,
            "seconds": least,
            "median": median,
            "speedup": times[0][0] / least,
            "median_speedup": times[0][times[0].len() / 2] / median,
        });
        if let Some(estimate) = run.estimate {
            line["estimate_raw"] = estimate.raw.into();
            line["estimate_compressed"] = estimate.compressed.into();
        }
        println!("{line}");
    }
}
