//! Appending: exclusive writers, concurrent readers, and interrupted appends.

use ebz::LockedFile;
use ebz::{Bound, Error, Options, Reader, StreamReader, View, Writer};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn options() -> Options {
    Options::new(Bound::Lossless)
        .codec("raw")
        .chunk(&[1, 100])
        .threads(1)
}

fn values(step: usize) -> Vec<f32> {
    (0..800).map(|i| (i * (step + 1)) as f32).collect()
}

fn add(writer: &mut Writer<std::fs::File>, step: usize) {
    let values = values(step);
    writer
        .frame(&View::new(&values, &[8, 100]).unwrap())
        .unwrap();
}

/// A file with this many frames.
fn series(frames: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.ebz");
    let mut writer = Writer::create(&path, options()).unwrap();
    (0..frames).for_each(|step| add(&mut writer, step));
    writer.finish().unwrap();
    (folder, path)
}

/// Checks that every frame is readable, by index and sequentially.
fn check(path: &Path, frames: usize) {
    let reader = Reader::open(path).unwrap();
    assert_eq!(reader.frames(), frames);
    for step in 0..frames {
        let frame = reader.frame(step).unwrap().read::<f32>().unwrap();
        assert_eq!(frame.values(), values(step));
    }
    let mut stream = StreamReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut passed = 0;
    while stream.next_frame().unwrap().is_some() {
        passed += 1;
    }
    assert_eq!(passed, frames);
}

#[test]
fn readers_see_the_previous_frames_at_every_byte_of_an_append() {
    let (_folder, path) = series(2);
    let before = std::fs::read(&path).unwrap();
    let mut writer = Writer::append(&path, options()).unwrap();
    add(&mut writer, 2);
    add(&mut writer, 3);
    let under_way = std::fs::read(&path).unwrap();
    for length in before.len()..=under_way.len() {
        let bytes = &under_way[..length];
        let reader = Reader::from_source(bytes).unwrap();
        assert!(reader.is_unfinished());
        assert_eq!(reader.frames(), 2, "{length} bytes");
        let last = reader.frame(1).unwrap().read::<f32>().unwrap();
        assert_eq!(last.values(), values(1));
        // The same from a pipe.
        let mut stream = StreamReader::new(bytes).unwrap();
        let mut raw = Vec::new();
        while stream.next_frame().unwrap().is_some() {
            stream.write_frame(&mut raw).unwrap();
        }
        assert_eq!(raw.len(), 2 * 3200);
    }
    for length in 0..before.len() {
        let cut = &under_way[..length];
        assert!(Reader::from_source(cut).is_err(), "{length}");
    }
    writer.finish().unwrap();
    check(&path, 4);
    assert!(!Reader::open(&path).unwrap().is_unfinished());

    // A truncated complete file is rejected like any other.
    let all = std::fs::read(&path).unwrap();
    for length in before.len() + 1..all.len() {
        assert!(Reader::from_source(&all[..length]).is_err(), "{length}");
    }
    assert!(Reader::from_source(&all[..before.len()]).is_ok());
    // The second append stores the offset of the first one's index.
    let mut writer = Writer::append(&path, options()).unwrap();
    add(&mut writer, 4);
    assert_eq!(Reader::open(&path).unwrap().frames(), 4);
    writer.finish().unwrap();
    check(&path, 5);
}

#[test]
fn every_bit_flip_in_the_previous_index_offset_is_detected() {
    let (_folder, path) = series(1);
    let mut writer = Writer::append(&path, options()).unwrap();
    add(&mut writer, 1);
    let under_way = std::fs::read(&path).unwrap();
    writer.finish().unwrap();
    let complete = std::fs::read(&path).unwrap();
    for bit in 10 * 8..16 * 8 {
        for bytes in [&complete, &under_way] {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Reader::from_source(&damaged[..]).is_err(), "bit {bit}");
            let mut stream = StreamReader::new(&damaged[..]).unwrap();
            let end = loop {
                match stream.next_frame() {
                    Ok(Some(_)) => {}
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            assert!(end.is_err(), "bit {bit}");
        }
    }
}

#[test]
fn an_index_within_chunk_data_is_ignored() {
    let (_folder, path) = series(1);
    // The whole file as values of a raw chunk: records, index, tail.
    let mut image = std::fs::read(&path).unwrap();
    image.resize(image.len().next_multiple_of(4), 0);
    let words: Vec<f32> = image
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| f32::from_le_bytes(*word))
        .collect();
    let mut writer = Writer::append(&path, options().chunk(&[words.len()])).unwrap();
    let view = View::new(&words, &[words.len()]).unwrap();
    writer.frame(&view).unwrap();
    let end = std::fs::metadata(&path).unwrap().len();
    let bytes = std::fs::read(&path).unwrap();
    for length in end.saturating_sub(300)..end {
        let reader = Reader::from_source(&bytes[..length as usize]).unwrap();
        assert_eq!(reader.frames(), 1);
        let first = reader.frame(0).unwrap().read::<f32>().unwrap();
        assert_eq!(first.values(), values(0));
    }
    writer.finish().unwrap();
    assert_eq!(Reader::open(&path).unwrap().frames(), 2);
}

