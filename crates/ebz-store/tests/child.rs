//! Stores in a child process that is killed or runs out of disk space. The child is this test
//! program: one of its tests does the work if the parent requests it.
#![cfg(target_os = "linux")]

mod series;

use ebz::{Error, Result};
use ebz_store::{FrameStore, Plan, Policy};
use series::{BOUND, SHAPE, Way, folder, frame, options, write};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const TASK: &str = "EBZ_STORE_TEST_TASK";
const FOLDER: &str = "EBZ_STORE_TEST_FOLDER";
const POLICY: &str = "EBZ_STORE_TEST_POLICY";

/// Starts this program again to run `task`.
fn child(task: &str, policy: Policy, folder: &Path) -> Result<Child> {
    // Exceeding the file size limit kills a process by a signal unless its parent ignores it.
    Ok(Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(std::env::current_exe()?)
        .args(["--exact", "runs_the_task_of_the_parent", "--nocapture"])
        .env(TASK, task)
        .env(FOLDER, folder)
        .env(POLICY, policy.name())
        .stdout(Stdio::piped())
        .spawn()?)
}

/// Does nothing in the parent's run, where there is no task.
#[test]
fn runs_the_task_of_the_parent() -> Result<()> {
    let Ok(task) = std::env::var(TASK) else {
        return Ok(());
    };
    let policy: Policy = std::env::var(POLICY).unwrap_or_default().parse()?;
    let folder = std::env::var_os(FOLDER).unwrap_or_default();
    match task.as_str() {
        "write forever" => write_forever(policy, Path::new(&folder)),
        "fill the disk" => fill_the_disk(policy, Path::new(&folder)),
        other => panic!("unknown task {other}"),
    }
}

/// Prints the number of frames handed over, until it is killed.
fn write_forever(policy: Policy, folder: &Path) -> Result<()> {
    let mut store = FrameStore::create(&SHAPE, options(policy, folder))?;
    for frames in 1.. {
        write(&mut store, Way::Mixed, frames)?;
        println!("frames {frames}");
    }
    Ok(())
}

#[test]
fn a_killed_process_leaves_every_completed_frame() -> Result<()> {
    for policy in [
        Policy::Disk,
        Policy::CompressedDisk,
        Policy::CompressedDiskServants,
    ] {
        let folder = folder()?;
        let mut child = child("write forever", policy, folder.path())?;
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let handed_over = loop {
            let line = lines.next().expect("the child writes until it is killed")?;
            // The test harness may print on the same line.
            let count = line.split("frames ").nth(1).and_then(|n| n.parse().ok());
            if let Some(count @ 30..) = count {
                break count;
            }
        };
        child.kill()?;
        assert!(!child.wait()?.success());
        let path = folder.path().join("frames.ebz");
        assert!(ebz::Reader::open(&path).is_err());
        let (report, saved) = ebz::recover(&File::open(&path)?, Vec::new())?;
        // With servants, some frames were still in flight: three buffers in each of two queues.
        let complete = report.iter().take_while(|f| f.lost.is_empty()).count();
        let under_way = if policy == Policy::CompressedDisk {
            0
        } else {
            7
        };
        assert!(
            complete + under_way >= handed_over,
            "{complete} of {handed_over}"
        );
        assert!(
            report.len() <= complete + 1,
            "only the last frame may be incomplete"
        );
        let reader = ebz::Reader::from_source(&saved[..])?;
        for number in 0..complete {
            let array = reader.frame(number)?.read::<f32>()?;
            let mut pairs = array.values().iter().zip(frame(number));
            assert!(pairs.all(|(a, b)| (a - b).abs() <= BOUND as f32));
        }
    }
    Ok(())
}

/// The system does not let the file grow; every way to store must return that error.
fn fill_the_disk(policy: Policy, folder: &Path) -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = Rlimit {
        current: Some(256 << 10),
        ..getrlimit(Resource::Fsize)
    };
    setrlimit(Resource::Fsize, limit).expect("a limit may be lowered");
    for way in [Way::Whole, Way::Slabs(2)] {
        let mut store = FrameStore::create(&SHAPE, options(policy, folder))?;
        let error = write(&mut store, way, 1000).expect_err("1000 frames do not fit");
        assert!(matches!(error, Error::Io(_)), "{error}");
        // The error persists, also at the end of the store.
        assert!(write(&mut store, way, 1000).is_err());
        assert!(store.into_reader(Plan::Reverse).is_err());
        // Frames completed before are intact.
        let file = File::open(folder.join("frames.ebz"))?;
        let (report, _) = ebz::recover(&file, std::io::sink())?;
        assert!(report[0].lost.is_empty());
        // Without another call, the end of the store returns the error.
        let mut store = FrameStore::create(&SHAPE, options(policy, folder).buffers(100))?;
        let written = write(&mut store, way, 60);
        assert!(written.is_err() || store.finish().is_err());
    }
    println!("the disk was full");
    Ok(())
}

#[test]
fn a_full_disk_reaches_the_caller() -> Result<()> {
    for policy in [
        Policy::Disk,
        Policy::CompressedDisk,
        Policy::CompressedDiskServants,
    ] {
        let folder = folder()?;
        let output = child("fill the disk", policy, folder.path())?.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{policy}: {text}");
        assert!(text.contains("the disk was full"), "{policy}: {text}");
    }
    Ok(())
}
