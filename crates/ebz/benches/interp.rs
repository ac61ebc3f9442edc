//! Ratio and speed of the codec `interp` on raw arrays, compared with memcpy of the same buffer.
//!
//! ```sh
//! cargo bench --bench interp -- DIRECTORY [--modes auto,isotropic,…] [--bounds 1e-2,1e-3,1e-4]
//!     [--chunk cubic|slab] [--values 1677721] [--only NAME] [--repeats 3]
//! ```
//!
//! `--values` limits the values per chunk. `choice` is the fraction of the compression time spent
//! on choosing the mode: the time saved by setting the mode of each chunk.
//!
//! DIRECTORY contains files named `name_AxBxC.f32` or `.f64`. Bounds are relative to the value
//! range.

use ebz::codec::{Params, by_name};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::{Element, FillValues, Tolerance};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

struct Options {
    modes: Vec<String>,
    bounds: Vec<f64>,
    cubic: bool,
    values: usize,
    only: String,
    repeats: usize,
}

fn main() {
    let mut options = Options {
        modes: vec!["auto".into()],
        bounds: vec![1e-2, 1e-3, 1e-4],
        cubic: true,
        values: (8 << 20) / 5,
        only: String::new(),
        repeats: 3,
    };
    let mut directory = None;
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--modes" => options.modes = value().split(',').map(String::from).collect(),
            "--bounds" => {
                options.bounds = value().split(',').filter_map(|b| b.parse().ok()).collect();
            }
            "--chunk" => options.cubic = value() == "cubic",
            "--values" => options.values = value().parse().unwrap_or(options.values),
            "--only" => options.only = value(),
            "--repeats" => options.repeats = value().parse().unwrap_or(3),
            _ => directory = Some(argument),
        }
    }
    let Some(directory) = directory else {
        println!("nothing to measure: give a directory of raw arrays");
        return;
    };
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .expect("a readable directory")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    println!(
        "field,bound,mode,bytes,ratio,compress_GBps,decompress_GBps,memcpy_GBps,error_over_bound,choice"
    );
    for path in paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let Some((_, shape)) = stem.rsplit_once('_') else {
            continue;
        };
        let shape: Option<Vec<usize>> = shape.split('x').map(|n| n.parse().ok()).collect();
        let (Some(shape), true) = (shape, stem.contains(&options.only)) else {
            continue;
        };
        match path.extension().and_then(|e| e.to_str()) {
            Some("f32") => measure::<f32>(&path, &stem, &shape, &options),
            Some("f64") => measure::<f64>(&path, &stem, &shape, &options),
            _ => {}
        }
    }
}

/// A chunk of an array: its origin and its extents.
type Part = ([usize; 3], [usize; 3]);

/// Cuts an array into chunks; axes before the last three are batch axes.
fn parts(shape: &[usize], options: &Options) -> (usize, [usize; 3], Vec<Part>) {
    let mut three = [1; 3];
    let (batch, rest) = shape.split_at(shape.len().saturating_sub(3));
    three[3 - rest.len()..].copy_from_slice(rest);
    let mut chunk = three;
    while chunk.iter().product::<usize>() > options.values {
        // Slabs are cut along the slowest possible axis, cubes along the longest.
        let axis = match options.cubic {
            true => (0..3).max_by_key(|&a| (chunk[a] * if a == 2 { 1 } else { 2 }, 2 - a)),
            false => (0..3).find(|&a| chunk[a] > 1),
        };
        let axis = axis.unwrap_or(2);
        chunk[axis] = chunk[axis].div_ceil(2);
    }
    let mut parts = Vec::new();
    for z in (0..three[0]).step_by(chunk[0]) {
        for y in (0..three[1]).step_by(chunk[1]) {
            for x in (0..three[2]).step_by(chunk[2]) {
                let start = [z, y, x];
                parts.push((
                    start,
                    std::array::from_fn(|a| chunk[a].min(three[a] - start[a])),
                ));
            }
        }
    }
    (batch.iter().product(), three, parts)
}

