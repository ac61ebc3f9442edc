//! Committed files decode to the same values, or fail with the same error, in every version.

use ebz::codec::TABLE;
use ebz::{Bound, ElementType, Reader};
use ebz_testkit::conformance::Cases;
use ebz_testkit::golden;

#[test]
fn every_codec_has_golden_files() {
    let missing: Vec<_> = golden::all()
        .into_iter()
        .flat_map(|file| {
            let names = [
                format!("{}.ebz", file.name),
                format!("{}.{}", file.name, file.sidecar),
            ];
            names
                .into_iter()
                .filter(|name| !golden::folder().join(name).exists())
        })
        .collect();
    assert!(
        missing.is_empty(),
        "missing in golden/: {missing:?}; if the format of the codec is final, write them with \
         `cargo run -p ebz-testkit --example golden` and commit them"
    );
}

#[test]
fn no_golden_file_changes() {
    let listed = std::fs::read_to_string(golden::checksums()).unwrap();
    let mut found: Vec<String> = std::fs::read_dir(golden::folder())
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| *path != golden::checksums())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            golden::line(name, &std::fs::read(&path).unwrap())
        })
        .collect();
    let mut listed: Vec<_> = listed.lines().collect();
    listed.sort();
    found.sort();
    assert_eq!(found, listed, "released files never change");
}

/// What the golden files have to show of a codec and an element type.
#[test]
fn every_codec_type_and_bound_has_one_to_three_axes() {
    let mut seen = std::collections::BTreeMap::<_, std::collections::BTreeSet<_>>::new();
    for file in golden::all() {
        if file.name.contains("-error-") || file.name.contains("-container-") {
            continue;
        }
        let bytes = std::fs::read(golden::folder().join(format!("{}.ebz", file.name))).unwrap();
        let reader = Reader::from_source(&bytes[..]).unwrap();
        for number in 0..reader.frames() {
            let frame = reader.frame(number).unwrap();
            let header = frame.header();
            let tolerance = Bound::from(header.tolerance).kind();
            let of = (header.codec, header.element.name(), tolerance.name());
            seen.entry(of).or_default().insert(header.shape().len());
        }
    }
    for entry in TABLE {
        for element in ElementType::ALL {
            for kind in entry.info.tolerances {
                let of = (entry.info.id, element.name(), kind.name());
                let axes = seen.get(&of).cloned().unwrap_or_default();
                assert_eq!(axes, [1, 2, 3].into(), "{of:?}");
            }
        }
    }
}

#[test]
fn every_golden_file_decodes_as_before() {
    let mut cases = Cases::default();
    for file in std::fs::read_dir(golden::folder()).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "ebz") {
            continue;
        }
        let ending = if path.to_string_lossy().contains("-error-") {
            "txt"
        } else {
            "xxh3"
        };
        cases.case(
            || path.display().to_string(),
            || {
                let expected = std::fs::read_to_string(path.with_extension(ending));
                let expected = expected.map_err(|error| error.to_string())?;
                let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
                match golden::verdict(&bytes) {
                    found if found == expected => Ok(bytes.len()),
                    found => Err(format!("{} instead of {}", found.trim(), expected.trim())),
                }
            },
        );
    }
    cases.finish("golden files");
}
