//! `--codec auto`: says what it chose, and writes what the codec of that name writes.

mod sandbox;

use sandbox::{Sandbox, bytes_of};

fn smooth() -> Sandbox {
    let sandbox = Sandbox::new();
    let value = |i: usize| ((i / 900) as f32 / 9.0).sin() * ((i % 900) as f32 / 40.0).cos();
    let values: Vec<f32> = (0..20 * 900).map(value).collect();
    sandbox.write("a_20x30x30.f32", &bytes_of(&values));
    sandbox
}

#[test]
fn the_choice_is_said_and_is_what_is_written() {
    let sandbox = smooth();
    for favor in ["speed", "balanced", "ratio"] {
        let auto = [
            "compress",
            "a_20x30x30.f32",
            "--range",
            "0.1%",
            "--codec",
            "auto",
            "--favor",
            favor,
        ];
        let found = sandbox.json(&[&auto[..], &["--force", "-o", "auto.ebz"]].concat());
        let codec = found["codec"].as_str().unwrap().to_string();
        assert_eq!(found["frame"]["choice"]["codec"], codec.as_str());
        assert_eq!(found["frame"]["choice"]["favor"], favor);
        let named = [
            "compress",
            "a_20x30x30.f32",
            "--range",
            "0.1%",
            "--codec",
            &codec,
        ];
        sandbox.ok(&[&named[..], &["--force", "-q", "-o", "named.ebz"]].concat());
        assert_eq!(
            sandbox.read("auto.ebz"),
            sandbox.read("named.ebz"),
            "{favor}"
        );
    }
    let said = sandbox.run(&[
        "compress",
        "a_20x30x30.f32",
        "--abs",
        "1e-3",
        "--codec",
        "auto",
    ]);
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("for balanced: ratio"), "{said}");
    let words = sandbox.ok(&[
        "hdf5-args",
        "--abs",
        "1e-3",
        "--codec",
        "auto",
        "--favor",
        "ratio",
    ]);
    assert!(words.contains("4294901761"), "{words}");
}

#[test]
fn where_it_cannot_choose_it_says_so() {
    let sandbox = smooth();
    let compress = ["compress", "a_20x30x30.f32", "-q", "--codec", "auto"];
    let fails =
        |more: &[&str], words: &[&str]| sandbox.fails(2, &[&compress, more].concat(), words);
    fails(&["--precision", "9"], &["precision", "name a codec"]);
    fails(&["--abs", "1", "--param", "mode=isotropic"], &["name it"]);
    fails(
        &["--abs", "1", "--favor", "taste"],
        &["speed, balanced or ratio"],
    );
}
