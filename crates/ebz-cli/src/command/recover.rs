//! `ebz recover`: writes the intact parts of a damaged file to a new file.

use crate::Outcome;
use crate::args::Recover;
use crate::input::open_file;
use crate::output::Output;
use crate::report;
use anyhow::{Context, Result, ensure};
use ebz::recover_within;
use std::ops::Range;
use std::path::Path;

pub fn run(args: &Recover) -> Result<Outcome> {
    let name = args.input.display();
    let (file, size) = open_file(&args.input)?;
    ensure!(size.is_some(), "{name} is not a file: save it as one first");
    let output = Output::create(&args.output, &args.force, args.talk.quiet)?;
    let (frames, output) =
        recover_within(&file, output, args.memory.limits()).with_context(|| name.to_string())?;
    output.commit()?;
    if args.talk.json {
        let json = serde_json::to_value(&frames)?;
        if args.output != Path::new("-") {
            report::say_json(&json)?;
        }
        return Ok(Outcome::Fine);
    }
    for frame in &frames {
        let (number, chunks) = (frame.frame, frame.chunks);
        let lost: usize = frame.lost.iter().map(Range::len).sum();
        let saved = chunks - lost;
        report::note(
            args.talk.quiet,
            &match (lost, frame.written) {
                (0, _) => format!("frame {number}: all {chunks} chunks saved"),
                (_, true) => format!(
                    "frame {number}: {saved} of {chunks} chunks saved, {lost} lost (now NaN): {}",
                    runs(&frame.lost)
                ),
                (_, false) => {
                    format!(
                        "frame {number}: left out, only {saved} of its {chunks} chunks are there"
                    )
                }
            },
        );
    }
    Ok(Outcome::Fine)
}

/// Sorted numbers as `3, 7-9`.
fn runs(runs: &[Range<usize>]) -> String {
    let text = runs.iter().map(|run| match run.len() {
        1 => run.start.to_string(),
        _ => format!("{}-{}", run.start, run.end - 1),
    });
    text.collect::<Vec<_>>().join(", ")
}
