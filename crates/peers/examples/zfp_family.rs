//! Ratio and speed of the zfp family next to zfp, as tables.
//!
//! `zfp_family ratio FILE…` compares sizes at the same guaranteed bound and at the same planes;
//! `zfp_family speed [FILE…]` times one thread next to memcpy, by default on 256³ waves.
//! Files are raw and named like `density_64x128x128.f32`.

use ebz::codec::{Params, by_name};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::{Element, FillValues, Tolerance};
use ebz_peers::{Goal, Peer, ZfpC, ZfpRust};

/// Codecs and layouts.
const CODECS: [(&str, &str); 3] = [
    ("de-zfp", "blocks"),
    ("zfp-v", "blocks"),
    ("de-zfp", "coefficients"),
];
/// Values per chunk, about what the container hands out.
const CHUNK: usize = 1 << 20;

struct Field<T> {
    name: String,
    shape: Vec<usize>,
    values: Vec<T>,
}

enum AnyField {
    Single(Field<f32>),
    Double(Field<f64>),
}

fn load(path: &str) -> AnyField {
    let file = path.rsplit('/').next().unwrap_or(path);
    let (stem, kind) = file.rsplit_once('.').expect("a name with an extension");
    let (name, shape) = stem.rsplit_once('_').expect("a name with a shape");
    let shape: Vec<usize> = shape
        .split('x')
        .map(|n| n.parse().expect("a shape"))
        .collect();
    let bytes = std::fs::read(path).expect("a readable file");
    let name = name.to_string();
    // Four axes are three with the slowest merged.
    let shape = match *shape {
        [t, z, y, x] => vec![t * z, y, x],
        _ => shape,
    };
    if kind == "f32" {
        let values = bytes
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()));
        AnyField::Single(Field {
            name,
            shape,
            values: values.collect(),
        })
    } else {
        let values = bytes
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes(b.try_into().unwrap()));
        AnyField::Double(Field {
            name,
            shape,
            values: values.collect(),
        })
    }
}

fn waves() -> Field<f32> {
    let n = 256;
    let wave = |k: f64, i: usize| (k * i as f64 / n as f64 * std::f64::consts::TAU).sin();
    let mut state = 88_172_645_463_325_252u64;
    let mut values = Vec::with_capacity(n * n * n);
    for z in 0..n {
        for y in 0..n {
            let (a, b, c) = (
                wave(2.0, y) * wave(3.0, z),
                wave(5.0, y) * wave(4.0, z),
                wave(11.0, y) * wave(9.0, z),
            );
            for x in 0..n {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let noise = 1e-4 * (state >> 40) as f64 / 2f64.powi(24);
                let smooth = a * wave(2.0, x) + 0.5 * b * wave(6.0, x) + 0.15 * c * wave(13.0, x);
                values.push((smooth + wave(1.0, z) + noise) as f32);
            }
        }
    }
    Field {
        name: "waves 256³".into(),
        shape: vec![n, n, n],
        values,
    }
}

/// Slabs of whole planes (or rows, or values), a multiple of four where the axis is longer.
fn chunks(shape: &[usize]) -> Vec<Dims> {
    let mut d = [1; 3];
    d[3 - shape.len()..].copy_from_slice(shape);
    let axis = 3 - shape.len();
    let inner: usize = d[axis + 1..].iter().product();
    let step = (CHUNK / inner).next_multiple_of(4).max(4);
    (0..d[axis])
        .step_by(step)
        .map(|at| {
            let mut part = d;
            part[axis] = step.min(d[axis] - at);
            Dims {
                nz: part[0],
                ny: part[1],
                nx: part[2],
            }
        })
        .collect()
}

fn compress<T: Element>(
    (codec, layout): (&str, &str),
    field: &Field<T>,
    tolerance: Tolerance,
    context: &mut Context,
    streams: &mut Vec<Vec<u8>>,
) -> usize {
    let mut params = Params::default();
    params.set("layout", layout);
    let mut at = 0;
    let mut size = 0;
    for (i, dims) in chunks(&field.shape).into_iter().enumerate() {
        let task = Task {
            dims,
            tolerance,
            fill: FillValues::NONE,
            params: &params,
        };
        if streams.len() <= i {
            streams.push(Vec::new());
        }
        streams[i].clear();
        let values = &field.values[at..at + dims.len()];
        by_name(codec)
            .unwrap()
            .encode(values, &task, context, &mut streams[i])
            .unwrap();
        size += streams[i].len().min(size_of_val(values));
        at += dims.len();
    }
    size
}

