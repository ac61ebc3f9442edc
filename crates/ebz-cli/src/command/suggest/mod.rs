//! `ebz suggest`: bounds for people who have none.
//!
//! Steps: 1 load the array, 2 what its values say themselves, 3 try bounds on a part of it until the
//! largest that keeps all wishes is found, 4 a table, and one line to use.

mod data;

use crate::Outcome;
use crate::args::Suggest;
use crate::input::Field;
use crate::report;
use crate::table::table;
use crate::trial::{Bench, Sample, Trial};
use crate::wish::{self, Kept, Wish};
use anyhow::{Result, ensure};
use ebz::{Bound, Element, ValueScan, codec, with_type};
use serde_json::{Value, json};

/// Bytes of the part of the array that bounds are tried on.
const SAMPLE: usize = 4 << 20;
/// Bounds relative to the range, one in a decade; between the last that fails and the first that keeps all
/// wishes, others are tried.
const DECADES: [f64; 7] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];
const BETWEEN: [f64; 2] = [5.0, 2.0];
/// The codecs that are tried: fast, balanced, small.
const CODECS: [&str; 3] = ["fz", "ceaz", "interp"];

pub fn run(args: &Suggest) -> Result<Outcome> {
    let folder = std::env::temp_dir();
    let mut field = Field::open(&args.input, &args.layout, &folder, args.talk.quiet)?;
    with_type!(field.element, T => suggest::<T>(&mut field, args)?);
    Ok(Outcome::Fine)
}

/// A bound with what every codec makes of it and keeps.
struct Step {
    bound: f64,
    trials: Vec<Trial>,
    kept: Vec<Kept>,
    /// The codec with the best ratio of those that keep all wishes.
    best: Option<usize>,
}

impl Step {
    /// The codec to show: the best one, or that for small files where none keeps all.
    fn shown(&self) -> usize {
        self.best.unwrap_or(CODECS.len() - 1)
    }
}

