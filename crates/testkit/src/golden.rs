//! The committed files of `golden/`, which every later version must read to the same values.
//!
//! `v1-<codec>-<type>-<bound>.ebz` and `v1-container-<case>.ebz` have a `.xxh3` file next to them, the
//! XXH3-64 of the decoded little-endian values. `v1-error-<case>.ebz` has a `.txt` file with the
//! expected error. `checksums.txt` lists every file with the XXH3-64 of its bytes.

use crate::conformance::{name, variants};
use crate::corruption::read_all;
use crate::fields::{Content, Field, workspace};
use crate::layout;
use ebz::codec::{Entry, Params, TABLE};
use ebz::simd::Level;
use ebz::{
    Bound, BoundKind, Clip, Element, ElementType, Error, Fill, Options, View, Writer, with_type,
};
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_64;

/// A file that must be committed.
pub struct Golden {
    /// Its name without extension.
    pub name: String,
    /// Extension of its sidecar file.
    pub sidecar: &'static str,
    /// Makes its bytes, if it does not exist yet.
    pub make: Box<dyn Fn() -> Result<Vec<u8>, Error>>,
}

/// The folder of the files.
pub fn folder() -> PathBuf {
    workspace().join("golden")
}

/// All files required by the codec table.
pub fn all() -> Vec<Golden> {
    let mut all = Vec::new();
    for entry in TABLE {
        for params in variants(entry) {
            for &kind in entry.info.tolerances {
                for element in ElementType::ALL {
                    all.push(with_type!(element, T => of_codec::<T>(entry, &params, kind)));
                }
            }
        }
    }
    for (codec, key, value) in LAYOUTS {
        let entry = ebz::codec::by_name(codec).expect("a codec");
        let mut params = Params::default();
        params.set(key, value);
        let kind = entry.info.tolerances[0];
        all.push(of_codec::<f32>(entry, &params, kind));
        all.push(of_codec::<f64>(entry, &params, kind));
    }
    let cases = [
        ("container", "xxh3", &CONTAINERS[..]),
        ("error", "txt", &ERRORS),
    ];
    for (group, sidecar, cases) in cases {
        all.extend(cases.iter().map(|&(case, make)| Golden {
            name: format!("v1-{group}-{case}"),
            sidecar,
            make: Box::new(make),
        }));
    }
    all
}

/// Parameters with which a codec writes other bytes, beside [`variants`], which are held against
/// every type and bound.
const LAYOUTS: [(&str, &str, &str); 10] = [
    ("ceaz", "symbols", "centre"),
    ("ceaz", "rewrite", "exact"),
    ("ceaz", "books", "offline"),
    ("fre", "zeros", "word"),
    ("fre", "rounding", "truncate"),
    ("de-zfp", "planes", "formula"),
    ("zfp-v", "widths", "5-9-14-16"),
    ("interp", "mode", "isotropic"),
    ("interp", "mode", "packet-x"),
    ("interp", "mode", "lorenzo-zyx"),
];

/// The file that lists the checksums of all others.
pub fn checksums() -> PathBuf {
    folder().join("checksums.txt")
}

/// A line of the list.
pub fn line(name: &str, bytes: &[u8]) -> String {
    format!("{:016x}  {name}", xxh3_64(bytes))
}

/// Contents of the sidecar file: the checksum of the values, or the kind of error.
pub fn verdict(bytes: &[u8]) -> String {
    let mut all = Level::available().map(|level| verdict_by(bytes, level));
    let first = all.next().unwrap_or_default();
    match all.find(|other| *other != first) {
        Some(other) => format!("{first}but at another level {other}"),
        None => first,
    }
}

fn verdict_by(bytes: &[u8], level: Level) -> String {
    match read_all(bytes, level) {
        Ok(frames) => format!("{:016x}\n", xxh3_64(&frames.concat())),
        Err(Error::Corrupt(_)) => "corrupt\n".into(),
        Err(Error::Truncated(_)) => "truncated\n".into(),
        Err(Error::Unsupported(_)) => "unsupported\n".into(),
        Err(Error::LimitExceeded(_)) => "limit exceeded\n".into(),
        Err(other) => format!("{other}\n"),
    }
}

/// Three frames: a smooth volume in several chunks, special values, and a line with fill values.
fn of_codec<T: Element>(entry: &'static Entry, params: &Params, kind: BoundKind) -> Golden {
    let name = name(entry, params);
    let params = params.clone();
    let make = move || {
        let value = if kind == BoundKind::Precision {
            14.0
        } else {
            1e-3
        };
        let mut options = Options::new(Bound::new(kind, value)?)
            .codec(entry.info.name)
            .metadata(serde_json::json!({"made by": "the golden example"}));
        options.params = params.clone();
        let mut writer = Writer::new(Vec::new(), options)?;
        for (content, shape, chunk) in [
            (Content::Smooth, &[5, 17, 19][..], &[2, 17, 19][..]),
            (Content::Specials, &[13, 23], &[13, 23]),
            (Content::FillHuge, &[601], &[601]),
        ] {
            let field: Field<T> = content.field(shape, 6);
            writer.options_mut().chunk = Some(chunk.to_vec());
            writer.options_mut().fill = field.marks();
            writer.frame(&View::new(&field.values, shape)?)?;
        }
        writer.finish()
    };
    Golden {
        name: format!("v1-{name}-{}-{}", T::TYPE, kind.name()),
        sidecar: "xxh3",
        make: Box::new(make),
    }
}

type Make = fn() -> Result<Vec<u8>, Error>;

