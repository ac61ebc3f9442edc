//! Times of operations, raw and compressed: `mpirun -n 4 bench gather|allreduce|write MEGABYTES …`.
//! `scripts/mpi_tables` runs it over links of several speeds. One line of JSON for each row.

use ebz::{Bound, Options};
use ebz_mpi::{Algorithm, Comm, FileWriter, Mode, Report, Settings, allreduce, gather, mpi};
use std::time::Instant;

fn main() {
    let universe = mpi::initialize().expect("MPI starts");
    let comm = Comm::new(&universe.world()).expect("a communicator");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["gather", megabytes, rows, ref codecs @ ..] => {
            bench_gather(&comm, number(megabytes), number(rows), codecs);
        }
        ["allreduce", megabytes, rows] => bench_sums(&comm, number(megabytes), number(rows)),
        ["write", megabytes, path, ref codecs @ ..] => {
            bench_write(&comm, number(megabytes), path, codecs);
        }
        _ => panic!("gather, allreduce or write"),
    }
}

fn number(text: &str) -> usize {
    text.parse().expect("a number")
}

const SIDE: usize = 256;

/// Planes of a smooth field with waves of several lengths and a little noise, or of the file of `f32` in
/// EBZ_FIELD, repeated.
fn field(rank: usize, megabytes: usize) -> (Vec<f32>, [usize; 3]) {
    let planes = (megabytes << 20).div_ceil(4 * SIDE * SIDE);
    let shape = [planes, SIDE, SIDE];
    let count = planes * SIDE * SIDE;
    if let Ok(path) = std::env::var("EBZ_FIELD") {
        let bytes = std::fs::read(path).expect("a field");
        let values: Vec<f32> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect();
        let start = values.len() / 7 * rank;
        let around = values.iter().cycle().skip(start).take(count);
        return (around.copied().collect(), shape);
    }
    let mut state = rank as u32 + 1;
    let row: Vec<f32> = (0..SIDE).map(|x| (x as f32 * 0.02).sin()).collect();
    let mut values = Vec::with_capacity(count);
    for z in 0..planes {
        let a = (z as f32 * 0.03 + rank as f32).cos();
        for y in 0..SIDE {
            let b = (y as f32 * 0.025 + a).sin();
            for wave in &row {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 8) as f32 / (1 << 24) as f32 - 0.5;
                values.push(wave * b + 0.5 * a + 1e-2 * noise);
            }
        }
    }
    (values, shape)
}

/// The least time of some runs, on the slowest rank.
fn best(comm: &Comm, rounds: usize, mut run: impl FnMut() -> Report) -> (f64, Report) {
    let mut least = f64::INFINITY;
    let mut last = Report::default();
    for _ in 0..rounds {
        comm.tell([0; 2]).expect("all ranks");
        let start = Instant::now();
        last = run();
        let own = start.elapsed().as_micros() as u64;
        let all = comm.tell([own, 0]).expect("all ranks");
        let slowest = all.iter().map(|times| times[0]).max().unwrap_or(0);
        least = least.min(slowest as f64 / 1e6);
    }
    (least, last)
}

/// Bytes that all ranks sent.
fn sent(comm: &Comm, report: &Report) -> u64 {
    let all = comm.tell([report.sent_bytes, 0]).expect("all ranks");
    all.iter().map(|pair| pair[0]).sum()
}

fn modes(codecs: &[&str], bound: Bound) -> Vec<(String, Settings)> {
    let plain = Settings::new(bound).mode(Mode::Never);
    let mut all = vec![("raw".to_string(), plain)];
    for codec in codecs {
        let settings = Settings::new(bound).codec(codec).mode(Mode::Always);
        all.push((codec.to_string(), settings));
    }
    all.push(("adaptive".into(), Settings::new(bound)));
    all
}

/// What was expected of either way, where that was asked.
fn expected(report: &Report) -> String {
    match report.estimate {
        Some(e) => format!(
            ",\"model_raw\":{:.4},\"model_compressed\":{:.4}",
            e.raw, e.compressed
        ),
        None => String::new(),
    }
}

