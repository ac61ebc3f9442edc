//! `ebz hdf5-args`: the argument for programs that apply HDF5 filters.

use crate::Outcome;
use crate::args::{Hdf5Args, Program};
use crate::report;
use anyhow::Result;
use ebz::hdf5::{FILTER_ID, to_words};

pub fn run(args: &Hdf5Args) -> Result<Outcome> {
    let words = to_words(&args.coding.options()?)?;
    let list: Vec<_> = words.iter().map(u32::to_string).collect();
    let list = list.join(",");
    report::say(&match args.program {
        // The 0 makes the filter mandatory: HDF5 fails rather than skip it.
        Program::H5repack => format!("UD={FILTER_ID},0,{},{list}", words.len()),
        Program::Nccopy => format!("{FILTER_ID},{list}"),
    })?;
    Ok(Outcome::Fine)
}
