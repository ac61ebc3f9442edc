//! `ebz report`: an HTML page that shows how compression affects an array.
//!
//! Steps: 1 load the array, 2 compress all of it as requested, 3 try every codec with several bounds on
//! a sample, 4 extract slices and spectra, 5 write a self-contained page.

mod slices;

use super::suggest::{Recommended, Suggested};
use crate::Outcome;
use crate::args::Report;
use crate::criteria::{self, Kept};
use crate::input::Field;
use crate::output::Output;
use crate::report;
use crate::spectrum;
use crate::trial::{Bench, Sample, Trial};
use anyhow::{Context, Result, ensure};
use ebz::metrics::Metrics;
use ebz::{Bound, BoundKind, Element, Tolerance, ValueScan, View, codec, with_type};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// The page, with a placeholder for the data.
const PAGE: &str = include_str!("../../../assets/report.html");
const PLACEHOLDER: &str = "@DATA@";

/// Size of the sample that every codec is tried on.
const SAMPLE_BYTES: usize = 4 << 20;
/// The bounds to try, relative to the range.
const BOUNDS: [f64; 5] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];

pub fn run(args: &Report) -> Result<Outcome> {
    let started = Instant::now();
    let path = args.output.clone().unwrap_or_else(|| {
        let mut name = args.input.clone().into_os_string();
        name.push(".html");
        PathBuf::from(name)
    });
    let quiet = args.talk.quiet;
    let mut field = Field::open(&args.input, &args.layout, &std::env::temp_dir(), quiet)?;
    let mut output = Output::create(&path, &args.force, quiet)?;
    let data = with_type!(field.element, T => data::<T>(&mut field, args)?);
    // Escaped, so that nothing in it closes the script element.
    let text = data.to_string().replace('<', "\\u003c");
    let (head, tail) = PAGE
        .split_once(PLACEHOLDER)
        .context("the page has no placeholder for the data")?;
    for part in [head, &text, tail] {
        output.write_all(part.as_bytes())?;
    }
    output.commit()?;
    if args.talk.json {
        report::say_json(&data["summary"])?;
    }
    let seconds = started.elapsed().as_secs_f64();
    if args.peers && cfg!(not(feature = "peers")) {
        report::note(quiet, peer_note(true, &[]));
    }
    for part in ["words", "advice"] {
        let text = data["summary"][part].as_str().unwrap_or_default();
        if !text.is_empty() {
            report::note(quiet, text);
        }
    }
    report::note(
        quiet,
        &format!("{} in {seconds:.1} s: open it in a browser", path.display()),
    );
    Ok(Outcome::Fine)
}

