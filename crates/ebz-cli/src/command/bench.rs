//! `ebz bench`: ratio, speed and error of codecs on the user's data.
//!
//! Steps for each input: 1 load it, 2 time a copy of it, 3 resolve the bounds, 4 time every codec
//! with every bound, 5 one table for all.

#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "peers")]
mod peers;

use crate::Outcome;
use crate::args::{self, Bench};
use crate::device::{Device, Opened};
use crate::input::Field;
use crate::report;
use anyhow::{Context, Result, bail};
use cpu_time::ThreadTime;
use ebz::codec::{self, Entry, Params};
use ebz::engine::Engine;
use ebz::metrics::{Comparison, Metrics, Setup};
use ebz::{
    Bound, BoundKind, Element, Favor, Fill, FillValues, FiniteRange, Options, Reader, Tolerance,
    ValueScan, View, ViewMut, Writer, with_type,
};
use serde_json::json;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One row of the table: a compressor with a bound on an input.
#[derive(Debug, serde::Serialize)]
pub struct Row {
    /// Name of the compressor.
    pub compressor: String,
    /// The bound as requested.
    pub bound: String,
    /// Raw size / compressed size.
    pub ratio: f64,
    /// Seconds to compress.
    pub compress: f64,
    /// Seconds to decompress.
    pub decompress: f64,
    /// Largest error / bound, if the bound limits the error of every value.
    pub error_over_bound: Option<f64>,
    /// PSNR in dB.
    pub psnr: f64,
    /// Overall throughput in bytes per second through the compressor and over each link.
    pub overall: Vec<f64>,
}

impl Row {
    /// Computes the throughput over each link: compression and transfer do not overlap.
    fn over(mut self, links: &[u64], bytes: usize) -> Self {
        let speed = bytes as f64 / self.compress;
        let over = |&rate: &u64| 1.0 / (1.0 / (rate as f64 * self.ratio) + 1.0 / speed);
        self.overall = links.iter().map(over).collect();
        self
    }
}

pub fn run(args: &Bench) -> Result<Outcome> {
    let codecs = codecs(args)?;
    let params = args::params(&args.param)?;
    for codec in codecs.iter().flatten() {
        codec.validate(&params)?;
    }
    let bounds = bounds(args)?;
    if args.peers && cfg!(not(feature = "peers")) {
        bail!("this ebz was built without peers: build it with `--features peers`");
    }
    let device = Opened::new(&args.device.device)?;
    let links = match (&args.link[..], &args.device.device) {
        ([], Device::Gpu(_)) => vec![11_400_000_000, 32_000_000_000],
        (links, _) => links.to_vec(),
    };
    let setup = What {
        codecs,
        params,
        bounds,
        device,
        links,
    };
    if args.csv {
        report::say(CSV_HEADER)?;
    }
    let mut inputs = Vec::new();
    for path in &args.inputs {
        let mut field = Field::open(path, &args.layout, &std::env::temp_dir(), args.talk.quiet)?;
        inputs.push(with_type!(field.element, T => {
            measure_input::<T>(&mut field, args, &setup)
        })?);
    }
    if args.talk.json {
        report::say_json(&inputs.into())?;
    }
    Ok(Outcome::Fine)
}

/// Measurement settings of an input.
struct What {
    /// None is `auto`.
    codecs: Vec<Option<&'static Entry>>,
    params: Params,
    bounds: Vec<Bound>,
    device: Opened,
    links: Vec<u64>,
}

fn codecs(args: &Bench) -> Result<Vec<Option<&'static Entry>>> {
    if args.codec.iter().any(|name| name == "all") {
        return Ok(codec::TABLE.iter().map(Some).collect());
    }
    let named = args.codec.iter().map(|name| match name.as_str() {
        codec::AUTO => Ok(None),
        name => codec::by_name(name).map(Some),
    });
    Ok(named.collect::<ebz::Result<_>>()?)
}

