//! `ebz sim rtm`: results that are right, and whatever goes wrong in the middle.

mod sandbox;

use sandbox::{Sandbox, assert_failure, bytes_of, npy};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A small shot with these arguments as well.
fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let shot = ["sim", "rtm", "--grid", "40x36x44", "--steps", "120"];
    [&shot, more].concat()
}

#[test]
fn policies_side_by_side() {
    let sandbox = Sandbox::new();
    let args = small(&[
        "--compare",
        "--every",
        "4",
        "--image",
        "image.npy",
        "-o",
        "a.png",
    ]);
    let json = sandbox.json(&args);
    assert_eq!(json["frames"], 30);
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for row in rows {
        let policy = row["policy"].as_str().unwrap();
        let parts = ["forward", "backward", "wait_write", "wait_read"].map(|n| &row[n]);
        let sum: f64 = parts.iter().map(|part| part.as_f64().unwrap()).sum();
        assert!((sum - row["total"].as_f64().unwrap()).abs() < 1e-6);
        let (ratio, snr) = (row["ratio"].as_f64().unwrap(), &row["closeness"]["snr"]);
        match policy {
            "memory" => assert!(ratio > 0.9 && snr.is_null()),
            // Without an error the SNR is no number.
            "disk" => assert!(ratio > 0.9 && row["closeness"]["within_2_percent"] == 1.0),
            _ => assert!(ratio > 3.0 && snr.as_f64().unwrap() > 50.0, "{row}"),
        }
    }
    let image = sandbox.read("image.npy");
    assert_eq!(image.len(), 128 + 40 * 36 * 44 * 4);
    assert!(sandbox.read("a.png").starts_with(b"\x89PNG"));
    // Frames are gone.
    assert_eq!(sandbox.contents().len(), 2);
    sandbox.fails(2, &args, &["image.npy exists", "--force"]);
}

#[test]
fn every_way_to_hand_over_gives_the_same_image_with_exact_frames() {
    let sandbox = Sandbox::new();
    let ways = ["memory:slabs", "memory:frames", "disk:slabs", "disk:frames"];
    let mut images = ways.map(|way| {
        let more = [
            "--policy",
            way,
            "--image",
            "a.raw",
            "--force",
            "--threads",
            "2",
        ];
        let text = sandbox.ok(&small(&more));
        assert!(text.contains(way), "{text}");
        sandbox.read("a.raw")
    });
    images.sort();
    assert_eq!(images[0], images[3]);
}

#[test]
fn velocities_from_a_file() {
    let sandbox = Sandbox::new();
    let velocities: Vec<f32> = (0..36 * 36 * 36)
        .map(|i| 1500.0 + (i / 20000) as f32 * 800.0)
        .collect();
    let file = npy("<f4", false, "(36, 36, 36)", &bytes_of(&velocities));
    sandbox.write("v.npy", &file);
    let args = ["sim", "rtm", "--steps", "60", "--velocity", "v.npy"];
    assert_eq!(sandbox.json(&args)["grid"][2], 36);
    sandbox.write("v_36x36x36.f32", &bytes_of(&velocities));
    let args = [
        "sim",
        "rtm",
        "--steps",
        "60",
        "--velocity",
        "v_36x36x36.f32",
        "-q",
    ];
    sandbox.ok(&args);

    let mut zero = velocities.clone();
    zero[99] = 0.0;
    sandbox.write(
        "z.npy",
        &npy("<f4", false, "(36, 36, 36)", &bytes_of(&zero)),
    );
    let args = ["sim", "rtm", "--velocity", "z.npy"];
    sandbox.fails(2, &args, &["point 99", "above 0"]);
    let args = ["sim", "rtm", "--velocity", "v.npy", "--grid", "36x36x37"];
    sandbox.fails(2, &args, &["v.npy"]);
    sandbox.write(
        "flat.npy",
        &npy("<f4", false, "(36, 1296)", &bytes_of(&velocities)),
    );
    sandbox.fails(
        2,
        &["sim", "rtm", "--velocity", "flat.npy"],
        &["three axes"],
    );
}

#[test]
fn wrong_use() {
    let sandbox = Sandbox::new();
    let cases: &[(&str, &[&str])] = &[
        (
            "--time-step 0.01",
            &["unstable", "at most", "smaller steps"],
        ),
        (
            "--policy tape",
            &["unknown policy 'tape'", "compressed-memory"],
        ),
        ("--policy disk:bits", &["'bits'", "slabs or frames"]),
        ("--model sponge", &["unknown model 'sponge'", "marmousi"]),
        ("--every 0", &["every 0 steps"]),
        ("--every 1000", &["every 1000 steps"]),
        ("--steps 0", &["nothing to compute"]),
        ("--grid 12x12", &["three axes"]),
        ("--grid 4x4x4", &["nothing to compute"]),
        ("--spacing 0", &["above 0"]),
        ("--disk-rate fast", &["'fast'", "500MB/s"]),
        ("--dir nowhere", &["no folder nowhere", "--dir"]),
        ("--codec zip", &["unknown codec 'zip'"]),
        ("--psnr 60", &["psnr"]),
        // Memory.
        ("--grid 99999x99999x99999", &["memory", "smaller --grid"]),
        ("--grid 99999999999x99999999999x99999999999", &["too large"]),
        ("--memory 1MB", &["needs", "smaller --grid"]),
        (
            "--policy memory --every 1 --memory 20MB",
            &["memory policy needs", "800 frames", "--every"],
        ),
    ];
    for (text, words) in cases {
        let mut args = vec!["sim", "rtm"];
        if !text.contains("--grid") {
            args.extend(["--grid", "40x40x40"]);
        }
        args.extend(text.split(' '));
        sandbox.fails(2, &args, words);
    }
}

