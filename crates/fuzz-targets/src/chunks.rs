//! Chunks: decoders on arbitrary bytes, and round trips.

use crate::files::element_type;
use crate::{choose, up_to};
use arbitrary::Unstructured;
use ebz::codec::{Entry, Params, TABLE};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::simd::Level;
use ebz::{Bound, BoundKind, Element, ElementType, FillValues, Options, Tolerance, with_type};
use ebz_testkit::conformance::{self, Checker, dims};
use ebz_testkit::fields::{Content, Field};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often [`decode`] and [`decode_large`] called a decoder.
pub static DECODES: AtomicU64 = AtomicU64::new(0);

/// How many of these calls gave values, not an error.
pub static DECODED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// A context for each instruction set. What earlier chunks left there must not matter.
    static CONTEXTS: RefCell<Vec<Context>> =
        RefCell::new(Level::available().map(Context::new).collect());
}

/// Bytes before a chunk: codec, element type and extents.
const HEADER: usize = 5;

/// Shapes of [`decode_large`]: at least 2¹⁶ values, where `fre` has 32 lanes, with blocks and rows
/// that do and do not fill up.
const LARGE: [&[usize]; 8] = [
    &[1 << 16],
    &[70_001],
    &[256, 257],
    &[2, 33_000],
    &[41, 41, 41],
    &[3, 150, 150],
    &[65_537, 1],
    &[128, 16, 36],
];

fn small(bytes: [u8; 3]) -> [usize; 3] {
    // Half of the extents are less than 4: an input then takes less time.
    let [nz, ny, nx] = bytes.map(|byte| usize::from(byte) % if byte < 128 { 4 } else { 24 } + 1);
    [nz, ny, 3 * nx]
}

fn large(byte: u8) -> &'static [usize] {
    LARGE[usize::from(byte) % LARGE.len()]
}

/// The first bytes choose a codec, an element type and extents; the rest is a chunk.
pub fn decode(bytes: &[u8]) {
    if let Some((&[codec, element, nz, ny, nx], payload)) = bytes.split_first_chunk() {
        decode_as(codec, element, dims(&small([nz, ny, nx])), payload);
    }
}

/// [`decode`] of chunks with 2¹⁶ values or more.
pub fn decode_large(bytes: &[u8]) {
    if let Some((&[codec, element, shape, _, _], payload)) = bytes.split_first_chunk() {
        decode_as(codec, element, dims(large(shape)), payload);
    }
}

fn decode_as(codec: u8, element: u8, dims: Dims, payload: &[u8]) {
    let entry = &TABLE[usize::from(codec) % TABLE.len()];
    with_type!(element_type(element), T => at_every_level::<T>(entry, dims, payload));
}

/// Any bytes decode to the same values, or to an error, with every instruction set and whatever
/// was in the output before.
fn at_every_level<T: Element>(entry: &Entry, dims: Dims, payload: &[u8]) {
    let decode = |number: usize, context: &mut Context| {
        let mut out = vec![T::from_word(0x5aa5 * number as u64); dims.len()];
        let result = entry.decode(payload, dims, context, &mut out);
        DECODES.fetch_add(1, Ordering::Relaxed);
        DECODED.fetch_add(result.is_ok().into(), Ordering::Relaxed);
        result.is_ok().then_some(out)
    };
    CONTEXTS.with_borrow_mut(|contexts| {
        let mut found = contexts.iter_mut().enumerate().map(|(n, c)| decode(n, c));
        let first = found.next().flatten();
        fn words<T: Element>(values: &Option<Vec<T>>) -> Option<&[u8]> {
            values.as_deref().map(bytemuck::cast_slice)
        }
        for (number, other) in found.enumerate() {
            assert!(
                words(&first) == words(&other),
                "{}: level {} decodes to other values",
                entry.info.name,
                number + 1
            );
        }
    });
}

/// Chunks for [`decode`].
pub fn small_seeds() -> Vec<Vec<u8>> {
    seeds(|number| {
        let bytes = [5, 7, 3].map(|step| number.wrapping_mul(step));
        (bytes, small(bytes).to_vec())
    })
}

/// Chunks for [`decode_large`].
pub fn large_seeds() -> Vec<Vec<u8>> {
    seeds(|number| ([number, 0, 0], large(number).to_vec()))
}

/// Valid chunks of every codec, element type and tolerance, with extents that `shape` makes from
/// their number.
fn seeds(shape: impl Fn(u8) -> ([u8; 3], Vec<usize>)) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (codec, entry) in TABLE.iter().enumerate() {
        for (element, of) in ElementType::ALL.into_iter().enumerate() {
            let (header, shape) = shape(seeds.len() as u8);
            let chunks = with_type!(of, T => chunks::<T>(entry, &shape));
            let header = [codec as u8, element as u8, header[0], header[1], header[2]];
            seeds.extend(chunks.iter().map(|chunk| [&header[..], chunk].concat()));
        }
    }
    seeds
}

/// Coded chunks of a smooth field and of special values.
fn chunks<T: Element>(entry: &Entry, shape: &[usize]) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    for content in [Content::Smooth, Content::Specials] {
        let field: Field<T> = content.field(shape, 1);
        for &kind in entry.info.tolerances {
            let tolerance = match kind {
                BoundKind::Abs => Tolerance::Abs(0.05),
                BoundKind::Pointwise => Tolerance::Pointwise(0.05),
                BoundKind::Precision => Tolerance::Precision(8),
                _ => Tolerance::Lossless,
            };
            let task = Task {
                dims: dims(shape),
                tolerance,
                fill: FillValues::NONE,
                params: &Params::default(),
            };
            let mut chunk = Vec::new();
            let encoded = entry.encode(&field.values, &task, &mut Context::default(), &mut chunk);
            encoded.expect("a valid task");
            chunks.push(chunk);
        }
    }
    chunks
}