fn bounds(args: &Bench) -> Result<Vec<Bound>> {
    let lossless: &[f64] = if args.lossless { &[0.0] } else { &[] };
    let given = [
        (BoundKind::Abs, &args.abs[..]),
        (BoundKind::Range, &args.range[..]),
        (BoundKind::Pointwise, &args.pointwise[..]),
        (BoundKind::Precision, &args.precision[..]),
        (BoundKind::Lossless, lossless),
    ];
    let mut bounds = Vec::new();
    for (kind, values) in given {
        for &value in values {
            bounds.push(Bound::new(kind, value)?);
        }
    }
    if bounds.is_empty() {
        bounds.extend([1e-2, 1e-3, 1e-4].map(Bound::Range));
    }
    Ok(bounds)
}

fn measure_input<T: Element>(
    field: &mut Field,
    args: &Bench,
    what: &What,
) -> Result<serde_json::Value> {
    let What {
        codecs,
        params,
        bounds,
        device,
        links,
    } = what;
    // 1. The values, repeated if needed.
    let (values, shape, tiles) = load::<T>(field, args.min_size << 20)?;
    let bytes = size_of_val(&values[..]);

    // 2. A copy.
    let fill = crate::args::fill(&args.fill)?;
    let scan = ValueScan::of(&values, fill);
    let mut bench = Buffers {
        threads: args.threads.into(),
        repeats: args.repeats,
        favor: args.favor,
        fill,
        missing: scan.fill().values(),
        params: params.clone(),
        engine: (args.device.device != Device::Cpu).then(|| device.engine()),
        range: scan.range(),
        decoded: vec![T::default(); values.len()],
        coded: Vec::new(),
        values,
        shape,
    };
    let memcpy = bench.memcpy();

    let mut rows: Vec<Row> = Vec::new();
    #[cfg(feature = "gpu")]
    let mut profiles = Vec::new();
    for &bound in bounds {
        // 3. Bounds, outside the timed section.
        let resolved = match bound {
            Bound::Range(e) => Bound::Abs(e * bench.range.extent()),
            other => other,
        };
        // 4. Codecs that support it.
        let kind = bound.kind();
        let able = |codec: &&Option<&Entry>| match codec {
            Some(entry) => entry.offers(kind),
            None => kind != BoundKind::Precision,
        };
        for codec in codecs.iter().filter(able) {
            let name = codec.map_or(codec::AUTO, |entry| entry.info.name);
            let row = bench.measure(name, bound, resolved)?;
            rows.push(row.over(links, bytes));
        }
        #[cfg(feature = "gpu")]
        if let (Some(gpu), Bound::Abs(_)) = (&device.gpu, resolved) {
            profiles.extend(gpu::profile(gpu, &bench, bound, resolved)?);
        }
        #[cfg(feature = "peers")]
        if args.peers {
            let peers = peers::rows(&mut bench, bound, resolved)?;
            rows.extend(peers.into_iter().map(|row| row.over(links, bytes)));
        }
    }
    if rows.is_empty() {
        let kinds: Vec<_> = bounds.iter().map(|bound| bound.to_string()).collect();
        bail!(
            "none of these codecs offers {}: see `ebz codecs`",
            kinds.join(" or ")
        );
    }

    // 5. The table.
    if args.csv {
        let of = (
            &*field.name,
            field.element,
            &*report::shape(&field.shape),
            bytes,
        );
        report::say(&csv(of, &rows))?;
    } else if !args.talk.json {
        let tiled = match tiles {
            1 => String::new(),
            n => format!(", {n} times along the slowest axis"),
        };
        report::say(&format!(
            "{}: {} {}{tiled}, {}, {} of {} repeats, memcpy {:.2} GB/s\n{}",
            field.name,
            field.element,
            report::shape(&field.shape),
            report::bytes(bytes as u64),
            if args.threads == 1 {
                "least CPU time"
            } else {
                "least wall time"
            },
            args.repeats,
            bytes as f64 / memcpy / 1e9,
            table(&rows, bytes, memcpy, links)
        ))?;
        #[cfg(feature = "gpu")]
        for profile in &profiles {
            report::say(&profile.text(links))?;
        }
        device.report(args.talk.quiet);
    }
    #[cfg(not(feature = "gpu"))]
    let profiles: [(); 0] = [];
    Ok(json!({
        "input": field.name,
        "element": field.element,
        "shape": field.shape,
        "tiles": tiles,
        "bytes": bytes,
        "threads": args.threads,
        "repeats": args.repeats,
        "memcpy": memcpy,
        "links": links,
        "rows": rows,
        "devices": profiles,
    }))
}