#[test]
fn zfp_compresses_frames_if_it_is_there() {
    let sandbox = Sandbox::new();
    let zfp = |more: &[&'static str]| small(&[&["--zfp-rate", "8", "--every", "4"], more].concat());
    sandbox.fails(2, &zfp(&["--range", "1e-3"]), &["--zfp-rate", "--range"]);
    let compressed = [
        "--policy",
        "compressed-memory",
        "--policy",
        "compressed-disk-servants",
    ];
    let args = zfp(&[&["--policy", "memory"], &compressed[..]].concat());
    if cfg!(not(feature = "peers")) {
        return sandbox.fails(2, &args, &["--features peers"]);
    }
    let json = sandbox.json(&args);
    assert_eq!(
        (&json["codec"], &json["bound"]),
        (&"zfp".into(), &"8 bits per value".into())
    );
    for row in &json["rows"].as_array().unwrap()[1..] {
        // 8 of 32 bits; slabs of zeros are stored as such.
        let ratio = row["ratio"].as_f64().unwrap();
        assert!(ratio > 3.8 && ratio < 4.5, "{row}");
        assert!(row["closeness"]["snr"].as_f64().unwrap() > 20.0, "{row}");
    }
    sandbox.fails(
        2,
        &zfp(&["--policy", "memory", "--policy", "compressed-memory:frames"]),
        &["zfp compresses slabs", "--hand-over slabs"],
    );
}

#[test]
fn the_memory_policy_is_timed_on_what_fits() {
    let sandbox = Sandbox::new();
    let more = ["--policy", "memory", "--policy", "disk", "--every", "2"];
    let args = small(&[&more[..], &["--memory", "16MB"]].concat());
    let json = sandbox.json(&args);
    let frames = json["rows"][0]["scaled_from_frames"].as_u64().unwrap();
    assert!(frames > 0 && frames < 60, "{frames}");
    assert!(json["rows"][1]["scaled_from_frames"].is_null());
}

/// Frames of 0.25 MiB, raw, one per step: 100 MiB.
const MUCH: &str = "sim rtm --grid 40x40x40 --steps 400 --every 1 -q --policy";

#[test]
fn a_disk_that_fills_up_in_the_middle() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("scratch")).unwrap();
    for policy in [
        "disk",
        "disk:frames",
        "compressed-disk",
        "compressed-disk-servants",
    ] {
        // Files may not grow beyond 20 MiB, which is an error rather than a signal.
        let script = format!(
            "trap '' XFSZ; ulimit -f 20480; exec \"$0\" {MUCH} {policy} --lossless --codec raw --dir scratch"
        );
        let output = Command::new("bash")
            .args(["-c", &script, env!("CARGO_BIN_EXE_ebz")])
            .current_dir(sandbox.path(""))
            .output()
            .unwrap();
        assert_failure(&output, 2, &[policy], &["File too large"]);
        let left = std::fs::read_dir(sandbox.path("scratch")).unwrap().count();
        assert_eq!(left, 0, "{policy}");
    }
}

#[test]
fn a_killed_forward_pass_leaves_a_file_to_recover() {
    let sandbox = Sandbox::new();
    let mut args: Vec<_> = MUCH.split(' ').collect();
    args.extend(["disk", "--disk-rate", "20MB/s"]);
    let mut child = sandbox
        .command(&args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let name = format!("ebz-rtm-{}.ebz", child.id());
    let path = sandbox.path(&name);
    let start = Instant::now();
    let written = || std::fs::metadata(&path).map_or(0, |meta| meta.len());
    while written() < 20 << 20 {
        assert!(
            start.elapsed() < Duration::from_secs(100),
            "nothing is written"
        );
        assert!(
            child.try_wait().unwrap().is_none(),
            "over before it was killed"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    sandbox.ok(&["recover", &name, "-o", "saved.ebz"]);
    let info = sandbox.json(&["info", "saved.ebz"]);
    let frames = info["frames"].as_array().unwrap().len();
    assert!((10..400).contains(&frames), "{frames}");
    sandbox.ok(&["decompress", "saved.ebz", "--frame", "9", "-o", "frame.raw"]);
    let frame = sandbox::values_of(&sandbox.read("frame.raw"));
    assert!(frame.len() == 40 * 40 * 40 && frame.iter().all(|value| value.is_finite()));
    assert!(frame.iter().any(|value| *value != 0.0));
}
