//! `ebz codecs`: the table of codecs.

use crate::Outcome;
use crate::args::Codecs;
use crate::report;
use anyhow::Result;
use ebz::BoundKind;
use ebz::codec::{ALIASES, DEFAULT, Info, TABLE};
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
        let alias = ALIASES.iter().find(|(_, name)| *name == info.name);
        let mut mark = alias.map_or(String::new(), |(alias, _)| format!(", or {alias}"));
        if info.name == DEFAULT {
            mark += " (default)";
        }
        writeln!(text, "{}{mark}: {}", info.name, info.summary)?;
        writeln!(text, "  bounds: {}", bounds.join(", "))?;
        writeln!(text, "  rewriting: {}", rewriting(info))?;
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
            "alias": alias.map(|(alias, _)| alias),
            "default": info.name == DEFAULT,
            "bounds": bounds,
            "params": info.params,
            "rewrites_exactly": info.rewrites_exactly,
        }));
    }
    writeln!(
        text,
        "auto: one of the above for each array, by trials on samples\n  --favor speed, balanced or ratio"
    )?;
    if args.json {
        report::say_json(&list.into())?;
    } else {
        report::say(text.trim_end())?;
    }
    Ok(Outcome::Fine)
}

/// Whether compressing decompressed values again reproduces them.
fn rewriting(info: &Info) -> String {
    match info.rewrites_exactly {
        None => "values drift".into(),
        Some([]) => "exact (same bound, but none relative to the range)".into(),
        Some(params) => {
            let params: Vec<_> = params.iter().map(|(k, v)| format!("{k}={v}")).collect();
            format!(
                "values drift; exact with --param {}",
                params.join(" --param ")
            )
        }
    }
}
