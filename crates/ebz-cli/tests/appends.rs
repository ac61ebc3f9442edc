//! Several commands and one file: no frame is lost, no reader is locked out, and what a killed command
//! leaves goes away.

#![cfg(unix)]

mod sandbox;

use sandbox::{Sandbox, assert_failure, bytes_of, field};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `a.raw` with 5 × 8 values, and a file of one frame of them.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.raw", &bytes_of(&field(40)));
    sandbox.ok(&APPEND);
    sandbox
}

const APPEND: [&str; 11] = [
    "compress", "a.raw", "-t", "f32", "-s", "5x8", "--range", "1e-3", "-o", "all.ebz", "--append",
];

fn frames(sandbox: &Sandbox) -> usize {
    let info = sandbox.json(&["info", "all.ebz"]);
    info["frames"].as_array().unwrap().len()
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn spawn(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command = sandbox.command(args);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
}

/// Hidden files, with their sizes.
fn hidden(sandbox: &Sandbox) -> Vec<(String, usize)> {
    let names = sandbox.contents().into_iter().map(|(path, bytes)| {
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        (name, bytes.map_or(0, |bytes| bytes.len()))
    });
    names.filter(|(name, _)| name.starts_with('.')).collect()
}

#[test]
fn a_failing_append_takes_away_nothing_that_others_added() {
    for bound in ["--range", "--abs"] {
        let sandbox = prepared();
        let args = [
            "compress", "-", "-t", "f32", "-s", "50x80", bound, "1e-3", "-o", "all.ebz", "--append",
        ];
        let mut slow = spawn(&sandbox, &args);
        let mut stdin = slow.stdin.take().unwrap();
        stdin.write_all(&[0; 1000]).unwrap();
        // It has looked at the file, and waits for more.
        wait_for("the pipe is kept", || {
            hidden(&sandbox).iter().any(|(_, bytes)| *bytes == 1000)
        });
        for _ in 0..3 {
            sandbox.ok(&APPEND);
        }
        drop(stdin);
        let output = slow.wait_with_output().unwrap();
        assert_failure(&output, 2, &args, &["standard input"]);
        assert_eq!(frames(&sandbox), 4);
        sandbox.ok(&["verify", "all.ebz"]);
        assert!(hidden(&sandbox).is_empty());
    }
}

#[test]
fn many_commands_append_at_once_and_every_frame_is_there() {
    let sandbox = Sandbox::new();
    sandbox.write("a.raw", &bytes_of(&field(40)));
    // The file does not exist yet: one of them creates it.
    let children: Vec<_> = (0..24)
        .map(|number| {
            let meta = format!("number={number}");
            spawn(&sandbox, &[&APPEND[..], &["--meta", &meta]].concat())
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    sandbox.ok(&["verify", "all.ebz"]);
    let info = sandbox.json(&["info", "all.ebz"]);
    let mut numbers: Vec<_> = info["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| frame["metadata"]["number"].as_u64().unwrap())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..24).collect::<Vec<_>>());
    assert!(hidden(&sandbox).is_empty());
}

#[test]
fn readers_see_what_was_there_and_writers_wait() {
    let sandbox = prepared();
    let options = ebz::Options::new(ebz::Bound::Lossless);
    let mut writer = ebz::Writer::append(sandbox.path("all.ebz"), options).unwrap();
    let values = field(40);
    let view = ebz::View::new(&values, &[5, 8]).unwrap();
    writer.frame(&view).unwrap();

    let info = sandbox.run(&["info", "all.ebz", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(json["unfinished"], true);
    assert_eq!(json["frames"].as_array().unwrap().len(), 1);
    let said = String::from_utf8_lossy(&info.stderr).into_owned();
    assert!(said.contains("is being appended to"), "{said}");
    sandbox.ok(&["decompress", "all.ebz", "-o", "b.raw"]);
    assert_eq!(sandbox.read("b.raw").len(), 160);
    let verified = sandbox.run(&["verify", "all.ebz"]);
    assert_eq!(verified.status.code(), Some(1), "{verified:?}");

    let no_wait = [&APPEND[..], &["--no-wait"]].concat();
    sandbox.fails(2, &no_wait, &["all.ebz is being written"]);
    let waiting = spawn(&sandbox, &APPEND);
    std::thread::sleep(Duration::from_millis(1000));
    writer.finish().unwrap();
    let output = waiting.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("waiting for another writer of all.ebz"),
        "{said}"
    );
    assert_eq!(frames(&sandbox), 3);
    assert_eq!(sandbox.json(&["info", "all.ebz"])["unfinished"], false);
    sandbox.ok(&["verify", "all.ebz"]);
}

#[test]
fn an_interrupted_append_leaves_the_file_as_it_was() {
    let sandbox = prepared();
    let file = std::fs::File::create(sandbox.path("big.raw")).unwrap();
    file.set_len(512 << 20).unwrap();
    let before = sandbox.read("all.ebz");
    let args = [
        "compress",
        "big.raw",
        "-t",
        "f32",
        "-s",
        "128x1024x1024",
        "--lossless",
        "--codec",
        "raw",
        "-o",
        "all.ebz",
        "--append",
    ];
    let child = spawn(&sandbox, &args);
    let size = || std::fs::metadata(sandbox.path("all.ebz")).unwrap().len();
    wait_for("the file grows", || size() > before.len() as u64);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(sandbox.read("all.ebz") == before);
}

#[test]
fn a_killed_append_harms_no_frame_from_before() {
    let sandbox = prepared();
    let file = std::fs::File::create(sandbox.path("big.raw")).unwrap();
    file.set_len(512 << 20).unwrap();
    let before = std::fs::metadata(sandbox.path("all.ebz")).unwrap().len();
    let args = [
        "compress",
        "big.raw",
        "-t",
        "f32",
        "-s",
        "128x1024x1024",
        "--lossless",
        "--codec",
        "raw",
        "-o",
        "all.ebz",
        "--append",
    ];
    let child = spawn(&sandbox, &args);
    let size = || std::fs::metadata(sandbox.path("all.ebz")).unwrap().len();
    wait_for("the file grows", || size() > before);
    signal(&child, "-KILL");
    assert!(!child.wait_with_output().unwrap().status.success());
    sandbox.ok(&["decompress", "all.ebz", "--frame", "0", "-o", "b.raw"]);
    assert_eq!(sandbox.read("b.raw").len(), 160);
    let again = sandbox.run(&APPEND);
    assert_failure(&again, 2, &APPEND, &["cannot append", "ebz recover"]);
    assert!(size() > before);
}

#[test]
fn what_a_killed_command_left_is_removed_by_the_next_one() {
    let sandbox = prepared();
    let args = [
        "compress",
        "-",
        "-t",
        "f32",
        "-s",
        "100x1000000",
        "--abs",
        "1",
        "-o",
        "b.ebz",
    ];
    let start = || {
        let mut child = spawn(&sandbox, &args);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&vec![0; 20 << 20]).unwrap();
        (child, stdin)
    };
    let (killed, _stdin) = start();
    wait_for("it has begun", || {
        hidden(&sandbox).iter().any(|(_, bytes)| *bytes > 0)
    });
    signal(&killed, "-KILL");
    assert!(!killed.wait_with_output().unwrap().status.success());
    let left = hidden(&sandbox);
    assert!(
        left.len() == 1 && left[0].0.starts_with(".b.ebz."),
        "{left:?}"
    );

    // One that is alive keeps its file; names that are only alike stay.
    let (alive, stdin) = start();
    wait_for("the old one is gone", || {
        hidden(&sandbox).iter().all(|(name, _)| *name != left[0].0)
    });
    sandbox.write(".b.ebz.mine.part", b"mine");
    wait_for("it has begun", || hidden(&sandbox).len() == 2);
    let layout = [
        "a.raw", "-t", "f32", "-s", "5x8", "--abs", "1", "-o", "b.ebz",
    ];
    let next = sandbox.run(&[&["compress"], &layout[..]].concat());
    let said = String::from_utf8_lossy(&next.stderr).into_owned();
    assert!(next.status.success() && !said.contains("removed"), "{said}");
    assert_eq!(hidden(&sandbox).len(), 2);
    signal(&alive, "-KILL");
    drop(stdin);
    assert!(!alive.wait_with_output().unwrap().status.success());
    let next = sandbox.run(&[&["compress", "-f"], &layout[..]].concat());
    let said = String::from_utf8_lossy(&next.stderr).into_owned();
    assert!(
        said.contains("removed ") && said.contains(".b.ebz."),
        "{said}"
    );
    let left = hidden(&sandbox);
    assert!(
        left.len() == 1 && left[0].0 == ".b.ebz.mine.part",
        "{left:?}"
    );
}

#[test]
fn a_link_that_leads_nowhere_is_called_so() {
    let sandbox = prepared();
    std::os::unix::fs::symlink("nowhere.ebz", sandbox.path("link.ebz")).unwrap();
    for more in [&[][..], &["--force"], &["--append"]] {
        let args = [
            "compress", "a.raw", "-t", "f32", "-s", "5x8", "--abs", "1", "-o", "link.ebz",
        ];
        let args = [&args[..], more].concat();
        sandbox.fails(
            2,
            &args,
            &["link.ebz is a link to nowhere.ebz", "not exist"],
        );
    }
}

#[test]
fn output_that_is_to_outlive_a_power_failure() {
    let sandbox = prepared();
    sandbox.ok(&[&APPEND[..], &["--sync"]].concat());
    sandbox.ok(&["decompress", "all.ebz", "-o", "b.npy", "--sync"]);
    assert_eq!(frames(&sandbox), 2);
    // What is flushed, and when, shows only from outside.
    let output = Command::new("strace")
        .args([
            "-f",
            "-y",
            "-e",
            "trace=fsync,rename,renameat,renameat2,link,linkat",
        ])
        .arg(env!("CARGO_BIN_EXE_ebz"))
        .args(["decompress", "all.ebz", "-o", "c.npy", "--sync"])
        .current_dir(sandbox.path("."))
        .output()
        .expect("this test needs strace");
    let calls = String::from_utf8_lossy(&output.stderr).into_owned();
    let at = |word: &str| {
        calls
            .find(word)
            .unwrap_or_else(|| panic!("no {word}: {calls}"))
    };
    assert!(at("fsync") < at("c.npy\""), "{calls}");
    assert!(calls.rfind("fsync") > calls.find("c.npy\""), "{calls}");
}
