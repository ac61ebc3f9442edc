//! `ebz verify`: checks that a file is intact, and that its bound holds.

use super::{Seekable, compare, each, frame_number};
use crate::Outcome;
use crate::args::{Extents, Layout, Verify};
use crate::input::Field;
use crate::progress;
use crate::report;
use anyhow::{Context, Result, ensure};
use ebz::metrics::Metrics;
use ebz::{Bound, FrameHeader, StreamReader};
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

pub fn run(args: &Verify) -> Result<Outcome> {
    ensure!(
        args.against.is_none() || args.inputs.len() == 1,
        "--against is the original of one file: name one"
    );
    each(&args.inputs, |input| one(args, input))
}

fn one(args: &Verify, input: &Path) -> Result<Outcome> {
    let source = Seekable::open(input)?;
    let whole = match check_file(&source, args) {
        Ok(frames) => frames,
        Err(error) => match error.downcast_ref::<ebz::Error>() {
            // The file may be fine: it could not be read.
            Some(ebz::Error::Io(_) | ebz::Error::LimitExceeded(_)) | None => return Err(error),
            Some(what) => {
                if args.talk.json {
                    report::say_json(&json!({"ok": false, "error": what.to_string()}))?;
                }
                report::complain(&report::line(&error));
                return Ok(Outcome::CheckFailed);
            }
        },
    };
    let mut result = json!({"ok": true, "frames": whole});
    let mut broken = None;
    let mut text = format!(
        "{}: {}, all checksums match",
        source.name,
        report::count(whole, "frame")
    );
    if let Some(original) = &args.against {
        ensure!(
            args.frame.is_some() || whole == 1,
            "{} holds {whole} frames: choose the one to compare with --frame N",
            source.name
        );
        let reader = source.reader(&args.memory)?;
        let number = frame_number(args.frame.unwrap_or(0), reader.frames())?;
        let header = reader.frame(number)?.header().clone();
        let mut decoded = Field::frame(
            &source.path,
            number,
            args.threads.count(),
            args.memory.limits(),
        )?;
        decoded.name.clone_from(&source.name);
        let layout = Layout {
            element: Some(header.element),
            shape: Some(Extents(header.shape().to_vec())),
            raw: false,
        };
        let temporary = std::env::temp_dir();
        let mut original = Field::open(original, &layout, &temporary, args.talk.quiet)?;
        let check = compare::Check {
            fill: header.fill,
            tolerance: Some(header.tolerance),
            ssim: false,
            threads: args.threads.count(),
            quiet: args.talk.quiet,
        };
        let metrics = compare::measure(&mut original, &mut decoded, &check, None)?;
        broken = violation(&header, &metrics);
        let over = match header.tolerance {
            ebz::Tolerance::Abs(e) => format!(" ({:.4} of the bound)", metrics.max_error / e),
            _ => String::new(),
        };
        text += &format!(
            "\nbound {} ({}) {}\nlargest error {}{over}, PSNR {:.2} dB",
            header.asked,
            report::tolerance(header.tolerance),
            if broken.is_none() {
                "holds for every value"
            } else {
                "IS BROKEN"
            },
            report::number(metrics.max_error),
            metrics.psnr
        );
        result["bound_holds"] = broken.is_none().into();
        result["violations"] = metrics.violations.into();
        result["metrics"] = serde_json::to_value(metrics.named())?;
        result["ok"] = broken.is_none().into();
        result["error"] = broken.clone().map_or(Value::Null, Value::from);
    }
    if args.talk.json {
        report::say_json(&result)?;
    } else if !args.talk.quiet {
        report::say(&text)?;
    }
    Ok(match broken {
        None => Outcome::Fine,
        Some(why) => {
            report::complain(&format!("{}: {why}", source.name));
            Outcome::CheckFailed
        }
    })
}

/// Reads the index, then every record sequentially, and compares the index with the records;
/// returns the number of frames.
fn check_file(source: &Seekable, args: &Verify) -> Result<usize> {
    let named = || source.name.clone();
    let reader = source.reader(&args.memory)?;
    if reader.is_unfinished() {
        let what = "wait for its writer, or save what is there with `ebz recover`";
        return Err(ebz::Error::truncated(what)).with_context(named);
    }
    for number in 0..reader.frames() {
        reader.frame(number).with_context(named)?;
    }
    let bar = progress::bar(reader.size(), "verify", args.talk.quiet);
    let file = File::open(&source.path)?;
    let input = bar.wrap_read(BufReader::with_capacity(1 << 16, file));
    let mut stream = StreamReader::new(input)
        .with_context(named)?
        .limits(args.memory.limits())
        .threads(args.threads.count());
    let mut frames = 0;
    while stream.next_frame().with_context(named)?.is_some() {
        frames += 1;
    }
    bar.finish_and_clear();
    Ok(frames)
}

/// Why the bound does not hold, if so.
fn violation(header: &FrameHeader, metrics: &Metrics) -> Option<String> {
    if metrics.violations > 0 {
        return Some(format!(
            "{} of {} values break the bound: was it made from this original?",
            metrics.violations, metrics.values
        ));
    }
    match header.asked {
        Bound::Psnr(db) if metrics.psnr < db => {
            Some(format!("PSNR {} is below {db} dB", metrics.psnr))
        }
        _ => None,
    }
}
