//! `ebz compress`: compresses an array to a frame of an `.ebz` file.
//!
//! Steps: 1 open input and output, 2 scan the range if the bound needs it, 3 compress chunk by chunk, 4
//! compare with the original on request, 5 rename the output.

use super::{compare, each, output_in};
use crate::Outcome;
use crate::append::Append;
use crate::args::{Compress, Force};
use crate::device::Opened;
use crate::input::Field;
use crate::output::{Output, folder};
use crate::progress;
use crate::report;
use anyhow::{Context, Result, bail, ensure};
use ebz::metrics::Metrics;
use ebz::{
    Bound, Element, ElementType, FoundFill, FrameStats, Limits, Options, SearchOutcome,
    SearchStats, Tolerance, View, Writer, with_type,
};
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub fn run(args: &Compress) -> Result<Outcome> {
    let options = args.options()?;
    let device = Opened::new(&args.device.device)?;
    each(&args.inputs, |input| one(args, &options, &device, input))
}

fn one(args: &Compress, options: &Options, device: &Opened, input: &Path) -> Result<Outcome> {
    let started = Instant::now();
    // 1. Input and output.
    let output = output_path(args, input)?;
    let to_stdout = output == Path::new("-");
    ensure!(
        !to_stdout || !args.append && !args.stats,
        "--append and --stats need a file: name one with -o"
    );
    let near = if to_stdout {
        std::env::temp_dir()
    } else {
        folder(&output).to_path_buf()
    };
    let mut field = Field::open(input, &args.layout, &near, args.talk.quiet)?;
    let mut target = Target::early(&output, args)?;

    // 2. Range. Do not lock out other writers while reading a pipe.
    let scans = options.needs_range() && !options.is_auto();
    if scans || args.stats || args.append {
        field.make_replayable(&near)?;
    }
    let mut scan = None;
    if scans {
        let bar = progress::bar(field.bytes(), "range", args.talk.quiet);
        scan = Some(field.scan(options.fill, options.threads, &bar)?);
        bar.finish_and_clear();
    }

    // 3. to 5.
    let task = Task {
        args,
        options,
        device,
        scan: scan.as_ref(),
        output: &output,
        started,
    };
    let done = loop {
        let target = match target.take() {
            Some(target) => target,
            None => Target::open(&output, args)?,
        };
        // Otherwise another command has just created the file to append to.
        if let Some(done) = task.run(target, &mut field)? {
            break done;
        }
    };
    device.report(args.talk.quiet);
    report(args, &field, &output, &done)?;
    Ok(Outcome::Fine)
}

/// The state before the first chunk.
struct Task<'a> {
    args: &'a Compress,
    options: &'a Options,
    device: &'a Opened,
    scan: Option<&'a ebz::ValueScan>,
    output: &'a Path,
    started: Instant,
}

impl Task<'_> {
    /// Writes the array, checks it and renames the output; `None` if the file to append to has been
    /// created meanwhile.
    fn run(&self, mut target: Target, field: &mut Field) -> Result<Option<Done>> {
        let &Self {
            args,
            options,
            device,
            scan,
            output,
            started,
        } = self;
        // 3. Chunks.
        let bar = progress::bar(field.bytes(), "compress", args.talk.quiet);
        let mut input = bar.wrap_read(field.reader()?);
        let job = Job {
            options,
            device,
            element: field.element,
            shape: &field.shape,
            scan,
        };
        let (stats, frame) = target
            .write(&mut input, &job)
            .with_context(|| format!("{} to {}", field.name, output.display()))?;
        if input.read(&mut [0])? > 0 {
            bail!(
                "{} holds more than {} of {}: check shape and type",
                field.name,
                report::shape(&field.shape),
                field.element
            );
        }
        bar.finish_and_clear();
        let seconds = started.elapsed().as_secs_f64();

        // 4. Quality.
        let mut metrics = None;
        if args.stats {
            let path = target
                .path()
                .context("--stats needs a file: name one with -o")?;
            let mut decoded = Field::frame(path, frame, options.threads, Limits::default())?;
            let check = compare::Check {
                fill: scan.map_or(options.fill, ebz::ValueScan::fill),
                tolerance: Some(stats.tolerance),
                ssim: true,
                threads: options.threads,
                quiet: args.talk.quiet,
            };
            let measured = compare::measure(field, &mut decoded, &check, None)?;
            ensure!(
                measured.violations == 0,
                "{} values break the bound: please report this; nothing was written",
                measured.violations
            );
            metrics = Some(measured);
        }

        // 5. Rename.
        match target.commit(args.force.sync) {
            Err(error) if args.append && is_there_already(&error) => return Ok(None),
            committed => committed?,
        }
        Ok(Some(Done {
            bound: options.bound,
            stats,
            metrics,
            seconds,
        }))
    }
}

