//! Whatever goes wrong: one clear line, the right exit code, and nothing half-written.

mod sandbox;

use ebz_testkit::layout;
use sandbox::{Sandbox, assert_failure, bytes_of, field, npy};

/// A folder with 5 × 8 values as `a.raw` and as `a.ebz`.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.raw", &bytes_of(&field(40)));
    let layout = ["-t", "f32", "-s", "5x8", "-o", "a.ebz"];
    sandbox.ok(&[&["compress", "a.raw", "--abs", "1e-3"][..], &layout].concat());
    sandbox
}

#[test]
fn wrong_use_of_compress() {
    let sandbox = prepared();
    sandbox.write("empty", &[]);
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    let cases: &[(&str, &[&str])] = &[
        (
            "a.raw -t f32 -s 5x9 --abs 1",
            &["160 bytes", "takes 180", "check shape"],
        ),
        (
            "a.raw -t f64 -s 5x8 --abs 1",
            &["takes 320", "it fits -t f32"],
        ),
        ("a.raw -t f32 -s 5x8x0 --abs 1", &["takes 0"]),
        (
            "a.raw -t f32 -s 5y8 --abs 1",
            &["'5y8' is not a shape", "100x500x500"],
        ),
        (
            "a.raw -t f32 -s 1152921504606846976 --abs 1",
            &["more elements"],
        ),
        (
            "a.raw -t f32 -s 99999999999999999999 --abs 1",
            &["is not a shape"],
        ),
        (
            "a.raw -t f32 -s 4294967296x4294967296x4294967296 --abs 1",
            &["more elements"],
        ),
        (
            "a.raw -t i32 -s 5x8 --abs 1",
            &["unknown element type 'i32'", "use one of f32, f64"],
        ),
        ("a.raw -t f32 -s 5x8 --abs NaN", &["finite"]),
        ("a.raw -t f32 -s 5x8 --range inf", &["finite"]),
        ("a.raw -t f32 -s 5x8 --abs -1e-3", &["negative"]),
        ("a.raw -t f32 -s 5x8 --range -1", &["negative"]),
        ("a.raw -t f32 -s 5x8 --abs much", &["invalid value 'much'"]),
        ("a.raw -t f32 -s 5x8 --precision 2.5", &["whole number"]),
        ("a.raw -t f32 -s 5x8 --psnr -10", &["above 0 dB"]),
        ("a.raw -t f32 -s 5x8 --ratio 0.5", &["at least 1"]),
        ("a.raw -t f32 -s 5x8 --pointwise 2", &["below 1"]),
        ("a.raw -t f32 -s 5x8", &["Give a bound", "--range 1e-3"]),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --range 1",
            &["cannot be used with"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --lossless",
            &["cannot be used with"],
        ),
        ("a.raw -t f32 -s 5x8 --abs 1 --abs 2", &["--abs"]),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --codec zip",
            &["unknown codec 'zip'"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --param nonsense=1",
            &["nonsense"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --param nonsense",
            &["KEY=VALUE"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --meta nonsense",
            &["KEY=VALUE"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --meta {broken",
            &["not a JSON object"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --chunk 5",
            &["one extent of at least 1 per axis"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --chunk 0x8",
            &["one extent of at least 1 per axis"],
        ),
        ("a.raw -t f32 -s 5x8 --abs 1 --threads 99999", &["99999"]),
        (
            "a.raw -t f32 -s 5x8 --abs 1 -o a.ebz",
            &["a.ebz exists", "--force"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 --append -o folder",
            &["folder"],
        ),
        ("a.raw -t f32 -s 5x8 --abs 1 --no-wait", &["--append"]),
        (
            "a.raw -t f32 -s 5x8 --abs 1 -o missing/a.ebz",
            &["there is no folder missing"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 -o -  --stats",
            &["need a file"],
        ),
        (
            "a.raw -t f32 -s 5x8 --abs 1 -o a.raw --append",
            &["cannot append", "not an .ebz"],
        ),
        ("missing -t f32 -s 5x8 --abs 1", &["cannot open missing"]),
        ("empty -t f32 -s 5x8 --abs 1", &["empty is empty"]),
        ("folder -t f32 -s 5x8 --abs 1", &["folder is a directory"]),
        ("a.ebz --abs 1", &["already", "ebz decompress"]),
        ("- --abs 1", &["give both"]),
        ("", &["required"]),
        ("a.raw --nonsense", &["--nonsense"]),
    ];
    for (args, words) in cases {
        let args: Vec<_> = ["compress"]
            .into_iter()
            .chain(args.split_whitespace())
            .collect();
        sandbox.fails(2, &args, words);
    }
}

#[test]
fn files_that_are_not_npy() {
    let sandbox = Sandbox::new();
    let values = bytes_of(&field(6));
    let cases: &[(&[u8], &str)] = &[
        (&npy("<i4", false, "(2, 3)", &values), "'<i4' values"),
        (&npy("<f4", false, "(2, 4)", &values), "takes 32"),
        (
            &npy("<f4", false, "(1152921504606846976,)", &values),
            "more elements",
        ),
        (
            &npy("<f4", false, "(99999999999999999999,)", &values),
            "shape",
        ),
        (&npy("<f4", false, "(-2, 3)", &values), "shape"),
        (b"\x93NUMPY\x01\x00\xff\xffabc", "not complete"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "damaged"),
        (b"\x93NUM", "not complete"),
        (b"hello world", "not an .npy file"),
        (b"", "not complete"),
    ];
    for (bytes, word) in cases {
        sandbox.write("a.npy", bytes);
        sandbox.fails(2, &["compress", "a.npy", "--abs", "1"], &["a.npy", word]);
    }
    sandbox.write("a.npy", &npy("<f4", false, "(2, 3)", &values));
    let args = ["compress", "a.npy", "--abs", "1", "-s", "3x2"];
    sandbox.fails(2, &args, &["leave out -t and -s"]);
}

#[test]
fn pipes_that_are_too_short_or_too_long() {
    let sandbox = Sandbox::new();
    let layout = ["compress", "-", "-t", "f32", "-s", "5x8", "-o", "a.ebz"];
    let file = npy("<f4", false, "(5, 8)", &[0; 100]);
    for bound in [["--abs", "1"], ["--range", "1"]] {
        let args = [&layout[..], &bound].concat();
        for (length, word) in [(100, "check"), (0, ""), (161, "")] {
            let output = sandbox.run_with_input(&args, &vec![1; length]);
            assert_failure(&output, 2, &args, &["standard input", word]);
        }
        let args = [&["compress", "-", "-o", "a.ebz"][..], &bound].concat();
        let output = sandbox.run_with_input(&args, &file);
        assert_failure(&output, 2, &args, &["standard input"]);
    }
    // A shape that nobody can send takes no memory.
    let args = [
        "compress",
        "-",
        "-t",
        "f32",
        "-s",
        "1000000000000000",
        "--abs",
        "1",
        "-o",
        "a.ebz",
    ];
    let output = sandbox.run_with_input(&args, &[0; 1000]);
    assert_failure(&output, 2, &args, &["ends before"]);
    assert!(sandbox.contents().is_empty());
}

#[test]
fn wrong_use_of_the_other_commands() {
    let sandbox = prepared();
    let cases: &[(&str, &[&str])] = &[
        (
            "decompress a.ebz -o b --region 0:6",
            &["0:6", "axis 0", "from 0 to 5"],
        ),
        ("decompress a.ebz -o b --region :,8", &["axis 1", "5x8"]),
        ("decompress a.ebz -o b --region 3:2", &["axis 0"]),
        ("decompress a.ebz -o b --region :,:,:", &["3 axes", "has 2"]),
        ("decompress a.ebz -o b --region x", &["START:END"]),
        ("decompress a.ebz -o b --frame 1", &["no frame 1"]),
        ("decompress a.raw -o b", &["not an .ebz file"]),
        ("decompress a.raw", &["does not end in .ebz"]),
        ("decompress missing.ebz", &["cannot open missing.ebz"]),
        ("decompress .", &["is a directory"]),
        ("info a.raw", &["not an .ebz file"]),
        ("verify missing.ebz", &["cannot open"]),
        ("verify a.ebz --against missing", &["cannot open missing"]),
        ("verify a.ebz --against .", &["is a directory"]),
        ("verify a.ebz --frame 0", &["--against"]),
        ("compare a.raw a.raw", &["what is its type"]),
        ("compare a.raw", &["required"]),
        (
            "compare a.raw a.raw -t f32 -s 40 --plot p.png",
            &["no slices to plot"],
        ),
        (
            "bench a.raw -t f32 -s 5x8 --codec zip",
            &["unknown codec 'zip'"],
        ),
        ("bench a.raw -t f32 -s 5x8 --repeats 0", &["--repeats"]),
        ("bench a.raw -t f32 -s 5x8 --range -1", &["negative"]),
        ("bench", &["required"]),
        (
            "recover a.raw -o b.ebz",
            &["nothing in this file can be recovered"],
        ),
        ("recover . -o b.ebz", &["is a directory"]),
        ("info a.raw", &["a.raw is not an .ebz file"]),
        ("verify a.raw", &["a.raw is not an .ebz file"]),
        ("recover a.ebz", &["--output"]),
        ("nonsense", &["unrecognized subcommand"]),
    ];
    for (args, words) in cases {
        sandbox.fails(2, &args.split_whitespace().collect::<Vec<_>>(), words);
    }
}

#[test]
fn every_truncation_and_a_flip_in_every_byte() {
    let sandbox = Sandbox::new();
    sandbox.write("a.raw", &bytes_of(&field(6)));
    sandbox.ok(&[
        "compress",
        "a.raw",
        "-t",
        "f32",
        "-s",
        "6",
        "--lossless",
        "-o",
        "good",
    ]);
    let good = sandbox.read("good");
    for length in 0..good.len() {
        sandbox.write("bad.ebz", &good[..length]);
        sandbox.fails(1, &["verify", "bad.ebz"], &["bad.ebz"]);
        if length % 8 == 0 {
            sandbox.fails(2, &["decompress", "bad.ebz"], &["bad.ebz"]);
        }
    }
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        sandbox.write("bad.ebz", &bad);
        sandbox.fails(1, &["verify", "bad.ebz"], &["bad.ebz"]);
        sandbox.fails(2, &["decompress", "bad.ebz"], &["bad.ebz"]);
        if at % 8 == 0 {
            let args = ["decompress", "-", "-o", "out"];
            let output = sandbox.run_with_input(&args, &bad);
            assert_failure(&output, 2, &args, &["standard input"]);
            assert!(!sandbox.path("out").exists());
        }
    }
}

/// A file of one chunk whose header has other extents, with checksums that match.
fn claim(file: &[u8], shape: u64, chunk: u64) -> Vec<u8> {
    let records = layout::records(file);
    let (kind, body) = (records[1].kind, file[records[1].body()].to_vec());
    let fz = ebz::codec::by_name("fz").unwrap().info.id;
    let frame = layout::frame_body_with(&[shape], &[chunk], fz, None);
    layout::file(&frame, &[(kind, body)], None)
}

#[test]
fn files_that_claim_more_than_there_can_be() {
    let sandbox = Sandbox::new();
    sandbox.write("a.raw", &bytes_of(&field(40)));
    sandbox.ok(&[
        "compress",
        "a.raw",
        "-t",
        "f32",
        "-s",
        "40",
        "--lossless",
        "-o",
        "a.ebz",
    ]);
    let file = sandbox.read("a.ebz");
    assert!(
        claim(&file, 40, 40) == file,
        "the layout of the file has changed"
    );
    for (shape, chunk) in [
        (1 << 60, 1 << 28),
        (1 << 58, 1 << 28),
        (1 << 24, 1 << 24),
        (1 << 32, 1),
    ] {
        let bytes = claim(&file, shape, chunk);
        sandbox.write("b.ebz", &bytes);
        sandbox.fails(2, &["decompress", "b.ebz"], &["b.ebz"]);
        sandbox.fails(1, &["verify", "b.ebz"], &["b.ebz"]);
        let recover = ["recover", "b.ebz", "-o", "c.ebz"];
        if shape == chunk {
            // A chunk whose checksum matches is saved as it is, and takes no more room than before.
            sandbox.ok(&recover);
            assert!(sandbox.read("c.ebz").len() < 2 * file.len());
            std::fs::remove_file(sandbox.path("c.ebz")).unwrap();
        } else {
            sandbox.fails(2, &recover, &["b.ebz"]);
        }
        let args = ["decompress", "-", "-o", "out"];
        let output = sandbox.run_with_input(&args, &bytes);
        assert_failure(&output, 2, &args, &["standard input"]);
        assert!(!sandbox.path("out").exists());
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn a_device_that_is_full() {
        let sandbox = prepared();
        let full = ["No space left", "free some space"];
        let args = [
            "compress",
            "a.raw",
            "-t",
            "f32",
            "-s",
            "5x8",
            "--abs",
            "1",
            "-o",
            "/dev/full",
        ];
        sandbox.fails(2, &args, &full);
        sandbox.fails(2, &["decompress", "a.ebz", "-o", "/dev/full"], &full);
        sandbox.fails(2, &["recover", "a.ebz", "-o", "/dev/full"], &full);
    }

    /// Unmounts when the test ends, however it does.
    struct Mounted(std::path::PathBuf);

    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(&self.0).status();
        }
    }

    #[test]
    fn a_disk_that_is_full_keeps_nothing() {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path("small")).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]);
        let mounted = mount
            .arg(sandbox.path("small"))
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !mounted {
            // Only root may mount: a_device_that_is_full has to do.
            return;
        }
        let mounted = Mounted(sandbox.path("small"));
        sandbox.write("a.raw", &bytes_of(&field(100_000)));
        let layout = [
            "compress",
            "a.raw",
            "-t",
            "f32",
            "-s",
            "100000",
            "--lossless",
            "-o",
        ];
        let raw = [&layout[..], &["small/a.ebz", "--codec", "raw"]].concat();
        sandbox.fails(2, &raw, &["No space left", "small/a.ebz", "-o"]);
        sandbox.ok(&[&layout[..], &["a.ebz"]].concat());
        sandbox.fails(
            2,
            &["decompress", "a.ebz", "-o", "small/a"],
            &["No space left"],
        );
        // What is there is kept when there is no room for more.
        let some = [
            "compress",
            "b.raw",
            "-t",
            "f32",
            "-s",
            "40",
            "--lossless",
            "-o",
            "small/a.ebz",
        ];
        sandbox.write("b.raw", &bytes_of(&field(40)));
        sandbox.ok(&some);
        let before = sandbox.read("small/a.ebz");
        let append = [&raw[..], &["--append"]].concat();
        sandbox.fails(
            2,
            &append,
            &["No space left", "small/a.ebz", "free some space"],
        );
        sandbox.fails(2, &[&raw[..], &["--force"]].concat(), &["No space left"]);
        assert!(sandbox.read("small/a.ebz") == before);
        let left = std::fs::read_dir(sandbox.path("small")).unwrap().count();
        assert_eq!(left, 1);
        drop(mounted);
    }

    /// Starts a command that waits for more input, and stops it.
    fn interrupt(sandbox: &Sandbox, args: &[&str], signal: &str, started: impl Fn() -> bool) {
        let mut child = sandbox
            .command(args)
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, &vec![0; 20 << 20]).unwrap();
        let patience = Instant::now() + Duration::from_secs(20);
        while !started() {
            assert!(Instant::now() < patience, "{args:?} did not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        let kill = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }

    #[test]
    fn an_interrupted_command_leaves_nothing() {
        let sandbox = Sandbox::new();
        let layout = [
            "compress",
            "-",
            "-t",
            "f32",
            "-s",
            "100x1000000",
            "-o",
            "a.ebz",
        ];
        for (signal, bound) in [("-INT", ["--abs", "1"]), ("-TERM", ["--range", "1"])] {
            let args = [&layout[..], &bound].concat();
            interrupt(&sandbox, &args, signal, || {
                sandbox
                    .contents()
                    .iter()
                    .any(|(_, bytes)| bytes.as_ref().is_some_and(|bytes| !bytes.is_empty()))
            });
            assert!(sandbox.contents().is_empty());
        }
    }

    #[test]
    fn files_larger_than_the_memory_go_through() {
        let sandbox = Sandbox::new();
        let file = std::fs::File::create(sandbox.path("a.raw")).unwrap();
        file.set_len(288 << 20).unwrap();
        for args in [
            "compress a.raw -t f32 -s 288x512x512 --range 1e-3 -o a.ebz",
            "decompress a.ebz -o b.raw",
            "decompress - -o c.raw < a.ebz",
            "verify a.ebz --against a.raw",
        ] {
            let ebz = env!("CARGO_BIN_EXE_ebz");
            let limited = format!("ulimit -v 200000 && exec {ebz} {args} --threads 2");
            let output = Command::new("sh")
                .args(["-c", &limited])
                .current_dir(sandbox.path("."))
                // Every thread may have an arena of its own, which counts but is not used.
                .env("MALLOC_ARENA_MAX", "1")
                .output()
                .unwrap();
            assert!(output.status.success(), "{args}: {output:?}");
        }
        assert!(sandbox.read("b.raw") == sandbox.read("a.raw"));
    }

    #[test]
    fn a_reader_that_leaves_is_no_error() {
        let sandbox = prepared();
        let mut child = sandbox
            .command(&["info", "a.ebz"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn devices_that_are_not_there() {
    let sandbox = prepared();
    let compress = [
        "compress", "a.raw", "--abs", "1", "-t", "f32", "-s", "5x8", "-o", "b.ebz",
    ];
    let on = |device| [&compress[..], &["--device", device]].concat();
    sandbox.fails(2, &on("tpu"), &["'tpu' is not a device", "ebz devices"]);
    // Built without GPUs, or on a machine that does not have this one.
    let nobody = "gpu:an adapter that nobody makes";
    sandbox.fails(2, &on(nobody), &["GPU"]);
    assert!(!sandbox.path("b.ebz").exists());
    let decompress = ["decompress", "a.ebz", "-o", "b.raw", "--device", nobody];
    sandbox.fails(2, &decompress, &["GPU"]);
    sandbox.ok(&on("cpu"));
    assert!(sandbox.read("b.ebz").len() > 100);
}
