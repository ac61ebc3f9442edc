//! `ebz recover`: what is left of a damaged file, as a file that is whole.

use crate::Outcome;
use crate::args::Recover;
use crate::input::open_file;
use crate::output::Output;
use crate::report;
use anyhow::{Context, Result, ensure};
use std::path::Path;

pub fn run(args: &Recover) -> Result<Outcome> {
    let name = args.input.display();
    let (file, size) = open_file(&args.input)?;
    ensure!(size.is_some(), "{name} is not a file: save it as one first");
    let output = Output::create(&args.output, args.force.force)?;
    let (frames, output) = ebz::recover(&file, output).with_context(|| name.to_string())?;
    output.commit()?;
    if args.talk.json {
        let json = serde_json::to_value(&frames)?;
        if args.output != Path::new("-") {
            report::say_json(&json)?;
        }
        return Ok(Outcome::Fine);
    }
    for frame in &frames {
        let number = frame.frame;
        report::note(
            args.talk.quiet,
            &match frame.lost.len() {
                0 => format!("frame {number}: all {} chunks saved", frame.chunks),
                lost => format!(
                    "frame {number}: {} of {} chunks saved, {lost} lost (now NaN): {}",
                    frame.chunks - lost,
                    frame.chunks,
                    runs(&frame.lost)
                ),
            },
        );
    }
    Ok(Outcome::Fine)
}

/// Numbers in order as `3, 7-9`.
fn runs(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = runs.map(|run| match run {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    text.collect::<Vec<_>>().join(", ")
}