fn decompress<T: Element>(
    codec: &str,
    field: &Field<T>,
    streams: &[Vec<u8>],
    context: &mut Context,
    out: &mut [T],
) {
    let mut at = 0;
    for (dims, stream) in chunks(&field.shape).into_iter().zip(streams) {
        by_name(codec)
            .unwrap()
            .decode(stream, dims, context, &mut out[at..at + dims.len()])
            .unwrap();
        at += dims.len();
    }
}

/// zfp's sizes through whichever function fits the type.
type Peers<'a, T> = &'a dyn Fn(&dyn ebz_peers::Peer, Goal) -> (usize, Vec<T>, f64, f64);

fn range<T: Element>(values: &[T]) -> f64 {
    let finite = || {
        values
            .iter()
            .filter(|v| v.is_finite() && v.to_f64().abs() < 1e30)
            .map(|v| v.to_f64())
    };
    finite().fold(f64::MIN, f64::max) - finite().fold(f64::MAX, f64::min)
}

/// Rows of the two tables of ratios.
#[derive(Default)]
struct Rows {
    bounds: Vec<String>,
    planes: Vec<String>,
    /// Logarithms of our ratio over zfp's, at the same bound.
    gains: Vec<[f64; CODECS.len()]>,
}

fn ratios<T: Element>(field: &Field<T>, peers: Peers<'_, T>, rows: &mut Rows) {
    let raw = size_of_val(&field.values[..]) as f64;
    let mut context = Context::default();
    let mut size =
        |codec, tolerance| compress(codec, field, tolerance, &mut context, &mut Vec::new()) as f64;
    for bound in [1e-2, 1e-3, 1e-4] {
        let e = bound * range(&field.values);
        let (zfp, back, ..) = peers(&ebz_peers::ZfpC, Goal::Abs(e));
        let worst = field
            .values
            .iter()
            .zip(&back)
            .map(|(x, y)| (x.to_f64() - y.to_f64()).abs())
            .fold(0.0, f64::max);
        let zfp = zfp as f64;
        let sizes = CODECS.map(|codec| size(codec, Tolerance::Abs(e)));
        let row = format!(
            "| {} | {} | {bound:e} | {:.2} | {:.2} |",
            field.name,
            field.shape.len(),
            raw / zfp,
            worst / e
        );
        rows.bounds.push(with_ratios(row, &sizes, raw, zfp));
        rows.gains.push(sizes.map(|size| (zfp / size).ln()));
    }
    for planes in [8, 12, 16] {
        let (zfp, ..) = peers(&ebz_peers::ZfpC, Goal::Planes(planes));
        let zfp = zfp as f64;
        let sizes = [CODECS[0], CODECS[1]].map(|codec| size(codec, Tolerance::Precision(planes)));
        let row = format!(
            "| {} | {} | {planes} | {:.2} |",
            field.name,
            field.shape.len(),
            raw / zfp
        );
        rows.planes.push(with_ratios(row, &sizes, raw, zfp));
    }
}

/// A row with two more columns per codec: its ratio, and this over zfp's.
fn with_ratios(mut row: String, sizes: &[f64], raw: f64, zfp: f64) -> String {
    for size in sizes {
        row += &format!(" {:.2} | {:.2} |", raw / size, zfp / size);
    }
    row
}

