//! The container: frames, regions, appending, pipes, recovery.

use ebz::{Bound, Options, Reader, StreamReader, View, ViewMut, Writer};
use std::io::{Cursor, Write};

fn ramp(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.37).sin() * 10.0).collect()
}

fn options() -> Options {
    Options::new(Bound::Lossless)
}

#[test]
fn a_region_equals_the_same_part_of_the_array() {
    let shape = [7, 11, 13];
    let values = ramp(7 * 11 * 13);
    for chunk in [[7, 11, 13], [3, 11, 13], [1, 4, 13], [2, 5, 6], [1, 1, 5]] {
        for threads in [1, 3] {
            let view = View::new(&values, &shape).unwrap();
            let bytes = ebz::compress(&view, &options().chunk(&chunk).threads(threads)).unwrap();
            let reader = Reader::from_source(&bytes[..]).unwrap().threads(threads);
            assert_eq!(reader.read::<f32>().unwrap().values(), values);
            for region in [
                [0..7, 0..11, 0..13],
                [2..5, 3..9, 4..6],
                [6..7, 10..11, 12..13],
            ] {
                let part = reader.region::<f32>(&region).unwrap();
                let mut expected = Vec::new();
                for z in region[0].clone() {
                    for y in region[1].clone() {
                        expected.extend(region[2].clone().map(|x| values[(z * 11 + y) * 13 + x]));
                    }
                }
                assert_eq!(part.values(), expected, "{chunk:?} {region:?}");
            }
            assert!(reader.region::<f32>(&[0..8, 0..1, 0..1]).is_err());
            let empty = reader.region::<f32>(&[3..3, 0..1, 0..1]).unwrap();
            assert!(empty.values().is_empty());
        }
    }
}

#[test]
fn strided_views_round_trip() {
    let (rows, columns) = (9, 14);
    let memory = ramp(rows * columns * 2);
    // Fortran order with a gap, and reversed rows.
    let strides = [-2, 2 * rows as isize];
    let view = View::strided(&memory, &[rows, columns], &strides, 2 * (rows - 1)).unwrap();
    let bytes = ebz::compress(&view, &options().chunk(&[2, 5])).unwrap();
    let array = ebz::decompress::<f32>(&bytes).unwrap();
    for row in 0..rows {
        for column in 0..columns {
            let expected = memory[2 * (rows - 1 - row) + column * 2 * rows];
            assert_eq!(array.values()[row * columns + column], expected);
        }
    }
    let mut out = vec![0.0; memory.len()];
    let mut target =
        ViewMut::strided(&mut out, &[rows, columns], &strides, 2 * (rows - 1)).unwrap();
    ebz::decompress_into(&bytes, &mut target).unwrap();
    for (i, (a, b)) in out.iter().zip(&memory).enumerate() {
        assert_eq!(*a, if i % 2 == 0 { *b } else { 0.0 });
    }
    assert!(View::strided(&memory, &[rows + 1, columns], &strides, 0).is_err());
}

#[test]
fn frames_are_appended_and_read_from_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.ebz");
    let mut writer = Writer::create(&path, options()).unwrap();
    for step in 0..3 {
        writer
            .frame(&View::new(&[step as f32; 20], &[4, 5]).unwrap())
            .unwrap();
    }
    writer.finish().unwrap();
    let mut writer = Writer::append(&path, options()).unwrap();
    writer
        .frame(&View::new(&[3.5f64; 6], &[6]).unwrap())
        .unwrap();
    writer.finish().unwrap();

    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.frames(), 4);
    assert_eq!(
        reader.frame(2).unwrap().read::<f32>().unwrap().values(),
        [2.0; 20]
    );
    assert_eq!(
        reader.frame(3).unwrap().read::<f64>().unwrap().values(),
        [3.5; 6]
    );
    assert!(reader.frame(3).unwrap().read::<f32>().is_err());

    let bytes = std::fs::read(&path).unwrap();
    let mut stream = StreamReader::new(&bytes[..]).unwrap();
    let mut shapes = Vec::new();
    let mut raw = Vec::new();
    while let Some(header) = stream.next_frame().unwrap() {
        shapes.push(header.shape().to_vec());
        if shapes.len() != 2 {
            stream.write_frame(&mut raw).unwrap();
        }
    }
    assert_eq!(shapes, [vec![4, 5], vec![4, 5], vec![4, 5], vec![6]]);
    assert_eq!(raw.len(), 20 * 4 * 2 + 6 * 8);
}

#[test]
fn streamed_input_gives_the_same_bytes() {
    let values = ramp(6 * 10 * 10);
    for chunk in [[2, 10, 10], [4, 3, 7]] {
        let options = options().chunk(&chunk);
        let shape = [6, 10, 10];
        let whole = ebz::compress(&View::new(&values, &shape).unwrap(), &options).unwrap();
        let mut writer = Writer::new(Vec::new(), options).unwrap();
        let mut input = Cursor::new(bytemuck::cast_slice::<f32, u8>(&values));
        writer.frame_from::<f32>(&mut input, &shape, None).unwrap();
        assert_eq!(writer.finish().unwrap(), whole);
    }
}

