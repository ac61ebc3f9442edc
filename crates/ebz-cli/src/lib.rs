//! The command `ebz` as a function, for the executable and the Python package.

mod append;
mod args;
mod cleanup;
mod command;
mod criteria;
mod device;
mod foreign;
mod hints;
mod input;
mod npy;
mod output;
#[cfg(feature = "peers")]
mod peers;
mod picture;
mod progress;
mod quantity;
mod report;
mod spectrum;
mod table;
mod temporary;
mod trial;

pub use command::suggest::suggest;

/// Used by the project's own tests; not stable.
#[doc(hidden)]
pub mod internals {
    pub use crate::args::extents;
    pub use crate::command::decompress::region;
    pub use crate::npy::Header;
}

use clap::Parser;
use std::ffi::OsString;

/// The outcome of a command that ran without an error.
enum Outcome {
    /// Success.
    Fine,
    /// A check failed.
    CheckFailed,
    /// Some of several inputs failed, and the errors were printed.
    SomeFailed,
}

/// Runs the command with these arguments, the first of which is its name; returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let args = match args::Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => return report::usage(&error),
    };
    let result = cleanup::install().and_then(|()| command::run(args.command));
    match result {
        Ok(Outcome::Fine) => 0,
        Ok(Outcome::CheckFailed) => 1,
        Ok(Outcome::SomeFailed) => 2,
        Err(error) => report::failure(&error),
    }
}
