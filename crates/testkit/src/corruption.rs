//! Damaged files and chunks: they must be rejected, or at least do no harm.

use crate::conformance::{dims, name, tolerances, variants};
use crate::fields::{Content, Field};
use crate::layout;
use crate::random::Random;
use ebz::codec::{Entry, Params, TABLE};
use ebz::engine::Context;
use ebz::internals::Task;
use ebz::simd::Level;
use ebz::{Bound, Element, ElementType, Error, FillValues, Limits, Options, Reader};
use ebz::{StreamReader, View, Writer, with_type};

/// A file small enough for exhaustive damage.
#[derive(Debug, Clone)]
pub struct SmallFile {
    /// Codec, element type and bound.
    pub name: String,
    /// The file.
    pub bytes: Vec<u8>,
    /// Raw values of every frame.
    pub frames: Vec<Vec<u8>>,
}

/// Small files of every codec × element type × bound kind, with two frames of several chunks.
pub fn small_files() -> Result<Vec<SmallFile>, Error> {
    let mut files = Vec::new();
    for entry in TABLE {
        for kind in entry.info.tolerances {
            let value = match kind {
                ebz::BoundKind::Precision => 10.0,
                _ => 1e-2,
            };
            let bound = Bound::new(*kind, value)?;
            for params in variants(entry) {
                for element in ElementType::ALL {
                    files.push(with_type!(element, T => small_file::<T>(entry, &params, bound))?);
                }
            }
        }
    }
    Ok(files)
}

fn small_file<T: Element>(
    entry: &Entry,
    params: &Params,
    bound: Bound,
) -> Result<SmallFile, Error> {
    let mut options = Options::new(bound)
        .codec(entry.info.name)
        .metadata(serde_json::json!({"k": 1}))
        .threads(1);
    options.params = params.clone();
    let mut writer = Writer::new(Vec::new(), options)?;
    for (content, shape, chunk) in [
        (Content::Smooth, &[3, 8, 9][..], &[2, 8, 9][..]),
        (Content::Specials, &[40], &[40]),
    ] {
        let field: Field<T> = content.field(shape, 4);
        writer.options_mut().chunk = Some(chunk.to_vec());
        writer.frame(&View::new(&field.values, shape)?)?;
    }
    let bytes = writer.finish()?;
    let frames = read_all(&bytes, Level::detect())?;
    Ok(SmallFile {
        name: format!("{} {} {bound}", name(entry, params), T::TYPE),
        bytes,
        frames,
    })
}

/// Limits that suffice for every test file.
pub const SMALL: Limits = Limits::new(u64::MAX, 1 << 30);

/// Reads every frame of a file with random access, as raw values.
pub fn read_all(bytes: &[u8], level: Level) -> Result<Vec<Vec<u8>>, Error> {
    let reader = Reader::from_source(bytes)?
        .limits(SMALL)
        .threads(1)
        .simd(level);
    (0..reader.frames())
        .map(|number| {
            let frame = reader.frame(number)?;
            with_type!(frame.header().element, T => {
                Ok(bytemuck::cast_slice(frame.read::<T>()?.values()).to_vec())
            })
        })
        .collect()
}

/// Reads every frame of a file sequentially, as raw values.
pub fn stream_all(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let mut stream = StreamReader::new(bytes)?.limits(SMALL).threads(1);
    let mut frames = Vec::new();
    while stream.next_frame()?.is_some() {
        let mut raw = Vec::new();
        stream.write_frame(&mut raw)?;
        frames.push(raw);
    }
    Ok(frames)
}

/// What readers make of a damaged file, the worst of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Both return an error.
    Detected,
    /// The values are those of the file.
    Right,
    /// Other values.
    Wrong,
}

/// Reads a damaged file with random access and sequentially.
pub fn outcome(file: &SmallFile, damaged: &[u8]) -> Outcome {
    let of = |result: Result<Vec<Vec<u8>>, Error>| match result {
        Err(_) => Outcome::Detected,
        Ok(frames) if frames == file.frames => Outcome::Right,
        Ok(_) => Outcome::Wrong,
    };
    of(read_all(damaged, Level::detect())).max(of(stream_all(damaged)))
}