#[test]
fn a_file_without_index_is_recovered_up_to_the_last_chunk() {
    let values = ramp(8 * 100);
    let options = options().chunk(&[1, 100]);
    let mut writer = Writer::new(Vec::new(), options).unwrap();
    let view = View::new(&values, &[8, 100]).unwrap();
    writer.frame(&view).unwrap();
    let complete = writer.frame(&view).unwrap().stored_bytes as usize;
    let bytes = writer.finish().unwrap();

    // Truncate in the middle of the sixth chunk of the second frame.
    let cut = &bytes[..16 + complete + complete * 6 / 9];
    assert!(matches!(
        Reader::from_source(cut),
        Err(ebz::Error::Truncated(_))
    ));
    let (report, saved) = ebz::recover(&cut, Vec::new()).unwrap();
    assert_eq!(report.len(), 2);
    assert!(report[0].lost.is_empty());
    let lost = |row| report[1].lost.iter().any(|run| run.contains(&row));
    assert!(report[1].written && !lost(0) && lost(7));
    let reader = Reader::from_source(&saved[..]).unwrap();
    assert_eq!(
        reader.frame(0).unwrap().read::<f32>().unwrap().values(),
        values
    );
    let second = reader.frame(1).unwrap().read::<f32>().unwrap();
    for (row, (saved, original)) in second
        .values()
        .chunks(100)
        .zip(values.chunks(100))
        .enumerate()
    {
        if lost(row) {
            assert!(saved.iter().all(|x| x.is_nan()));
        } else {
            assert_eq!(saved, original);
        }
    }

    // Damage in the middle loses only one chunk.
    let mut damaged = bytes.clone();
    damaged[16 + complete / 2] ^= 1;
    let (report, _) = ebz::recover(&&damaged[..], Vec::new()).unwrap();
    let lost = report.iter().flat_map(|frame| frame.lost.clone());
    assert_eq!(lost.map(|run| run.len()).sum::<usize>(), 1);
}

#[test]
fn the_maximum_size_is_exact_for_noise() {
    let mut state = 1u64;
    let noise: Vec<f32> = (0..20_000)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            f32::from_bits((state >> 32) as u32)
        })
        .collect();
    let cases: [(&[usize], &[usize]); 7] = [
        (&[5000], &[]),
        (&[50, 100], &[]),
        (&[0, 7], &[]),
        (&[10, 20, 25], &[]),
        (&[10, 20, 25], &[4, 5, 7]),
        (&[130], &[1]),
        (&[20_000], &[1]),
    ];
    for (shape, chunk) in cases {
        let count = shape.iter().product();
        let mut options = options()
            .codec("raw")
            .metadata(serde_json::json!({"name": "noise"}));
        if !chunk.is_empty() {
            options = options.chunk(chunk);
        }
        let view = View::new(&noise[..count], shape).unwrap();
        let bytes = ebz::compress(&view, &options).unwrap();
        let most = ebz::max_compressed_size(shape, ebz::ElementType::F32, &options).unwrap();
        assert_eq!(bytes.len(), most, "{shape:?} {chunk:?}");
    }
}

/// Billions of chunks: none of them is looked at alone.
#[test]
fn the_maximum_size_of_many_chunks() {
    let shape = [(1 << 30) - 1, 7, 9];
    let options = options().codec("raw").chunk(&[1, 7, 6]);
    let most = ebz::max_compressed_size(&shape, ebz::ElementType::F64, &options).unwrap();
    let chunks = 2 * shape[0];
    let values = shape.iter().product::<usize>();
    // A header of 19 to 22 bytes, and a length of 2.
    assert!((8 * values + 21 * chunks..8 * values + 24 * chunks).contains(&most));
}

/// An output that fails like a full disk.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(left) => self.0 = left,
            None => return Err(std::io::ErrorKind::StorageFull.into()),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_on_any_number_of_threads() {
    let values = ramp(64 * 100);
    for threads in [1, 2, 5] {
        let options = options().codec("raw").chunk(&[1, 100]).threads(threads);
        let mut writer = Writer::new(Full(9000), options).unwrap();
        let result = writer.frame(&View::new(&values, &[64, 100]).unwrap());
        assert!(matches!(result, Err(ebz::Error::Io(_))));
    }
}

#[test]
fn a_region_reads_only_its_places() {
    let values: Vec<f32> = (0..6 * 8 * 10).map(|i| (i as f32).sin()).collect();
    let view = View::new(&values, &[6, 8, 10]).unwrap();
    let options = Options::new(Bound::Lossless).chunk(&[2, 4, 5]).threads(1);
    let bytes = ebz::compress(&view, &options).unwrap();
    let region = [1..5, 3..4, 0..5];
    let reader = Reader::from_source(&bytes[..]).unwrap();
    let frame = reader.frame(0).unwrap();
    let places = frame.places(&region).unwrap();
    assert_eq!(places.len(), 3);
    let expected = frame.region::<f32>(&region).unwrap();

    // All other chunks may be damaged.
    let first = frame.places(&[0..2, 0..4, 0..5]).unwrap()[0].start as usize;
    let all = frame.places(&[0..6, 0..8, 0..10]).unwrap();
    assert_eq!(all.len(), 12);
    let last = all.iter().map(|place| place.end as usize).max().unwrap();
    let mut damaged = bytes.clone();
    for (at, byte) in damaged.iter_mut().enumerate().take(last).skip(first) {
        if !places.iter().any(|place| place.contains(&(at as u64))) {
            *byte ^= 255;
        }
    }
    let reader = Reader::from_source(&damaged[..]).unwrap();
    assert_eq!(reader.region::<f32>(&region).unwrap(), expected);
    assert!(reader.read::<f32>().is_err());

    assert!(frame.places(&[0..6, 0..8, 4..4]).unwrap().is_empty());
    assert!(frame.places(&[0..7, 0..8, 0..10]).is_err());
    assert!(frame.check_region(&region).is_ok());
    assert!(frame.check_region(&region[1..]).is_err());
}
