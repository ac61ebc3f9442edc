//! All kinds of damage to small files of every codec, and random bytes for every decoder.

use ebz::codec::TABLE;
use ebz::{ElementType, Error, Limits, Reader, with_type};
use ebz_testkit::conformance::{Cases, variants};
use ebz_testkit::corruption::{
    SMALL, decode_garbage, is_recovered, is_rejected, small_files, stream_all,
};
use ebz_testkit::layout;
use std::time::{Duration, Instant};

#[test]
fn every_bit_flip_is_detected() {
    let mut cases = Cases::default();
    for file in small_files().unwrap() {
        let mut damaged = file.bytes.clone();
        for bit in 0..damaged.len() * 8 {
            damaged[bit / 8] ^= 1 << (bit % 8);
            let label = || format!("{}, bit {bit}", file.name);
            cases.case(label, || is_rejected(&damaged).map(|()| 1));
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
    }
    cases.finish("bit flips");
}

#[test]
fn every_truncation_is_detected() {
    let mut cases = Cases::default();
    for file in small_files().unwrap() {
        for length in 0..file.bytes.len() {
            let label = || format!("{}, first {length} bytes", file.name);
            cases.case(label, || is_rejected(&file.bytes[..length]).map(|()| 1));
        }
    }
    cases.finish("truncations");
}

#[test]
fn recovery_invents_nothing() {
    let mut cases = Cases::default();
    for file in small_files().unwrap() {
        let mut damaged = file.bytes.clone();
        // One bit flip in every byte, and every third truncation.
        for at in 0..damaged.len() {
            damaged[at] ^= 1 << (at % 8);
            let label = || format!("{}, byte {at}", file.name);
            cases.case(label, || is_recovered(&file, &damaged).map(|()| 1));
            damaged[at] ^= 1 << (at % 8);
        }
        for length in (0..damaged.len()).step_by(3) {
            let label = || format!("{}, first {length} bytes", file.name);
            cases.case(label, || {
                is_recovered(&file, &damaged[..length]).map(|()| 1)
            });
        }
    }
    cases.finish("recoveries");
}

#[test]
fn decoders_survive_random_bytes() {
    let mut cases = Cases::default();
    for entry in TABLE {
        for shape in [&[1][..], &[700], &[20, 33], &[9, 8, 17]] {
            let mut slowest = Duration::ZERO;
            let mut observe = |_, decode: &mut dyn FnMut()| {
                let start = Instant::now();
                decode();
                slowest = slowest.max(start.elapsed());
            };
            let label = |element| format!("{} {element} {shape:?}", entry.info.name);
            for (params, element) in variants(entry)
                .iter()
                .flat_map(|params| ElementType::ALL.map(|element| (params, element)))
            {
                let garbage = with_type!(element, T => decode_garbage::<T>);
                cases.case(
                    || label(element.name()),
                    || garbage(entry, params, shape, 200, &mut observe),
                );
            }
            // A valid chunk of this size takes microseconds.
            assert!(
                slowest < Duration::from_secs(2),
                "{}: {slowest:?}",
                label("any")
            );
        }
    }
    cases.finish("random bytes for decoders");
}

/// A file of one frame that claims this shape and these chunks, with one small chunk.
fn claim(shape: &[u64], chunk: &[u64], index: Option<&[u8]>) -> Vec<u8> {
    layout::file(
        &layout::frame_body(shape, chunk),
        &[(2, vec![1; 40])],
        index,
    )
}

#[test]
fn false_claims_in_headers_are_rejected() {
    let huge = 1u64 << 60;
    let endless = [u64::MAX - 40; 4].map(u64::to_le_bytes).concat();
    for (what, file) in [
        ("2^60 values", claim(&[huge], &[huge], None)),
        (
            "2^60 values in small chunks",
            claim(&[huge], &[1 << 20], None),
        ),
        (
            "2^27 values in one chunk",
            claim(&[1 << 27], &[1 << 27], None),
        ),
        ("2^31 chunks in a slab", claim(&[2, 1 << 31], &[2, 1], None)),
        ("2^31 slabs", claim(&[1 << 31, 1], &[1, 1], None)),
        (
            "an extent of 2^64 - 1",
            claim(&[u64::MAX, 2], &[1, 1], None),
        ),
        ("no chunk extent", claim(&[3], &[0], None)),
        ("17 axes", claim(&[1; 17], &[1; 17], None)),
        (
            "chunks longer than the index allows",
            claim(&[2], &[1], Some(&endless)),
        ),
        ("an index of nothing", claim(&[1], &[1], Some(&[]))),
    ] {
        let read = Reader::from_source(&file[..]).and_then(|reader| reader.read::<f32>());
        assert!(read.is_err(), "{what}");
        assert!(stream_all(&file).is_err(), "{what}");
        if let Ok((_, saved)) = ebz::recover(&&file[..], Vec::new()) {
            assert!(saved.len() < 2 * file.len(), "{what}");
        }
        if let Ok(reader) = Reader::from_source(&file[..]) {
            let reader = reader.limits(SMALL);
            let _ = reader.frame(0).and_then(|frame| frame.verify());
        }
    }
}

#[test]
fn limits_are_checked_before_allocation() {
    let raw = vec![0u8; 4000];
    let file = layout::file(&layout::frame_body(&[2, 500], &[2, 500]), &[(3, raw)], None);
    let open = || Reader::from_source(&file[..]).unwrap();
    assert_eq!(open().read::<f32>().unwrap().values(), [0.0; 1000]);
    let limits = Limits::new(3999, Limits::default().max_memory);
    let reader = open().limits(limits);
    assert!(matches!(reader.read::<f32>(), Err(Error::LimitExceeded(_))));
    assert!(reader.region::<f32>(&[0..2, 1..500]).is_ok());
}
