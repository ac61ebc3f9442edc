//! Rewrites the hostile files of `fuzz/corpus-regress`, after a change of the format.

use ebz_testkit::fields::workspace;
use ebz_testkit::layout::{SIGNATURE, file, frame_body, frame_body_with, put_number, record};

fn main() -> std::io::Result<()> {
    let folder = workspace().join("fuzz/corpus-regress");
    for (name, bytes) in [
        ("hostile-poly", wrong_index()),
        ("hostile-rb", frames_without_chunks()),
        ("hostile-recover-slow", lost_chunks()),
        ("hostile-slab2", large_slab()),
    ] {
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

/// An end record that places the second chunk inside the first one, which contains such a record.
fn wrong_index() -> Vec<u8> {
    let hidden = record(3, 0, 1, &[7; 144]);
    let mut first = vec![0; 256 - hidden.len()];
    let visible = first.len() as u64;
    first.extend_from_slice(&hidden);
    let mut lengths = Vec::new();
    // The second one seems to extend to the end of the real one.
    for length in [visible, 256 - visible + 144] {
        put_number(&mut lengths, length);
    }
    let chunks = [(3, first), (3, vec![0; 144])];
    file(&frame_body(&[100], &[64]), &chunks, Some(&lengths))
}

/// Many frames that claim a gigabyte each.
fn frames_without_chunks() -> Vec<u8> {
    let mut file = SIGNATURE.to_vec();
    for frame in 0..200 {
        let body = frame_body(&[322_010_000], &[268_435_456]);
        file.extend_from_slice(&record(1, frame, 0, &body));
    }
    file
}

/// One chunk of billions.
fn lost_chunks() -> Vec<u8> {
    let mut file = SIGNATURE.to_vec();
    file.extend_from_slice(&record(1, 0, 0, &frame_body(&[1 << 31, 3], &[1, 3])));
    file.extend_from_slice(&record(3, 0, 1 << 30, &[0; 12]));
    file
}

/// Chunks of ceaz that are nothing but zeros: 64 KB that decode to a slab of 3 GB.
fn large_slab() -> Vec<u8> {
    let zeros = *b"\x58\0\0\0\xc0\x4d\x62\x60\x3f\0\0\x87\x80\x03\0\0";
    let body = frame_body_with(&[2, 393_216_000], &[2, 393_216], 5, None);
    file(&body, &vec![(2, zeros.to_vec()); 1000], None)
}
