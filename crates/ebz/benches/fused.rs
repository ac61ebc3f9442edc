//! Codecs `fz` and `fre`: fused kernels, the stages one after the other, and memcpy, in turns; one thread. Prints a
//! row for each instruction set with kernels. A time is the sum of the medians of the chunks, which are short enough that
//! other processes seldom interrupt them.
//!
//! ```sh
//! EBZ_DATA=folder cargo bench -p ebz --bench fused -- fz les rtm
//! ```
//!
//! Arguments select codecs and fields: files `name_100x500x500.f32` (or f64) whose names contain one of them, tiled along the slowest axis
//! to 64 MiB; chunks are whole planes of about 2 MiB. Bounds are relative to the range (`fz`) or to each value (`fre`).

use ebz::codec::{Entry, Params, TABLE};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{Element, FillValues, FiniteRange, Tolerance};
use std::time::Instant;

const BYTES: usize = 64 << 20;
const CHUNK_BYTES: usize = 2 << 20;
const ROUNDS: usize = 11;

/// Codecs with kernels that fuse stages.
const CODECS: [&str; 2] = ["fz", "fre"];

fn main() {
    let Ok(folder) = std::env::var("EBZ_DATA") else {
        println!("EBZ_DATA is not set: no fields");
        return;
    };
    let arguments = std::env::args().skip(1);
    let arguments = arguments.filter(|a| !a.starts_with('-'));
    let (mut codecs, wanted): (Vec<String>, Vec<String>) =
        arguments.partition(|a| CODECS.contains(&a.as_str()));
    if codecs.is_empty() {
        codecs = CODECS.map(str::to_string).to_vec();
    }
    println!(
        "| codec | field | bound | level | ratio | copy, GB/s | compress, GB/s: stages | fused | × copy | decompress, GB/s: stages | fused | × copy |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
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
            Some("f32") => measure::<f32>(
                &codecs,
                field,
                &bytemuck::pod_collect_to_vec(&bytes),
                &shape,
            ),
            Some("f64") => measure::<f64>(
                &codecs,
                field,
                &bytemuck::pod_collect_to_vec(&bytes),
                &shape,
            ),
            _ => {}
        }
    }
}

/// A field in chunks of whole planes.
struct Field<T> {
    values: Vec<T>,
    chunk: usize,
    plane: usize,
    nx: usize,
}

impl<T: Element> Field<T> {
    fn new(field: &[T], shape: &[usize]) -> Self {
        let nx = shape.last().copied().unwrap_or(1);
        let plane = match shape {
            [] | [_] => 1,
            [.., ny, nx] => nx * ny,
        };
        Self {
            values: field.repeat((BYTES / size_of_val(field)).max(1)),
            chunk: (CHUNK_BYTES / size_of::<T>() / plane).max(4) * plane,
            plane,
            nx,
        }
    }

    fn dims(&self, values: usize) -> Dims {
        let (nz, ny, nx) = match self.plane {
            1 => (1, 1, values),
            plane => (values / plane, plane / self.nx, self.nx),
        };
        Dims { nz, ny, nx }
    }
}

fn measure<T: Element>(codecs: &[String], name: &str, field: &[T], shape: &[usize]) {
    let field = Field::new(field, shape);
    let range = FiniteRange::of(&field.values, &FillValues::NONE).extent();
    let mut back = field.values.clone();
    let cases = codecs
        .iter()
        .flat_map(|codec| [1e-2, 1e-3, 1e-4].map(|bound| (codec, bound)));
    for (codec, relative) in cases {
        let tolerance = match codec.as_str() {
            "fz" => Tolerance::Abs(relative * range),
            _ => Tolerance::Pointwise(relative),
        };
        for level in Level::available().filter(|level| *level != Level::Portable) {
            let mut ways = [false, true].map(|fused| Way::new(codec, level, fused));
            let mut times: [Times; 5] = Default::default();
            for _ in 0..ROUNDS {
                let chunks = back.chunks_mut(field.chunk);
                for (i, (to, from)) in chunks.zip(field.values.chunks(field.chunk)).enumerate() {
                    times[0].add(i, || to.copy_from_slice(from));
                }
                for (way, times) in ways.iter_mut().zip(&mut times[1..3]) {
                    way.encode(&field, tolerance, times);
                }
                for (way, times) in ways.iter_mut().zip(&mut times[3..]) {
                    way.decode(&field, &mut back, times);
                }
            }
            assert!(ways[0].bytes == ways[1].bytes, "the same bytes");
            let size = size_of_val(&field.values[..]) as f64;
            let [copy, encode, fused_encode, decode, fused_decode] =
                times.map(|times| size / times.sum_of_medians() / 1e9);
            let level = format!("{level:?}").to_lowercase();
            println!(
                "| {codec} | {name} | {relative:e} | {} | {:.2} | {copy:.1} | {encode:.1} | {fused_encode:.1} | {:.2} | \
                 {decode:.1} | {fused_decode:.1} | {:.2} |",
                level.split('(').next().unwrap_or_default(),
                size / ways[0].bytes.len() as f64,
                fused_encode / copy,
                fused_decode / copy,
            );
        }
    }
}

/// Seconds of every round, by chunk.
#[derive(Default)]
struct Times(Vec<Vec<f64>>);

impl Times {
    fn add(&mut self, chunk: usize, run: impl FnOnce()) {
        if self.0.len() <= chunk {
            self.0.resize(chunk + 1, Vec::new());
        }
        let start = Instant::now();
        run();
        self.0[chunk].push(start.elapsed().as_secs_f64());
    }

    fn sum_of_medians(self) -> f64 {
        let medians = self.0.into_iter().map(|mut seconds| {
            seconds.sort_by(f64::total_cmp);
            seconds[seconds.len() / 2]
        });
        medians.sum()
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
    fn new(codec: &str, level: Level, fused: bool) -> Self {
        let mut context = Context::new(level);
        (context.fused, context.streaming) = (fused, true);
        let entry = TABLE.iter().find(|entry| entry.info.name == codec);
        Self {
            entry: entry.expect("a codec"),
            context,
            params: Params::default(),
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn encode<T: Element>(&mut self, field: &Field<T>, tolerance: Tolerance, times: &mut Times) {
        self.bytes.clear();
        self.ends.clear();
        for (i, values) in field.values.chunks(field.chunk).enumerate() {
            let task = Task {
                dims: field.dims(values.len()),
                tolerance,
                fill: FillValues::NONE,
                params: &self.params,
            };
            times.add(i, || {
                self.entry
                    .encode(values, &task, &mut self.context, &mut self.bytes)
                    .expect("encoded");
            });
            self.ends.push(self.bytes.len());
        }
    }

    fn decode<T: Element>(&mut self, field: &Field<T>, out: &mut [T], times: &mut Times) {
        let mut start = 0;
        let chunks = out.chunks_mut(field.chunk).zip(&self.ends);
        for (i, (out, &end)) in chunks.enumerate() {
            let dims = field.dims(out.len());
            times.add(i, || {
                self.entry
                    .decode(&self.bytes[start..end], dims, &mut self.context, out)
                    .expect("decoded");
            });
            start = end;
        }
    }
}