fn print_ratios(rows: &Rows) {
    println!("At the same bound:\n");
    println!(
        "| field | axes | bound | zfp | its error | de-zfp | / zfp | zfp-v | / zfp | coefficients | / zfp |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    println!("{}\n", rows.bounds.join("\n"));
    let mean = |i: usize| {
        let sum: f64 = rows.gains.iter().map(|gain| gain[i]).sum();
        (sum / rows.gains.len() as f64).exp()
    };
    println!(
        "Geometric means over zfp: de-zfp {:.3}, zfp-v {:.3}, coefficients {:.3}.\n",
        mean(0),
        mean(1),
        mean(2)
    );
    println!("With the same number of planes (`precision`):\n");
    println!("| field | axes | planes | zfp | de-zfp | / zfp | zfp-v | / zfp |");
    println!("|---|---|---|---|---|---|---|---|");
    println!("{}", rows.planes.join("\n"));
}

/// CPU time of this thread: other programs on the machine do not count.
fn thread_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock writes to the structure it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn fastest(mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..9 {
        let start = thread_seconds();
        work();
        best = best.min(thread_seconds() - start);
    }
    best
}

fn speeds<T: Element>(field: &Field<T>, peers: Peers<'_, T>) {
    let gigabytes = size_of_val(&field.values[..]) as f64 / 1e9;
    let mut out = vec![T::default(); field.values.len()];
    let copy = fastest(|| {
        out.copy_from_slice(&field.values);
        std::hint::black_box(&mut out);
    });
    println!("{}:\n", field.name);
    println!(
        "| codec | bound | ratio | compress GB/s | decompress GB/s | compress × memcpy | decompress × memcpy |"
    );
    println!("|---|---|---|---|---|---|---|");
    println!(
        "| memcpy | | 1 | {0:.2} | {0:.2} | 1 | 1 |",
        gigabytes / copy
    );
    for bound in [1e-2, 1e-3, 1e-4] {
        let e = bound * range(&field.values);
        for peer in [&ZfpC as &dyn Peer, &ZfpRust] {
            let (size, _, c, d) = peers(peer, Goal::Abs(e));
            row(peer.name(), bound, gigabytes, size, [c, d, copy]);
        }
        for codec in CODECS {
            let mut context = Context::default();
            let mut streams = Vec::new();
            let mut size = 0;
            let c = fastest(|| {
                size = compress(codec, field, Tolerance::Abs(e), &mut context, &mut streams)
            });
            let d = fastest(|| decompress(codec.0, field, &streams, &mut context, &mut out));
            let name = format!("{}, {}", codec.0, codec.1);
            row(&name, bound, gigabytes, size, [c, d, copy]);
        }
    }
}

/// Seconds of compression, decompression and memcpy as speeds.
fn row(codec: &str, bound: f64, gigabytes: f64, size: usize, [c, d, copy]: [f64; 3]) {
    println!(
        "| {codec} | {bound:e} | {:.2} | {:.2} | {:.2} | {:.3} | {:.3} |",
        gigabytes * 1e9 / size as f64,
        gigabytes / c,
        gigabytes / d,
        copy / c,
        copy / d
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let timed = arguments.next().as_deref() == Some("speed");
    let mut fields: Vec<AnyField> = arguments.map(|path| load(&path)).collect();
    if fields.is_empty() {
        fields.push(AnyField::Single(waves()));
    }
    let mut rows = Rows::default();
    for field in &fields {
        let repeat = |work: &mut dyn FnMut()| {
            if timed {
                fastest(work)
            } else {
                work();
                0.0
            }
        };
        match field {
            AnyField::Single(f) => {
                let peers = |peer: &dyn ebz_peers::Peer, goal: Goal| {
                    let (mut bytes, mut out) = (Vec::new(), vec![0.0; f.values.len()]);
                    let c = repeat(&mut || bytes = peer.compress_f32(&f.values, &f.shape, goal));
                    let d = repeat(&mut || peer.decompress_f32(&bytes, &f.shape, goal, &mut out));
                    (bytes.len(), out, c, d)
                };
                if timed {
                    speeds(f, &peers)
                } else {
                    ratios(f, &peers, &mut rows)
                }
            }
            AnyField::Double(f) => {
                let peers = |peer: &dyn ebz_peers::Peer, goal: Goal| {
                    let (mut bytes, mut out) = (Vec::new(), vec![0.0; f.values.len()]);
                    let c = repeat(&mut || bytes = peer.compress_f64(&f.values, &f.shape, goal));
                    let d = repeat(&mut || peer.decompress_f64(&bytes, &f.shape, goal, &mut out));
                    (bytes.len(), out, c, d)
                };
                if timed {
                    speeds(f, &peers)
                } else {
                    ratios(f, &peers, &mut rows)
                }
            }
        }
    }
    if !timed {
        print_ratios(&rows);
    }
}
