//! Many files at once, bounds in percent, options of other compressors, completions and manual pages.

mod sandbox;

use sandbox::{Sandbox, bytes_of, field};

/// Three arrays, `a_40.f32` to `c_40.f32`.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["a_40.f32", "b_40.f32", "c_40.f32"] {
        sandbox.write(name, &bytes_of(&field(40)));
    }
    sandbox
}

const ALL: [&str; 3] = ["a_40.f32", "b_40.f32", "c_40.f32"];

#[test]
fn every_file_gets_an_output_of_its_own() {
    let sandbox = prepared();
    let compress = [&["compress"][..], &ALL, &["--range", "0.1%"]].concat();
    sandbox.ok(&compress);
    sandbox.ok(&[&compress[..], &["-o", "folder"]].concat());
    for name in ALL {
        let here = sandbox.read(&format!("{name}.ebz"));
        assert!(here == sandbox.read(&format!("folder/{name}.ebz")));
        sandbox.ok(&["verify", &format!("{name}.ebz"), "--against", name]);
    }
    let compressed: Vec<_> = ALL.iter().map(|name| format!("{name}.ebz")).collect();
    let compressed: Vec<_> = compressed.iter().map(String::as_str).collect();
    sandbox.ok(&[&["decompress", "-f", "-o", "folder"], &compressed[..]].concat());
    assert_eq!(sandbox.read("folder/b_40.f32").len(), 160);
    let info = sandbox.ok(&[&["info"], &compressed[..]].concat());
    assert_eq!(info.matches("bound     range 1e-3").count(), 3, "{info}");
    let verified = sandbox.ok(&[&["verify"], &compressed[..]].concat());
    assert_eq!(verified.matches("all checksums match").count(), 3);

    // One name for three outputs.
    let run = sandbox.run(&[&compress[..], &["-o", "one.ebz"]].concat());
    assert_eq!(run.status.code(), Some(2));
    assert!(!sandbox.path("one.ebz").exists());
    // As frames of one file they need no more.
    sandbox.ok(&[&compress[..], &["-o", "one.ebz", "--append"]].concat());
    let frames = sandbox.json(&["info", "one.ebz"])["frames"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(frames, 3);
}

#[test]
fn one_that_fails_does_not_stop_the_others() {
    let sandbox = prepared();
    let run = sandbox.run(&[
        "compress",
        "a_40.f32",
        "none_40.f32",
        "c_40.f32",
        "--abs",
        "1",
    ]);
    assert_eq!(run.status.code(), Some(2));
    let text = String::from_utf8(run.stderr).unwrap();
    assert!(
        text.contains("none_40.f32") && text.contains("1 of 3"),
        "{text}"
    );
    assert!(
        !text.contains('\x1b'),
        "colours without a terminal: {text:?}"
    );
    sandbox.ok(&["verify", "a_40.f32.ebz", "c_40.f32.ebz"]);
    // A damaged file among whole ones.
    let mut bytes = sandbox.read("a_40.f32.ebz");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    sandbox.write("a_40.f32.ebz", &bytes);
    let run = sandbox.run(&["verify", "a_40.f32.ebz", "c_40.f32.ebz"]);
    assert_eq!(run.status.code(), Some(1), "{run:?}");
}

#[test]
fn bounds_in_percent_are_those_in_numbers() {
    let sandbox = prepared();
    for option in ["--range", "--pointwise"] {
        sandbox.ok(&[
            "compress",
            "a_40.f32",
            option,
            "0.1%",
            "-o",
            "percent.ebz",
            "-f",
        ]);
        sandbox.ok(&[
            "compress",
            "a_40.f32",
            option,
            "1e-3",
            "-o",
            "number.ebz",
            "-f",
        ]);
        assert!(sandbox.read("percent.ebz") == sandbox.read("number.ebz"));
    }
    let abs = ["compress", "a_40.f32", "--abs", "0.1%"];
    sandbox.fails(2, &abs, &["--range 0.1%", "--pointwise 0.1%"]);
}

#[test]
fn aliases_are_the_codecs_that_they_stand_for() {
    let sandbox = prepared();
    for (alias, name) in ebz::codec::ALIASES {
        for (codec, output) in [(alias, "alias.ebz"), (name, "name.ebz")] {
            sandbox.ok(&[
                "compress", "a_40.f32", "--abs", "1e-3", "--codec", codec, "-o", output, "-f",
            ]);
        }
        assert!(
            sandbox.read("alias.ebz") == sandbox.read("name.ebz"),
            "{alias}"
        );
        assert!(
            sandbox
                .ok(&["codecs"])
                .contains(&format!("{name}, or {alias}"))
        );
    }
}

#[test]
fn options_of_others_are_answered() {
    let sandbox = prepared();
    for (option, word) in [
        ("--rel", "--range"),
        ("--rel", "--pointwise"),
        ("--accuracy", "--abs"),
    ] {
        sandbox.fails(2, &["compress", "a_40.f32", option, "1e-3"], &[word]);
        sandbox.fails(2, &["bench", "a_40.f32", option, "1e-3"], &[word]);
    }
}

#[test]
fn other_formats_are_named() {
    let sandbox = prepared();
    sandbox.write("x.h5", b"\x89HDF\r\n\x1a\n and more");
    sandbox.write("x.npy", b"\x93NUMPY\x01\x00 and more");
    for command in ["info", "verify", "decompress"] {
        for (file, word) in [("x.h5", "HDF5"), ("x.npy", ".npy file")] {
            let mut args = vec![command, file];
            if command == "decompress" {
                args.extend(["-o", "y.raw"]);
            }
            sandbox.fails(2, &args, &[word, "not an .ebz file"]);
        }
    }
}

#[test]
fn shells_and_man_learn_every_command() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.ok(&["completions", shell]);
        assert!(
            script.contains("compress") && script.contains("range"),
            "{shell}"
        );
    }
    sandbox.ok(&["man", "pages/man1"]);
    for page in ["ebz.1", "ebz-compress.1", "ebz-bench.1"] {
        let text = String::from_utf8(sandbox.read(&format!("pages/man1/{page}"))).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
}

#[test]
fn measurements_are_lines_of_a_table() {
    let sandbox = prepared();
    sandbox.write("d,e_40.f32", &bytes_of(&field(40)));
    let text = sandbox.ok(&[
        "bench",
        "a_40.f32",
        "d,e_40.f32",
        "--codec",
        "fz,interp",
        "--range",
        "1%",
        "--abs",
        "0.5",
        "--csv",
        "--repeats",
        "1",
        "--min-size",
        "0",
    ]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 2 * 2, "{text}");
    assert!(lines[0].starts_with("input,element,shape,bytes,codec,bound,ratio"));
    assert!(
        lines[1].starts_with("a_40.f32,f32,40,160,fz,abs 5e-1,"),
        "{text}"
    );
    assert!(
        lines[8].starts_with("\"d,e_40.f32\",f32,40,160,interp,range 1e-2,"),
        "{text}"
    );
    let columns = lines[0].split(',').count();
    assert!(
        lines[1..5]
            .iter()
            .all(|line| line.split(',').count() == columns),
        "{text}"
    );
}
