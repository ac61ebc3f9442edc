//! Settings from the environment.

use ebz::Bound;
use ebz_mpi::{Mode, Settings};
use std::sync::LazyLock;

/// The parsed environment.
pub struct Environment {
    /// `None` if no bound is set: everything passes through to MPI.
    pub settings: Option<Settings>,
    /// Minimum size of compressed messages.
    pub min_bytes: usize,
    /// Whether to log every call.
    pub verbose: bool,
}

/// The settings of this process.
pub static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| {
    let variable = |name: &str| std::env::var(format!("EBZ_MPI_{name}")).ok();
    let settings = match settings_of(&variable) {
        Ok(settings) => settings,
        Err(text) => {
            eprintln!("ebz: {text}: nothing is compressed");
            None
        }
    };
    Environment {
        settings,
        min_bytes: variable("MIN_BYTES")
            .and_then(|n| n.parse().ok())
            .unwrap_or(1 << 16),
        verbose: variable("VERBOSE").is_some_and(|v| v != "0"),
    }
});

fn settings_of(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Settings>, String> {
    let number = |name: &str| -> Result<Option<f64>, String> {
        match variable(name) {
            Some(text) => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("EBZ_MPI_{name}={text} is not a number")),
            },
            None => Ok(None),
        }
    };
    let bound = match (number("ABS")?, number("RANGE")?) {
        (None, None) => return Ok(None),
        (Some(e), None) => Bound::Abs(e),
        (None, Some(e)) => Bound::Range(e),
        _ => return Err("EBZ_MPI_ABS and EBZ_MPI_RANGE are both set".into()),
    };
    let mut settings = Settings::new(bound);
    if let Some(codec) = variable("CODEC") {
        settings = settings.codec(&codec);
    }
    settings
        .options
        .check()
        .map_err(|error| error.to_string())?;
    settings.mode = match variable("MODE").as_deref() {
        None | Some("adaptive") => Mode::Adaptive,
        Some("always") => Mode::Always,
        Some("never") => Mode::Never,
        Some(other) => {
            return Err(format!(
                "EBZ_MPI_MODE={other} is not one of adaptive, always, never"
            ));
        }
    };
    Ok(Some(settings))
}
