//! `ebz completions` and `ebz man`: shell completions and manual pages.

use crate::Outcome;
use crate::args::{Args, Completions, Man};
use crate::report;
use anyhow::{Context, Result};
use clap::CommandFactory;

pub fn completions(args: &Completions) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "ebz", &mut script);
    report::say(String::from_utf8(script)?.trim_end())?;
    Ok(Outcome::Fine)
}

pub fn man(args: &Man) -> Result<Outcome> {
    let failed = || format!("cannot write to {}", args.folder.display());
    std::fs::create_dir_all(&args.folder).with_context(failed)?;
    clap_mangen::generate_to(Args::command(), &args.folder).with_context(failed)?;
    Ok(Outcome::Fine)
}
