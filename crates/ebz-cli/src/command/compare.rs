//! `ebz compare`: errors and quality metrics of two arrays.

use super::plot::Plot;
use crate::Outcome;
use crate::args::{Compare, Extents, Layout};
use crate::foreign;
use crate::foreign::has_extension;
use crate::input::{Field, PIECE};
use crate::output::Output;
use crate::progress;
use crate::report;
use anyhow::{Result, ensure};
use ebz::metrics::{Comparison, Metrics, Setup};
use ebz::{Element, Fill, Tolerance, with_type};
use std::fmt::Write;
use std::path::Path;

pub fn run(args: &Compare) -> Result<Outcome> {
    let (mut a, mut b) = open_both(args)?;
    ensure!(
        a.element == b.element && a.shape == b.shape,
        "{} holds {} of shape {}, but {} holds {} of shape {}: types and shapes must match",
        a.name,
        a.element,
        report::shape(&a.shape),
        b.name,
        b.element,
        report::shape(&b.shape)
    );
    if let Some(path) = &args.plot {
        foreign::check_picture(path)?;
    }
    let mut plot = match &args.plot {
        Some(path) => Some((
            Plot::new(&a.shape)?,
            Output::create(path, &args.force, args.talk.quiet)?,
        )),
        None => None,
    };
    let check = Check {
        fill: match &args.fill[..] {
            [] => b.fill.or(a.fill).unwrap_or_default(),
            given => crate::args::fill(given)?,
        },
        tolerance: None,
        ssim: true,
        threads: args.threads.count(),
        quiet: args.talk.quiet,
    };
    let metrics = measure(&mut a, &mut b, &check, plot.as_mut().map(|(plot, _)| plot))?;
    if let (Some((plot, mut output)), Some(path)) = (plot, &args.plot) {
        let bound = match b.tolerance {
            Some(Tolerance::Abs(bound)) => Some(bound),
            _ => None,
        };
        plot.draw([&a.name, &b.name], bound, path, &mut output)?;
        output.commit()?;
    }
    if args.talk.json {
        let mut json = serde_json::to_value(metrics.named())?;
        json["ebz:exact"] = metrics.exact.into();
        json["ebz:lost_specials"] = metrics.lost_specials.into();
        json["ebz:histogram"] = serde_json::to_value(&metrics.histogram)?;
        report::say_json(&json)?;
    } else {
        let table = table(&metrics);
        report::say(&format!("{table}\n{}", histogram(&metrics)))?;
    }
    Ok(Outcome::Fine)
}

/// Opens both; a file without a header takes type and shape from the other.
fn open_both(args: &Compare) -> Result<(Field, Field)> {
    let temporary = std::env::temp_dir();
    let open = |path: &Path, layout: &Layout| match has_extension(path, "ebz") {
        true => Field::frame(path, 0, args.threads.count(), args.memory.limits()),
        false => Field::open(path, layout, &temporary, args.talk.quiet),
    };
    let told_by = |field: &Field| Layout {
        element: args.layout.element.or(Some(field.element)),
        raw: args.layout.raw,
        shape: args
            .layout
            .shape
            .clone()
            .or_else(|| Some(Extents(field.shape.clone()))),
    };
    let tells = |path: &Path| has_extension(path, "ebz") || has_extension(path, "npy");
    // Open files with a header first, without a layout from the command line.
    let a_first = tells(&args.a) || !tells(&args.b);
    let (first, second) = if a_first {
        (&args.a, &args.b)
    } else {
        (&args.b, &args.a)
    };
    let first = open(first, &args.layout)?;
    let second = match tells(second) {
        true => open(second, &args.layout)?,
        false => open(second, &told_by(&first))?,
    };
    Ok(if a_first {
        (first, second)
    } else {
        (second, first)
    })
}

/// What to compare, and how.
pub struct Check {
    pub fill: Fill,
    pub tolerance: Option<Tolerance>,
    pub ssim: bool,
    pub threads: usize,
    pub quiet: bool,
}

