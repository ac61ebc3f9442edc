//! Checks a codec against the guarantees of every codec, on one array.
//!
//! Takes values and a tolerance; returns the number of encoded bytes, or a description of the
//! failure.

use crate::exact;
use crate::fields::Field;
use ebz::codec::{Entry, Params};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{Bound, BoundKind, Element, FiniteRange, Options, Reader, StreamReader, Tolerance, View};

/// Extents of a chunk of this shape as a codec sees them.
pub fn dims(shape: &[usize]) -> Dims {
    let at = |back: usize| shape.len().checked_sub(back).map_or(1, |axis| shape[axis]);
    Dims {
        nz: shape.iter().rev().skip(2).product(),
        ny: at(2),
        nx: at(1),
    }
}

/// Parameters of a codec that change its coding as a whole, the default first: each of these is held against
/// every promise.
pub fn variants(entry: &Entry) -> Vec<Params> {
    let mut variants = vec![Params::default()];
    let layout = match entry.info.name {
        "fz" => Some("flags"),
        "de-zfp" | "zfp-v" => Some("coefficients"),
        _ => None,
    };
    if let Some(layout) = layout {
        let mut params = Params::default();
        params.set("layout", layout);
        variants.push(params);
    }
    variants
}

/// The name of a codec with its parameters.
pub fn name(entry: &Entry, params: &Params) -> String {
    let mut name = entry.info.name.to_string();
    for (key, value) in params.iter() {
        name.push_str(&format!("-{key}-{value}"));
    }
    name
}

/// Contexts for every level of this machine, reused between cases to expose dependence on leftover
/// scratch.
pub struct Checker {
    contexts: Vec<Context>,
}

impl Default for Checker {
    fn default() -> Self {
        Self {
            contexts: Level::available().map(Context::new).collect(),
        }
    }
}

/// Existing output, which a codec must not change.
const PREFIX: [u8; 5] = *b"stays";

impl Checker {
    /// Checks one chunk: the tolerance holds, every level writes the same bytes and decodes the
    /// same bits, whatever the previous contents and alignment of memory.
    pub fn chunk<T: Element>(
        &mut self,
        entry: &Entry,
        params: &Params,
        field: &Field<T>,
        tolerance: Tolerance,
    ) -> Result<usize, String> {
        let values = &field.values[..];
        let task = Task {
            dims: dims(&field.shape),
            tolerance,
            fill: field.fill,
            params,
        };
        // 1. Encode at every level, the first one also with a fresh context.
        let mut fresh = Context::new(Level::Portable);
        let mut coded: Option<Vec<u8>> = None;
        for context in self.contexts.iter_mut().chain([&mut fresh]) {
            let mut out = PREFIX.to_vec();
            entry
                .encode(values, &task, context, &mut out)
                .map_err(|error| format!("encode: {error}"))?;
            if !out.starts_with(&PREFIX) {
                return Err("encode changed existing output".into());
            }
            match &coded {
                None => coded = Some(out),
                Some(first) => same("encode", context.simd(), first, &out)?,
            }
        }
        let coded = coded.unwrap_or_default();
        let bytes = &coded[PREFIX.len()..];
        if bytes.len() >= size_of_val(values) && !values.is_empty() {
            // The container stores such a chunk raw; the encoder may have stopped early.
            return Ok(bytes.len());
        }
        // 2. Decode at every level, into dirty memory of every element alignment.
        let mut decoded: Option<Vec<T>> = None;
        for (round, context) in self.contexts.iter_mut().chain([&mut fresh]).enumerate() {
            for streaming in [false, true] {
                let skip = round + usize::from(streaming);
                let dirt = T::from_word(0xa5a5_a5a5_a5a5_a5a5);
                let mut memory = vec![dirt; values.len() + 8];
                let out = &mut memory[skip..skip + values.len()];
                context.streaming = streaming;
                let result = entry.decode(bytes, task.dims, context, out);
                context.streaming = false;
                result.map_err(|error| format!("decode: {error}"))?;
                match &decoded {
                    None => {
                        exact::check(values, out, tolerance, &field.fill)?;
                        decoded = Some(out.to_vec());
                    }
                    Some(first) => same("decode", context.simd(), words(first), words(out))?,
                }
                memory.drain(skip..skip + values.len());
                if memory.iter().any(|x| x.to_word() != dirt.to_word()) {
                    return Err("decode wrote beyond its output".into());
                }
            }
        }
        Ok(bytes.len())
    }
}

/// Every level and every number of threads up to three at least once; all give the same bytes, so
/// not all pairs are needed.
fn ways() -> impl Iterator<Item = (Level, usize)> {
    let levels: Vec<_> = Level::available().collect();
    (0..levels.len().max(3)).map(move |i| (levels[i % levels.len()], i % 3 + 1))
}