/// One of `files` with damage and valid checksums.
pub fn forge(files: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut forged = random.mutated(files);
    for record in layout::records(&forged) {
        layout::seal(&mut forged[record.bytes]);
    }
    forged
}

/// Checks that both readers reject a damaged file.
pub fn is_rejected(damaged: &[u8]) -> Result<(), String> {
    for (way, result) in [
        ("Reader", read_all(damaged, Level::detect())),
        ("StreamReader", stream_all(damaged)),
    ] {
        match result {
            Ok(_) => return Err(format!("{way} did not detect the damage")),
            Err(Error::Corrupt(_) | Error::Truncated(_) | Error::Unsupported(_)) => {}
            Err(other) => return Err(format!("{way} returned the wrong kind of error: {other}")),
        }
    }
    Ok(())
}

/// Checks that recovered chunks of a damaged file have their original values.
pub fn is_recovered(file: &SmallFile, damaged: &[u8]) -> Result<(), String> {
    let Ok((report, saved)) = ebz::recover(&damaged, Vec::new()) else {
        return Ok(());
    };
    let saved = Reader::from_source(&saved[..]).map_err(|error| error.to_string())?;
    let written = report.iter().filter(|frame| frame.written);
    for (number, recovered) in written.enumerate() {
        let frame = saved.frame(number).map_err(|error| error.to_string())?;
        let original = file
            .frames
            .get(recovered.frame as usize)
            .ok_or("a frame that never existed")?;
        let mut raw = Vec::new();
        let whole: Vec<_> = frame.header().shape().iter().map(|&n| 0..n).collect();
        frame
            .write_region(&whole, &mut raw)
            .map_err(|error| error.to_string())?;
        if recovered.lost.is_empty() && raw != *original {
            return Err("nothing lost, but different values".into());
        }
    }
    Ok(())
}

/// Decodes damaged and random bytes, `rounds` for each tolerance: no panics, no error but a corrupt
/// stream, and a valid chunk still decodes to the same bits with the same scratch. `observe` runs
/// each decoding with the number of output bytes.
pub fn decode_garbage<T: Element>(
    entry: &Entry,
    params: &Params,
    shape: &[usize],
    rounds: usize,
    mut observe: impl FnMut(usize, &mut dyn FnMut()),
) -> Result<usize, String> {
    let field: Field<T> = Content::Specials.field(shape, 5);
    let dims = dims(shape);
    let mut random = Random::new(shape.len() as u64 ^ u64::from(entry.info.id));
    let mut out = vec![T::default(); field.values.len()];
    let mut count = 0;
    for level in Level::available() {
        let mut context = Context::new(level);
        for tolerance in tolerances(entry, &field) {
            let task = Task {
                dims,
                tolerance,
                fill: FillValues::NONE,
                params,
            };
            let mut good = Vec::new();
            let text = |error: Error| error.to_string();
            entry
                .encode(&field.values, &task, &mut context, &mut good)
                .map_err(text)?;
            let complete = good.len() < size_of_val(&field.values[..]);
            let mut expected = vec![T::default(); out.len()];
            if complete {
                entry
                    .decode(&good, dims, &mut context, &mut expected)
                    .map_err(text)?;
            }
            for round in 0..rounds {
                let bad = if round % 8 == 7 {
                    let length = random.below(2 * good.len() + 2);
                    random.bytes(length)
                } else {
                    let mut bad = good.clone();
                    for _ in 0..=random.below(4) {
                        random.damage(&mut bad);
                    }
                    bad
                };
                let mut result = Ok(());
                observe(size_of_val(&out[..]), &mut || {
                    result = entry.decode(&bad, dims, &mut context, &mut out);
                });
                count += 1;
                match result {
                    Ok(()) | Err(Error::Corrupt(_) | Error::Truncated(_)) => {}
                    Err(other) => return Err(format!("wrong kind of error: {other}")),
                }
            }
            if complete {
                entry
                    .decode(&good, dims, &mut context, &mut out)
                    .map_err(text)?;
                if bytemuck::cast_slice::<T, u8>(&out) != bytemuck::cast_slice::<T, u8>(&expected) {
                    return Err("damaged chunks changed how a valid one decodes".into());
                }
            }
        }
    }
    Ok(count)
}
