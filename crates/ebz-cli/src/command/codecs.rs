//! `ebz codecs`: the table of codecs.

use crate::Outcome;
use crate::args::Codecs;
use crate::report;
use anyhow::Result;
use ebz::BoundKind;
use ebz::codec::{DEFAULT, TABLE};
use serde_json::json;
use std::fmt::Write;

pub fn run(args: &Codecs) -> Result<Outcome> {
    let mut text = String::new();
    let mut list = Vec::new();
    for entry in TABLE {
        let info = &entry.info;
        let bounds: Vec<_> = BoundKind::ALL
            .into_iter()
            .filter(|kind| entry.offers(*kind))
            .map(BoundKind::name)
            .collect();
        let mark = if info.name == DEFAULT {
            " (default)"
        } else {
            ""
        };
        writeln!(text, "{}{mark}: {}", info.name, info.summary)?;
        writeln!(text, "  bounds: {}", bounds.join(", "))?;
        for param in info.params {
            writeln!(
                text,
                "  --param {}=…  {} [default: {}]",
                param.name, param.help, param.default
            )?;
        }
        list.push(json!({
            "id": info.id,
            "name": info.name,
            "summary": info.summary,
            "default": info.name == DEFAULT,
            "bounds": bounds,
            "params": info.params,
        }));
    }
    if args.json {
        report::say_json(&list.into())?;
    } else {
        report::say(text.trim_end())?;
    }
    Ok(Outcome::Fine)
}
