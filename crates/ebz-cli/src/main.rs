//! The command `ebz`: see `ebz --help`.

mod answers;
mod append;
mod args;
mod cleanup;
mod command;
mod device;
mod foreign;
mod input;
mod npy;
mod output;
mod picture;
mod progress;
mod quantity;
mod report;
mod spectrum;
mod table;
mod temporary;
mod trial;
mod wish;

use clap::Parser;
use std::process::ExitCode;

/// How a command ends that ran without an error.
pub enum Outcome {
    /// As it should.
    Fine,
    /// A check was made and failed.
    CheckFailed,
    /// Some of several inputs failed, and it was said why.
    SomeFailed,
}

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return report::usage(&error),
    };
    let result = cleanup::install().and_then(|()| command::run(args.command));
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Ok(Outcome::SomeFailed) => ExitCode::from(2),
        Err(error) => report::failure(&error),
    }
}
