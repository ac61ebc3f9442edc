//! The command `ebz`: see `ebz --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ebz_cli::run(std::env::args_os()).into()
}
