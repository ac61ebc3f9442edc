//! Hostile files with valid checksums: rejected, or read within the limits.

use ebz::Recovered;
use ebz::{Error, Limits, Reader, StreamReader};
use ebz_testkit::corruption::SMALL;
use ebz_testkit::fields::workspace;
use ebz_testkit::layout;
use std::time::{Duration, Instant};

fn hostile(name: &str) -> Vec<u8> {
    let path = workspace().join("fuzz/corpus-regress").join(name);
    std::fs::read(path).unwrap()
}

fn by_pipe(file: &[u8], limits: Limits) -> Result<Vec<u8>, Error> {
    let mut stream = StreamReader::new(file)?.limits(limits);
    let mut raw = Vec::new();
    while stream.next_frame()?.is_some() {
        stream.write_frame(&mut raw)?;
    }
    Ok(raw)
}

fn by_path(file: &[u8], limits: Limits) -> Result<Vec<f32>, Error> {
    let reader = Reader::from_source(file)?.limits(limits);
    Ok(reader.read::<f32>()?.values().to_vec())
}

#[test]
fn recovery_of_many_lost_chunks_is_fast_and_small() {
    for name in ["hostile-recover-slow", "hostile-rb"] {
        let file = hostile(name);
        let start = Instant::now();
        let recovered = ebz::recover(&&file[..], Vec::new());
        let time = start.elapsed();
        assert!(time < Duration::from_secs(5), "{name}: {time:?}");
        if let Ok((report, saved)) = recovered {
            assert!(saved.len() < 32 * file.len() + (2 << 20), "{name}");
            let reader = Reader::from_source(&saved[..]).unwrap();
            let written = report.iter().filter(|frame| frame.written).count();
            assert_eq!(reader.frames(), written, "{name}");
        }
    }
}

#[test]
fn recovery_skips_frames_without_enough_chunks() {
    // A valid frame, one without chunks, and one with 2^26 chunks of which one is left.
    let good = layout::file(&layout::frame_body(&[2], &[2]), &[(3, vec![0; 8])], None);
    let mut file = good;
    file.extend(layout::record(1, 1, 0, &layout::frame_body(&[9], &[3])));
    file.extend(layout::record(
        1,
        2,
        0,
        &layout::frame_body(&[1 << 26], &[1]),
    ));
    file.extend(layout::record(3, 2, 7, &[0; 4]));
    let (report, saved) = ebz::recover(&&file[..], Vec::new()).unwrap();
    let summary = |frame: &Recovered| {
        let lost = frame.lost.iter().map(|run| (run.start, run.end));
        (frame.frame, frame.written, lost.collect())
    };
    let expected = [
        (0, true, vec![]),
        (1, false, vec![(0, 3)]),
        (2, false, vec![(0, 7), (8, 1 << 26)]),
    ];
    assert_eq!(report.iter().map(summary).collect::<Vec<_>>(), expected);
    assert_eq!(Reader::from_source(&saved[..]).unwrap().frames(), 1);
}

#[test]
fn recovery_is_fast_despite_invalid_records() {
    // Headers everywhere that claim the rest of the file.
    let size = 4 << 20;
    let mut file = b"\x89EBZ\r\n\x1a\n\x01\0\0\0\0\0\0\0".to_vec();
    let mut record = layout::record(2, 0, 0, &[]);
    while file.len() + record.len() <= size {
        let rest = (size - file.len() - record.len()) as u32;
        record[6..10].copy_from_slice(&rest.to_le_bytes());
        file.extend_from_slice(&record);
    }
    let start = Instant::now();
    assert!(ebz::recover(&&file[..], Vec::new()).is_err());
    let time = start.elapsed();
    assert!(time < Duration::from_secs(10), "{time:?}");
}

#[test]
fn a_slab_beyond_the_limit_is_rejected() {
    let file = hostile("hostile-slab2");
    let rejected = |what: Result<(), Error>| match what {
        Err(Error::LimitExceeded(text)) => {
            assert!(text.contains("only 1073741824 are allowed"), "{text}");
            assert!(text.contains("--max-memory"), "{text}");
        }
        other => panic!("{other:?}"),
    };
    rejected(by_path(&file, SMALL).map(drop));
    rejected(by_pipe(&file, SMALL).map(drop));
    let reader = Reader::from_source(&file[..]).unwrap().limits(SMALL);
    let frame = reader.frame(0).unwrap();
    let whole: Vec<_> = frame.header().shape().iter().map(|&n| 0..n).collect();
    rejected(frame.write_region(&whole, &mut std::io::sink()));
    rejected(frame.check_region(&whole));
}