/// The values of a field, repeated along the slowest axis up to `least` bytes.
fn load<T: Element>(field: &mut Field, least: usize) -> Result<(Vec<T>, Vec<usize>, usize)> {
    let count: usize = field.shape.iter().product();
    if count == 0 {
        bail!("{} holds no values to measure", field.name);
    }
    let tiles = least.div_ceil(count * T::SIZE).max(1);
    let mut values = Vec::new();
    values
        .try_reserve_exact(count.saturating_mul(tiles))
        .with_context(|| format!("{} does not fit into memory", field.name))?;
    values.resize(count, T::default());
    let mut input = field.reader()?;
    field.fill(&mut input, &mut values)?;
    for _ in 1..tiles {
        values.extend_from_within(..count);
    }
    let mut shape = field.shape.clone();
    match shape.first_mut() {
        Some(slowest) => *slowest *= tiles,
        None => shape.push(tiles),
    }
    Ok((values, shape, tiles))
}

/// Input and buffers, allocated once.
struct Buffers<T> {
    threads: usize,
    repeats: u32,
    favor: Favor,
    fill: Fill,
    missing: FillValues,
    params: Params,
    /// The device, if not the CPU.
    engine: Option<Arc<dyn Engine>>,
    range: FiniteRange,
    values: Vec<T>,
    shape: Vec<usize>,
    coded: Vec<u8>,
    decoded: Vec<T>,
}

impl<T: Element> Buffers<T> {
    fn memcpy(&mut self) -> f64 {
        let (from, to) = (&self.values, &mut self.decoded);
        // Single-threaded: memcpy with one thread is the common reference.
        let copy = || {
            black_box(&mut *to).copy_from_slice(black_box(from));
            Ok(())
        };
        least(self.repeats, true, copy).unwrap_or(f64::NAN)
    }

    fn measure(&mut self, name: &str, bound: Bound, resolved: Bound) -> Result<Row> {
        let mut options = Options::new(resolved).codec(name).threads(self.threads);
        options.favor = self.favor;
        options.fill = self.fill;
        options.params = self.params.clone();
        let view = View::new(&self.values, &self.shape)?;
        // The CPU time of this thread does not include the device.
        let single = self.threads == 1 && self.engine.is_none();
        let mut tolerance = Tolerance::Lossless;
        let mut chosen = None;
        let coded = &mut self.coded;
        let compress = least(self.repeats, single, || {
            let Some(engine) = &self.engine else {
                let stats = ebz::compress_into(&view, &options, coded)?;
                (tolerance, chosen) = (stats.tolerance, stats.choice);
                return Ok(());
            };
            coded.clear();
            let mut writer = Writer::new(&mut *coded, options.clone())?.engine(engine.clone());
            let stats = writer.frame(&view)?;
            (tolerance, chosen) = (stats.tolerance, stats.choice);
            writer.finish()?;
            Ok(())
        })?;
        let decoded = &mut self.decoded;
        let decompress = least(self.repeats, single, || {
            let mut reader = Reader::from_source(&coded[..])?.threads(self.threads);
            if let Some(engine) = &self.engine {
                reader = reader.engine(engine.clone());
            }
            let mut out = ViewMut::new(decoded, &self.shape)?;
            Ok(reader.frame(0)?.read_into(&mut out)?)
        })?;
        let metrics = self.compare(tolerance)?;
        if metrics.violations > 0 {
            bail!("{name} breaks {bound} at {} values", metrics.violations);
        }
        Ok(Row {
            compressor: match chosen {
                Some(choice) => format!("{name} ({})", choice.codec),
                None => name.into(),
            },
            bound: bound.to_string(),
            ratio: size_of_val(&self.values[..]) as f64 / self.coded.len() as f64,
            compress,
            decompress,
            error_over_bound: match tolerance {
                Tolerance::Abs(e) => Some(metrics.max_error / e),
                Tolerance::Pointwise(e) => Some(metrics.max_relative_error / e),
                Tolerance::Precision(_) | Tolerance::Lossless => None,
            },
            psnr: metrics.psnr,
            overall: Vec::new(),
        })
    }

