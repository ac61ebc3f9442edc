//! Power failures: of the requests up to a random one, those that were not flushed are dropped at random.
//! What was flushed must be there.

use super::bench::{Bench, GRID, append_args, contents, frames, identify, stencil_args};
use super::errors::shim;
use anyhow::{Context, Result, ensure};
use ebz::Reader;
use ebz_testkit::random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Fails `count` times at random requests of each run.
pub fn run(ebz: &Path, count: usize) -> Result<()> {
    println!("| | requests recorded | power failures | flushed work lost |");
    println!("|---|---|---|---|");
    for (name, work) in [
        (
            "append --sync",
            append as fn(&mut Bench, usize) -> Result<usize>,
        ),
        ("stencil on a compressed grid", stencil),
    ] {
        let requests = work(&mut Bench::new(ebz)?, count).context(name)?;
        println!("| {name} | {requests} | {count} | 0 |");
    }
    Ok(())
}

/// A request to a file.
struct Request {
    kind: u8,
    number: u64,
    path: PathBuf,
    data: Vec<u8>,
}

impl Request {
    fn target(&self) -> PathBuf {
        PathBuf::from(String::from_utf8_lossy(&self.data).into_owned())
    }
}

/// Runs a command and records its requests.
fn recorded(bench: &Bench, args: &str) -> Result<Vec<Request>> {
    let log = tempfile::NamedTempFile::new()?;
    let done = bench
        .command(args)
        .env("LD_PRELOAD", shim(bench.folder.path())?)
        .env("RECORD", log.path())
        .status()?;
    ensure!(done.success(), "ebz {args} failed");
    let log = std::fs::read(log.path())?;
    let mut rest = &log[..];
    let mut requests = Vec::new();
    while let Some((&kind, tail)) = rest.split_first() {
        rest = tail;
        let number = word(&mut rest)?;
        let mut text = || -> Result<Vec<u8>> {
            let length = word(&mut rest)? as usize;
            let (text, tail) = rest.split_at_checked(length).context("a short log")?;
            rest = tail;
            Ok(text.to_vec())
        };
        let (path, data) = (text()?, text()?);
        let path = PathBuf::from(String::from_utf8_lossy(&path).into_owned());
        requests.push(Request {
            kind,
            number,
            path,
            data,
        });
    }
    ensure!(
        requests.iter().any(|request| request.kind == b'S'),
        "nothing is flushed"
    );
    Ok(requests)
}

fn word(rest: &mut &[u8]) -> Result<u64> {
    let (word, tail) = rest.split_first_chunk().context("a short log")?;
    *rest = tail;
    Ok(u64::from_le_bytes(*word))
}

/// Files by an identity that renaming does not change, and what a folder calls them.
#[derive(Clone, Default)]
struct Disk {
    contents: BTreeMap<usize, Vec<u8>>,
    names: BTreeMap<PathBuf, usize>,
}

impl Disk {
    /// What a disk holds after a failure in place of request `end`.
    ///
    /// Writes to a file are there if the file was flushed after them; others are dropped at random.
    /// Changes of names happen in order, and none is there before the flush of the folder that
    /// follows it, unless all before it are.
    fn after(start: &Self, requests: &[Request], end: usize, random: &mut Random) -> Self {
        let mut now = start.clone();
        // Names as the program sees them, to find files; and as they are on disk.
        let mut on_disk = start.names.clone();
        let keep_writes = random.below(3);
        let named = |r: &Request| matches!(r.kind, b'R' | b'U' | b'O');
        let synced_folder = |at: usize| {
            let folder = requests[at].path.parent();
            let later = requests[at..end].iter();
            later
                .into_iter()
                .any(|r| r.kind == b'S' && Some(&*r.path) == folder)
        };
        let unsynced: Vec<usize> = (0..end)
            .filter(|&at| named(&requests[at]) && !synced_folder(at))
            .collect();
        let kept_names = match unsynced.is_empty() {
            true => end,
            false => *unsynced
                .get(random.below(unsynced.len() + 1))
                .unwrap_or(&end),
        };
        for (at, request) in requests[..end].iter().enumerate() {
            let Request {
                kind,
                number,
                path,
                data,
            } = request;
            if *kind == b'O' {
                let id = now.contents.len();
                now.contents.insert(id, Vec::new());
                now.names.insert(path.clone(), id);
            }
            let Some(&id) = now.names.get(path) else {
                continue;
            };
            let flushed = requests[at..end]
                .iter()
                .any(|r| r.kind == b'S' && r.path == *path);
            let there = flushed
                || match keep_writes {
                    0 => false,
                    1 => true,
                    _ => random.below(2) == 0,
                };
            let content = now.contents.entry(id).or_default();
            match kind {
                b'W' if there => {
                    let end = *number as usize + data.len();
                    content.resize(content.len().max(end), 0);
                    content[*number as usize..end].copy_from_slice(data);
                }
                b'T' if there => content.resize(*number as usize, 0),
                b'R' => {
                    now.names.remove(path);
                    now.names.insert(request.target(), id);
                }
                b'U' => drop(now.names.remove(path)),
                _ => {}
            }
            if named(request) && (at < kept_names || synced_folder(at)) {
                match kind {
                    b'O' => drop(on_disk.insert(path.clone(), id)),
                    b'U' => drop(on_disk.remove(path)),
                    _ => {
                        on_disk.retain(|_, other| *other != id);
                        on_disk.insert(request.target(), id);
                    }
                }
            }
        }
        now.names = on_disk;
        now
    }