fn suggest<T: Element>(field: &mut Field, args: &Suggest) -> Result<()> {
    // 1. The array.
    let values: Vec<T> = field.load()?;
    ensure!(
        !values.is_empty(),
        "{} holds no values to look at",
        field.name
    );
    let scan = ValueScan::of(&values, crate::args::fill(&args.fill)?);
    let fill = scan.fill();
    ensure!(
        scan.range().extent() > 0.0,
        "all values of {} are the same or missing: --lossless costs nothing",
        field.name
    );

    // 2. What the values say.
    let missing = fill.values();
    let is_missing =
        |x: T| !x.is_finite() || missing.as_slice().iter().any(|&f| T::from_f64(f) == x);
    let said = data::suggestions(&data::runs(&values, is_missing));

    // 3. What wishes ask for.
    let wishes = match &args.keep[..] {
        [] => &wish::USUAL[..],
        given => given,
    };
    let sample = Sample::of(&values, &field.shape, SAMPLE);
    let mut bench = Bench::<T>::new(scan.range(), fill, true);
    let mut step = |bound: f64| -> Result<Step> {
        let (mut trials, mut kept) = (Vec::new(), Vec::new());
        for name in CODECS {
            let entry = codec::by_name(name)?;
            let (trial, _) = bench.run(&sample, entry, Bound::Range(bound))?;
            let decoded = &bench.decoded;
            kept.push(Kept::of(
                &trial,
                &sample.shape,
                sample.values,
                decoded,
                is_missing,
            ));
            trials.push(trial);
        }
        let holds = |i: &usize| wishes.iter().all(|wish| kept[*i].holds(wish));
        let ratio = |i: &usize| trials[*i].ratio;
        let able = (0..CODECS.len()).filter(holds);
        let best = able.max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        Ok(Step {
            bound,
            trials,
            kept,
            best,
        })
    };
    let holds = |step: &Step| step.best.is_some();
    let mut steps: Vec<Step> = Vec::new();
    for bound in DECADES {
        steps.push(step(bound)?);
        if steps.last().is_some_and(holds) {
            for factor in BETWEEN {
                let between = step(factor * bound)?;
                let found = holds(&between);
                steps.insert(steps.len() - 1, between);
                if found {
                    break;
                }
            }
            break;
        }
    }
    steps.sort_by(|a, b| b.bound.total_cmp(&a.bound));
    let chosen = steps.iter().find(|step| holds(step));

    // 4. The table.
    if args.talk.json {
        return report::say_json(&as_json(field, wishes, &said, &steps, chosen));
    }
    let mut text = format!(
        "{}: {} {}",
        field.name,
        field.element,
        report::shape(&field.shape)
    );
    if !said.is_empty() {
        let rows = said.iter().map(|said| {
            let bound = Bound::from(said.tolerance);
            vec![
                format!("--{} {:.1e}", bound.kind().name(), bound.value()),
                said.why.clone(),
            ]
        });
        text += &format!("\n\nFrom the values:\n{}", table(2, &[], rows));
    }
    let mut header = vec!["bound".to_string()];
    header.extend(CODECS.map(|name| format!("{name}\nratio")));
    header.extend(["best", "PSNR\ndB"].map(String::from));
    header.extend(
        wishes
            .iter()
            .map(|wish| format!("{}\n{}", wish.kind.name(), wish.threshold)),
    );
    let header: Vec<_> = header.iter().map(String::as_str).collect();
    let rows = steps.iter().map(|step| {
        let mut row = vec![format!("--range {:e}", step.bound)];
        row.extend(
            step.trials
                .iter()
                .map(|trial| format!("{:.1}", trial.ratio)),
        );
        let shown = step.shown();
        row.push(step.best.map_or("-", |i| CODECS[i]).into());
        row.push(format!("{:.1}", step.trials[shown].psnr));
        row.extend(wishes.iter().map(|wish| {
            let mark = if step.kept[step.shown()].holds(wish) {
                "yes"
            } else {
                "no"
            };
            match step.kept[step.shown()].get(wish.kind) {
                Some(value) => format!("{} {mark}", report::number(value)),
                None => "-".into(),
            }
        }));
        row
    });
    text += &format!(
        "\n\nFrom what is to be kept, on {} of the array ({}):\n{}",
        report::bytes(size_of_val(sample.values) as u64),
        match &args.keep[..] {
            [] => "thresholds of ldcpy for climate data, and spectra within 1 %",
            _ => "as asked",
        },
        table(1, &header, rows)
    );
    text += &match chosen {
        Some(step) => {
            let best = &step.trials[step.shown()];
            format!(
                "\n\nAll of it is kept with\n  ebz compress {} --range {:e} --codec {}   ratio {:.1}, {:.2} GB/s",
                field.name, step.bound, best.codec, best.ratio, best.compress
            )
        }
        None => "\n\nNo bound from 0.1 to 1e-7 of the range keeps all of it: use --lossless".into(),
    };
    report::say(&text)
}

fn as_json(
    field: &Field,
    wishes: &[Wish],
    said: &[data::Suggestion],
    steps: &[Step],
    chosen: Option<&Step>,
) -> Value {
    let said: Vec<_> = said
        .iter()
        .map(|said| json!({"bound": Bound::from(said.tolerance), "why": said.why}))
        .collect();
    let steps: Vec<_> = steps
        .iter()
        .map(|step| {
            let wishes: serde_json::Map<_, _> = wishes
                .iter()
                .map(|wish| {
                    let value = json!({
                        "threshold": wish.threshold,
                        "value": step.kept[step.shown()].get(wish.kind),
                        "holds": step.kept[step.shown()].holds(wish),
                    });
                    (wish.kind.name().into(), value)
                })
                .collect();
            json!({
                "range": step.bound,
                "codec": step.best.map(|i| CODECS[i]),
                "trials": step.trials,
                "wishes": wishes,
            })
        })
        .collect();
    json!({
        "input": field.name,
        "element": field.element,
        "shape": field.shape,
        "from_values": said,
        "steps": steps,
        "range": chosen.map(|step| step.bound),
        "codec": chosen.and_then(|step| step.best).map(|i| CODECS[i]),
    })
}
