//! Every direct dependency of every crate is explained in `docs/dependencies.md`.

use std::path::{Path, PathBuf};

fn manifests(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        match path.join("Cargo.toml") {
            manifest if manifest.is_file() => {
                found.push(manifest);
                manifests(&path, found);
            }
            _ => {}
        }
    }
}

/// Names in the dependency tables of a manifest.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.trim_end_matches(']').ends_with("dependencies");
        } else if inside && line.contains('=') && !line.starts_with('#') {
            names.extend(line.split(['.', '=', ' ']).next());
        }
    }
    names
}

#[test]
fn every_dependency_is_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document =
        std::fs::read_to_string(root.join("docs/dependencies.md")).expect("the document");
    let mut found = Vec::new();
    manifests(&root.join("crates"), &mut found);
    found.extend([root.join("Cargo.toml"), root.join("fuzz/Cargo.toml")]);
    assert!(found.len() > 8, "{found:?}");
    let mut checked = 0;
    for manifest in found {
        let text = std::fs::read_to_string(&manifest).expect("a manifest");
        for name in dependencies(&text) {
            checked += 1;
            let own = name.starts_with("ebz");
            let manifest = manifest.display();
            assert!(
                own || document.contains(&format!("`{name}`")),
                "{name} of {manifest}"
            );
        }
    }
    assert!(checked > 30, "only {checked} dependencies were found");
}
