//! The subcommands, one file each.

mod bench;
mod codecs;
mod compare;
mod compress;
pub mod decompress;
mod devices;
mod hdf5_args;
mod info;
mod plot;
mod recover;
mod report;
mod shell;
mod sim;
pub mod suggest;
mod verify;

use crate::Outcome;
use crate::args::{Command, Memory};
use crate::foreign;
use crate::input::{Spool, open_file};
use anyhow::{Context, Result, ensure};
use ebz::Reader;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Runs a subcommand.
pub fn run(command: Command) -> Result<Outcome> {
    match command {
        Command::Compress(args) => compress::run(&args),
        Command::Decompress(args) => decompress::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Codecs(args) => codecs::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Recover(args) => recover::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Suggest(args) => suggest::run(&args),
        Command::Sim(args) => sim::run(&args),
        Command::Hdf5Args(args) => hdf5_args::run(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}

/// Runs a command on each of several inputs, and continues after errors.
fn each(inputs: &[PathBuf], mut act: impl FnMut(&Path) -> Result<Outcome>) -> Result<Outcome> {
    if let [input] = inputs {
        return act(input);
    }
    let (mut failed, mut broken) = (0, false);
    for input in inputs {
        match act(input) {
            Ok(outcome) => broken |= matches!(outcome, Outcome::CheckFailed),
            // The reader of our output is gone.
            Err(error) if crate::report::reader_is_gone(&error) => return Err(error),
            Err(error) => {
                crate::report::complain(&crate::report::line(&error));
                failed += 1;
            }
        }
    }
    if failed > 0 {
        crate::report::complain(&format!("{failed} of {} inputs failed", inputs.len()));
        return Ok(Outcome::SomeFailed);
    }
    Ok(match broken {
        true => Outcome::CheckFailed,
        false => Outcome::Fine,
    })
}

/// The output for one of several inputs: `output` is then a folder, made if its name looks like one, and
/// the file name is that of the default output.
fn output_in(output: &Path, default: &Path, several: bool) -> Result<PathBuf> {
    if several && output.extension().is_none() && !output.exists() {
        std::fs::create_dir(output)
            .with_context(|| format!("cannot make the folder {}", output.display()))?;
    }
    if output.is_dir() {
        let name = default.file_name().context("the input has no name")?;
        return Ok(output.join(name));
    }
    ensure!(
        !several,
        "{} cannot hold several outputs: name a folder with -o, or leave it out",
        output.display()
    );
    Ok(output.to_path_buf())
}

/// An index that may count from the end, if it exists.
fn from_end(number: i64, count: usize) -> Option<usize> {
    match usize::try_from(number) {
        Ok(number) => Some(number),
        Err(_) => count.checked_sub(usize::try_from(number.unsigned_abs()).ok()?),
    }
}

/// A frame number that may count from the end.
fn frame_number(number: i64, frames: usize) -> Result<usize> {
    from_end(number, frames)
        .filter(|frame| *frame < frames)
        .with_context(|| format!("there is no frame {number}: the file has {frames}"))
}

/// A file with random access; a pipe is copied to a temporary file.
struct Seekable {
    name: String,
    path: PathBuf,
    _spool: Option<Spool>,
}

impl Seekable {
    fn open(path: &Path) -> Result<Self> {
        let mut input: Box<dyn std::io::Read> = Box::new(std::io::stdin());
        let mut name = "standard input".into();
        if path != Path::new("-") {
            name = path.display().to_string();
            let (mut file, size) = open_file(path)?;
            if size.is_some() {
                foreign::check_compressed(&name, &mut file)?;
                return Ok(Self {
                    name,
                    path: path.to_path_buf(),
                    _spool: None,
                });
            }
            input = Box::new(file);
        }
        let spool = Spool::new(&mut input, &std::env::temp_dir())?;
        Ok(Self {
            name,
            path: spool.path().to_path_buf(),
            _spool: Some(spool),
        })
    }

    /// Opens it as `.ebz`.
    fn reader(&self, memory: &Memory) -> Result<Reader<File>> {
        let reader = Reader::open(&self.path).with_context(|| self.name.clone())?;
        if reader.is_unfinished() {
            crate::report::complain(&format!(
                "{} is being appended to, or a command that did so was killed: {} from before",
                self.name,
                crate::report::count(reader.frames(), "frame")
            ));
        }
        Ok(reader.limits(memory.limits()))
    }
}