/// Compares two arrays of the same type and shape, in little memory.
pub fn measure(
    original: &mut Field,
    decoded: &mut Field,
    check: &Check,
    plot: Option<&mut Plot>,
) -> Result<Metrics> {
    with_type!(original.element, T => measure_as::<T>(original, decoded, check, plot))
}

fn measure_as<T: Element>(
    original: &mut Field,
    decoded: &mut Field,
    check: &Check,
    mut plot: Option<&mut Plot>,
) -> Result<Metrics> {
    original.make_replayable(&std::env::temp_dir())?;
    let bar = progress::bar(2 * original.bytes(), "compare", check.quiet);
    let scan = original.scan(check.fill, check.threads, &bar)?;
    let missing = scan.fill().values();
    let setup = Setup {
        range: scan.range(),
        fill: missing,
        // A chunk on its own detects fewer fill values than a scan of the whole array.
        exact_fill: !check.fill.is_auto(),
        tolerance: check.tolerance,
        ssim: check.ssim,
        threads: check.threads,
    };
    let mut comparison = Comparison::new(&original.shape, setup)?;
    let mut left: usize = original.shape.iter().product();
    let (mut from, mut to) = (original.reader()?, decoded.reader()?);
    let most = left.min(PIECE / T::SIZE);
    let (mut x, mut y) = (vec![T::default(); most], vec![T::default(); most]);
    while left > 0 {
        let count = left.min(most);
        let (x, y) = (&mut x[..count], &mut y[..count]);
        original.fill(&mut from, x)?;
        decoded.fill(&mut to, y)?;
        if let Some(plot) = &mut plot {
            plot.push(x, y, &missing);
        }
        comparison.push(x, y)?;
        left -= count;
        bar.inc(size_of_val(x) as u64);
    }
    bar.finish_and_clear();
    Ok(comparison.finish()?)
}

/// The metrics as text.
pub fn table(metrics: &Metrics) -> String {
    let mut rows = vec![
        ("values", metrics.values.to_string()),
        ("value range", report::number(metrics.value_range)),
        ("max error", report::number(metrics.max_error)),
        (
            "max pointwise error",
            report::number(metrics.max_relative_error),
        ),
        ("RMSE", report::number(metrics.rmse)),
        ("NRMSE", report::number(metrics.nrmse)),
        ("PSNR", format!("{:.2} dB", metrics.psnr)),
    ];
    if let Some(ssim) = metrics.ssim {
        rows.push(("SSIM", format!("{ssim:.6}")));
    }
    let exact = 100.0 * metrics.exact as f64 / metrics.values.max(1) as f64;
    rows.push(("autocorrelation", format!("{:.4}", metrics.autocorrelation)));
    rows.push(("exact values", format!("{} ({exact:.2} %)", metrics.exact)));
    if metrics.ordinary < metrics.values {
        let specials = metrics.values - metrics.ordinary;
        let text = format!("{specials}, {} of them lost", metrics.lost_specials);
        rows.push(("NaN, inf or fill", text));
    }
    let rows = rows
        .into_iter()
        .map(|(name, value)| vec![name.into(), value]);
    crate::table::table(2, &[], rows)
}

/// The error histogram as bars.
fn histogram(metrics: &Metrics) -> String {
    const MAX_BAR: u64 = 50;
    let histogram = &metrics.histogram;
    let half = (histogram.counts.len() / 2) as f64;
    let Some(&most) = histogram.counts.iter().max().filter(|most| **most > 0) else {
        return "no errors".into();
    };
    let mut text = String::from("errors that are not 0");
    for (bin, &count) in histogram.counts.iter().enumerate() {
        let low = (bin as f64 - half) * histogram.width;
        let bar = (u128::from(count) * u128::from(MAX_BAR)).div_ceil(u128::from(most)) as usize;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n{low:>11.3e} .. {:>10.3e} {count:>12} {}",
            low + histogram.width,
            "#".repeat(bar)
        );
    }
    text
}