    /// Writes the files of this folder.
    fn restore(&self, folder: &Path) -> Result<()> {
        std::fs::remove_dir_all(folder)?;
        std::fs::create_dir_all(folder)?;
        for (path, id) in &self.names {
            if path.starts_with(folder) {
                std::fs::write(path, &self.contents[id])?;
            }
        }
        Ok(())
    }
}

/// The frames before an append are there, whenever the power fails; the new one is, once it is flushed.
fn append(bench: &mut Bench, count: usize) -> Result<usize> {
    bench.array(0)?;
    bench.array(1)?;
    bench.run(&append_args(0))?;
    let path = bench.path("all.ebz").canonicalize()?;
    let mut start = Disk::default();
    start.contents.insert(0, std::fs::read(&path)?);
    start.names.insert(path.clone(), 0);
    let requests = recorded(bench, &format!("{} --sync", append_args(1)))?;
    let last = requests.iter().rposition(|r| r.kind != b'S').unwrap_or(0);
    let mut random = bench.random.clone();
    for _ in 0..count {
        let end = random.below(requests.len() + 1);
        let disk = Disk::after(&start, &requests, end, &mut random);
        let file = &disk.contents[&0][..];
        let failed = || format!("failure at request {end} of {}", requests.len());
        let flush = |r: &Request| r.kind == b'S' && r.path == path;
        if requests
            .get(last..end)
            .is_some_and(|rest| rest.iter().any(flush))
        {
            let found = frames(&Reader::from_source(file)?).with_context(failed)?;
            ensure!(found == [0, 1], "{}: {found:?}", failed());
            continue;
        }
        // Before that, the first frame needs recovery if requests after others are on disk.
        let read = |file: &[u8]| Reader::from_source(file)?.read::<f32>();
        let array = match read(file) {
            Ok(array) => array,
            Err(_) => read(&ebz::recover(&file, Vec::new()).with_context(failed)?.1)?,
        };
        ensure!(identify(array.values())? == 0, "{}", failed());
    }
    Ok(requests.len())
}

/// A run continues from a pass whose index was flushed, or a later one, to the same result.
fn stencil(bench: &mut Bench, count: usize) -> Result<usize> {
    std::fs::create_dir(bench.path("run"))?;
    let requests = recorded(bench, &stencil_args("run"))?;
    let folder = bench.path("run").join(GRID).canonicalize()?;
    let whole = contents(&folder)?;
    let mut random = bench.random.clone();
    for _ in 0..count {
        let end = random.below(requests.len() + 1);
        Disk::after(&Disk::default(), &requests, end, &mut random).restore(&folder)?;
        let index = |r: &Request| r.kind == b'R' && r.path.starts_with(&folder);
        let flush = |r: &Request| r.kind == b'S' && r.path == folder;
        let first = requests[..end].iter().position(index);
        let complete = first.is_some_and(|at| requests[at..end].iter().any(flush));
        let resumed = bench.run(&format!("{} --resume", stencil_args("run")));
        match resumed {
            Ok(_) => ensure!(
                contents(&folder)? == whole,
                "failure at {end}: another result"
            ),
            Err(error) => ensure!(!complete, "failure at request {end}: {error}"),
        }
    }
    Ok(requests.len())
}
