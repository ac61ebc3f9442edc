//! `kill -9` at random moments: nothing that was complete is lost.

use super::bench::{
    Bench, GRID, append_args, compress_args, contents, frames, identify, stencil_args,
};
use anyhow::{Context, Result, bail, ensure};
use ebz::Reader;
use std::collections::BTreeMap;
use std::path::Path;

/// Kills `count` runs of each kind; prints a row for each.
pub fn run(ebz: &Path, count: usize) -> Result<()> {
    println!("| | kills | ended before | complete work lost |");
    println!("|---|---|---|---|");
    type Work = fn(&mut Bench, usize) -> Result<()>;
    let rows: [(&str, Work); 5] = [
        ("compress over an existing file", compress),
        ("append", append),
        ("two appends at once, one killed", two_appends),
        ("RTM, forward pass", rtm),
        ("stencil on a compressed grid", stencil),
    ];
    for (name, work) in rows {
        let mut bench = Bench::new(ebz)?;
        work(&mut bench, count).context(name)?;
        println!("| {name} | {} | {} | 0 |", bench.killed, bench.ended);
    }
    Ok(())
}

/// An output that exists is replaced as a whole or not at all.
fn compress(bench: &mut Bench, count: usize) -> Result<()> {
    bench.array(0)?;
    bench.array(1)?;
    bench.run(&compress_args(0))?;
    let longest = bench.run(&compress_args(1))?;
    let mut old = 1;
    while bench.killed < count {
        let new = 1 - old;
        let mut child = bench.start(&compress_args(new))?;
        let done = bench.kill(&mut child, longest)?;
        let found = frames(&Reader::open(bench.path("a.ebz"))?)?;
        ensure!(found == [new] || !done && found == [old], "{found:?}");
        old = found[0];
    }
    // What the killed ones left goes away.
    bench.run(&compress_args(0))?;
    let left = std::fs::read_dir(bench.folder.path())?.count();
    ensure!(left == 3, "{left} files are left");
    Ok(())
}

/// Checks a file that was appended to: the arrays of `before`, in order, and then at most those of
/// `perhaps`. If an append was killed, recovery gives the same, and the file starts anew.
fn check_series(bench: &Bench, before: &mut Vec<usize>, perhaps: &[usize]) -> Result<()> {
    let path = bench.path("all.ebz");
    let reader = Reader::open(&path)?;
    let found = frames(&reader)?;
    ensure!(found.starts_with(before), "{before:?} became {found:?}");
    ensure!(
        found[before.len()..]
            .iter()
            .all(|new| perhaps.contains(new)),
        "{found:?}"
    );
    if !reader.is_unfinished() {
        *before = found;
        return Ok(());
    }
    let saved = bench.path("saved.ebz");
    bench.run("recover all.ebz -o saved.ebz --force")?;
    let reader = Reader::open(&saved)?;
    for (number, expected) in found.iter().enumerate() {
        let values = reader.frame(number)?.read::<f32>()?;
        ensure!(
            identify(values.values())? == *expected,
            "frame {number} was not recovered"
        );
    }
    std::fs::remove_file(path)?;
    bench.run(&append_args(0))?;
    *before = vec![0];
    Ok(())
}

/// Frames that were there stay, and one whose append succeeded is there.
fn append(bench: &mut Bench, count: usize) -> Result<()> {
    (0..4).try_for_each(|number| bench.array(number))?;
    bench.run(&append_args(0))?;
    let longest = bench.run(&append_args(1))?;
    let mut expected = vec![0, 1];
    while bench.killed < count {
        let new = (bench.killed + bench.ended) % 4;
        let mut child = bench.start(&append_args(new))?;
        if bench.kill(&mut child, longest)? {
            expected.push(new);
        }
        check_series(bench, &mut expected, &[new])?;
    }
    Ok(())
}

/// The same with another writer at the same time: its frame is there if it succeeded.
fn two_appends(bench: &mut Bench, count: usize) -> Result<()> {
    (0..4).try_for_each(|number| bench.array(number))?;
    bench.run(&append_args(0))?;
    let longest = bench.run(&append_args(1))? * 2;
    let mut before = vec![0, 1];
    while bench.killed < count {
        let mut killed = bench.start(&append_args(2))?;
        let mut other = bench.start(&append_args(3))?;
        let done = [bench.kill(&mut killed, longest)?, other.wait()?.success()];
        let added = frames(&Reader::open(bench.path("all.ebz"))?)?;
        let added = added.get(before.len()..).context("frames are lost")?;
        for (done, number) in done.into_iter().zip([2, 3]) {
            ensure!(
                !done || added.contains(&number),
                "{number} is lost: {added:?}"
            );
        }
        check_series(bench, &mut before, &[2, 3])?;
    }
    Ok(())
}

/// Of a killed forward pass, every frame but the last can be recovered, with the values of every
/// other run.
fn rtm(bench: &mut Bench, count: usize) -> Result<()> {
    let args =
        "sim rtm --grid 40x40x40 --steps 240 --every 2 --policy compressed-disk --dir . --quiet";
    let longest = bench.run(args)?;
    let mut known = BTreeMap::<u32, Vec<u8>>::new();
    while bench.killed < count {
        let mut child = bench.start(args)?;
        let path = bench.path(&format!("ebz-rtm-{}.ebz", child.id()));
        bench.kill(&mut child, longest)?;
        let Ok(file) = std::fs::read(&path) else {
            continue;
        };
        std::fs::remove_file(path)?;
        let Ok((report, saved)) = ebz::recover(&&file[..], Vec::new()) else {
            // Not even one chunk was complete.
            continue;
        };
        let saved = Reader::from_source(&saved[..])?;
        let whole = report.iter().take_while(|frame| frame.lost.is_empty());
        let whole = whole.count();
        ensure!(
            whole + 1 >= report.len(),
            "{whole} of {} frames",
            report.len()
        );
        for number in 0..whole {
            let mut raw = Vec::new();
            let frame = saved.frame(number)?;
            let all: Vec<_> = frame.header().shape().iter().map(|&n| 0..n).collect();
            frame.write_region(&all, &mut raw)?;
            let same = known.entry(number as u32).or_insert_with(|| raw.clone());
            ensure!(*same == raw, "frame {number} has other values");
        }
    }
    ensure!(known.len() > 3, "no frames were recovered");
    Ok(())
}

/// A killed run continues from its last complete pass, and ends with the same bytes.
fn stencil(bench: &mut Bench, count: usize) -> Result<()> {
    std::fs::create_dir(bench.path("whole"))?;
    let longest = bench.run(&stencil_args("whole"))?;
    let whole = contents(&bench.path("whole").join(GRID))?;
    while bench.killed < count {
        let folder = bench.path("killed");
        std::fs::create_dir(&folder)?;
        let mut child = bench.start(&stencil_args("killed"))?;
        bench.kill(&mut child, longest)?;
        let grid = folder.join(GRID);
        let complete = ["grid-0.index", "grid-1.index"].map(|name| grid.join(name).exists());
        let again = stencil_args("killed");
        match complete.contains(&true) {
            true => bench.run(&format!("{again} --resume"))?,
            false => bench.run(&again)?,
        };
        if contents(&grid)? != whole {
            bail!("the result of a resumed run differs");
        }
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}
