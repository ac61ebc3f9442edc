//! `ebz sim heat`, `lbm` and `srad`: reports, and what happens when things go wrong.

mod sandbox;

use sandbox::{Sandbox, assert_failure, npy};
use std::path::PathBuf;
use std::time::Duration;

const SMALL: [&str; 10] = [
    "sim",
    "heat",
    "--grid",
    "48x32x32",
    "--per-pass",
    "4",
    "--threads",
    "1",
    "--no-roofline",
    "--keep",
];

fn heat<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SMALL[..], more].concat()
}

/// The files of a grid on disk.
fn files(sandbox: &Sandbox, folder: &str, state: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = sandbox.path(folder).join(format!("ebz-heat-{state}"));
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut all: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            (path.strip_prefix(&folder).unwrap().to_path_buf(), bytes)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn every_simulation_reports_what_it_did() {
    let sandbox = Sandbox::new();
    for simulation in [
        &["heat", "--grid", "40x24x24"][..],
        &["lbm", "--grid", "64x96"],
        &["lbm", "--grid", "64x64", "--scene", "cavity"],
        &["srad", "--grid", "96x96"],
    ] {
        for state in ["compressed-memory", "compressed-disk"] {
            let run = [
                "--steps",
                "20",
                "--compare",
                "--state",
                state,
                "-fo",
                "a.png",
            ];
            let report = sandbox.json(&[&["sim"], simulation, &run].concat());
            let states = report["states"].as_array().unwrap();
            assert_eq!(states.len(), 2, "{report}");
            assert_eq!(states[1]["state"], state);
            for done in states {
                assert!(done["cells_per_second"].as_f64().unwrap() > 0.0);
                assert!(done["predicted_cells_per_second"].as_f64().unwrap() > 0.0);
            }
            assert!(states[1]["ratio"].as_f64().unwrap() > 2.0, "{report}");
            let errors = &states[1]["errors"];
            assert!(errors["max"].as_f64().unwrap() > 0.0);
            assert!(errors["l2"].as_f64().unwrap() < 1e-3, "{report}");
            for quantity in errors["quantities"].as_array().unwrap() {
                assert!(quantity[2].as_f64().unwrap() < 1e-5, "{report}");
            }
            assert!(sandbox.read("a.png").starts_with(b"\x89PNG"));
        }
    }
    // Nothing but the picture stays.
    assert_eq!(sandbox.contents().len(), 1);
    let table = sandbox.ok(&["sim", "heat", "--grid", "40x24x24", "--compare"]);
    assert!(table.contains("should be fastest"), "{table}");
}

#[test]
fn single_precision_takes_half_the_memory() {
    let sandbox = Sandbox::new();
    let heat = [
        "sim",
        "heat",
        "--grid",
        "40x24x24",
        "--steps",
        "8",
        "--no-roofline",
    ];
    let run = |more: &[&str]| sandbox.json(&[&heat[..], more].concat());
    let [double, single] =
        ["f64", "f32"].map(|kind| run(&["--compare", "--range", "1e-6", "--type", kind]));
    assert_eq!(
        (&double["element"], &single["element"]),
        (&"f64".into(), &"f32".into())
    );
    let bytes = |report: &serde_json::Value| report["raw_bytes"].as_u64().unwrap();
    assert_eq!(bytes(&double), 2 * bytes(&single));
    let errors = &single["states"][1]["errors"];
    assert!(errors["l2"].as_f64().unwrap() < 1e-5, "{single}");
    // A grid of one type is not continued in the other.
    let disk = ["--state", "compressed-disk", "--keep", "--type"];
    run(&[&disk[..], &["f32"]].concat());
    let other = [&heat[..], &disk, &["f64", "--resume"]].concat();
    sandbox.fails(2, &other, &["another run"]);
    sandbox.fails(
        2,
        &[&heat[..], &["--type", "f16"]].concat(),
        &["f32", "f64"],
    );
}

#[test]
fn an_image_of_the_user_is_cleaned() {
    let sandbox = Sandbox::new();
    let values: Vec<f64> = (0..40 * 30)
        .map(|i| 1.0 + f64::from(i * 37 % 11) / 20.0)
        .collect();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    sandbox.write("scan.npy", &npy("<f8", false, "(40, 30)", &bytes));
    let srad = [
        "sim",
        "srad",
        "--image",
        "scan.npy",
        "--state",
        "raw-memory",
        "-o",
        "a.png",
    ];
    sandbox.ok(&srad);
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|&v| (v as f32).to_le_bytes())
        .collect();
    sandbox.write("single.npy", &npy("<f4", false, "(40, 30)", &bytes));
    for kind in ["f32", "f64"] {
        sandbox.ok(&["sim", "srad", "--image", "single.npy", "--type", kind]);
    }
    sandbox.write(
        "dark.npy",
        &npy("<f8", false, "(40, 30)", &[0; 40 * 30 * 8]),
    );
    sandbox.fails(2, &["sim", "srad", "--image", "dark.npy"], &["above 0"]);
}