fn is_there_already(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == ErrorKind::AlreadyExists)
}

fn output_path(args: &Compress, input: &Path) -> Result<PathBuf> {
    let mut default = input.to_path_buf().into_os_string();
    if input != Path::new("-") {
        default.push(".ebz");
    }
    let default = PathBuf::from(default);
    match &args.output {
        // The arrays become frames of one file.
        Some(path) if args.append => Ok(path.clone()),
        Some(path) => output_in(path, &default, args.inputs.len() > 1),
        None => Ok(default),
    }
}

/// What to write.
struct Job<'a> {
    options: &'a Options,
    device: &'a Opened,
    element: ElementType,
    shape: &'a [usize],
    scan: Option<&'a ebz::ValueScan>,
}

impl Job<'_> {
    fn write<W: Write + Send>(
        &self,
        writer: Writer<W>,
        input: &mut (dyn Read + Send),
    ) -> ebz::Result<(FrameStats, usize, W)> {
        let mut writer = writer.engine(self.device.engine());
        let frame = writer.frames();
        let stats = with_type!(self.element, T => self.frame::<T, W>(&mut writer, input))?;
        Ok((stats, frame, writer.finish()?))
    }

    fn frame<T: Element, W: Write + Send>(
        &self,
        writer: &mut Writer<W>,
        input: &mut (dyn Read + Send),
    ) -> ebz::Result<FrameStats> {
        let searched = matches!(self.options.bound, Bound::Psnr(_) | Bound::Ratio(_));
        if !searched && !self.options.is_auto() {
            return writer.frame_from::<T>(input, self.shape, self.scan);
        }
        // Both need random access: searches read the array several times, and samples are spread over
        // it.
        let count = ebz::element_count(self.shape)?;
        let mut values = Vec::new();
        if values.try_reserve_exact(count).is_err() {
            let (what, instead) = match searched {
                true => (self.options.bound.kind().name(), "use --abs or --range"),
                false => ("auto", "name a codec"),
            };
            return Err(ebz::Error::LimitExceeded(format!(
                "{what} needs the whole array in memory, but it does not fit: {instead}"
            )));
        }
        values.resize(count, T::default());
        input.read_exact(bytemuck::cast_slice_mut(&mut values))?;
        writer.frame(&View::new(&values, self.shape)?)
    }
}

/// A new file, or one to append to.
enum Target {
    New(Output),
    Old(Append),
}

impl Target {
    /// Before anything is read, since that may take long: creates a new file, or checks the one to
    /// append to, which is not locked yet.
    fn early(path: &Path, args: &Compress) -> Result<Option<Self>> {
        if args.append && path.exists() {
            ebz::Reader::open(path)
                .with_context(|| format!("cannot append to {}", path.display()))?;
            return Ok(None);
        }
        Self::create(path, args).map(Some)
    }

    fn open(path: &Path, args: &Compress) -> Result<Self> {
        if args.append && path.exists() {
            let append = Append::open(path, !args.no_wait, args.talk.quiet)?;
            return Ok(Self::Old(append));
        }
        Self::create(path, args)
    }

    fn create(path: &Path, args: &Compress) -> Result<Self> {
        // Do not replace a file to append to that was created meanwhile.
        let force = args.force.force && !args.append;
        let sync = args.force.sync;
        Ok(Self::New(Output::create(
            path,
            &Force { force, sync },
            args.talk.quiet,
        )?))
    }

    /// Writes the frame; returns its number as well.
    fn write(
        &mut self,
        input: &mut (dyn Read + Send),
        job: &Job<'_>,
    ) -> Result<(FrameStats, usize)> {
        let options = job.options.clone();
        let (stats, frame) = match self {
            Self::New(output) => {
                let (stats, frame, _) = job.write(Writer::new(output, options)?, input)?;
                (stats, frame)
            }
            Self::Old(append) => {
                let locked = append.locked();
                let writer = Writer::continued(&mut *append, &locked, options)?;
                let (stats, frame, _) = job.write(writer, input)?;
                append.show()?;
                (stats, frame)
            }
        };
        Ok((stats, frame))
    }

