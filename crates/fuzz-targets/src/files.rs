//! Whole files, as they are and with valid checksums.

use ebz::{ElementType, Limits, Reader, StreamReader, with_type};
use ebz_testkit::corruption::{self, SmallFile};
use ebz_testkit::layout;
use std::io::Write;
use std::sync::LazyLock;

/// Maximum number of bytes that a target lets the library produce.
pub const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// Limits of a reader of hostile bytes.
pub const LIMITS: Limits = Limits::new(MAX_OUTPUT_BYTES as u64, 64 << 20);

/// An output that is full after [`MAX_OUTPUT_BYTES`].
#[derive(Default)]
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT_BYTES {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Small files of every codec, element type and bound.
static FILES: LazyLock<Vec<SmallFile>> =
    LazyLock::new(|| corruption::small_files().expect("small files"));

/// Small files.
pub fn file_seeds() -> Vec<Vec<u8>> {
    FILES.iter().map(|file| file.bytes.clone()).collect()
}

/// Edits.
pub fn edit_seeds() -> Vec<Vec<u8>> {
    crate::words(&[1, 5, 9, 41])
}

/// Opens the bytes as a file, and reads and verifies all frames. What a reader from a pipe accepts
/// as well must be the same values.
pub fn container(bytes: &[u8]) {
    let found = by_index(bytes);
    let streamed = by_pipe(bytes);
    if let (Some(found), Some(streamed)) = (found, streamed) {
        assert!(found == streamed, "a pipe and a file give different values");
    }
}

/// Every frame read with the index, if all of them can be.
fn by_index(bytes: &[u8]) -> Option<Vec<u8>> {
    let reader = Reader::from_source(bytes).ok()?;
    let reader = reader.limits(LIMITS).threads(1);
    let mut all = (reader.frames() <= 8).then(Vec::new);
    for number in 0..reader.frames().min(8) {
        let Ok(frame) = reader.frame(number) else {
            all = None;
            continue;
        };
        let verified = frame.verify();
        let shape = frame.header().shape().to_vec();
        let values = with_type!(frame.header().element, T => {
            frame.read::<T>().map(|array| bytemuck::cast_slice(array.values()).to_vec())
        });
        let corner: Vec<_> = shape.iter().map(|&n| n / 2..n.min(n / 2 + 2)).collect();
        let _ = frame.write_region(&corner, &mut Bounded::default());
        all = match (all, values, verified) {
            (Some(all), Ok(values), Ok(())) => Some([all, values].concat()),
            _ => None,
        };
    }
    all
}

/// Every frame read sequentially, if that gets to the end.
fn by_pipe(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = StreamReader::new(bytes).ok()?.limits(LIMITS).threads(1);
    let mut out = Bounded::default();
    while reader.next_frame().ok()?.is_some() {
        reader.write_frame(&mut out).ok()?;
    }
    Some(out.0)
}

/// Reads the bytes sequentially.
pub fn stream(bytes: &[u8]) {
    by_pipe(bytes);
}

/// Recovers the bytes; the result must be a valid file.
pub fn recovery(bytes: &[u8]) {
    let Ok((report, saved)) = ebz::recover(&bytes, Bounded::default()) else {
        return;
    };
    let reader = Reader::from_source(&saved.0[..]).expect("a recovered file opens");
    let written = report.iter().filter(|frame| frame.written);
    assert_eq!(reader.frames(), written.count());
    for number in 0..reader.frames() {
        let frame = reader.frame(number).expect("a recovered frame opens");
        frame.verify().expect("a recovered frame has its checksums");
    }
}

/// Sets the checksum of every record, and reads the result in every way: checksums do not protect
/// against attacks.
pub fn sealed(bytes: &[u8]) {
    let mut file = bytes.to_vec();
    for record in layout::records(bytes) {
        layout::seal(&mut file[record.bytes]);
    }
    container(&file);
    recovery(&file);
}

/// Edits a valid file as the bytes say, sets its checksums, and reads it in every way.
pub fn edited(bytes: &[u8]) {
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
    recovery(&file);
}

/// An element type from a byte.
pub(crate) fn element_type(byte: u8) -> ElementType {
    ElementType::ALL[usize::from(byte) % ElementType::ALL.len()]
}
