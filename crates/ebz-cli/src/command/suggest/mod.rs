//! `ebz suggest`: suggests a bound.
//!
//! Steps: 1 load the array, 2 examine its values, 3 try bounds on a sample to find the largest one that
//! meets all criteria, 4 print a table and a command line.

mod data;

use crate::Outcome;
use crate::args::Suggest;
use crate::criteria::{self, Criterion, Kept};
use crate::input::Field;
use crate::report;
use crate::table::table;
use crate::trial::{Bench, Sample, Trial};
use anyhow::{Context, Result, ensure};
use ebz::{Bound, Element, ElementType, Fill, FillValues, ValueScan, codec, with_type};
use serde_json::{Value, json};

/// Size of the sample that bounds are tried on.
const SAMPLE_BYTES: usize = 4 << 20;
/// Bounds relative to the range, one per decade; BETWEEN refines the step between the last failure and the
/// first success.
const DECADES: [f64; 7] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];
const BETWEEN: [f64; 2] = [5.0, 2.0];
/// The codecs to try: fast, balanced, small.
const CODECS: [&str; 3] = ["fz", "ceaz", "interp"];

pub fn run(args: &Suggest) -> Result<Outcome> {
    let folder = std::env::temp_dir();
    let mut field = Field::open(&args.input, &args.layout, &folder, args.talk.quiet)?;
    let fill = crate::args::fill(&args.fill)?;
    let found = with_type!(field.element, T => {
        let values: Vec<T> = field.load()?;
        Suggested::of(&values, &field.shape, &args.keep, fill).with_context(|| field.name.clone())
    })?;
    match args.talk.json {
        true => report::say_json(&found.json(&field.name))?,
        false => report::say(&found.text(&field.name, &command(args)))?,
    }
    Ok(Outcome::Fine)
}

/// The command that compresses the input, up to the bound.
fn command(args: &Suggest) -> String {
    let name = args.input.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+=:,@%".contains(c);
    let mut text = match name.chars().all(is_plain) {
        true => format!("ebz compress {name}"),
        false => format!("ebz compress '{}'", name.replace('\'', r"'\''")),
    };
    if let Some(element) = args.layout.element {
        text += &format!(" -t {element}");
    }
    if let Some(extents) = &args.layout.shape {
        text += &format!(" -s {}", report::shape(&extents.0));
    }
    if args.layout.raw {
        text += " --raw";
    }
    for fill in &args.fill {
        text += &format!(" --fill={fill}");
    }
    text
}

/// The JSON output of `ebz suggest` for an array, without a name.
pub fn suggest<T: Element>(
    values: &[T],
    shape: &[usize],
    keep: &[String],
    fill: Fill,
) -> Result<Value> {
    let keep: Vec<Criterion> = keep
        .iter()
        .map(|criterion| criterion.parse())
        .collect::<Result<_>>()?;
    let mut found = Suggested::of(values, shape, &keep, fill)?.json("");
    found.as_object_mut().map(|found| found.remove("input"));
    Ok(found)
}

/// A bound with the results of every codec.
struct Step {
    bound: f64,
    trials: Vec<Trial>,
    kept: Vec<Kept>,
    /// The codec with the best ratio of those that meet all criteria.
    best: Option<usize>,
}

impl Step {
    /// Whether some codec meets all criteria.
    fn holds(&self) -> bool {
        self.best.is_some()
    }

    /// The codec to show: the best one, or the one for small files if none meets all criteria.
    fn shown(&self) -> usize {
        self.best.unwrap_or(CODECS.len() - 1)
    }
}

/// A codec with a bound, and the criteria that no bound meets.
pub struct Recommended<'a> {
    pub trial: &'a Trial,
    pub without: Vec<Criterion>,
}

/// All suggestions for an array.
pub struct Suggested {
    element: ElementType,
    shape: Vec<usize>,
    fill: FillValues,
    /// The criteria, and whether the user gave them.
    criteria: Vec<Criterion>,
    asked: bool,
    /// Suggestions from the values.
    said: Vec<data::Suggestion>,
    /// Size of the sample.
    tried: usize,
    steps: Vec<Step>,
}

