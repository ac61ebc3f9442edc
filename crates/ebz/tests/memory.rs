//! Peak memory of decoders on hostile input: at most a constant times the output. The only test of
//! its program, so that nothing else allocates meanwhile.

use ebz::codec::{Entry, Params, TABLE};
use ebz::engine::Context;
use ebz::internals::Task;
use ebz::{Element, FillValues, f16};
use ebz_testkit::conformance::{dims, tolerances, variants};
use ebz_testkit::corruption::decode_garbage;
use ebz_testkit::fields::{Content, Field};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Limits that readers rely on (`container/limits.rs`): fixed tables, and a multiple of the output.
const MAX_FIXED_BYTES: usize = 4 << 20;
const MAX_FACTOR: usize = 10;

#[test]
fn decoders_stay_within_their_memory_limit() {
    for entry in TABLE {
        let mut max_bytes = 0;
        let mut observe = |output: usize, decode: &mut dyn FnMut()| {
            let before = MEMORY.current_usage();
            MEMORY.reset_peak_usage();
            decode();
            let taken = MEMORY.peak_usage().saturating_sub(before);
            max_bytes = max_bytes.max(taken);
            assert!(
                taken <= MAX_FIXED_BYTES + MAX_FACTOR * output,
                "{}: {taken} bytes for an output of {output}",
                entry.info.name
            );
        };
        for params in &variants(entry) {
            for shape in [&[5][..], &[3000], &[12, 13, 14]] {
                decode_garbage::<f32>(entry, params, shape, 100, &mut observe).unwrap();
                decode_garbage::<f64>(entry, params, shape, 100, &mut observe).unwrap();
                let mut widened =
                    |output: usize, decode: &mut dyn FnMut()| observe(2 * output, decode);
                decode_garbage::<f16>(entry, params, shape, 100, &mut widened).unwrap();
            }
        }
        println!("{}: at max_bytes {max_bytes} bytes", entry.info.name);
        // Valid chunks, large enough that fixed tables do not matter.
        let mut times: f64 = 0.0;
        for shape in [&[400_001][..], &[600, 701], &[51, 80, 102]] {
            for content in [Content::Waves, Content::Specials] {
                times = times.max(times_output::<f32>(entry, content, shape));
                times = times.max(times_output::<f64>(entry, content, shape));
                times = times.max(times_output::<f16>(entry, content, shape));
            }
        }
        println!("{}: {times:.2} times the output", entry.info.name);
    }
}

/// Peak memory of a fresh decoder, as a multiple of the output.
fn times_output<T: Element>(entry: &Entry, content: Content, shape: &[usize]) -> f64 {
    let field: Field<T> = content.field(shape, 3);
    let mut out = vec![T::default(); field.values.len()];
    // In the type that codecs compute in.
    let output = out.len() * size_of::<T::Wide>();
    let mut max_bytes = 0;
    for tolerance in tolerances(entry, &field) {
        let task = Task {
            dims: dims(shape),
            tolerance,
            fill: FillValues::NONE,
            params: &Params::default(),
        };
        let mut good = Vec::new();
        let mut context = Context::default();
        let encoded = entry.encode(&field.values, &task, &mut context, &mut good);
        encoded.unwrap();
        if good.len() >= size_of_val(&out[..]) {
            // The container would store it raw.
            continue;
        }
        drop(context);
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let mut context = Context::default();
        let decoded = entry.decode(&good, dims(shape), &mut context, &mut out);
        decoded.unwrap();
        let taken = MEMORY.peak_usage().saturating_sub(before);
        assert!(
            taken <= MAX_FIXED_BYTES + MAX_FACTOR * output,
            "{} {tolerance:?}: {taken} bytes for an output of {output}",
            entry.info.name
        );
        max_bytes = max_bytes.max(taken);
    }
    max_bytes as f64 / output as f64
}