fn measure<T: Element>(path: &std::path::Path, name: &str, shape: &[usize], options: &Options) {
    let bytes = std::fs::read(path).expect("a readable file");
    let values: Vec<T> = bytemuck::pod_collect_to_vec(&bytes);
    let finite = || values.iter().filter(|v| v.is_finite()).map(|v| v.to_f64());
    let range = finite().fold(f64::MIN, f64::max) - finite().fold(f64::MAX, f64::min);
    let (batch, [_, ny, nx], parts) = parts(shape, options);
    let volume = values.len() / batch;
    // Gather the chunks beforehand, as the container does.
    let mut chunks = Vec::new();
    for b in 0..batch {
        for &([z0, y0, x0], [cz, cy, cx]) in &parts {
            let mut chunk = Vec::with_capacity(cz * cy * cx);
            for z in z0..z0 + cz {
                for y in y0..y0 + cy {
                    let at = b * volume + (z * ny + y) * nx + x0;
                    chunk.extend_from_slice(&values[at..at + cx]);
                }
            }
            chunks.push((
                Dims {
                    nz: cz,
                    ny: cy,
                    nx: cx,
                },
                chunk,
            ));
        }
    }
    let raw = values.len() * size_of::<T>();
    let mut copy = values.clone();
    let memcpy = best(options.repeats.max(5), || {
        copy.copy_from_slice(std::hint::black_box(&values));
        std::hint::black_box(&copy);
    });
    let codec = by_name("interp").expect("the codec");
    for &relative in &options.bounds {
        let bound = relative * range;
        for mode in &options.modes {
            let mut params = Params::default();
            params.set("mode", mode);
            let mut context = Context::default();
            let mut coded = vec![Vec::new(); chunks.len()];
            let mut encode = |params: &[Params], coded: &mut [Vec<u8>]| {
                let modes = params.iter().cycle();
                for (((dims, chunk), params), out) in chunks.iter().zip(modes).zip(coded) {
                    out.clear();
                    let task = Task {
                        dims: *dims,
                        tolerance: Tolerance::Abs(bound),
                        fill: FillValues::NONE,
                        params,
                    };
                    codec
                        .encode(chunk, &task, &mut context, out)
                        .expect("encoded");
                }
            };
            encode(&[params.clone()], &mut coded);
            let named: Vec<Params> = coded.iter().map(|bytes| mode_of(bytes)).collect();
            let mut again = vec![Vec::new(); chunks.len()];
            let (mut compress, mut chosen) = (Duration::MAX, Duration::MAX);
            // Alternating, so that both see the same load.
            for _ in 0..options.repeats {
                compress = compress.min(best(1, || encode(&[params.clone()], &mut coded)));
                chosen = chosen.min(best(1, || encode(&named, &mut again)));
            }
            assert!(
                again == coded,
                "setting the chosen mode must not change the bytes"
            );
            let mut back: Vec<Vec<T>> = chunks.iter().map(|c| c.1.clone()).collect();
            let decompress = best(options.repeats, || {
                for ((dims, _), (bytes, out)) in chunks.iter().zip(coded.iter().zip(&mut back)) {
                    codec
                        .decode(bytes, *dims, &mut context, out)
                        .expect("decoded");
                }
            });
            let both = chunks.iter().zip(&back);
            let worst = both
                .flat_map(|(c, b)| c.1.iter().zip(b))
                .filter(|(x, y)| x.to_word() != y.to_word())
                .map(|(x, y)| (x.to_f64() - y.to_f64()).abs())
                .fold(0.0, f64::max);
            let size: usize = coded.iter().map(Vec::len).sum();
            let speed = |time: Duration| raw as f64 / time.as_secs_f64() / 1e9;
            println!(
                "{name},{relative:e},{mode},{size},{:.3},{:.3},{:.3},{:.2},{:.5},{:.3}",
                raw as f64 / size as f64,
                speed(compress),
                speed(decompress),
                speed(memcpy),
                worst / bound,
                1.0 - chosen.as_secs_f64() / compress.as_secs_f64(),
            );
        }
    }
}

/// The mode of an encoded chunk, read from its header.
fn mode_of(bytes: &[u8]) -> Params {
    let (mode, order) = (bytes[0] & 7, usize::from(bytes[0] >> 3));
    let slowest = ["z", "y", "x", "z", "y", "x"][order];
    let axes = ["0", "x", "y", "yx", "z", "zx", "zy", "zyx"];
    let mut params = Params::default();
    let name = match mode {
        0 => "isotropic".into(),
        1 => format!("packet-{slowest}"),
        _ => format!("lorenzo-{}", axes[usize::from(bytes[1])]),
    };
    params.set("mode", &name);
    params
}

/// CPU time of this thread if available, so that other processes do not count.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed = START.get_or_init(Instant::now).elapsed();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|n| n.parse().ok());
    nanoseconds.map_or(elapsed, Duration::from_nanos)
}

/// The shortest time of one run; each sample is long enough for the clock resolution.
fn best(repeats: usize, mut run: impl FnMut()) -> Duration {
    let once = |_| {
        let start = clock();
        let mut runs = 0;
        while runs == 0 || clock() - start < Duration::from_millis(20) {
            run();
            runs += 1;
        }
        (clock() - start) / runs
    };
    (0..repeats.max(1)).map(once).min().unwrap_or_default()
}