impl Suggested {
    pub fn of<T: Element>(
        values: &[T],
        shape: &[usize],
        keep: &[Criterion],
        fill: Fill,
    ) -> Result<Self> {
        // 1. The array.
        ensure!(!values.is_empty(), "there are no values");
        let scan = ValueScan::of(values, fill);
        let fill = scan.fill();
        ensure!(
            scan.range().extent() > 0.0,
            "all values are the same or missing: --lossless costs nothing"
        );

        // 2. The values.
        let missing = fill.values();
        let is_missing =
            |x: T| !x.is_finite() || missing.as_slice().iter().any(|&f| T::from_f64(f) == x);
        let said = data::suggestions(&data::runs(values, is_missing));

        // 3. The criteria.
        let criteria = match keep {
            [] => criteria::DEFAULT.to_vec(),
            given => given.to_vec(),
        };
        let sample = Sample::of(values, shape, SAMPLE_BYTES);
        let ssim = criteria
            .iter()
            .any(|criterion| criterion.kind == criteria::Kind::Ssim);
        let mut bench = Bench::<T>::new(scan.range(), fill, ssim);
        let mut step = |bound: f64| -> Result<Step> {
            let (mut trials, mut kept) = (Vec::new(), Vec::new());
            for name in CODECS {
                let entry = codec::by_name(name)?;
                let (trial, _) = bench.run(&sample, entry, Bound::Range(bound))?;
                let (parts, decoded) = (sample.values, &bench.decoded);
                let shape = &sample.shape;
                kept.push(Kept::of(
                    &criteria, &trial, shape, parts, decoded, is_missing,
                ));
                trials.push(trial);
            }
            let holds = |i: &usize| criteria.iter().all(|criterion| kept[*i].holds(criterion));
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
        let mut steps: Vec<Step> = Vec::new();
        for bound in DECADES {
            steps.push(step(bound)?);
            if steps.last().is_some_and(Step::holds) {
                for factor in BETWEEN {
                    let between = step(factor * bound)?;
                    let found = between.holds();
                    steps.push(between);
                    if found {
                        break;
                    }
                }
                break;
            }
        }
        steps.sort_by(|a, b| b.bound.total_cmp(&a.bound));
        let tried = size_of_val(sample.values);
        Ok(Self {
            element: T::TYPE,
            shape: shape.to_vec(),
            fill: missing,
            criteria,
            asked: !keep.is_empty(),
            said,
            tried,
            steps,
        })
    }

    /// The largest bound that meets all criteria.
    fn chosen(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.holds())
    }

    /// The criteria that a codec does not meet at a bound.
    fn failed(&self, step: &Step, codec: usize) -> Vec<Criterion> {
        let fails = |criterion: &&Criterion| !step.kept[codec].holds(criterion);
        self.criteria.iter().filter(fails).copied().collect()
    }

