//! Fuzz targets: arbitrary bytes to library calls. A target returns for every input; a panic, a
//! failed assertion or excessive memory is a bug of the library.

use crate::conformance::{self, Checker, dims};
use crate::corruption::{self, SMALL, SmallFile};
use crate::fields::Field;
use crate::layout;
use ebz::StreamReader;
use ebz::codec::{Params, TABLE};
use ebz::engine::Context;
use ebz::simd::Level;
use ebz::{Bound, BoundKind, Element, ElementType, FillValues, Limits, Options, Reader, with_type};
use std::io::Write;
use std::sync::LazyLock;

/// A fuzz target with its name.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 6] = [
    ("container", container),
    ("stream", stream),
    ("recovery", recovery),
    ("edited", edited),
    ("decode", decode),
    ("round_trip", round_trip),
];

/// Maximum number of bytes that a target lets the library produce.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// An output that is full after [`MAX_OUTPUT_BYTES`].
struct Bounded(usize);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        if self.0 > MAX_OUTPUT_BYTES {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An element type from a byte.
fn element_type(byte: u8) -> ElementType {
    ElementType::ALL[usize::from(byte) % ElementType::ALL.len()]
}

/// Opens the bytes as a file, and reads and verifies all frames.
pub fn container(bytes: &[u8]) {
    let Ok(reader) = Reader::from_source(bytes) else {
        return;
    };
    let limits = Limits::new(MAX_OUTPUT_BYTES as u64, SMALL.max_memory);
    let reader = reader.limits(limits).threads(1);
    for number in 0..reader.frames().min(8) {
        let Ok(frame) = reader.frame(number) else {
            continue;
        };
        let _ = frame.verify();
        let shape = frame.header().shape().to_vec();
        with_type!(frame.header().element, T => drop(frame.read::<T>()));
        let corner: Vec<_> = shape.iter().map(|&n| n / 2..n.min(n / 2 + 2)).collect();
        let _ = frame.write_region(&corner, &mut Bounded(0));
    }
}

/// Reads the bytes sequentially.
pub fn stream(bytes: &[u8]) {
    let Ok(reader) = StreamReader::new(bytes) else {
        return;
    };
    let mut reader = reader.limits(SMALL).threads(1);
    let mut out = Bounded(0);
    while let Ok(Some(_)) = reader.next_frame() {
        if reader.write_frame(&mut out).is_err() {
            return;
        }
    }
}

/// Recovers the bytes; the result must be a valid file.
pub fn recovery(bytes: &[u8]) {
    if ebz::recover(&bytes, Bounded(0)).is_err() {
        return;
    }
    let (report, saved) = ebz::recover(&bytes, Vec::new()).expect("recovered a moment ago");
    let reader = Reader::from_source(&saved[..]).expect("a recovered file opens");
    let written = report.iter().filter(|frame| frame.written);
    assert_eq!(reader.frames(), written.count());
    for number in 0..reader.frames() {
        let frame = reader.frame(number).expect("a recovered frame opens");
        frame.verify().expect("a recovered frame has its checksums");
    }
}

/// Edits a valid file as the bytes say, fixes its checksums, and reads it in every way: checksums
/// do not protect against attacks.
pub fn edited(bytes: &[u8]) {
    static FILES: LazyLock<Vec<SmallFile>> =
        LazyLock::new(|| corruption::small_files().expect("small files"));
    let Some((&choice, edits)) = bytes.split_first() else {
        return;
    };
    let mut file = FILES[usize::from(choice) % FILES.len()].bytes.clone();
    let records = layout::records(&file);
    for edit in edits.chunks_exact(4) {
        // Record, position and two bytes of change; most positions are in headers.
        let record = &records[usize::from(edit[0]) % records.len()];
        let at = record.bytes.start + usize::from(edit[1]) % record.bytes.len();
        file[at] = edit[2];
        if let Some(next) = file.get_mut(at + 1) {
            *next ^= edit[3];
        }
    }
    for record in records {
        layout::seal(&mut file[record.bytes]);
    }
    container(&file);
    stream(&file);
    recovery(&file);
}

/// The first bytes choose a codec, an element type and extents; the rest is a chunk.
pub fn decode(bytes: &[u8]) {
    let Some((&[codec, element, nz, ny, nx], payload)) = bytes.split_first_chunk() else {
        return;
    };
    let entry = &TABLE[usize::from(codec) % TABLE.len()];
    let extent = |byte: u8| usize::from(byte) % 24 + 1;
    let dims = dims(&[extent(nz), extent(ny), extent(nx) * 3]);
    fn into<T: Element>(entry: &ebz::codec::Entry, payload: &[u8], dims: ebz::internals::Dims) {
        for level in Level::available() {
            let mut out = vec![T::default(); dims.len()];
            let mut context = Context::new(level);
            let _ = entry.decode(payload, dims, &mut context, &mut out);
        }
    }
    with_type!(element_type(element), T => into::<T>(entry, payload, dims));
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
    // Any magnitude of a double with some of its mantissa bits; or a number of bits.
    let magnitude = f64::from_bits(
        (u64::from(bound_high) << 55 | u64::from(bound_low) << 47) & (i64::MAX as u64),
    );
    let value = match kind {
        BoundKind::Precision => f64::from(bound_low % 64 + 1),
        BoundKind::Pointwise => magnitude % 1.0,
        _ => magnitude,
    };
    let Ok(bound) = Bound::new(kind, value) else {
        return;
    };
    let shape = [nz, ny, nx].map(|byte| usize::from(byte) % 12 + 1);
    fn run<T: Element>(entry: &ebz::codec::Entry, bound: Bound, shape: &[usize], values: &[u8]) {
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
        let options = Options::new(bound).codec(entry.info.name);
        let tolerance = options
            .tolerance(|| Ok(0.0))
            .expect("a supported bound resolves");
        if entry.offers(Bound::from(tolerance).kind()) {
            let result = Checker::default().chunk(entry, &Params::default(), &field, tolerance);
            result.unwrap_or_else(|what| panic!("{} chunk: {what}", entry.info.name));
        }
        let result = conformance::file(&field, &options.chunk(&[2, 5, 7]));
        result.unwrap_or_else(|what| panic!("{} file: {what}", entry.info.name));
    }
    with_type!(element_type(element), T => run::<T>(entry, bound, &shape, values));
}
