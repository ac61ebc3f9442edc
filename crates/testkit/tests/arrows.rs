//! No crate has import cycles.

use ebz_testkit::arrows::Imports;
use std::path::Path;

fn cycles(sources: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<_> = sources
        .iter()
        .map(|(path, text)| (path.to_string(), text.to_string()))
        .collect();
    Imports::of_sources(&sources).unwrap().cycles()
}

#[test]
fn cycles_are_found_in_any_form() {
    let clean = [
        ("lib.rs", "mod a; mod b; pub use a::X;"),
        (
            "a.rs",
            "use crate::b::Y; #[cfg(test)] mod tests { use super::*; }",
        ),
        ("b.rs", "#[cfg(test)] mod tests { use crate::a::X; }"),
    ];
    assert_eq!(cycles(&clean), [""; 0]);
    let imported = [
        ("a.rs", "use crate::{b::{self, Y}, std};"),
        ("b.rs", "use super::a::X as Z;"),
    ];
    assert_eq!(cycles(&imported), [": a b"]);
    let written_out = [
        ("a/mod.rs", "mod c; mod d;"),
        ("a/c.rs", "fn f() { super::d::g(); }"),
        ("a/d.rs", "impl crate::a::e::T for X { }"),
        ("a/e/mod.rs", "mod f;"),
        ("a/e/f.rs", "type F = super::super::c::F;"),
    ];
    assert_eq!(cycles(&written_out), ["a: c d e"]);
}

#[test]
fn no_crate_has_import_cycles() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    let mut read = 0;
    for folder in std::fs::read_dir(&crates).unwrap() {
        let src = folder.unwrap().path().join("src");
        if src.is_dir() {
            let name = src.parent().unwrap().file_name().unwrap().to_owned();
            let cycles = Imports::of_crate(&src).unwrap().cycles();
            found.extend(cycles.iter().map(|c| format!("{} {c}", name.display())));
            read += 1;
        }
    }
    assert!(read > 5, "only {read} crates found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
