//! The committed files of `golden/`, which every later version must read to the same values.
//!
//! `v1-<codec>-<type>-<bound>.ebz` has a `.xxh3` file next to it, the XXH3-64 of the decoded
//! little-endian values. `v1-error-<case>.ebz` has a `.txt` file with the expected error.

use crate::conformance::{name, variants};
use crate::corruption::read_all;
use crate::fields::{Content, Field, workspace};
use crate::layout;
use ebz::codec::{Entry, Params, TABLE};
use ebz::simd::Level;
use ebz::{Bound, BoundKind, Element, ElementType, Error, Options, View, Writer, with_type};
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
    for (case, make) in ERRORS {
        all.push(Golden {
            name: format!("v1-error-{case}"),
            sidecar: "txt",
            make: Box::new(make),
        });
    }
    all
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

/// Files that must be rejected, each for a different reason.
const ERRORS: [(&str, Make); 8] = [
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

fn edited(at: usize, byte: u8) -> Result<Vec<u8>, Error> {
    let mut file = sample();
    file[at] = byte;
    Ok(file)
}
