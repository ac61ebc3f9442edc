//! Committed files decode to the same values, or fail with the same error, in every version.

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
