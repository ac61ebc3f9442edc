//! Memory of decoders under attack: at most a constant times the output, whatever the bytes claim.
//! The only test of its program, so that nothing else allocates meanwhile.

use ebz::codec::TABLE;
use ebz_testkit::corruption::decode_garbage;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Tables of fixed size that a codec may keep, and how often it may hold the output: readers count
/// with it (`container/limits.rs`).
const FIXED: usize = 4 << 20;
const TIMES: usize = 10;

#[test]
fn garbage_takes_no_more_memory_than_a_good_chunk_may() {
    for entry in TABLE {
        let mut most = 0;
        let mut observe = |output: usize, decode: &mut dyn FnMut()| {
            let before = MEMORY.current_usage();
            MEMORY.reset_peak_usage();
            decode();
            let taken = MEMORY.peak_usage().saturating_sub(before);
            most = most.max(taken);
            assert!(
                taken <= FIXED + TIMES * output,
                "{}: {taken} bytes for an output of {output}",
                entry.info.name
            );
        };
        for shape in [&[5][..], &[3000], &[12, 13, 14]] {
            decode_garbage::<f32>(entry, shape, 100, &mut observe).unwrap();
            decode_garbage::<f64>(entry, shape, 100, &mut observe).unwrap();
        }
        // Large enough that the tables do not matter, with a good chunk among the bad ones.
        for shape in [&[400_001][..], &[600, 701], &[51, 80, 102]] {
            decode_garbage::<f32>(entry, shape, 2, &mut observe).unwrap();
            decode_garbage::<f64>(entry, shape, 2, &mut observe).unwrap();
        }
        println!("{}: at most {most} bytes", entry.info.name);
    }
}