    fn compare(&self, tolerance: Tolerance) -> Result<Metrics> {
        let setup = Setup {
            range: self.range,
            fill: self.missing,
            exact_fill: !self.fill.is_auto(),
            tolerance: Some(tolerance),
            ssim: false,
            threads: 0,
        };
        let mut comparison = Comparison::new(&self.shape, setup)?;
        comparison.push(&self.values, &self.decoded)?;
        Ok(comparison.finish()?)
    }
}

/// The least time of several runs: CPU time of this thread, or wall time.
fn least(repeats: u32, single: bool, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = Duration::MAX;
    for _ in 0..repeats {
        let (cpu, clock) = (ThreadTime::now(), Instant::now());
        run()?;
        least = least.min(if single {
            cpu.elapsed()
        } else {
            clock.elapsed()
        });
    }
    Ok(least.as_secs_f64())
}

/// The header line of `--csv`.
const CSV_HEADER: &str = "input,element,shape,bytes,codec,bound,ratio,compress_gb_s,decompress_gb_s,error_over_bound,psnr";

/// A CSV line for each measurement on an input.
fn csv(
    (name, element, shape, bytes): (&str, ebz::ElementType, &str, usize),
    rows: &[Row],
) -> String {
    // Quoted as in RFC 4180.
    let name = match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.into(),
    };
    let lines = rows.iter().map(|row| {
        let speed = |seconds: f64| bytes as f64 / seconds / 1e9;
        let error = row
            .error_over_bound
            .map_or(String::new(), |e| e.to_string());
        format!(
            "{name},{element},{shape},{bytes},{},{},{},{},{},{error},{}",
            row.compressor,
            row.bound,
            row.ratio,
            speed(row.compress),
            speed(row.decompress),
            row.psnr
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn table(rows: &[Row], bytes: usize, memcpy: f64, links: &[u64]) -> String {
    let speed = |seconds: f64| format!("{:.3}", bytes as f64 / seconds / 1e9);
    let mut header: Vec<String> = [
        "codec",
        "bound",
        "ratio",
        "compress\nGB/s",
        "\nx memcpy",
        "decomp.\nGB/s",
        "\nx memcpy",
        "max error\n/ bound",
        "PSNR\ndB",
    ]
    .map(String::from)
    .to_vec();
    // Overall throughput in GB/s over each link.
    let links = links.iter().map(|&rate| rate as f64 / 1e9);
    header.extend(links.map(|rate| format!("over a link\nof {rate} GB/s")));
    let header: Vec<_> = header.iter().map(String::as_str).collect();
    let rows = rows.iter().map(|row| {
        let error = row.error_over_bound;
        let mut cells = vec![
            row.compressor.clone(),
            row.bound.clone(),
            format!("{:.3}", row.ratio),
            speed(row.compress),
            format!("{:.3}", memcpy / row.compress),
            speed(row.decompress),
            format!("{:.3}", memcpy / row.decompress),
            error.map_or("-".into(), |e| format!("{e:.4}")),
            format!("{:.2}", row.psnr),
        ];
        cells.extend(
            row.overall
                .iter()
                .map(|overall| format!("{:.3}", overall / 1e9)),
        );
        cells
    });
    crate::table::table(2, &header, rows)
}
