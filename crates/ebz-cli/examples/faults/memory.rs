//! Limits on memory: the command fails somewhere on its way, and what was there stays.

use super::bench::{Bench, GRID, append_args, compress_args, contents, frames, stencil_args};
use anyhow::{Context, Result, ensure};
use ebz::Reader;
use std::path::Path;

/// Runs each kind with `count` limits, from one in which the command starts to one that suffices; prints a row for each.
pub fn run(ebz: &Path, count: usize) -> Result<()> {
    println!("| | limits | error told | aborted | succeeded | complete work lost |");
    println!("|---|---|---|---|---|---|");
    type Work = fn(&mut Limited) -> Result<()>;
    let rows: [(&str, Work); 3] = [
        ("compress over an existing file", compress),
        ("append", append),
        ("stencil on a compressed grid", stencil),
    ];
    for (name, work) in rows {
        let bench = Bench::new(ebz)?;
        let mut limited = Limited {
            bench,
            count,
            told: 0,
            aborted: 0,
        };
        work(&mut limited).context(name)?;
        let Limited { told, aborted, .. } = limited;
        let done = count - told - aborted;
        println!("| {name} | {count} | {told} | {aborted} | {done} | 0 |");
    }
    Ok(())
}

struct Limited {
    bench: Bench,
    count: usize,
    told: usize,
    aborted: usize,
}

impl Limited {
    /// Calls `check` after the command ran with each limit, with whether it succeeded.
    fn each(
        &mut self,
        args: &str,
        prepare: impl Fn(&Bench) -> Result<()>,
        check: impl Fn(&Bench, bool) -> Result<()>,
    ) -> Result<()> {
        // Below the first limit not even the loader of programs can work.
        let mut least = 0;
        while !self.bench.within(least, "--version")?.success() {
            least += 256;
        }
        let mut more = 256;
        loop {
            prepare(&self.bench)?;
            let done = self.bench.within(least + more, args)?.success();
            check(&self.bench, done)?;
            if done {
                break;
            }
            more *= 2;
            ensure!(more < 1 << 24, "no limit suffices");
        }
        for number in 1..=self.count {
            prepare(&self.bench)?;
            let kib = least + more * number as u64 / self.count as u64;
            let status = self.bench.within(kib, args)?;
            self.told += usize::from(status.code() == Some(2));
            self.aborted += usize::from(!status.success() && status.code() != Some(2));
            check(&self.bench, status.success()).with_context(|| format!("{kib} KiB"))?;
        }
        Ok(())
    }
}

fn compress(limited: &mut Limited) -> Result<()> {
    limited.bench.array(0)?;
    limited.bench.array(1)?;
    limited.each(
        &compress_args(1),
        |bench| bench.run(&compress_args(0)).map(drop),
        |bench, done| {
            let found = frames(&Reader::open(bench.path("a.ebz"))?)?;
            ensure!(found == [usize::from(done)], "{found:?}");
            Ok(())
        },
    )
}

fn append(limited: &mut Limited) -> Result<()> {
    limited.bench.array(0)?;
    limited.bench.array(1)?;
    limited.bench.run(&append_args(0))?;
    let before = std::fs::read(limited.bench.path("all.ebz"))?;
    limited.each(
        &append_args(1),
        |bench| Ok(std::fs::write(bench.path("all.ebz"), &before)?),
        |bench, done| {
            let found = frames(&Reader::open(bench.path("all.ebz"))?)?;
            ensure!(found == [0, 1] || !done && found == [0], "{found:?}");
            Ok(())
        },
    )
}

fn stencil(limited: &mut Limited) -> Result<()> {
    std::fs::create_dir(limited.bench.path("whole"))?;
    limited.bench.run(&stencil_args("whole"))?;
    let whole = contents(&limited.bench.path("whole").join(GRID))?;
    limited.each(
        &stencil_args("failed"),
        |bench| Ok(std::fs::create_dir(bench.path("failed"))?),
        |bench, done| {
            let folder = bench.path("failed");
            let grid = folder.join(GRID);
            if !done {
                let complete = ["grid-0.index", "grid-1.index"];
                let complete = complete.map(|name| grid.join(name).exists());
                let resume = if complete.contains(&true) {
                    " --resume"
                } else {
                    ""
                };
                bench.run(&format!("{}{resume}", stencil_args("failed")))?;
            }
            ensure!(contents(&grid)? == whole, "another result");
            Ok(std::fs::remove_dir_all(folder)?)
        },
    )
}