/// Random choices.
pub fn word_seeds() -> Vec<Vec<u8>> {
    crate::words(&[HEADER, 20, 60, 200, 1000])
}

/// The first bytes choose a codec, an element type, a bound and extents; the rest are the values,
/// repeated as needed. The round trip must conform.
pub fn round_trip(bytes: &[u8]) {
    let Some((&[codec, element, kind, bound_low, bound_high, nz, ny, nx], values)) =
        bytes.split_first_chunk()
    else {
        return;
    };
    let entry = &TABLE[usize::from(codec) % TABLE.len()];
    let kinds = entry.info.tolerances;
    let kind = kinds[usize::from(kind) % kinds.len()];
    let Some(bound) = bound(kind, bound_low, bound_high) else {
        return;
    };
    let shape = [nz, ny, nx].map(|byte| usize::from(byte) % 12 + 1);
    fn run<T: Element>(entry: &Entry, bound: Bound, shape: &[usize], values: &[u8]) {
        let count: usize = shape.iter().product();
        let byte = |at: usize| *values.get(at % values.len().max(1)).unwrap_or(&0);
        let word = |at: usize| {
            u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| byte(at * T::SIZE + i)))
        };
        let field = Field {
            name: "fuzz".into(),
            values: (0..count).map(|at| T::from_word(word(at))).collect(),
            shape: shape.to_vec(),
            fill: FillValues::NONE,
        };
        conforms(entry, &Params::default(), bound, &field);
    }
    with_type!(element_type(element), T => run::<T>(entry, bound, &shape, values));
}

/// Any magnitude of a double with some of its mantissa bits; or a number of bits.
fn bound(kind: BoundKind, low: u8, high: u8) -> Option<Bound> {
    let magnitude =
        f64::from_bits((u64::from(high) << 55 | u64::from(low) << 47) & (i64::MAX as u64));
    let value = match kind {
        BoundKind::Precision => f64::from(low % 64 + 1),
        BoundKind::Pointwise => magnitude % 1.0,
        _ => magnitude,
    };
    Bound::new(kind, value).ok()
}

/// Round trips of a field as a chunk and as a file of several chunks.
fn conforms<T: Element>(entry: &Entry, params: &Params, bound: Bound, field: &Field<T>) {
    let mut options = Options::new(bound).codec(entry.info.name);
    options.params = params.clone();
    let tolerance = options
        .tolerance(|| Ok(0.0))
        .expect("a supported bound resolves");
    let failed = |way: &str, what: String| -> usize {
        panic!("{} {params:?} {bound} {way}: {what}", entry.info.name)
    };
    if entry.offers(Bound::from(tolerance).kind()) {
        let result = Checker::default().chunk(entry, params, field, tolerance);
        result.unwrap_or_else(|what| failed("chunk", what));
    }
    let cut: Vec<_> = field.shape.iter().map(|n| n.div_ceil(2).max(1)).collect();
    let result = conformance::file(field, &options.chunk(&cut));
    result.unwrap_or_else(|what| failed("file", what));
}

/// Values of the parameters that change what a codec writes.
const CHOICES: [(&str, &[&str]); 13] = [
    ("layout", &["planes", "flags"]),
    ("books", &["cost", "chi", "offline"]),
    ("sort", &["exact", "centre"]),
    ("symbols", &["bytes", "centre"]),
    ("unit", &["262144", "1024"]),
    ("rewrite", &["drifts", "exact"]),
    ("rounding", &["nearest", "truncate"]),
    ("zeros", &["repeat", "word"]),
    ("lanes", &["32", "1"]),
    ("words", &["paper", "measured"]),
    ("planes", &["fewest", "formula"]),
    ("widths", &["2-4-8-16", "5-9-14-16"]),
    (
        "mode",
        &[
            "auto",
            "isotropic",
            "packet-z",
            "packet-x",
            "lorenzo-0",
            "lorenzo-zyx",
        ],
    ),
];

/// A field of any content and extents, some of them beyond 2¹⁶ values, with any parameters of any
/// codec. The round trip must conform.
pub fn structured(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let entry = choose(&mut input, TABLE);
    let mut params = Params::default();
    for (key, values) in CHOICES {
        if entry.info.params.iter().any(|param| param.name == key) {
            params.set(key, *choose(&mut input, values));
        }
    }
    if entry.validate(&params).is_err() {
        return;
    }
    let kind = *choose(&mut input, entry.info.tolerances);
    let (low, high) = (up_to(&mut input, 255) as u8, up_to(&mut input, 255) as u8);
    // Most magnitudes are useless: half of the bounds are near the values.
    let near = up_to(&mut input, 1) == 1 && !matches!(kind, BoundKind::Precision);
    let bound = match near {
        true => Bound::new(
            kind,
            0.5f64.powi(i32::from(high % 30)) * f64::from(low) / 256.0,
        )
        .ok(),
        false => bound(kind, low, high),
    };
    let Some(bound) = bound else { return };
    let content = *choose(&mut input, &Content::ALL);
    let seed = up_to(&mut input, 1 << 16) as u64;
    let shape: Vec<usize> = match up_to(&mut input, 7) {
        0 => large(up_to(&mut input, 255) as u8).to_vec(),
        axes => (0..axes.min(4))
            .map(|_| up_to(&mut input, 17) + 1)
            .collect(),
    };
    let element = *choose(&mut input, &ElementType::ALL);
    with_type!(element, T => conforms::<T>(entry, &params, bound, &content.field(&shape, seed)));
}