/// Everything that a frame record or a file can have besides codec, type and resolved bound.
const CONTAINERS: [(&str, Make); 20] = [
    ("no-axes", || array(&[], abs())),
    ("four-axes", || {
        array(&[3, 4, 5, 6], abs().chunk(&[2, 3, 4, 5]))
    }),
    ("sixteen-axes", || {
        array(&[2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2], abs())
    }),
    ("empty", || array(&[3, 0, 2], abs())),
    ("many-chunks", || array(&[40, 5], abs().chunk(&[1, 3]))),
    ("range", || {
        array(&[30, 20], Options::new(Bound::Range(1e-3)))
    }),
    ("psnr", || array(&[30, 20], Options::new(Bound::Psnr(60.0)))),
    ("ratio", || {
        array(&[60, 50], Options::new(Bound::Ratio(4.0)))
    }),
    ("one-pass", || {
        array(&[60, 50], Options::new(Bound::Ratio(4.0)).one_pass(true))
    }),
    ("auto", || array(&[60, 50], abs().codec("auto"))),
    ("clip", || {
        array(&[30, 20], abs().clip(Clip::Between(-5.0, 5.0)))
    }),
    ("keep-zeros", || array(&[30, 20], abs().keep_zeros(true))),
    ("fill-none", || array(&[30, 20], abs().fill(Fill::None))),
    ("fill-and-detect", || {
        array(&[30, 20], abs().fill(Fill::Auto.and((-999.0).into())?))
    }),
    ("metadata", || {
        let metadata = serde_json::json!({"a": [1, 2.5, null, {"ü": "€"}], "b": true});
        array(&[7], abs().metadata(metadata))
    }),
    ("constant", || {
        let values = [f32::from_bits(0x7fc1_2345); 500];
        ebz::compress(&View::new(&values, &[500])?, &abs())
    }),
    ("fre-lanes", || {
        // 2¹⁶ values, where `fre` has 32 bit streams.
        let value = |i: usize| if i.is_multiple_of(97) { i as f32 } else { 0.0 };
        let values: Vec<f32> = (0..1 << 16).map(value).collect();
        let options = Options::new(Bound::Pointwise(1e-2)).codec("fre");
        ebz::compress(&View::new(&values, &[1 << 16])?, &options.chunk(&[1 << 16]))
    }),
    ("fre-words", || {
        // Exponents differ by 2 and 3 more often than by less, so that chunks have an order of codes.
        let scales = [1.0, 8.0, 2.0, 8.0, 32.0, 256.0];
        let value = |i: usize| (1.0 + i as f32 * 1e-4) * scales[i % 6];
        let values: Vec<f32> = (0..600).map(value).collect();
        let options = Options::new(Bound::Pointwise(1e-2)).codec("fre");
        let options = options.param("words", "measured").chunk(&[400]);
        ebz::compress(&View::new(&values, &[600])?, &options)
    }),
    ("appended", || appended(true)),
    ("unfinished-append", || appended(false)),
];

fn abs() -> Options {
    Options::new(Bound::Abs(1e-3))
}

/// A file of one smooth array.
fn array(shape: &[usize], options: Options) -> Result<Vec<u8>, Error> {
    let field: Field<f32> = Content::Smooth.field(shape, 6);
    ebz::compress(&View::new(&field.values, shape)?, &options)
}

/// A file with an array that was appended to it, or that is just being appended.
fn appended(complete: bool) -> Result<Vec<u8>, Error> {
    let path = std::env::temp_dir().join(format!("golden-{}.ebz", std::process::id()));
    std::fs::write(&path, array(&[9, 8], abs())?)?;
    let mut writer = Writer::append(&path, abs())?;
    let field: Field<f64> = Content::Smooth.field(&[50], 6);
    writer.frame(&View::new(&field.values, &[50])?)?;
    let under_way = std::fs::read(&path)?;
    writer.finish()?;
    let finished = std::fs::read(&path)?;
    std::fs::remove_file(path)?;
    Ok(if complete { finished } else { under_way })
}

/// Files that must be rejected, each for a different reason.
const ERRORS: [(&str, Make); 11] = [
    ("trailing-bytes", || Ok([&sample()[..], &[0; 5]].concat())),
    ("unknown-element-type", || frame_edited(1, 9)),
    ("unknown-bound", || frame_edited(3, 0x88)),
    ("signature", || edited(0, 0x88)),
    ("future-version", || edited(9, 0xff)),
    ("reserved-bytes", || edited(12, 1)),
    ("chunk-checksum", || {
        let file = sample();
        let chunk = layout::records(&file)[1].body().start;
        edited(chunk, 0xff)
    }),
    ("no-end", || {
        let mut file = sample();
        file.truncate(file.len() - 1);
        Ok(file)
    }),
    ("unknown-codec", || {
        let body = layout::frame_body_with(&[2], &[2], 32767, None);
        Ok(layout::file(&body, &[(2, vec![0; 4])], None))
    }),
    ("needs-too-much-memory", || {
        let body = layout::frame_body(&[1 << 30], &[1 << 28]);
        Ok(layout::file(&body, &vec![(6, vec![0; 4]); 4], None))
    }),
    ("chunk-too-short", || {
        let body = layout::frame_body(&[2], &[2]);
        Ok(layout::file(&body, &[(3, vec![0; 4])], None))
    }),
];

/// A valid file of two values.
fn sample() -> Vec<u8> {
    let body = layout::frame_body(&[2], &[2]);
    layout::file(&body, &[(3, vec![0; 8])], None)
}

/// A file of two values with another byte in its frame record.
fn frame_edited(at: usize, byte: u8) -> Result<Vec<u8>, Error> {
    let mut body = layout::frame_body(&[2], &[2]);
    body[at] = byte;
    Ok(layout::file(&body, &[(3, vec![0; 8])], None))
}

fn edited(at: usize, byte: u8) -> Result<Vec<u8>, Error> {
    let mut file = sample();
    file[at] = byte;
    Ok(file)
}
