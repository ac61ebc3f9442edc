//! Output: results on standard output, messages and errors on standard error.

use crate::hints;
use anyhow::{Error, Result};
use std::io::{ErrorKind, Write};

/// Prints a result. Not `println!`, which panics if standard output is closed.
pub fn say(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Prints a value as JSON.
pub fn say_json(value: &serde_json::Value) -> Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    // JSON allows some control characters that terminals interpret; they only occur within strings.
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() && c != '\n' {
            true => safe += &format!("\\u{:04x}", u32::from(c)),
            false => safe.push(c),
        }
    }
    say(&safe)
}

/// Text from a file or a name, without terminal control sequences.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => safe.extend(c.escape_default()),
            false => safe.push(c),
        }
    }
    safe
}

/// Prints a message, unless the user wants none.
pub fn note(quiet: bool, text: &str) {
    if !quiet {
        complain(text);
    }
}

/// Prints a line to standard error, which may be closed as well.
pub fn complain(text: &str) {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = printable(&line);
    // No colours without a terminal.
    let bold = anstyle::Style::new().bold();
    let _ = writeln!(anstream::stderr(), "{bold}ebz:{bold:#} {line}");
}

/// Whether an error is a broken pipe of our output.
pub fn reader_is_gone(error: &Error) -> bool {
    let gone = |cause: &(dyn std::error::Error + 'static)| {
        let io = match cause.downcast_ref::<ebz::Error>() {
            Some(ebz::Error::Io(io)) => Some(io),
            _ => cause.downcast_ref::<std::io::Error>(),
        };
        io.is_some_and(|io| io.kind() == ErrorKind::BrokenPipe)
    };
    error.chain().any(gone)
}

/// Prints an error in one line; nothing if the reader of our output is gone.
pub fn failure(error: &Error) -> u8 {
    if reader_is_gone(error) {
        return 0;
    }
    complain(&line(error));
    2
}

/// An error with its causes; some errors already include theirs.
pub fn line(error: &Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Prints help and versions as they are, and usage errors in one line.
pub fn usage(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
    }
    let text = error.render().to_string();
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return 2;
    }
    if let Some(hint) = hints::foreign_option(error) {
        complain(&hint);
        return 2;
    }
    // Everything before the usage: the message, and possibly what was missing.
    let message: Vec<_> = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:"))
        .map(|line| line.trim().trim_start_matches("error: "))
        .filter(|line| !line.is_empty() && !line.starts_with("For more information"))
        .collect();
    complain(&format!(
        "{}; `ebz help` and `ebz COMMAND --help` show how",
        message.join(" ")
    ));
    2
}

/// A human-readable number of bytes.
pub fn bytes(count: u64) -> String {
    indicatif::BinaryBytes(count).to_string()
}

/// A number with a noun.
pub fn count(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

/// A shape as on the command line.
pub fn shape(extents: &[usize]) -> String {
    match extents {
        [] => "()".into(),
        _ => extents
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join("x"),
    }
}

/// A human-readable number with six digits.
pub fn number(value: f64) -> String {
    let rounded = format!("{value:.5e}").parse().unwrap_or(value);
    match f64::abs(rounded) {
        size if (1e-4..1e6).contains(&size) || size == 0.0 || !size.is_finite() => {
            rounded.to_string()
        }
        _ => format!("{rounded:e}"),
    }
}

/// A human-readable tolerance.
pub fn tolerance(tolerance: ebz::Tolerance) -> String {
    match tolerance {
        ebz::Tolerance::Abs(e) => format!("|error| <= {}", number(e)),
        ebz::Tolerance::Pointwise(e) => format!("|error| <= {} |x|", number(e)),
        ebz::Tolerance::Precision(bits) => format!("{bits} bits kept"),
        ebz::Tolerance::Lossless => "every bit kept".into(),
    }
}