    /// The path of the file, which may be unfinished.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::New(output) => output.staged(),
            Self::Old(append) => Some(append.path()),
        }
    }

    fn commit(self, sync: bool) -> Result<()> {
        match self {
            Self::New(output) => output.commit(),
            Self::Old(append) => append.commit(sync),
        }
    }
}

/// Reports the result.
struct Done {
    bound: Bound,
    stats: FrameStats,
    metrics: Option<Metrics>,
    seconds: f64,
}

fn report(args: &Compress, field: &Field, output: &Path, done: &Done) -> Result<()> {
    let Done {
        bound,
        stats,
        metrics,
        seconds,
    } = done;
    let ratio = stats.raw_bytes as f64 / stats.stored_bytes as f64;
    let values = stats.raw_bytes as f64 / field.element.size() as f64;
    if args.talk.json {
        let mut named = metrics.as_ref().map(Metrics::named).unwrap_or_default();
        named.insert("size:compression_ratio", ratio);
        named.insert("size:bit_rate", 8.0 * stats.stored_bytes as f64 / values);
        let text = json!({
            "input": field.name,
            "output": output.display().to_string(),
            "element": field.element,
            "shape": field.shape,
            "codec": stats.choice.map_or(&*args.coding.codec, |choice| choice.codec),
            "frame": stats,
            "seconds": seconds,
            "metrics": named,
        });
        // Standard output may carry the compressed data.
        if output == Path::new("-") {
            report::complain(&text.to_string());
            return Ok(());
        }
        return report::say_json(&text);
    }
    report::note(
        args.talk.quiet,
        &format!(
            "{} -> {}: {} -> {}, ratio {ratio:.2}, {}, {seconds:.2} s",
            field.name,
            output.display(),
            report::bytes(stats.raw_bytes),
            report::bytes(stats.stored_bytes),
            report::tolerance(stats.tolerance),
        ),
    );
    if let Some(choice) = stats.choice {
        report::note(args.talk.quiet, &format!("codec {choice}"));
    }
    if let Some(text) = missing(stats.found, values) {
        report::note(args.talk.quiet, &text);
    }
    if let Bound::Range(e) = bound
        && *e >= 0.5
    {
        let text = "a bound of half the range or more allows all values to become equal";
        report::note(args.talk.quiet, text);
    }
    if let Some(text) = stats
        .search
        .and_then(|search| outcome(&search, *bound, stats.tolerance))
    {
        report::note(args.talk.quiet, &text);
    }
    if let Some(metrics) = metrics {
        report::say(&compare::table(metrics))?;
    }
    Ok(())
}

/// The detected fill values, if any.
fn missing(found: FoundFill, values: f64) -> Option<String> {
    if found.values.is_empty() {
        return None;
    }
    let plural = match found.values.as_slice().len() {
        1 => "",
        _ => "s",
    };
    let share = 100.0 * found.count as f64 / values;
    Some(format!(
        "fill value{plural} {} found ({share:.3} % of the values): stored exactly, excluded from the \
         range; --fill none turns this off",
        found.values
    ))
}

/// Explains why a target was missed, if it was.
fn outcome(search: &SearchStats, bound: Bound, tolerance: Tolerance) -> Option<String> {
    let asked = format!("{} {}", bound.kind().name(), report::number(bound.value()));
    let found = report::number(search.found);
    let sides = || {
        let beyond = search.beyond.map(|(bound, found)| {
            let tolerance = match bound {
                0.0 => Tolerance::Lossless,
                bound => Tolerance::Abs(bound),
            };
            let found = report::number(found);
            format!(", {found} with {}", report::tolerance(tolerance))
        });
        let beyond = beyond.unwrap_or_default();
        format!("{found} with {}{beyond}", report::tolerance(tolerance))
    };
    Some(match search.outcome {
        SearchOutcome::Close => return None,
        SearchOutcome::OnePass => format!(
            "{asked} in one pass: {found}, which is {:+.1} %; the largest bound is {}",
            100.0 * (search.found / bound.value() - 1.0),
            report::tolerance(tolerance)
        ),
        SearchOutcome::Exact => {
            format!("{asked} is exceeded by an exact copy: {found}, nothing is lost")
        }
        SearchOutcome::Least => format!("{asked} is exceeded by every bound: {found} is the least"),
        SearchOutcome::Jump => format!(
            "{asked} is not hit closely, since the curve jumps over it: {}; no bound in between was \
             found in {} trials",
            sides(),
            search.codings
        ),
        SearchOutcome::Open => format!(
            "{asked} is not hit closely: {}; the search stopped after {} trials, another \
             bound may come closer",
            sides(),
            search.codings
        ),
    })
}
