//! Codec `fz`: fused kernels, the stages one after the other, and memcpy, in turns; one thread. Prints a table of
//! medians for each instruction set with kernels.
//!
//! ```sh
//! EBZ_DATA=folder cargo bench -p ebz --bench fused -- les rtm
//! ```
//!
//! Fields are files `name_100x500x500.f32` (or f64) whose names contain one of the arguments, tiled along the slowest axis
//! to 64 MiB; chunks are whole planes of about 2 MiB. Bounds are relative to the range.

use ebz::codec::{Entry, Params, TABLE};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{Element, FillValues, FiniteRange, Tolerance};
use std::time::Instant;

const BYTES: usize = 64 << 20;
const CHUNK_BYTES: usize = 2 << 20;
const ROUNDS: usize = 11;

fn main() {
    let Ok(folder) = std::env::var("EBZ_DATA") else {
        println!("EBZ_DATA is not set: no fields");
        return;
    };
    let arguments = std::env::args().skip(1);
    let wanted: Vec<String> = arguments.filter(|a| !a.starts_with('-')).collect();
    println!(
        "| field | bound | level | ratio | copy, GB/s | compress, GB/s: stages | fused | × copy | decompress, GB/s: stages | fused | × copy |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|file| file.path())
        .collect();
    files.sort();
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let Some((field, shape)) = name.rsplit_once('_') else {
            continue;
        };
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        let shape: Vec<usize> = shape.split('x').flat_map(str::parse).collect();
        let bytes = std::fs::read(&path).expect("a readable file");
        match path.extension().and_then(std::ffi::OsStr::to_str) {
            Some("f32") => measure::<f32>(field, &bytemuck::pod_collect_to_vec(&bytes), &shape),
            Some("f64") => measure::<f64>(field, &bytemuck::pod_collect_to_vec(&bytes), &shape),
            _ => {}
        }
    }
}

fn measure<T: Element>(name: &str, field: &[T], shape: &[usize]) {
    let values = field.repeat((BYTES / size_of_val(field)).max(1));
    let [ny, nx] = [1, 0].map(|i| shape.iter().rev().nth(i).copied().unwrap_or(1));
    let plane = if shape.len() > 1 { nx * ny } else { 1 };
    let chunk = (CHUNK_BYTES / size_of::<T>() / plane).max(4) * plane;
    let entry = TABLE
        .iter()
        .find(|entry| entry.info.name == "fz")
        .expect("fz");
    let range = FiniteRange::of(&values, &FillValues::NONE).extent();
    let (mut copy, mut back) = (values.clone(), values.clone());
    for relative in [1e-2, 1e-3, 1e-4] {
        for level in Level::available().filter(|level| *level != Level::Portable) {
            let mut ways = [false, true].map(|fused| Way::new(entry, level, fused));
            let mut seconds = [const { Vec::new() }; 5];
            for _ in 0..ROUNDS {
                seconds[0].push(time(|| copy.copy_from_slice(&values)));
                for (way, seconds) in ways.iter_mut().zip(&mut seconds[1..3]) {
                    seconds.push(time(|| {
                        way.encode(&values, chunk, plane, nx, relative * range)
                    }));
                }
                for (way, seconds) in ways.iter_mut().zip(&mut seconds[3..]) {
                    seconds.push(time(|| way.decode(&mut back, chunk, plane, nx)));
                }
            }
            let size = size_of_val(&values[..]) as f64;
            let [copy, encode, fused_encode, decode, fused_decode] = seconds.map(|mut s| {
                s.sort_by(f64::total_cmp);
                size / s[s.len() / 2] / 1e9
            });
            assert!(ways[0].bytes == ways[1].bytes, "the same bytes");
            let level = format!("{level:?}").to_lowercase();
            println!(
                "| {name} | {relative:e} | {} | {:.2} | {copy:.1} | {encode:.1} | {fused_encode:.1} | {:.2} | {decode:.1} | {fused_decode:.1} | {:.2} |",
                level.split('(').next().unwrap_or_default(),
                size / ways[0].bytes.len() as f64,
                fused_encode / copy,
                fused_decode / copy,
            );
        }
    }
}

/// The stages or the fused kernels, with what they wrote.
struct Way {
    entry: &'static Entry,
    context: Context,
    params: Params,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Way {
    fn new(entry: &'static Entry, level: Level, fused: bool) -> Self {
        let mut context = Context::new(level);
        (context.fused, context.streaming) = (fused, true);
        Self {
            entry,
            context,
            params: Params::default(),
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn encode<T: Element>(
        &mut self,
        values: &[T],
        chunk: usize,
        plane: usize,
        nx: usize,
        bound: f64,
    ) {
        self.bytes.clear();
        self.ends.clear();
        for values in values.chunks(chunk) {
            let task = Task {
                dims: dims(values.len(), plane, nx),
                tolerance: Tolerance::Abs(bound),
                fill: FillValues::NONE,
                params: &self.params,
            };
            let (context, bytes) = (&mut self.context, &mut self.bytes);
            self.entry
                .encode(values, &task, context, bytes)
                .expect("encoded");
            self.ends.push(bytes.len());
        }
    }

    fn decode<T: Element>(&mut self, out: &mut [T], chunk: usize, plane: usize, nx: usize) {
        let mut start = 0;
        for (out, &end) in out.chunks_mut(chunk).zip(&self.ends) {
            let dims = dims(out.len(), plane, nx);
            let bytes = &self.bytes[start..end];
            self.entry
                .decode(bytes, dims, &mut self.context, out)
                .expect("decoded");
            start = end;
        }
    }
}

fn dims(values: usize, plane: usize, nx: usize) -> Dims {
    match plane {
        1 => Dims {
            nz: 1,
            ny: 1,
            nx: values,
        },
        _ => Dims {
            nz: values / plane,
            ny: plane / nx,
            nx,
        },
    }
}

fn time(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}