#[test]
fn the_memory_limit_reduces_the_number_of_workers() {
    // A hundred slabs of 40 kB: one fits into the limit, all at once do not.
    let values = vec![1.5f32; 1_000_000];
    let options = ebz::Options::new(ebz::Bound::Abs(0.1))
        .chunk(&[10_000])
        .threads(64);
    let view = ebz::View::new(&values, &[1_000_000]).unwrap();
    let file = ebz::compress(&view, &options).unwrap();
    let limits = Limits::new(u64::MAX, 5 << 20);
    let reader = Reader::from_source(&file[..]).unwrap();
    let reader = reader.limits(limits).threads(64);
    let mut raw = Vec::new();
    let frame = reader.frame(0).unwrap();
    let whole = 0..1_000_000;
    frame.write_region(&[whole], &mut raw).unwrap();
    assert!(raw == bytemuck::cast_slice::<f32, u8>(&values));
    assert!(by_pipe(&file, limits).unwrap() == raw);
    let less = Limits::new(u64::MAX, 3 << 20);
    assert!(by_pipe(&file, less).is_err());
}

#[test]
fn an_index_that_does_not_match_the_records_is_rejected() {
    let file = hostile("hostile-poly");
    for read in [
        by_path(&file, SMALL).map(drop),
        by_pipe(&file, SMALL).map(drop),
    ] {
        assert!(
            matches!(&read, Err(Error::Corrupt(text)) if text.contains("does not match")),
            "{read:?}"
        );
    }
    // A second frame hidden in a raw chunk of the first, with an index that points to it.
    let hidden = layout::record(1, 1, 0, &layout::frame_body(&[0], &[1]));
    let mut body = hidden.clone();
    body.resize(hidden.len().next_multiple_of(4), 0);
    let values = body.len() as u64 / 4;
    let mut file = layout::file(
        &layout::frame_body(&[values], &[values]),
        &[(3, body)],
        None,
    );
    let records = layout::records(&file);
    let [frame, chunk, index] = &records[..] else {
        panic!("{records:?}");
    };
    // The first frame ends within its chunk, the second follows, and nothing is left over.
    let mut table = Vec::new();
    let header = layout::record(1, 1, 0, &[]).len();
    let (first, all) = (chunk.body().start - frame.bytes.end, chunk.bytes.len());
    let bodies = [frame.body().len(), hidden.len() - header];
    for number in [
        0,
        bodies[0],
        first,
        0,
        0,
        bodies[1],
        all - first - hidden.len(),
        0,
    ] {
        layout::put_number(&mut table, number as u64);
    }
    file.truncate(index.bytes.start);
    layout::put_index(&mut file, 2, table);
    for read in [
        by_path(&file, SMALL).map(drop),
        by_pipe(&file, SMALL).map(drop),
    ] {
        assert!(matches!(read, Err(Error::Corrupt(_))), "{read:?}");
    }
}

#[test]
fn trailing_bytes_are_reported() {
    let values: Vec<f32> = (0..500).map(|i| i as f32).collect();
    let options = ebz::Options::new(ebz::Bound::Abs(0.1)).chunk(&[100]);
    let file = ebz::compress(&ebz::View::new(&values, &[500]).unwrap(), &options).unwrap();
    for trailing in [&[0][..], b"E BZ", &[7; 100], &file] {
        let mut longer = file.clone();
        longer.extend_from_slice(trailing);
        // A whole stream after the end is found by its own tail.
        let by_path = by_path(&longer, SMALL).map(drop);
        let results = [by_path, by_pipe(&longer, SMALL).map(drop)];
        for (result, way) in results.into_iter().zip(["path", "pipe"]) {
            let text = result.unwrap_err().to_string();
            let reported = text.contains("after its end") && text.contains(&file.len().to_string());
            let tail = trailing.len() == file.len() && way == "path";
            assert!(reported || tail, "{way}, {} bytes: {text}", trailing.len());
        }
    }
    // An interrupted append is reported as truncated.
    for cut in [3, 20, 50] {
        let mut interrupted = file.clone();
        interrupted.extend_from_slice(&layout::record(1, 1, 0, &[1; 60])[..cut]);
        for result in [
            by_path(&interrupted, SMALL).map(drop),
            by_pipe(&interrupted, SMALL).map(drop),
        ] {
            assert!(matches!(result, Err(Error::Truncated(_))), "{result:?}");
        }
    }
}
