//! Codecs alone: CPU seconds per byte on one core, for the model. CPU time is less sensitive to other processes.

use crate::field::{Field, SIDE};
use crate::gathers::ZFP_PLANES;
use crate::timing::{place, rounds};
use cpu_time::ThreadTime;
use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, Options, Tolerance, View};
use ebz_peers::{Goal, Peer, ZfpC};
use serde_json::json;

/// Prints a line for zfp and one per codec, on this rank's values.
pub fn bench(field: &Field, codecs: &[&str]) {
    let mut lines = vec![("zfp", zfp(field))];
    lines.extend(codecs.iter().map(|&codec| (codec, of_ebz(field, codec))));
    for (name, [encode, decode, stored]) in lines {
        let bytes = field.bytes() as f64;
        println!(
            "{}",
            json!({
                "operation": "codec",
                "place": place(),
                "way": name,
                "encode": encode / bytes,
                "decode": decode / bytes,
                "ratio": bytes / stored,
            })
        );
    }
}

/// Least seconds to encode and to decode, and bytes.
fn of_ebz(field: &Field, codec: &str) -> [f64; 3] {
    let options = Options::new(Bound::Abs(field.bound)).codec(codec);
    let tolerance = Tolerance::Abs(field.bound);
    let plan = FramePlan::new::<f32>(&field.shape, tolerance, &options).expect("a plan");
    let mut coder = SlabCoder::new(options.simd);
    let mut encoded = EncodedSlab::default();
    let mut best = [f64::INFINITY; 3];
    for _ in 0..rounds() {
        let mut now = [0.0; 3];
        for slab in 0..plan.slabs() {
            let region = plan.slab_region(slab);
            let shape = [region[0].len(), SIDE, SIDE];
            let values = &field.values[region[0].start * SIDE * SIDE..][..shape.iter().product()];
            let start = ThreadTime::now();
            let view = View::new(values, &shape).expect("planes");
            coder
                .encode(&plan, 0, slab, &view, &mut encoded)
                .expect("encoded");
            now[0] += start.elapsed().as_secs_f64();
            now[2] += encoded.bytes().len() as f64;
            let mut out = vec![0f32; values.len()];
            let start = ThreadTime::now();
            coder
                .decode(&plan, 0, slab, encoded.bytes(), &mut out)
                .expect("decoded");
            now[1] += start.elapsed().as_secs_f64();
        }
        best = std::array::from_fn(|i| best[i].min(now[i]));
    }
    best
}

fn zfp(field: &Field) -> [f64; 3] {
    let goal = Goal::Abs(field.bound);
    let mut best = [f64::INFINITY; 3];
    for _ in 0..rounds() {
        let mut now = [0.0; 3];
        for part in field.values.chunks(ZFP_PLANES * SIDE * SIDE) {
            let dims = [part.len() / (SIDE * SIDE), SIDE, SIDE];
            let start = ThreadTime::now();
            let bytes = ZfpC.compress_f32(part, &dims, goal);
            now[0] += start.elapsed().as_secs_f64();
            now[2] += bytes.len() as f64;
            let mut out = vec![0f32; part.len()];
            let start = ThreadTime::now();
            ZfpC.decompress_f32(&bytes, &dims, goal, &mut out);
            now[1] += start.elapsed().as_secs_f64();
        }
        best = std::array::from_fn(|i| best[i].min(now[i]));
    }
    best
}