/// The data of the page.
fn data<T: Element>(field: &mut Field, args: &Report) -> Result<Value> {
    // 1. The array.
    let values: Vec<T> = field.load()?;
    ensure!(!values.is_empty(), "{} holds no values to show", field.name);
    let options = args.coding.options_or(Bound::Range(1e-3))?;
    ensure!(
        !matches!(options.bound.kind(), BoundKind::Psnr | BoundKind::Ratio),
        "a report takes a bound on values: --abs, --range, --pointwise, --precision or --lossless"
    );
    let scan = ValueScan::of(&values, options.fill);
    let fill = scan.fill();

    // 2. As requested.
    let mut bench = Bench::<T>::new(scan.range(), fill, true);
    let whole = Sample {
        values: &values,
        shape: field.shape.clone(),
    };
    let choice = match options.is_auto() {
        true => Some(ebz::choose(&View::new(&values, &field.shape)?, &options)?),
        false => None,
    };
    let entry = match choice {
        Some(choice) => codec::by_name(choice.codec)?,
        None => options.check()?,
    };
    let (chosen, metrics) = bench.run_with(&whole, entry, options.bound, options)?;
    let decoded = std::mem::take(&mut bench.decoded);

    // 3. All codecs, on a sample.
    bench.ssim = false;
    let sample = Sample::of(&values, &field.shape, SAMPLE_BYTES);
    let mut trials = Vec::new();
    let lossy = codec::TABLE
        .iter()
        .filter(|entry| entry.offers(BoundKind::Abs) && entry.info.name != "raw");
    for entry in lossy.filter(|_| scan.range().extent() > 0.0) {
        // The first run, which allocates buffers and reads the code, is not counted.
        bench.run(&sample, entry, Bound::Range(BOUNDS[0]))?;
        for bound in BOUNDS {
            trials.push(bench.run(&sample, entry, Bound::Range(bound))?.0);
        }
    }

    let peers = match args.peers && scan.range().extent() > 0.0 {
        true => peer_trials(&mut bench, &sample)?,
        false => Vec::new(),
    };

    // 4. Slices and spectra.
    let missing = fill.values();
    let is_missing =
        |x: T| !x.is_finite() || missing.as_slice().iter().any(|&f| T::from_f64(f) == x);
    let bound = match chosen.tolerance {
        Tolerance::Abs(bound) => Some(bound),
        _ => None,
    };
    let scale = bound.unwrap_or(0.0).max(metrics.max_error);
    let slices = slices::take(
        &field.shape,
        &values,
        &decoded,
        scan.range(),
        scale,
        is_missing,
    );
    let rows = |pick: &dyn Fn(T, T) -> f64| rows(&field.shape, &values, &decoded, pick, is_missing);
    let spectra = json!({
        "original": spectrum::power(&rows(&|x, _| x.to_f64())),
        "decoded": spectrum::power(&rows(&|_, y| y.to_f64())),
        "error": spectrum::power(&rows(&|x, y| y.to_f64() - x.to_f64())),
    });

    // 5. The page.
    let mut words = words(field, &chosen, &metrics, &trials);
    if let Some(choice) = choice {
        words += &format!(" Chosen by auto: {choice}.");
    }
    let kept = Kept::of(
        &criteria::DEFAULT,
        &chosen,
        &field.shape,
        &values,
        &decoded,
        is_missing,
    );
    let advice = match scan.range().extent() > 0.0 {
        true => advice(&kept, &Suggested::of(&values, &field.shape, &[], fill)?),
        false => String::new(),
    };
    Ok(json!({
        "name": field.name,
        "element": field.element,
        "shape": field.shape,
        "bytes": field.bytes(),
        "range": [scan.range().min, scan.range().max],
        "fill": missing.to_string(),
        "missing": metrics.values - metrics.ordinary,
        "sample_bytes": size_of_val(sample.values),
        "error_scale": scale,
        "bound": bound,
        "guarantee": report::tolerance(chosen.tolerance),
        "chosen": chosen,
        "metrics": metrics.named(),
        "exact": metrics.exact,
        "histogram": metrics.histogram,
        "trials": trials,
        "peers": peers,
        "note": peer_note(args.peers, &peers),
        "slices": slices,
        "spectra": spectra,
        "version": env!("CARGO_PKG_VERSION"),
        "summary": {"words": words, "advice": advice, "chosen": chosen, "metrics": metrics.named()},
    }))
}

/// Other compressors on the sample, with all bounds.
#[cfg(feature = "peers")]
fn peer_trials<T: Element>(bench: &mut Bench<T>, sample: &Sample<'_, T>) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for peer in crate::peers::all(sample.values, sample.shape.len()) {
        for bound in BOUNDS.map(Bound::Range) {
            trials.extend(bench.run_peer(sample, peer.as_ref(), bound)?);
        }
    }
    Ok(trials)
}

#[cfg(not(feature = "peers"))]
fn peer_trials<T: Element>(_: &mut Bench<T>, _: &Sample<'_, T>) -> Result<Vec<Trial>> {
    Ok(Vec::new())
}

/// What the page says about other compressors.
fn peer_note(requested: bool, peers: &[Trial]) -> &'static str {
    match (requested, cfg!(feature = "peers"), peers.is_empty()) {
        (true, false, _) => {
            "Other compressors are missing: this ebz was built without `--features peers`."
        }
        (true, true, true) => "No other compressor supports this array.",
        (true, true, false) => {
            "Dashed: other compressors, with the same bounds, which they need not keep."
        }
        (false, true, _) => "`ebz report --peers` adds other compressors.",
        (false, false, _) => "",
    }
}

