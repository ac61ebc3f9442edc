//! Options for compression: bound, codec, parameters, missing data.

use crate::quantity;
use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args as Group};
use ebz::codec::Params;
use ebz::{Bound, BoundKind, Clip, Favor, Fill, Options};

// Headings of the help.
const BOUND: &str = "Bound, one of these";
const CODEC: &str = "Codec";
const VALUES: &str = "Special values";

#[derive(Debug, Group)]
#[command(group = ArgGroup::new("bound").multiple(false))]
pub struct OneBound {
    /// |x - x'| <= E
    #[arg(long, value_name = "E", group = "bound", help_heading = BOUND, allow_hyphen_values = true, value_parser = quantity::bound)]
    pub abs: Option<f64>,
    /// |x - x'| <= E (max - min) of the array
    #[arg(long, value_name = "E", group = "bound", help_heading = BOUND, allow_hyphen_values = true, value_parser = quantity::share)]
    pub range: Option<f64>,
    /// |x - x'| <= E |x|
    #[arg(long, value_name = "E", group = "bound", help_heading = BOUND, allow_hyphen_values = true, value_parser = quantity::share)]
    pub pointwise: Option<f64>,
    /// PSNR of at least DB
    #[arg(long, value_name = "DB", group = "bound", help_heading = BOUND, allow_hyphen_values = true)]
    pub psnr: Option<f64>,
    /// Raw size / compressed size of at least R
    #[arg(long, value_name = "R", group = "bound", help_heading = BOUND, allow_hyphen_values = true)]
    pub ratio: Option<f64>,
    /// Bits to keep
    #[arg(long, value_name = "N", group = "bound", help_heading = BOUND, allow_hyphen_values = true)]
    pub precision: Option<f64>,
    /// Bit-exact
    #[arg(long, group = "bound", help_heading = BOUND)]
    pub lossless: bool,
}

impl OneBound {
    /// The bound, if there is one.
    fn given(&self) -> Result<Option<Bound>> {
        let given = [
            (BoundKind::Abs, self.abs),
            (BoundKind::Range, self.range),
            (BoundKind::Pointwise, self.pointwise),
            (BoundKind::Psnr, self.psnr),
            (BoundKind::Ratio, self.ratio),
            (BoundKind::Precision, self.precision),
            (BoundKind::Lossless, self.lossless.then_some(0.0)),
        ];
        let bound = given.into_iter().find_map(|(kind, e)| Some((kind, e?)));
        let checked = bound.map(|(kind, value)| Bound::new(kind, value));
        Ok(checked.transpose()?)
    }

    fn bound(&self) -> Result<Bound> {
        self.given()?.context(
            "no bound. Give a bound, for example --range 1e-3 or --abs 0.01, or --lossless",
        )
    }
}

/// How to encode values, in memory or in a filter.
#[derive(Debug, Group)]
pub struct Coding {
    #[command(flatten)]
    pub bound: OneBound,
    /// Meet --ratio in one pass over the array: within a few per cent, at constant speed
    #[arg(long, requires = "ratio", help_heading = BOUND)]
    pub one_pass: bool,
    /// auto (by trials on samples of the array), fast, balanced, small, or a codec that `ebz codecs` lists
    #[arg(long, value_name = "NAME", help_heading = CODEC, default_value = ebz::codec::DEFAULT)]
    pub codec: String,
    /// What --codec auto favors: a codec that takes twice the time must halve the size (speed), reduce it by a
    /// tenth (balanced), or by any amount (ratio)
    #[arg(
        long,
        value_name = "speed|balanced|ratio",
        help_heading = CODEC,
        default_value = "balanced",
        hide_default_value = true
    )]
    pub favor: Favor,
    /// A parameter of the codec; may be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = CODEC)]
    pub param: Vec<String>,
    /// Missing data, stored exactly and excluded from the range (NaN always is): auto (the default) detects
    /// values such as 9.96921e36, 1e20 or -999 far outside of all others; none; or values, comma-separated or
    /// repeated
    #[arg(long, value_name = "FILL", help_heading = VALUES, allow_hyphen_values = true)]
    pub fill: Vec<String>,
    /// Limits of decompressed values, which hold wherever the original is within them, as in 0..1, 0.. or data
    /// (its own range); auto (the default) prevents negative values if the minimum is 0 and the bound needs a
    /// scan of the array; none
    #[arg(
        long,
        value_name = "MIN..MAX",
        help_heading = VALUES,
        allow_hyphen_values = true,
        default_value = "auto",
        hide_default_value = true
    )]
    pub clip: Clip,
    /// Store values that are exactly zero exactly, like fill values
    #[arg(long, help_heading = VALUES)]
    pub keep_zeros: bool,
}

/// The fill values from all options.
pub fn fill(given: &[String]) -> Result<Fill> {
    Ok(match given {
        [] => Fill::Auto,
        given => given.join(",").parse()?,
    })
}

impl Coding {
    /// The library's options.
    pub fn options(&self) -> Result<Options> {
        self.with(self.bound.bound()?)
    }

    /// The same, validated; `default` is the bound if none is given.
    pub fn options_or(&self, default: Bound) -> Result<Options> {
        let options = self.with(self.bound.given()?.unwrap_or(default))?;
        options.check()?;
        Ok(options)
    }

    fn with(&self, bound: Bound) -> Result<Options> {
        let mut options = Options::new(bound).codec(&self.codec).favor(self.favor);
        options.params = params(&self.param)?;
        options.fill = fill(&self.fill)?;
        options.clip = self.clip;
        options.keep_zeros = self.keep_zeros;
        options.one_pass = self.one_pass;
        Ok(options)
    }
}

fn key_value<'a>(text: &'a str, option: &str) -> Result<(&'a str, &'a str)> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key, value)),
        _ => bail!("{option} {text}: write it as KEY=VALUE"),
    }
}

/// All `--param` options.
pub fn params(given: &[String]) -> Result<Params> {
    let mut params = Params::default();
    for param in given {
        let (key, value) = key_value(param, "--param")?;
        params.set(key, value);
    }
    Ok(params)
}

/// All `--meta` options, as one JSON object.
pub fn metadata(given: &[String]) -> Result<Option<serde_json::Value>> {
    let mut all = serde_json::Map::new();
    for text in given {
        if text.trim_start().starts_with('{') {
            let object: serde_json::Map<_, _> = serde_json::from_str(text)
                .with_context(|| format!("--meta {text}: not a JSON object"))?;
            all.extend(object);
        } else {
            let (key, value) = key_value(text, "--meta")?;
            // Valid JSON values as such, everything else as text.
            let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            all.insert(key.into(), value);
        }
    }
    Ok((!all.is_empty()).then(|| all.into()))
}
