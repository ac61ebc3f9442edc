//! What the chunks of a frame have in common: stored once, used by all, and none of them lost with
//! another.

use ebz::codec::by_name;
use ebz::{Bound, Error, Options, Reader, StreamReader, View, Writer};

const SHAPE: [usize; 3] = [48, 32, 64];
const CHUNK: [usize; 3] = [4, 32, 64];
const BOUND: f32 = 1e-2;

/// Waves with noise: every chunk has about the same frequencies.
fn field() -> Vec<f32> {
    let mut state = 7u32;
    (0..SHAPE.iter().product::<usize>())
        .map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = (state >> 8) as f32 / (1 << 24) as f32;
            (i as f32 * 0.01).sin() * 3.0 + noise * noise * 0.3
        })
        .collect()
}

fn options() -> Options {
    Options::new(Bound::Abs(BOUND.into()))
        .codec("ceaz")
        .chunk(&CHUNK)
}

fn file(options: Options) -> Vec<u8> {
    ebz::compress(&View::new(&field(), &SHAPE).unwrap(), &options).unwrap()
}

fn common_of(file: &[u8]) -> Vec<u8> {
    let reader = Reader::from_source(file).unwrap();
    let frame = reader.frame(0).unwrap();
    frame.header().common.clone()
}

#[test]
fn books_are_stored_once() {
    let whole = file(options());
    assert!(!common_of(&whole).is_empty());
    let first_chunk = View::new(&field()[..4 * 32 * 64], &[4, 32, 64])
        .map(|view| ebz::compress(&view, &options()).unwrap())
        .unwrap();
    // A chunk that is a frame of its own has its books in itself.
    assert!(common_of(&first_chunk).is_empty());
    let reader = Reader::from_source(&whole[..]).unwrap();
    let in_frame = reader.frame(0).unwrap().chunk_bytes().next().unwrap();
    let alone = Reader::from_source(&first_chunk[..]).unwrap();
    let alone = alone.frame(0).unwrap().chunk_bytes().next().unwrap();
    assert!(in_frame < alone, "{in_frame} bytes, {alone} alone");
    // With offline books only there is nothing to have in common.
    let offline = options().param("books", "offline");
    assert!(common_of(&file(offline)).is_empty());
}

#[test]
fn every_way_of_writing_gives_the_same_file() {
    let whole = file(options().threads(1));
    assert_eq!(file(options().threads(3)), whole);
    let values = field();
    let mut writer = Writer::new(Vec::new(), options()).unwrap();
    let mut input = bytemuck::cast_slice::<f32, u8>(&values);
    writer.frame_from::<f32>(&mut input, &SHAPE, None).unwrap();
    assert_eq!(writer.finish().unwrap(), whole);
}

#[test]
fn every_way_of_reading_keeps_the_bound() {
    for books in ["cost", "chi"] {
        let file = file(options().param("books", books));
        let values = field();
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= BOUND);
        let reader = Reader::from_source(&file[..]).unwrap();
        let whole = reader.read::<f32>().unwrap();
        assert!(close(whole.values(), &values));
        let part = reader.region::<f32>(&[20..21, 0..32, 0..64]).unwrap();
        let plane = 32 * 64;
        assert_eq!(part.values(), &whole.values()[20 * plane..21 * plane]);
        let mut stream = StreamReader::new(&file[..]).unwrap();
        stream.next_frame().unwrap();
        let mut raw = Vec::new();
        stream.write_frame(&mut raw).unwrap();
        assert_eq!(raw, bytemuck::cast_slice::<f32, u8>(whole.values()));
    }
}

#[test]
fn a_lost_chunk_takes_no_other_with_it() {
    let mut file = file(options());
    let values = ebz::decompress::<f32>(&file).unwrap();
    let places = {
        let reader = Reader::from_source(&file[..]).unwrap();
        let all = [0..SHAPE[0], 0..SHAPE[1], 0..SHAPE[2]];
        reader.frame(0).unwrap().places(&all).unwrap()
    };
    let first = places[0].start as usize;
    file[first + 50] ^= 1;
    let (report, saved) = ebz::recover(&&file[..], Vec::new()).unwrap();
    assert_eq!(report[0].lost, [0..1]);
    let saved = ebz::decompress::<f32>(&saved).unwrap();
    let chunk = CHUNK.iter().product();
    assert!(saved.values()[..chunk].iter().all(|v| v.is_nan()));
    assert_eq!(saved.values()[chunk..], values.values()[chunk..]);
}

#[test]
fn damaged_books_are_refused() {
    let ceaz = by_name("ceaz").unwrap();
    let good = common_of(&file(options()));
    assert!(ceaz.open(&good).is_ok());
    for cut in 1..good.len() {
        let kind = ceaz.open(&good[..cut]).err();
        assert!(matches!(
            kind,
            None | Some(Error::Corrupt(_) | Error::Truncated(_))
        ));
    }
    assert!(ceaz.open(&[200, 1, 2, 3]).is_err());
    assert!(ceaz.open(&vec![0; 1 << 20]).is_err());
    // Other codecs have nothing in common.
    assert!(by_name("fz").unwrap().open(&good).is_err());
}
