//! Checkpoints of grids, and files read by the frame store.

use crate::files::{MAX_OUTPUT_BYTES, file_seeds};
use ebz::{Bound, ElementType, Options, Reader, Tolerance};
use ebz_store::grid::{Grid, Layout, Settings, State};
use ebz_store::{Frames, Plan, Policy, StoreOptions};
use ebz_testkit::layout;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// States of a grid on disk.
const STATES: [State; 2] = [State::RawDisk, State::CompressedDisk];

fn settings(state: State, folder: &Path) -> Settings {
    Settings {
        state,
        layout: Layout::new(ElementType::F32, &[7, 5, 9], Some(2)).expect("a layout"),
        tolerance: Tolerance::Abs(1e-3),
        options: Options::new(Bound::Abs(1e-3)),
        memory: 1 << 20,
        segment: 8192,
        folder: folder.into(),
        rate: Arc::default(),
        identity: "fuzz".into(),
    }
}

/// Length of signature and checksum of an index.
const SEAL_BYTES: usize = 16;

/// Index and data of a complete grid, in each state.
static GRIDS: LazyLock<[(Vec<u8>, Vec<u8>); 2]> = LazyLock::new(|| {
    STATES.map(|state| {
        let folder = tempfile::tempdir().expect("a folder");
        let plane = |at: usize, plane: &mut [f32]| {
            let values = plane.iter_mut().enumerate();
            values.for_each(|(i, x)| *x = (at as f32).sin() + i as f32 * 0.1);
        };
        Grid::create(settings(state, folder.path()), 1, plane).expect("a grid");
        let read = |name: &str| std::fs::read(folder.path().join(name)).expect("a file");
        (read("grid-0.index"), read("grid-0.data"))
    })
});

/// The state, edits of the data (length, then position and two bytes each), and the index of each
/// grid without its checksum.
pub fn grid_seeds() -> Vec<Vec<u8>> {
    let start = |(number, (index, _)): (usize, &(Vec<u8>, Vec<u8>))| {
        [&[number as u8, 0], &index[SEAL_BYTES..]].concat()
    };
    let intact = GRIDS.iter().enumerate().map(start);
    let mut seeds: Vec<Vec<u8>> = intact.collect();
    let edited = |seed: &Vec<u8>| {
        let mut seed = seed.clone();
        seed.splice(1..2, [1, 0, 9, 7, 1]);
        seed
    };
    seeds.extend(seeds.iter().map(edited).collect::<Vec<_>>());
    seeds
}

/// Resumes a grid from an index with a valid checksum, and from edited data.
pub fn grid(bytes: &[u8]) {
    let Some((&[state, edits], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let number = usize::from(state) % STATES.len();
    let (index, data) = &GRIDS[number];
    let Some((edits, about)) = rest.split_at_checked(4 * usize::from(edits % 8)) else {
        return;
    };
    let mut data = data.clone();
    for edit in edits.chunks_exact(4) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % data.len();
        data[at] = edit[2];
        if let Some(next) = data.get_mut(at + 1) {
            *next ^= edit[3];
        }
    }
    for record in layout::records(&[&layout::SIGNATURE[..], &data].concat()) {
        let bytes = record.bytes.start - layout::SIGNATURE.len()
            ..record.bytes.end - layout::SIGNATURE.len();
        layout::seal(&mut data[bytes]);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut file = index[..8].to_vec();
    file.extend(xxhash_rust::xxh3::xxh3_64(about).to_le_bytes());
    file.extend(about);
    std::fs::write(folder.path().join("grid-0.index"), file).expect("an index");
    std::fs::write(folder.path().join("grid-0.data"), data).expect("data");
    if let Ok(grid) = Grid::<f32>::resume(settings(STATES[number], folder.path())) {
        let mut planes = 0;
        let read = grid.for_each_plane(|_, _| {
            planes += 1;
            Ok(())
        });
        assert!(read.is_err() || planes == 7);
    }
}

/// Small files, with a byte before each.
pub fn frame_seeds() -> Vec<Vec<u8>> {
    // The first byte chooses how they are read.
    let of = |(at, file): (usize, Vec<u8>)| [&[at as u8][..], &file].concat();
    file_seeds().into_iter().enumerate().map(of).collect()
}

/// Reads a file with valid checksums as the store does.
pub fn frames(bytes: &[u8]) {
    let Some((&policy, bytes)) = bytes.split_first() else {
        return;
    };
    let mut file = bytes.to_vec();
    for record in layout::records(bytes) {
        layout::seal(&mut file[record.bytes]);
    }
    // The store keeps whole frames in memory, as many as it has buffers.
    let large = |reader: &Reader<&[u8]>| {
        (0..reader.frames().min(9)).any(|number| {
            let frame = reader.frame(number);
            frame.is_ok_and(|frame| frame.header().raw_bytes() > MAX_OUTPUT_BYTES)
        })
    };
    if !Reader::from_source(&file[..]).is_ok_and(|reader| !large(&reader)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("frames.ebz");
    std::fs::write(&path, &file).expect("a file");
    let policies = [Policy::CompressedDisk, Policy::CompressedDiskServants];
    let policy = policies[usize::from(policy) % policies.len()];
    let options = StoreOptions::new(policy, Options::new(Bound::Abs(1e-3))).path(&path);
    let Ok(mut frames) = Frames::<f32>::of_file(&path, Plan::Forward, options) else {
        return;
    };
    let mut out = Vec::new();
    for number in 0..frames.frames().min(8) {
        let _ = frames.get(number, &mut out);
    }
}