#[test]
fn a_killed_run_is_continued_to_the_same_result() {
    for state in ["raw-disk", "compressed-disk"] {
        let sandbox = Sandbox::new();
        let steps = ["--steps", "80", "--state", state];
        sandbox.ok(&heat(&[&steps[..], &["--dir", "whole"]].concat()));
        let rate = if state == "raw-disk" {
            "4MB/s"
        } else {
            "400kB/s"
        };
        let slow = heat(&[&steps[..], &["--dir", "killed", "--disk-rate", rate]].concat());
        let mut child = sandbox.command(&slow).spawn().unwrap();
        let index = sandbox
            .path("killed")
            .join(format!("ebz-heat-{state}/grid-1.index"));
        while !index.exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended too early");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(250));
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        // SIGKILL on Unix.
        child.kill().unwrap();
        child.wait().unwrap();
        let again = [&steps[..], &["--dir", "killed", "--resume"]].concat();
        let report = sandbox.json(&heat(&again));
        let made = report["states"][0]["steps"].as_u64().unwrap();
        assert!((4..80).contains(&made), "continued with {made} steps");
        assert!(files(&sandbox, "killed", state) == files(&sandbox, "whole", state));
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_last_pass() {
    let sandbox = Sandbox::new();
    let run = |steps: &'static str, more: &[&'static str]| {
        heat(
            &[
                &["--state", "raw-disk", "--dir", "d", "--steps", steps],
                more,
            ]
            .concat(),
        )
    };
    sandbox.ok(&run("8", &[]));
    let before = files(&sandbox, "d", "raw-disk");
    // A limit on the size of files stands for a disk that is full.
    let script = "ulimit -f 200; trap '' XFSZ; exec \"$@\"";
    let args = run("80", &["--resume"]);
    let limited = std::process::Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_ebz")])
        .args(&args)
        .current_dir(sandbox.path("."))
        .output()
        .unwrap();
    assert_failure(
        &limited,
        2,
        &args,
        &["--resume", "after step 8 is complete"],
    );
    // The index of the grid that was to be replaced is gone, the last one is as it was.
    let left = files(&sandbox, "d", "raw-disk");
    let kept = |name: &str| {
        let find = |all: &[(PathBuf, Vec<u8>)]| {
            all.iter()
                .find(|(path, _)| path.ends_with(name))
                .map(|f| f.1.clone())
        };
        find(&left).is_some() && find(&left) == find(&before)
    };
    assert!(kept("grid-0.index") && kept("grid-0.data"));
    sandbox.ok(&run("80", &["--resume"]));
    sandbox.ok(&heat(&[
        "--state", "raw-disk", "--dir", "w", "--steps", "80",
    ]));
    assert!(files(&sandbox, "d", "raw-disk") == files(&sandbox, "w", "raw-disk"));
}

#[test]
fn equal_runs_leave_equal_files() {
    let sandbox = Sandbox::new();
    for state in ["raw-disk", "compressed-disk"] {
        // Whichever thread is faster.
        let run = |dir| {
            let mut args = heat(&["--state", state, "--dir", dir, "--steps", "40"]);
            let threads = args.iter().position(|arg| *arg == "--threads").unwrap();
            args[threads + 1] = "4";
            sandbox.ok(&args);
            files(&sandbox, dir, state)
        };
        let first = run("first");
        assert!(!first.is_empty());
        for _ in 0..5 {
            let again = run("again");
            assert_eq!(first.len(), again.len());
            for (a, b) in first.iter().zip(&again) {
                assert!(a.1 == b.1, "{:?} and {:?} differ", a.0, b.0);
            }
        }
    }
}

#[test]
fn damage_is_found_and_named() {
    let sandbox = Sandbox::new();
    let run = |steps: &'static str, more: &[&'static str]| {
        heat(&[&["--state", "compressed-disk", "--steps", steps], more].concat())
    };
    sandbox.ok(&run("8", &[]));
    let name = "ebz-heat-compressed-disk/grid-0.data";
    let good = sandbox.read(name);
    for place in [40, good.len() / 2] {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        sandbox.write(name, &bad);
        let args = run("16", &["--resume"]);
        assert_failure(&sandbox.run(&args), 2, &args, &["damaged", "planes"]);
    }
    sandbox.write(name, &good[..good.len() / 2]);
    let args = run("16", &["--resume"]);
    assert_eq!(sandbox.run(&args).status.code(), Some(2));
    sandbox.write(name, &good);
    sandbox.ok(&args);
    // An index that is damaged does not count beside a good one.
    let index = "ebz-heat-compressed-disk/grid-1.index";
    let mut bad = sandbox.read(index);
    bad[30] ^= 1;
    sandbox.write(index, &bad);
    sandbox.ok(&run("24", &["--resume"]));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let sandbox = Sandbox::new();
    let sim = |args: &[&'static str]| [&["sim"], args].concat();
    let cases: [(&[&'static str], &[&str]); 11] = [
        (&["heat", "--diffusion", "0.2"], &["stable", "--diffusion"]),
        (&["heat", "--grid", "8x8"], &["3 extents"]),
        (&["heat", "--grid", "1x8x8"], &["at least 2"]),
        (&["heat", "--steps", "0"], &["--steps"]),
        (&["heat", "--memory", "1MB"], &["--memory", "--per-pass"]),
        (
            &["heat", "--memory", "1MB", "--state", "raw-disk"],
            &["--memory"],
        ),
        (&["lbm", "--tau", "0.5"], &["--tau"]),
        (&["lbm", "--velocity", "0.5"], &["--velocity"]),
        (&["srad", "--lambda", "1.5"], &["stable"]),
        (
            &["heat", "--resume", "--state", "raw-disk"],
            &["without --resume"],
        ),
        (&["heat", "--resume"], &["on disk"]),
    ];
    for (args, words) in cases {
        let args = [sim(args), vec!["--no-roofline"]].concat();
        let output = sandbox.run(&args);
        assert_failure(&output, 2, &args, words);
    }
    sandbox.ok(&heat(&["--state", "raw-disk", "--steps", "4"]));
    let other = heat(&["--state", "raw-disk", "--diffusion", "0.1", "--resume"]);
    assert_failure(&sandbox.run(&other), 2, &other, &["another run"]);
}
