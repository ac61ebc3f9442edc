//! Files that are appended to, in turns with writers that stop or are killed.

pub use crate::chunks::word_seeds;
use crate::{choose, up_to};
use arbitrary::Unstructured;
use ebz::{Bound, Options, Reader, StreamReader, View, Writer};
use std::fs::File;
use std::path::Path;

/// A frame: shape and values.
type Frame = (Vec<usize>, Vec<f32>);

fn frame(input: &mut Unstructured<'_>) -> Frame {
    let shape: Vec<_> = (0..up_to(input, 3)).map(|_| up_to(input, 9)).collect();
    let count = shape.iter().product();
    let values = (0..count).map(|i| (i * up_to(input, 200)) as f32);
    (shape.clone(), values.collect())
}

fn options(input: &mut Unstructured<'_>) -> Options {
    Options::new(Bound::Lossless)
        .codec(*choose(input, &["raw", "fz", "ceaz", "fre"]))
        .threads(1)
}

fn write(writer: &mut Writer<File>, (shape, values): &Frame) {
    let view = View::new(values, shape).expect("as many values as the shape has");
    writer.frame(&view).expect("a frame");
}

/// Every frame is there, in both ways to read.
fn check(path: &Path, expected: &[Frame]) {
    let reader = Reader::open(path).expect("a file").threads(1);
    assert_eq!(reader.frames(), expected.len());
    for (number, (shape, values)) in expected.iter().enumerate() {
        let found = reader.frame(number).and_then(|frame| frame.read::<f32>());
        let found = found.expect("a frame");
        assert_eq!((found.shape(), found.values()), (&shape[..], &values[..]));
    }
    let mut stream = StreamReader::new(File::open(path).expect("a file")).expect("a stream");
    let mut raw = Vec::new();
    while stream.next_frame().expect("a frame").is_some() {
        stream.write_frame(&mut raw).expect("values");
    }
    let all: Vec<f32> = expected.iter().flat_map(|frame| frame.1.clone()).collect();
    assert_eq!(raw, bytemuck::cast_slice::<f32, u8>(&all));
}

/// Frames are written and appended; a writer may be dropped or killed at any byte. Complete frames
/// are never lost.
pub fn appends(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("series.ebz");
    let mut frames: Vec<Frame> = Vec::new();
    for round in 0..6 {
        let options = options(&mut input);
        let writer = match round {
            0 => Writer::create(&path, options),
            _ => Writer::append(&path, options),
        };
        let mut writer = writer.expect("no file, or a complete one");
        let before = std::fs::metadata(&path).expect("a file").len();
        let complete = frames.len();
        for _ in 0..up_to(&mut input, 3) {
            frames.push(frame(&mut input));
            write(&mut writer, frames.last().expect("just added"));
        }
        match up_to(&mut input, 3) {
            // Without an index, a file that was not complete before cannot be opened.
            0 if round > 0 => drop(writer),
            1 if round > 0 => {
                killed(&path, &frames, complete, before, &mut input);
                return;
            }
            _ => drop(writer.finish().expect("a complete file")),
        }
        check(&path, &frames);
        if input.is_empty() {
            return;
        }
    }
}

/// What a writer leaves that is killed: the frames before its append can be read, and recovered
/// with all of those whose bytes were written.
fn killed(path: &Path, frames: &[Frame], complete: usize, before: u64, input: &mut Unstructured) {
    let left = std::fs::read(path).expect("a file");
    let added = left.len() - before as usize;
    let left = &left[..before as usize + up_to(input, added)];
    let reader = Reader::from_source(left).expect("the previous frames");
    assert_eq!(reader.frames(), complete);
    for (number, frame) in frames[..complete].iter().enumerate() {
        let found = reader.frame(number).and_then(|frame| frame.read::<f32>());
        assert_eq!(found.expect("a frame").values(), frame.1);
    }
    // A file without a single chunk has nothing to recover.
    let Ok((report, saved)) = ebz::recover(&left, Vec::new()) else {
        return;
    };
    let saved = Reader::from_source(&saved[..]).expect("a recovered file");
    let written = report.iter().filter(|frame| frame.written);
    for (number, recovered) in written.enumerate() {
        let found = saved.frame(number).and_then(|frame| frame.read::<f32>());
        if recovered.lost.is_empty() {
            let expected = &frames[recovered.frame as usize].1;
            assert_eq!(found.expect("a frame").values(), &expected[..]);
        }
    }
    for (number, frame) in frames[..complete].iter().enumerate() {
        let found = report.iter().find(|found| found.frame as usize == number);
        let whole = found.is_some_and(|found| found.written && found.lost.is_empty());
        assert!(whole || frame.1.is_empty(), "frame {number} is lost");
    }
}
