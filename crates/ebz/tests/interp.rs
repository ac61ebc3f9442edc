//! The mode decision: per chunk from its own values, independent of the API path, and close to the
//! best.

use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, Options, Tolerance, View, Writer};

/// Chunks of several thousand values each.
const SHAPE: [usize; 3] = [24 * 16, 33, 40];
const PLANE: usize = SHAPE[1] * SHAPE[2];

/// Waves up to a plane, noisy steps from there on: the best modes differ.
fn two_kinds(border: usize) -> Vec<f32> {
    let value = |i: usize| {
        let (z, y, x) = (i / PLANE, i / SHAPE[2] % SHAPE[1], i % SHAPE[2]);
        if z < border {
            let [z, y, x] = [z, y, x].map(|a| a as f32);
            (z * 0.11).sin() + (y * 0.07).cos() * (x * 0.05).sin()
        } else {
            let noise = (i as u32).wrapping_mul(2_654_435_761) >> 28;
            ((y * 7 + x / 3) / 40 * 37 % 11) as f32 + noise as f32 * 1e-3
        }
    };
    (0..SHAPE.iter().product()).map(value).collect()
}

fn options(bound: Bound, chunk: &[usize]) -> Options {
    Options::new(bound).codec("interp").chunk(chunk)
}

/// Whole planes, parts of planes, and many small parts.
const CHUNKS: [[usize; 3]; 3] = [[16, 33, 40], [32, 17, 40], [192, 8, 11]];

#[test]
fn threads_and_streams_do_not_change_a_byte() {
    let frames = [two_kinds(40), two_kinds(300), vec![0.0; SHAPE[0] * PLANE]];
    for bound in [Bound::Abs(1e-3), Bound::Pointwise(1e-3)] {
        for chunk in CHUNKS {
            let mut files = Vec::new();
            for threads in [1, 2, 4] {
                for stream in [false, true] {
                    let options = options(bound, &chunk).threads(threads);
                    let mut writer = Writer::new(Vec::new(), options).unwrap();
                    for values in &frames {
                        if stream {
                            let mut bytes: &[u8] = bytemuck::cast_slice(values);
                            writer.frame_from::<f32>(&mut bytes, &SHAPE, None).unwrap();
                        } else {
                            writer.frame(&View::new(values, &SHAPE).unwrap()).unwrap();
                        }
                    }
                    files.push(writer.finish().unwrap());
                }
            }
            assert!(
                files.iter().all(|file| *file == files[0]),
                "{bound:?} {chunk:?}"
            );
        }
    }
}

#[test]
fn a_truncated_input_stream_does_not_deadlock() {
    let values = two_kinds(128);
    let bytes: &[u8] = bytemuck::cast_slice(&values);
    for chunk in CHUNKS {
        for slabs in [0, 1, 3] {
            let options = options(Bound::Abs(1e-3), &chunk).threads(4);
            let mut writer = Writer::new(Vec::new(), options).unwrap();
            let mut cut = &bytes[..slabs * chunk[0] * PLANE * 4 / 2];
            assert!(writer.frame_from::<f32>(&mut cut, &SHAPE, None).is_err());
        }
    }
}

/// The file written by a slab coder, which sees one chunk at a time.
fn by_slabs(values: &[f32], options: &Options, bound: f64) -> Vec<u8> {
    let plan = FramePlan::new::<f32>(&SHAPE, Tolerance::Abs(bound), options).unwrap();
    let mut coder = SlabCoder::new(options.simd);
    let mut coded = EncodedSlab::default();
    let mut writer = Writer::new(Vec::new(), options.clone()).unwrap();
    let mut frame = writer.begin(&plan).unwrap();
    for slab in 0..plan.slabs() {
        let region = plan.slab_region(slab);
        let shape: Vec<_> = region.iter().map(|r| r.len()).collect();
        let part = &values[region[0].start * PLANE..region[0].end * PLANE];
        let view = View::new(part, &shape).unwrap();
        coder.encode(&plan, 0, slab, &view, &mut coded).unwrap();
        frame.slab(&coded).unwrap();
    }
    frame.end().unwrap();
    writer.finish().unwrap()
}

#[test]
fn modes_per_chunk_beat_any_single_mode() {
    for border in [200, 300] {
        let values = two_kinds(border);
        let view = View::new(&values, &SHAPE).unwrap();
        for (bound, chunk) in [(2e-2, CHUNKS[0]), (1e-3, CHUNKS[0]), (1e-3, CHUNKS[1])] {
            let options = options(Bound::Abs(bound), &chunk);
            let compress = |options: &Options| ebz::compress(&view, options).unwrap();
            let chosen = compress(&options);
            assert!(chosen == by_slabs(&values, &options, bound));
            for mode in ["isotropic", "packet-z", "lorenzo-x", "lorenzo-zyx"] {
                let fixed = compress(&options.clone().param("mode", mode));
                assert!(
                    chosen.len() < fixed.len(),
                    "{border} {bound}: {mode} is better than the choice"
                );
            }
        }
    }
}
