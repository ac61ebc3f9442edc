//! Requests to files that fail: the command says so, and what was there stays.

use super::bench::{Bench, GRID, append_args, compress_args, contents, frames, stencil_args};
use anyhow::{Context, Result, ensure};
use ebz::Reader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compiles the library that stands between the command and its files.
pub fn shim(folder: &Path) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/faults/shim.c");
    let shim = folder.join("shim.so");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-w", "-o"])
        .args([&shim, &source])
        .status();
    ensure!(made.context("a C compiler is needed")?.success());
    Ok(shim)
}

const ERRORS: [(&str, i32); 2] = [("I/O error", 5), ("disk full", 28)];

/// Every request fails once, with all that follow.
pub fn run(ebz: &Path) -> Result<()> {
    println!("| | failing requests | error told | complete work lost |");
    println!("|---|---|---|---|");
    type Work = fn(&mut Bench, &Faults) -> Result<usize>;
    let rows: [(&str, Work); 3] = [
        ("compress over an existing file", compress),
        ("append", append),
        ("stencil on a compressed grid", stencil),
    ];
    for (name, work) in rows {
        for (error, code) in ERRORS {
            let mut bench = Bench::new(ebz)?;
            let shim = shim(bench.folder.path())?;
            let faults = Faults { shim, code };
            let count = work(&mut bench, &faults).with_context(|| format!("{name}, {error}"))?;
            println!("| {name}, {error} | {count} | {count} | 0 |");
        }
    }
    Ok(())
}

/// How requests fail.
struct Faults {
    shim: PathBuf,
    code: i32,
}

impl Faults {
    /// Runs the command, whose requests fail from number `at` on; returns whether it succeeded. If
    /// not, it must have ended by itself with an error.
    fn run(&self, bench: &Bench, args: &str, at: usize) -> Result<bool> {
        let output = bench
            .command(args)
            .env("LD_PRELOAD", &self.shim)
            .env("FAULT_AT", at.to_string())
            .env("FAULT_ERRNO", self.code.to_string())
            .stderr(Stdio::piped())
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let told = output.status.code() == Some(2) && said.starts_with("ebz: ");
        ensure!(output.status.success() || told, "request {at}: {output:?}");
        Ok(output.status.success())
    }
}

fn compress(bench: &mut Bench, faults: &Faults) -> Result<usize> {
    bench.array(0)?;
    bench.array(1)?;
    bench.run(&compress_args(0))?;
    for at in 1.. {
        let done = faults.run(bench, &format!("{} --sync", compress_args(1)), at)?;
        let found = frames(&Reader::open(bench.path("a.ebz"))?)?;
        if done {
            ensure!(found == [1]);
            return Ok(at - 1);
        }
        // The last request is the flush of the folder, when the new file is already there.
        ensure!(found == [0] || found == [1], "request {at}: {found:?}");
        bench.run(&compress_args(0))?;
    }
    Ok(0)
}

fn append(bench: &mut Bench, faults: &Faults) -> Result<usize> {
    bench.array(0)?;
    bench.array(1)?;
    bench.run(&append_args(0))?;
    let before = std::fs::read(bench.path("all.ebz"))?;
    for at in 1.. {
        std::fs::write(bench.path("all.ebz"), &before)?;
        let done = faults.run(bench, &format!("{} --sync", append_args(1)), at)?;
        let found = frames(&Reader::open(bench.path("all.ebz"))?)?;
        if done {
            ensure!(found == [0, 1]);
            return Ok(at - 1);
        }
        ensure!(found == [0] || found == [0, 1], "request {at}: {found:?}");
    }
    Ok(0)
}

fn stencil(bench: &mut Bench, faults: &Faults) -> Result<usize> {
    std::fs::create_dir(bench.path("whole"))?;
    bench.run(&stencil_args("whole"))?;
    let whole = contents(&bench.path("whole").join(GRID))?;
    for at in 1.. {
        let folder = bench.path("failed");
        std::fs::create_dir(&folder)?;
        if faults.run(bench, &stencil_args("failed"), at)? {
            return Ok(at - 1);
        }
        let grid = folder.join(GRID);
        let complete = ["grid-0.index", "grid-1.index"].map(|name| grid.join(name).exists());
        let resume = if complete.contains(&true) {
            " --resume"
        } else {
            ""
        };
        bench.run(&format!("{}{resume}", stencil_args("failed")))?;
        ensure!(contents(&grid)? == whole, "request {at}: another result");
        std::fs::remove_dir_all(folder)?;
    }
    Ok(0)
}
