//! `fz` and `raw` compared with memcpy of the same memory, alternating in each round; one thread.
//!
//! ```sh
//! EBZ_DATA=folder cargo bench -p ebz --bench memory_speed
//! ```
//!
//! Fields are files `name_100x500x500.f32` (or f64), tiled along the slowest axis to 64 MiB;
//! without the variable, a synthetic field of waves is used. Bounds are relative to the range,
//! which is computed beforehand.

use ebz::{Bound, Element, Fill, FiniteRange, Options, View, ViewMut};
use std::time::Instant;

const BYTES: usize = 64 << 20;
const ROUNDS: usize = 9;

fn main() {
    println!(
        "field,codec,bound,ratio,compress_x_copy,decompress_x_copy,compress_gbs,decompress_gbs,copy_gbs"
    );
    let Ok(folder) = std::env::var("EBZ_DATA") else {
        let wave = |i: usize| ((i % 256) as f32 * 0.05).sin() * ((i / 65536) as f32 * 0.03).cos();
        let field: Vec<f32> = (0..1 << 21).map(wave).collect();
        return measure("waves", &field, &[32, 256, 256]);
    };
    let wanted = std::env::args().nth(1).filter(|a| !a.starts_with('-'));
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .collect();
    files.sort_by_key(std::fs::DirEntry::path);
    for path in files.iter().map(std::fs::DirEntry::path) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let Some((_, shape)) = name.rsplit_once('_') else {
            continue;
        };
        let shape: Vec<usize> = shape.split('x').flat_map(str::parse).collect();
        if wanted
            .as_ref()
            .is_some_and(|wanted| !name.contains(wanted.as_str()))
        {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a readable file");
        match path.extension().and_then(std::ffi::OsStr::to_str) {
            Some("f32") => measure::<f32>(&name, &bytemuck::pod_collect_to_vec(&bytes), &shape),
            Some("f64") => measure::<f64>(&name, &bytemuck::pod_collect_to_vec(&bytes), &shape),
            _ => {}
        }
    }
}

fn measure<T: Element>(name: &str, field: &[T], shape: &[usize]) {
    let times = (BYTES / size_of_val(field)).max(1);
    let values = field.repeat(times);
    let mut shape = shape.to_vec();
    shape[0] *= times;
    let view = View::new(&values, &shape).expect("a view");
    let range = FiniteRange::of(&values, &ebz::FillValues::NONE).extent();
    let mut copy = values.clone();
    let mut back = values.clone();
    let mut bytes = Vec::new();
    let auto = Options::new(Bound::Lossless).fill;
    for (codec, relative, fill) in [
        ("raw", 1e-3, auto),
        ("fz", 1e-2, auto),
        ("fz", 1e-3, auto),
        ("fz, no fill", 1e-3, Fill::None),
        ("fz", 1e-4, auto),
    ] {
        let options = Options::new(Bound::Abs(relative * range))
            .codec(codec.split(',').next().unwrap_or_default())
            .threads(1)
            .fill(fill);
        let mut seconds = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            let time = |run: &mut dyn FnMut()| {
                let start = Instant::now();
                run();
                start.elapsed().as_secs_f64()
            };
            seconds[0].push(time(&mut || copy.copy_from_slice(&values)));
            seconds[1].push(time(&mut || {
                ebz::compress_into(&view, &options, &mut bytes).expect("compressed");
            }));
            seconds[2].push(time(&mut || {
                let mut out = ViewMut::new(&mut back, &shape).expect("a view");
                ebz::Reader::from_source(&bytes[..])
                    .and_then(|r| r.threads(1).frame(0)?.read_into(&mut out))
                    .expect("decompressed");
            }));
        }
        let size = size_of_val(&values[..]) as f64;
        let [copy, compress, decompress] = seconds.map(|mut s| {
            s.sort_by(f64::total_cmp);
            // The lower quartile: other processes only make runs slower.
            size / s[s.len() / 4] / 1e9
        });
        println!(
            "{name},{codec},{relative:e},{:.2},{:.2},{:.2},{compress:.2},{decompress:.2},{copy:.2}",
            size / bytes.len() as f64,
            compress / copy,
            decompress / copy
        );
    }
}
