//! A folder in which the command runs, and the arrays that it compresses.

use anyhow::{Context, Result, ensure};
use ebz::Reader;
use ebz_testkit::random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const BOUND: f32 = 1e-3;
const VALUES: usize = 1 << 20;
const SHAPE: &str = "64x128x128";

/// Compresses an array over `a.ebz`.
pub fn compress_args(number: usize) -> String {
    format!("compress {number}.f32 -t f32 -s {SHAPE} --abs {BOUND} -o a.ebz --force")
}

/// Appends an array to `all.ebz`.
pub fn append_args(number: usize) -> String {
    format!("compress {number}.f32 -t f32 -s {SHAPE} --abs {BOUND} -o all.ebz --append")
}

/// Runs a stencil on a grid in this folder.
pub fn stencil_args(folder: &str) -> String {
    format!(
        "sim heat --grid 32x24x24 --steps 64 --per-pass 4 --state compressed-disk --no-roofline --keep \
         --quiet --dir {folder}"
    )
}

/// The folder that a stencil makes in its folder.
pub const GRID: &str = "ebz-heat-compressed-disk";

/// A folder in which the command runs.
pub struct Bench {
    ebz: PathBuf,
    pub folder: tempfile::TempDir,
    pub random: Random,
    /// Commands that were killed, and that had ended before they could be.
    pub killed: usize,
    pub ended: usize,
}

impl Bench {
    pub fn new(ebz: &Path) -> Result<Self> {
        Ok(Self {
            ebz: ebz.into(),
            folder: tempfile::tempdir()?,
            random: Random::new(7),
            killed: 0,
            ended: 0,
        })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command that runs in the folder, and says nothing.
    pub fn command(&self, args: &str) -> Command {
        let mut command = Command::new(&self.ebz);
        command
            .args(args.split(' '))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs a command with an address space of `kib`.
    pub fn within(&self, kib: u64, args: &str) -> Result<ExitStatus> {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -c 0; ulimit -v {kib} && exec \"$0\" {args}");
        shell
            .args(["-c", &script])
            .arg(&self.ebz)
            // The standard library waits for itself if memory ends while it prints a backtrace.
            .env("RUST_BACKTRACE", "0")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(shell.status()?)
    }

    pub fn start(&self, args: &str) -> Result<Child> {
        Ok(self.command(args).spawn()?)
    }

    /// Runs a command that must succeed; returns the time it took.
    pub fn run(&self, args: &str) -> Result<Duration> {
        let start = Instant::now();
        ensure!(self.start(args)?.wait()?.success(), "ebz {args} failed");
        Ok(start.elapsed())
    }

    /// Kills a command at a random moment; returns whether it had succeeded before.
    pub fn kill(&mut self, child: &mut Child, longest: Duration) -> Result<bool> {
        std::thread::sleep(longest.mul_f64(self.random.unit() * 1.1));
        child.kill()?;
        let done = child.wait()?.success();
        self.killed += usize::from(!done);
        self.ended += usize::from(done);
        Ok(done)
    }

    /// Writes the raw values of an array.
    pub fn array(&self, number: usize) -> Result<()> {
        let bytes: Vec<u8> = (0..VALUES)
            .flat_map(|i| value(number, i).to_le_bytes())
            .collect();
        Ok(std::fs::write(self.path(&format!("{number}.f32")), bytes)?)
    }
}

/// Arrays that differ by more than the bound.
pub fn value(number: usize, i: usize) -> f32 {
    number as f32 + (i as f32 * 1e-3).sin() * 0.4
}

/// Which array this is; an error if it is none.
pub fn identify(values: &[f32]) -> Result<usize> {
    let number = (*values.first().context("no values")?).round() as usize;
    let close = |(i, x): (usize, &f32)| (x - value(number, i)).abs() <= BOUND;
    let whole = values.len() == VALUES && values.iter().enumerate().all(close);
    ensure!(whole, "values of none of the arrays");
    Ok(number)
}

/// The arrays of a file.
pub fn frames(reader: &Reader<impl ebz::Source>) -> Result<Vec<usize>> {
    (0..reader.frames())
        .map(|number| identify(reader.frame(number)?.read::<f32>()?.values()))
        .collect()
}

/// Names and bytes of the files of a folder.
pub fn contents(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry?.path();
        let bytes = std::fs::read(&path)?;
        Ok((
            path.file_name().map(PathBuf::from).unwrap_or_default(),
            bytes,
        ))
    };
    std::fs::read_dir(folder)?.map(read).collect()
}
