//! `ebz info`: the contents of a file.

use super::{Seekable, each};
use crate::Outcome;
use crate::args::Info;
use crate::report;
use anyhow::{Context, Result};
use ebz::{Fill, Tolerance, codec};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

pub fn run(args: &Info) -> Result<Outcome> {
    each(&args.inputs, |input| one(args, input))
}

fn one(args: &Info, input: &Path) -> Result<Outcome> {
    let source = Seekable::open(input)?;
    let reader = source.reader(&args.memory)?;
    let mut frames = Vec::new();
    let mut text = String::new();
    let mut raw_bytes = 0;
    let mut largest: Option<f64> = None;
    for number in 0..reader.frames() {
        let frame = reader.frame(number).with_context(|| source.name.clone())?;
        let header = frame.header();
        let codec = codec::by_id(header.codec).map_or("unknown", |entry| entry.info.name);
        let raw = header.raw_bytes() as u64;
        let stored = frame.stored_bytes();
        let ratio = raw as f64 / stored as f64;
        raw_bytes += raw;
        if let Tolerance::Abs(bound) = header.tolerance {
            largest = Some(largest.map_or(bound, |largest| largest.max(bound)));
        }
        if args.json {
            let mut value = serde_json::to_value(header)?;
            if let Value::Object(fields) = &mut value {
                fields.extend([
                    ("codec".into(), codec.into()),
                    ("shape".into(), header.shape().into()),
                    ("chunk".into(), header.grid.chunk().into()),
                    ("chunks".into(), header.grid.chunks().into()),
                    ("raw_bytes".into(), raw.into()),
                    ("stored_bytes".into(), stored.into()),
                    ("ratio".into(), ratio.into()),
                ]);
            }
            frames.push(value);
            continue;
        }
        writeln!(
            text,
            "frame {number}: {} {}",
            header.element,
            report::shape(header.shape())
        )?;
        let params: String = header
            .params
            .iter()
            .map(|(k, v)| format!(" {k}={v}"))
            .collect();
        writeln!(text, "  codec     {codec}{}", report::printable(&params))?;
        let guarantee = report::tolerance(header.tolerance);
        writeln!(text, "  bound     {} ({guarantee})", header.asked)?;
        if header.fill.is_auto() || !header.fill.values().is_empty() {
            let how = match header.fill {
                Fill::Found(_) => " (found)",
                Fill::Auto | Fill::AutoAnd(_) => " (each chunk keeps what it finds)",
                _ => "",
            };
            writeln!(text, "  fill      {}{how}", header.fill)?;
        }
        if let Some(limits) = header.clip {
            writeln!(text, "  limits    {limits}")?;
        }
        if header.keep_zeros {
            writeln!(text, "  zeros     kept exactly")?;
        }
        let sizes = (report::bytes(raw), report::bytes(stored));
        writeln!(
            text,
            "  size      {} -> {}, ratio {ratio:.2}",
            sizes.0, sizes.1
        )?;
        let chunk = report::shape(header.grid.chunk());
        writeln!(text, "  chunks    {} of {chunk}", header.grid.chunks())?;
        if !header.metadata.is_null() {
            let metadata = report::printable(&header.metadata.to_string());
            writeln!(text, "  metadata  {metadata}")?;
        }
        writeln!(text, "  writer    {}", header.writer)?;
    }
    let ratio = raw_bytes as f64 / reader.size() as f64;
    if args.json {
        report::say_json(&json!({
            "file": source.name,
            "bytes": reader.size(),
            "raw_bytes": raw_bytes,
            "ratio": ratio,
            "largest_abs": largest,
            "unfinished": reader.is_unfinished(),
            "frames": frames,
        }))?;
    } else {
        let size = report::bytes(reader.size());
        let frames = report::count(reader.frames(), "frame");
        let name = report::printable(&source.name);
        // If frames found their own bounds, the loosest one holds for all.
        let loosest = match largest.filter(|_| reader.frames() > 1) {
            Some(bound) => format!(", largest abs {}", report::number(bound)),
            None => String::new(),
        };
        report::say(&format!(
            "{name}: {size}, {frames}, ratio {ratio:.2}{loosest}\n{}",
            text.trim_end()
        ))?;
    }
    Ok(Outcome::Fine)
}