fn rounds() -> usize {
    std::env::var("EBZ_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3)
}

/// Megabytes of all ranks together.
fn bench_gather(comm: &Comm, megabytes: usize, rate: usize, codecs: &[&str]) {
    let (values, shape) = field(comm.rank(), megabytes / comm.size());
    let mut out = vec![
        0f32;
        if comm.rank() == 0 {
            values.len() * comm.size()
        } else {
            0
        }
    ];
    let total = (values.len() * 4 * comm.size()) as f64;
    let mut raw = 0.0;
    for (name, settings) in modes(codecs, Bound::Range(1e-3)) {
        let (seconds, report) = best(comm, rounds(), || {
            let target = (comm.rank() == 0).then_some(&mut out[..]);
            gather(comm, &values, &shape, 0, target, &settings).expect("gather")
        });
        if name == "raw" {
            raw = seconds;
        }
        let sent = sent(comm, &report);
        let crossed = total * (comm.size() - 1) as f64 / comm.size() as f64;
        if comm.rank() == 0 {
            println!(
                "{{\"operation\":\"gather\",\"mbit\":{rate},\"way\":\"{name}\",\"compressed\":{},\"seconds\":{seconds:.4},\
                 \"speedup\":{:.2},\"ratio\":{:.2},\"sent\":{sent},\"raw\":{total}{}}}",
                report.compressed,
                raw / seconds,
                crossed / sent.max(1) as f64,
                expected(&report),
            );
        }
    }
}

/// Megabytes of each rank.
fn bench_sums(comm: &Comm, megabytes: usize, rate: usize) {
    let (values, shape) = field(comm.rank(), megabytes);
    let bound = Bound::Range(1e-3);
    let always = Settings::new(bound).mode(Mode::Always);
    let ways = [
        (
            "raw",
            Settings::new(bound).mode(Mode::Never),
            Algorithm::Ring,
        ),
        ("plain", always.clone(), Algorithm::Plain),
        ("lattice", always.clone(), Algorithm::Ring),
        ("doubling", always, Algorithm::RecursiveDoubling),
        ("adaptive", Settings::new(bound), Algorithm::Ring),
    ];
    let mut raw = 0.0;
    let mut out = values.clone();
    for (name, settings, algorithm) in ways {
        let (seconds, report) = best(comm, rounds(), || {
            out.copy_from_slice(&values);
            allreduce(comm, &mut out, &shape, algorithm, &settings).expect("allreduce")
        });
        if name == "raw" {
            raw = seconds;
        }
        let sent = sent(comm, &report);
        if comm.rank() == 0 {
            let crossing = 2 * size_of_val(&values[..]) * (comm.size() - 1);
            println!(
                "{{\"operation\":\"allreduce\",\"mbit\":{rate},\"way\":\"{name}\",\"compressed\":{},\"seconds\":{seconds:.4},\
                 \"speedup\":{:.2},\"ratio\":{:.2},\"sent\":{sent}{}}}",
                report.compressed,
                raw / seconds,
                crossing as f64 / sent.max(1) as f64,
                expected(&report),
            );
        }
    }
}

/// Megabytes of all ranks together, written as planes of one array; the disk is waited for.
fn bench_write(comm: &Comm, megabytes: usize, path: &str, codecs: &[&str]) {
    let (values, [planes, ..]) = field(comm.rank(), megabytes / comm.size());
    let all = [planes * comm.size(), SIDE, SIDE];
    let block = [
        planes * comm.rank()..planes * (comm.rank() + 1),
        0..SIDE,
        0..SIDE,
    ];
    let mut raw = 0.0;
    for name in ["raw"].iter().chain(codecs) {
        let options = match *name {
            "raw" => Options::new(Bound::Lossless).codec("raw"),
            codec => Options::new(Bound::Range(1e-3)).codec(codec),
        };
        let mut stored = 0;
        let (seconds, _) = best(comm, 1, || {
            let mut writer = FileWriter::create(comm, path).expect("a file");
            let report = writer
                .frame(&all, &block, &values, &options)
                .expect("a frame");
            writer.finish().expect("a file");
            stored = report.stored_bytes;
            Report::default()
        });
        if *name == "raw" {
            raw = seconds;
        }
        if comm.rank() == 0 {
            let bytes = size_of_val(&values[..]) * comm.size();
            println!(
                "{{\"operation\":\"write\",\"way\":\"{name}\",\"seconds\":{seconds:.3},\"speedup\":{:.2},\
                 \"ratio\":{:.2},\"raw\":{bytes},\"stored\":{stored}}}",
                raw / seconds,
                bytes as f64 / stored.max(1) as f64,
            );
        }
    }
}