    /// The largest bound that meets all criteria, with the best codec; or all but those that even the smallest bound
    /// does not meet.
    pub fn recommended(&self) -> Option<Recommended<'_>> {
        if let Some(step) = self.chosen() {
            let trial = &step.trials[step.best?];
            return Some(Recommended {
                trial,
                without: Vec::new(),
            });
        }
        let last = self.steps.last()?;
        let failures = (0..CODECS.len()).map(|codec| self.failed(last, codec));
        let without = failures.min_by_key(Vec::len)?;
        if without.len() == self.criteria.len() {
            return None;
        }
        let trial = self.steps.iter().find_map(|step| {
            let able = |codec: &usize| {
                let failed = self.failed(step, *codec);
                failed.iter().all(|criterion| without.contains(criterion))
            };
            let ratio = |codec: &usize| step.trials[*codec].ratio;
            let able = (0..CODECS.len()).filter(able);
            let best = able.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
            Some(&step.trials[best])
        })?;
        Some(Recommended { trial, without })
    }

    /// 4. The table, and `command` with the bound.
    fn text(&self, name: &str, command: &str) -> String {
        let mut text = format!("{name}: {} {}", self.element, report::shape(&self.shape));
        if !self.fill.is_empty() {
            text += &format!(", without missing values ({})", self.fill);
        }
        if !self.said.is_empty() {
            let rows = self.said.iter().map(|said| {
                let bound = Bound::from(said.tolerance);
                vec![
                    format!("--{} {:.1e}", bound.kind().name(), bound.value()),
                    said.why.clone(),
                ]
            });
            text += &format!("\n\nFrom the values:\n{}", table(2, &[], rows));
        }
        let mut header = vec!["bound".to_string()];
        header.extend(CODECS.map(|name| format!("{name}\nratio, GB/s")));
        header.extend(["best", "PSNR\ndB"].map(String::from));
        let thresholds = self.criteria.iter();
        header.extend(
            thresholds
                .map(|criterion| format!("{}\n{}", criterion.kind.name(), criterion.threshold)),
        );
        let header: Vec<_> = header.iter().map(String::as_str).collect();
        let rows = self.steps.iter().map(|step| {
            let mut row = vec![format!("--range {:e}", step.bound)];
            let trials = step.trials.iter();
            row.extend(trials.map(|trial| format!("{:.1}, {:.2}", trial.ratio, trial.compress)));
            let kept = &step.kept[step.shown()];
            row.push(step.best.map_or("-", |i| CODECS[i]).into());
            row.push(format!("{:.1}", step.trials[step.shown()].psnr));
            row.extend(self.criteria.iter().map(|criterion| {
                let mark = if kept.holds(criterion) { "yes" } else { "no" };
                match kept.get(criterion.kind) {
                    Some(value) => format!("{} {mark}", report::number(value)),
                    None => "-".into(),
                }
            }));
            row
        });
        text += &format!(
            "\n\nFrom quality criteria, on {} of the array ({}):\n{}",
            report::bytes(self.tried as u64),
            match self.asked {
                false => "thresholds of ldcpy for climate data, and spectra within 1 %",
                true => "as requested",
            },
            table(1, &header, rows)
        );
        text += "\nGB/s: compression on one thread. Below each criterion is its threshold; `ebz suggest --help` explains \
                 them. They are those of the best codec, or of interp if none meets all.";
        let found = self.recommended();
        text += &match found.as_ref().map(|found| &found.without[..]) {
            Some([]) => "\n\nAll criteria are met with".to_string(),
            Some(without) => format!(
                "\n\nNo bound from 0.1 to 1e-7 of the range meets {}: use --lossless if that matters. All else is met \
                 with",
                criteria::names(without)
            ),
            None => format!(
                "\n\nNo bound from 0.1 to 1e-7 of the range meets {}: use --lossless, or name the criteria that matter \
                 with --keep",
                criteria::names(&self.criteria)
            ),
        };
        if let Some(Recommended { trial, .. }) = found {
            text += &format!(
                "\n  {command} --range {:e} --codec {}   ratio {:.1}, {:.2} GB/s",
                trial.bound.value(),
                trial.codec,
                trial.ratio,
                trial.compress
            );
        }
        text
    }

    fn json(&self, name: &str) -> Value {
        let said: Vec<_> = self
            .said
            .iter()
            .map(|said| json!({"bound": Bound::from(said.tolerance), "why": said.why}))
            .collect();
        let steps = self.steps.iter().map(|step| {
            let kept = &step.kept[step.shown()];
            let criteria = self.criteria.iter().map(|criterion| {
                let value = json!({
                    "threshold": criterion.threshold,
                    "value": kept.get(criterion.kind),
                    "holds": kept.holds(criterion),
                });
                (criterion.kind.name().to_string(), value)
            });
            json!({
                "range": step.bound,
                "codec": step.best.map(|i| CODECS[i]),
                "trials": step.trials,
                "criteria": criteria.collect::<serde_json::Map<_, _>>(),
            })
        });
        let chosen = self.chosen();
        let found = self.recommended().filter(|found| !found.without.is_empty());
        let nearly = found.map(|found| {
            let without = found.without.iter().map(|criterion| criterion.kind.name());
            json!({
                "range": found.trial.bound.value(),
                "codec": found.trial.codec,
                "without": without.collect::<Vec<_>>(),
            })
        });
        json!({
            "input": name,
            "element": self.element,
            "shape": self.shape,
            "from_values": said,
            "steps": steps.collect::<Vec<_>>(),
            "range": chosen.map(|step| step.bound),
            "codec": chosen.and_then(|step| step.best).map(|i| CODECS[i]),
            "nearly": nearly,
        })
    }
}
