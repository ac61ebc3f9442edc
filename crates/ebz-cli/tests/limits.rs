//! Files that ask for too much, name what is not there, or talk to the terminal.

mod sandbox;

use sandbox::{Sandbox, assert_failure};
use std::path::Path;
use std::process::Command;

/// A folder with one of the committed hostile files as `bad.ebz`.
fn with_hostile(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus-regress");
    sandbox.write("bad.ebz", &std::fs::read(folder.join(name)).unwrap());
    sandbox
}

/// The command with an address space of `kib`.
fn within(sandbox: &Sandbox, kib: usize, args: &str) -> Command {
    let ebz = env!("CARGO_BIN_EXE_ebz");
    let script = format!("ulimit -v {kib} && exec {ebz} {args}");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .current_dir(sandbox.path(""))
        .env("TMPDIR", sandbox.path(""));
    shell
}

#[test]
fn a_limit_on_memory_is_an_error_and_not_an_abort() {
    let sandbox = with_hostile("hostile-slab2");
    let commands = [
        "decompress bad.ebz -o out.raw",
        "decompress - -o out.raw < bad.ebz",
        "verify bad.ebz",
        "compare bad.ebz bad.ebz",
    ];
    let words = ["bytes of memory", "are allowed", "--max-memory"];
    for command in commands {
        let output = within(&sandbox, 1_000_000, command).output().unwrap();
        assert_failure(&output, 2, &[command], &words);
        // The same without the system's help.
        let mut args: Vec<_> = command.split(" < ").next().unwrap().split(' ').collect();
        args.extend(["--max-memory", "500MB"]);
        let output = sandbox.run_with_input(&args, &sandbox.read("bad.ebz"));
        assert_failure(&output, 2, &args, &words);
        assert_eq!(sandbox.contents().len(), 1, "{command}");
    }
    // A part of it fits.
    sandbox.ok(&[
        "decompress",
        "bad.ebz",
        "-o",
        "part.raw",
        "--region",
        ":,0:5",
        "--max-memory",
        "500MB",
    ]);
    assert_eq!(sandbox.read("part.raw").len(), 2 * 5 * 4);
}

#[test]
fn threads_that_cannot_be_started_are_an_error() {
    let sandbox = Sandbox::new();
    // Large stacks: they alone exceed the limit, and what is left suffices for everything else.
    let limited = |command: &str| {
        let args = format!("{command} --quiet --threads 256");
        let mut command = within(&sandbox, 8_000_000, &args);
        command.env("RUST_MIN_STACK", (1 << 30).to_string());
        command.env("MALLOC_ARENA_MAX", "1").output().unwrap()
    };
    // The threads of a team wait for each other.
    let team = "sim rtm --grid 40x40x40 --steps 8 --policy memory";
    assert_failure(&limited(team), 2, &[team], &["temporarily unavailable"]);
    // Others may have ended before the last ones start.
    for state in ["raw-memory", "compressed-disk --dir ."] {
        let heat = format!("sim heat --grid 256x8x8 --steps 4 --no-roofline --state {state}");
        let output = limited(&heat);
        assert!(matches!(output.status.code(), Some(0 | 2)), "{output:?}");
    }
}

#[test]
fn chunks_that_only_fit_before_their_decoder_runs_are_refused() {
    // One chunk of 400 MB, all the same value: the decoder of any codec might need more than that.
    let sandbox = Sandbox::new();
    let body = ebz_testkit::layout::frame_body(&[100 << 20], &[100 << 20]);
    let chunk = (6, 1f32.to_le_bytes().to_vec());
    let file = ebz_testkit::layout::file(&body, &[chunk], None);
    sandbox.write("bad.ebz", &file);
    for command in ["decompress bad.ebz -o out.raw", "verify bad.ebz"] {
        let output = within(&sandbox, 1_000_000, command).output().unwrap();
        assert_failure(&output, 2, &[command], &["bytes of memory"]);
    }
}

#[test]
fn an_index_that_names_other_records_fails_the_check() {
    let sandbox = with_hostile("hostile-poly");
    let words = ["bad.ebz", "does not match"];
    sandbox.fails(1, &["verify", "bad.ebz"], &words);
    sandbox.fails(2, &["decompress", "bad.ebz", "-o", "x"], &words);
    let output = sandbox.run_with_input(&["decompress", "-"], &sandbox.read("bad.ebz"));
    assert_failure(&output, 2, &["decompress -"], &words[1..]);
}

#[test]
fn recovery_writes_no_more_than_it_finds() {
    for name in ["hostile-rb", "hostile-recover-slow"] {
        let sandbox = with_hostile(name);
        let output = sandbox.run(&["recover", "bad.ebz", "-o", "saved.ebz"]);
        match output.status.code() {
            Some(0) => assert!(sandbox.read("saved.ebz").len() < 4 << 20, "{name}"),
            _ => assert_failure(&output, 2, &[name], &["too few chunks"]),
        }
    }
}

#[test]
fn info_does_not_talk_to_the_terminal() {
    let sandbox = Sandbox::new();
    let metadata = "\"\u{7f}\u{9b}31m owned\"";
    let body = ebz_testkit::layout::frame_body_with(&[2], &[2], 0, Some(metadata));
    let file = ebz_testkit::layout::file(&body, &[(3, vec![0; 8])], None);
    sandbox.write("a.ebz", &file);
    for args in [&["info", "a.ebz"][..], &["info", "a.ebz", "--json"]] {
        let text = sandbox.ok(args);
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{text:?}");
        assert!(text.contains("owned"), "{text}");
    }
    let json = sandbox.json(&["info", "a.ebz"]);
    assert_eq!(json["frames"][0]["metadata"], "\u{7f}\u{9b}31m owned");
}

#[test]
fn bytes_behind_the_end_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("a.raw", &[0; 400]);
    sandbox.ok(&[
        "compress", "a.raw", "-t", "f32", "-s", "100", "--abs", "1", "-o", "a.ebz",
    ]);
    let mut longer = sandbox.read("a.ebz");
    longer.extend([0; 40]);
    sandbox.write("b.ebz", &longer);
    sandbox.fails(1, &["verify", "b.ebz"], &["bytes after its end"]);
}