#[test]
fn a_dropped_writer_leaves_a_complete_file() {
    let (_folder, path) = series(2);
    let before = std::fs::read(&path).unwrap();
    // No complete frame was added: the file is unchanged, byte for byte.
    let mut writer = Writer::append(&path, options()).unwrap();
    let short = &[0u8; 1000][..];
    assert!(
        writer
            .frame_from::<f32>(&mut { short }, &[8, 100], None)
            .is_err()
    );
    assert!(std::fs::metadata(&path).unwrap().len() > before.len() as u64);
    drop(writer);
    assert!(std::fs::read(&path).unwrap() == before);
    // One of two frames is complete.
    let mut writer = Writer::append(&path, options()).unwrap();
    add(&mut writer, 2);
    assert!(
        writer
            .frame_from::<f32>(&mut { short }, &[8, 100], None)
            .is_err()
    );
    drop(writer);
    check(&path, 3);
}

#[test]
fn an_append_to_a_file_with_a_killed_append_is_refused_until_recovery() {
    let (_folder, path) = series(2);
    let mut writer = Writer::append(&path, options()).unwrap();
    add(&mut writer, 2);
    // The state after a kill: no index, and no lock.
    let killed = path.with_extension("killed");
    std::fs::copy(&path, &killed).unwrap();
    drop(writer);
    assert_eq!(Reader::open(&killed).unwrap().frames(), 2);
    let Err(error) = Writer::append(&killed, options()) else {
        panic!("the append would lose the frame of the killed writer");
    };
    assert!(matches!(error, Error::Truncated(_)), "{error}");
    assert!(error.to_string().contains("ebz recover"), "{error}");
    let file = std::fs::File::open(&killed).unwrap();
    let (report, saved) = ebz::recover(&file, Vec::new()).unwrap();
    assert!(report.len() == 3 && report.iter().all(|frame| frame.lost.is_empty()));
    assert_eq!(Reader::from_source(&saved[..]).unwrap().frames(), 3);
}

#[test]
fn concurrent_appends_lose_no_frame() {
    let (_folder, path) = series(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..8 {
                        let mut writer = Writer::append(&path, options()).unwrap();
                        let step = writer.frames();
                        add(&mut writer, step);
                        if step % 3 == 0 {
                            // A failure after a complete frame does not affect it.
                            let mut short = &[0u8; 10][..];
                            assert!(
                                writer
                                    .frame_from::<f32>(&mut short, &[8, 100], None)
                                    .is_err()
                            );
                        } else {
                            writer.finish().unwrap();
                        }
                    }
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                let reader = Reader::open(&path).unwrap();
                assert!(reader.frames() >= most);
                most = reader.frames();
                if let Some(last) = most.checked_sub(1) {
                    let frame = reader.frame(last).unwrap().read::<f32>().unwrap();
                    assert_eq!(frame.values(), values(last));
                }
            }
        });
        let ends: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        assert!(ends.iter().all(Result::is_ok));
    });
    check(&path, 48);
}

#[test]
fn try_open_does_not_wait_for_the_lock() {
    let (_folder, path) = series(1);
    let locked = LockedFile::try_open(&path).unwrap().unwrap();
    assert!(LockedFile::try_open(&path).unwrap().is_none());
    // The path refers to another file when the lock is released.
    let waiting = std::thread::spawn({
        let path = path.clone();
        move || {
            let mut writer = Writer::append(&path, options()).unwrap();
            add(&mut writer, 1);
            writer.finish().unwrap();
        }
    });
    std::thread::sleep(Duration::from_millis(50));
    let copy = path.with_extension("copy");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::rename(&copy, &path).unwrap();
    drop(locked);
    waiting.join().unwrap();
    check(&path, 2);
    assert!(LockedFile::try_open(&path).unwrap().is_some());
}