/// Checks a file: every level and number of threads writes the same bytes, every way to read gives
/// the same values, and they meet the requested bound.
pub fn file<T: Element>(field: &Field<T>, options: &Options) -> Result<usize, String> {
    let text = |error: ebz::Error| error.to_string();
    let view = View::new(&field.values, &field.shape).map_err(text)?;
    let options = options.clone().fill(field.marks());
    let mut bytes = Vec::new();
    let mut stats = None;
    for (simd, threads) in ways() {
        let options = options.clone().simd(simd).threads(threads);
        let mut out = b"stale".to_vec();
        let result = ebz::compress_into(&view, &options, &mut out).map_err(text)?;
        match stats {
            None => (bytes, stats) = (out, Some(result)),
            Some(_) => same("compress", (simd, threads), &bytes, &out)?,
        }
    }
    let tolerance = stats.ok_or("no level is available")?.tolerance;
    if !keeps(tolerance, options.bound, field) {
        return Err(format!("{} was resolved to {tolerance:?}", options.bound));
    }
    let max_bytes = ebz::max_compressed_size(&field.shape, T::TYPE, &options).map_err(text)?;
    if bytes.len() > max_bytes {
        return Err(format!(
            "{} bytes exceed the maximum of {max_bytes}",
            bytes.len()
        ));
    }
    let decoded = ebz::decompress::<T>(&bytes).map_err(text)?;
    if decoded.shape() != field.shape {
        return Err(format!(
            "shape {:?} became {:?}",
            field.shape,
            decoded.shape()
        ));
    }
    exact::check(&field.values, decoded.values(), tolerance, &field.fill)?;
    let expected = words(decoded.values());
    for (simd, threads) in ways() {
        let reader = Reader::from_source(&bytes[..]).map_err(text)?;
        let reader = reader.simd(simd).threads(threads);
        let again = reader.read::<T>().map_err(text)?;
        same(
            "decompress",
            (simd, threads),
            expected,
            words(again.values()),
        )?;
    }
    let mut stream = StreamReader::new(&bytes[..]).map_err(text)?;
    let mut raw = Vec::new();
    while stream.next_frame().map_err(text)?.is_some() {
        stream.write_frame(&mut raw).map_err(text)?;
    }
    same("stream", "all levels", expected, &raw)?;
    Ok(bytes.len())
}

/// Whether a tolerance is a correct resolution of a bound for these values.
fn keeps<T: Element>(tolerance: Tolerance, bound: Bound, field: &Field<T>) -> bool {
    match (bound, tolerance) {
        (_, Tolerance::Lossless) => true,
        (Bound::Abs(e), Tolerance::Abs(t)) => t == e,
        (Bound::Range(e), Tolerance::Abs(t)) => {
            let range = FiniteRange::of(&field.values, &field.fill);
            t > 0.0 && exact::is_range_bound(t, e, range.min, range.max)
        }
        (Bound::Pointwise(e), Tolerance::Pointwise(t)) => t == e,
        (Bound::Precision(n), Tolerance::Precision(m)) => n == m,
        _ => false,
    }
}

fn words<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// An error if the bytes differ.
fn same(what: &str, way: impl std::fmt::Debug, first: &[u8], other: &[u8]) -> Result<(), String> {
    if first == other {
        return Ok(());
    }
    let at = first.iter().zip(other).take_while(|(a, b)| a == b).count();
    Err(format!(
        "{what} differs with {way:?}: {} and {} bytes, first difference at {at}",
        first.len(),
        other.len()
    ))
}

/// The tolerances to test on a chunk: loose, tight and extreme ones of each kind that the codec
/// supports.
pub fn tolerances<T: Element>(entry: &Entry, field: &Field<T>) -> Vec<Tolerance> {
    let range = FiniteRange::of(&field.values, &field.fill);
    // Twice half of the range, because the whole range may overflow.
    let extent = match (range.max / 2.0 - range.min / 2.0) * 2.0 {
        extent if extent > 0.0 && extent.is_finite() => extent,
        _ => 1.0,
    };
    // Below the resolution of the type, and the largest and smallest bounds.
    let resolution = 0.01 * 0.5f64.powi(T::FRACTION_BITS as i32);
    let mut all = Vec::new();
    for kind in entry.info.tolerances {
        match kind {
            BoundKind::Abs => {
                let relative = [0.3, 1e-2, 1e-4, 1e-7, resolution].map(|e| e * extent);
                let extreme = [f64::from_bits(1), f64::from(f32::MAX), f64::MAX];
                let usable = relative.into_iter().chain(extreme).filter(|&e| e > 0.0);
                all.extend(usable.map(Tolerance::Abs));
            }
            BoundKind::Pointwise => {
                let some = [
                    0.5,
                    1e-2,
                    1e-4,
                    resolution,
                    f64::from_bits(1),
                    1f64.next_down(),
                ];
                all.extend(some.map(Tolerance::Pointwise));
            }
            BoundKind::Precision => all.extend([1, 9, 22, 64].map(Tolerance::Precision)),
            BoundKind::Lossless => all.push(Tolerance::Lossless),
            // Resolved to one of the others before a codec sees them.
            BoundKind::Range | BoundKind::Psnr | BoundKind::Ratio => {}
        }
    }
    all
}

/// Collects the failures of many cases, so that one run reports all of them.
#[derive(Default)]
pub struct Cases {
    cases: usize,
    coded: usize,
    broken: Vec<String>,
}

impl Cases {
    /// Runs one case; a panic is a failure.
    pub fn case(
        &mut self,
        label: impl FnOnce() -> String,
        run: impl FnOnce() -> Result<usize, String>,
    ) {
        self.cases += 1;
        let run = std::panic::AssertUnwindSafe(run);
        let broken = match std::panic::catch_unwind(run) {
            Ok(Ok(bytes)) => {
                self.coded += bytes;
                return;
            }
            Ok(Err(what)) => what,
            Err(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or(payload.downcast_ref::<&str>().copied());
                format!("panic: {}", text.unwrap_or("without a message"))
            }
        };
        self.broken.push(format!("{}: {broken}", label()));
    }

    /// Panics with the first failures, if there are any; otherwise prints a summary.
    pub fn finish(self, what: &str) {
        const MAX_SHOWN: usize = 25;
        println!("{what}: {} cases, {} coded bytes", self.cases, self.coded);
        assert!(self.cases > 0, "{what}: no cases");
        assert!(
            self.broken.is_empty(),
            "{what}: {} of {} cases failed, starting with:\n{}",
            self.broken.len(),
            self.cases,
            self.broken[..self.broken.len().min(MAX_SHOWN)].join("\n")
        );
    }
}
