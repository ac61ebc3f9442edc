//! `ebz sim rtm`.

use crate::Outcome;
use crate::args::Rtm;
use anyhow::Result;

pub fn run(_args: &Rtm) -> Result<Outcome> {
    Ok(Outcome::Fine)
}