/// Pieces of rows of the fastest axis, spread over the array, without those with missing values.
fn rows<T: Element>(
    shape: &[usize],
    values: &[T],
    decoded: &[T],
    pick: &dyn Fn(T, T) -> f64,
    is_missing: impl Fn(T) -> bool,
) -> Vec<Vec<f64>> {
    let (starts, length) = spectrum::pieces(shape, values.len());
    starts
        .into_iter()
        .map(|start| start..start + length)
        .map(|piece| (&values[piece.clone()], &decoded[piece]))
        .filter(|(x, _)| !x.iter().any(|&x| is_missing(x)))
        .map(|(x, y)| x.iter().zip(y).map(|(&x, &y)| pick(x, y)).collect())
        .collect()
}

/// Whether the array as requested meets the usual criteria, and what is recommended for them.
fn advice(kept: &Kept, suggested: &Suggested) -> String {
    // Some are not defined, such as ssim on a line.
    let defined = criteria::DEFAULT.iter();
    let defined = defined.filter(|criterion| kept.get(criterion.kind).is_some());
    let (met, missed): (Vec<_>, Vec<_>) = defined.partition(|criterion| kept.holds(criterion));
    let mut text = match (&met[..], &missed[..]) {
        (_, []) => format!("This meets {}", criteria::names(&met)),
        ([], _) => format!("This meets none of {}", criteria::names(&missed)),
        _ => format!(
            "This meets {}, but not {}",
            criteria::names(&met),
            criteria::names(&missed)
        ),
    };
    text += " (thresholds of ldcpy for climate data, and spectra within 1 %). ";
    text += &match suggested.recommended() {
        Some(Recommended { trial, without }) => format!(
            "Recommended if these matter: --range {:e} --codec {}, the largest bound that meets {} on a sample, with \
             ratio {:.1}.",
            trial.bound.value(),
            trial.codec,
            match without.is_empty() {
                true => "all of them".into(),
                false => format!(
                    "all that a bound can meet (all but {})",
                    criteria::names(&without)
                ),
            },
            trial.ratio
        ),
        None => "No bound meets them: if they matter, use --lossless.".into(),
    };
    text + " `ebz suggest` shows the figures."
}

/// How the time of a codec compares with that of another, in words.
fn duration(times: f64) -> String {
    match times {
        ..0.95 => "in less time".into(),
        ..1.05 => "in the same time".into(),
        ..9.95 => format!("in {times:.1} times the time"),
        _ => format!("in {times:.0} times the time"),
    }
}

/// A summary in words.
fn words(field: &Field, chosen: &Trial, metrics: &Metrics, trials: &[Trial]) -> String {
    let mut text = format!(
        "{} of {} take {:.1} times {} space with {} and {}: {}. The largest error is {}",
        report::bytes(field.bytes()),
        field.element,
        chosen.ratio.max(1.0 / chosen.ratio),
        if chosen.ratio < 1.0 { "more" } else { "less" },
        chosen.codec,
        chosen.bound,
        report::tolerance(chosen.tolerance),
        report::number(metrics.max_error),
    );
    if metrics.psnr.is_finite() {
        text += &format!(", PSNR {:.1} dB", metrics.psnr);
    }
    text += ".";
    // Other codecs at the same bound, on the sample.
    let same = |trial: &&Trial| trial.bound == chosen.bound;
    let Some(own) = trials.iter().filter(same).find(|t| t.codec == chosen.codec) else {
        return text;
    };
    let best = |key: fn(&Trial) -> f64| {
        let others = trials.iter().filter(same);
        others.max_by(|a, b| key(a).total_cmp(&key(b)))
    };
    if let Some(smallest) = best(|t| t.ratio).filter(|t| t.ratio > 1.05 * own.ratio) {
        text += &format!(
            " {} makes it {:.0} % smaller still, {}.",
            smallest.codec,
            100.0 * (1.0 - own.ratio / smallest.ratio),
            duration(own.compress / smallest.compress),
        );
    }
    if let Some(fastest) = best(|t| t.compress).filter(|t| t.compress > 1.2 * own.compress) {
        text += &format!(
            " {} is {:.1} times as fast, with ratio {:.1}.",
            fastest.codec,
            fastest.compress / own.compress,
            fastest.ratio,
        );
    }
    if metrics.ssim.is_some_and(|ssim| ssim < 0.995) {
        text += " The structural similarity is below 0.995, the threshold of ldcpy for climate data (Baker et \
                 al. 2019): a smaller bound may be wiser.";
    }
    text
}
