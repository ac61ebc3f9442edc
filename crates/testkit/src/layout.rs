//! The layout of the container, implemented from `docs/format.md` independently of the library:
//! finds the records of a file, and makes records with valid checksums and hostile contents.

use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// Length of the file header.
pub const FILE_HEADER_BYTES: usize = 16;
/// Length of the tail of an index record, its offset.
pub const TAIL_BYTES: usize = 6;
/// Record kinds.
pub const KINDS: Range<u8> = 1..7;

/// The file header.
pub const SIGNATURE: [u8; FILE_HEADER_BYTES] = *b"\x89EBZ\r\n\x1a\n\x01\0\0\0\0\0\0\0";

/// A record of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its kind.
    pub kind: u8,
    /// Frame number.
    pub frame: u32,
    /// Chunk number.
    pub number: u32,
    /// Length of the header.
    pub header: usize,
    /// Byte range of header and body in the file.
    pub bytes: Range<usize>,
}

impl Record {
    /// Byte range of the body in the file.
    pub fn body(&self) -> Range<usize> {
        self.bytes.start + self.header..self.bytes.end
    }
}

/// Whether a record of this kind is a chunk.
fn is_chunk(kind: u8) -> bool {
    matches!(kind, 2 | 3 | 6)
}

/// Appends a varint: seven bits per byte, lowest first; the high bit is set if more follow.
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        out.push(128 | (number % 128) as u8);
        number /= 128;
    }
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for place in 0..10 {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 127) << (7 * place).min(63);
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

/// Parses a header: kind, frame, number, length of the body, header length without checksum, length
/// of the checksum.
fn header(bytes: &[u8]) -> Option<(u8, u32, u32, u64, usize, usize)> {
    let mut rest = bytes.strip_prefix(b"EBZ")?;
    let kind = *rest.split_off_first()?;
    let frame = take_number(&mut rest)? as u32;
    let (mut number, sum) = (0, if is_chunk(kind) { 8 } else { 4 });
    let length = if is_chunk(kind) {
        number = take_number(&mut rest)? as u32;
        let length = rest.split_off(..4)?;
        u64::from(u32::from_le_bytes([0, 1, 2, 3].map(|i| length[i])))
    } else {
        take_number(&mut rest)?
    };
    let head = bytes.len() - rest.len();
    (rest.len() >= sum).then_some((kind, frame, number, length, head, sum))
}

/// The records of a file, in order, up to the first that does not fit.
pub fn records(file: &[u8]) -> Vec<Record> {
    let mut found = Vec::new();
    let mut start = FILE_HEADER_BYTES;
    while let Some((kind, frame, number, length, head, sum)) = file.get(start..).and_then(header) {
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| length.checked_add(start + head + sum))
            .filter(|&end| end <= file.len());
        let Some(end) = end else {
            break;
        };
        found.push(Record {
            kind,
            frame,
            number,
            header: head + sum,
            bytes: start..end,
        });
        start = end;
    }
    found
}

/// Sets the checksum of a record, if its header can be parsed.
pub fn seal(record: &mut [u8]) {
    if let Some((.., head, sum)) = header(record) {
        let mut covered = record[..head].to_vec();
        covered.extend_from_slice(&record[head + sum..]);
        let checksum = xxh3_64(&covered).to_le_bytes();
        record[head..head + sum].copy_from_slice(&checksum[..sum]);
    }
}

/// A record with a valid checksum.
pub fn record(kind: u8, frame: u32, number: u32, body: &[u8]) -> Vec<u8> {
    let mut record = b"EBZ".to_vec();
    record.push(kind);
    put_number(&mut record, frame.into());
    if is_chunk(kind) {
        put_number(&mut record, number.into());
        record.extend_from_slice(&(body.len() as u32).to_le_bytes());
        record.extend_from_slice(&[0; 8]);
    } else {
        put_number(&mut record, body.len() as u64);
        record.extend_from_slice(&[0; 4]);
    }
    record.extend_from_slice(body);
    seal(&mut record);
    record
}

/// The body of a frame record with any extents: raw codec, lossless, f32.
pub fn frame_body(shape: &[u64], chunk: &[u64]) -> Vec<u8> {
    frame_body_with(shape, chunk, 0, None)
}

/// [`frame_body`] with a codec and metadata.
pub fn frame_body_with(
    shape: &[u64],
    chunk: &[u64],
    codec: u16,
    metadata: Option<&str>,
) -> Vec<u8> {
    let cut = u8::from(shape != chunk);
    let mut body = vec![cut | u8::from(metadata.is_some()) << 4, 1];
    put_number(&mut body, codec.into());
    body.push(7 | 7 << 4);
    body.extend_from_slice(&[0; 8]);
    body.push(shape.len() as u8);
    for extent in shape {
        put_number(&mut body, *extent);
    }
    if shape != chunk {
        for extent in chunk {
            put_number(&mut body, *extent);
        }
    }
    if let Some(text) = metadata {
        put_number(&mut body, text.len() as u64);
        body.extend_from_slice(text.as_bytes());
    }
    body.extend_from_slice(&[0, 1, 0]);
    body
}

/// A complete file of one frame, from the body of its frame record, its chunk records (kind, body),
/// and the body of its end record; `None` means the correct one.
pub fn file(frame: &[u8], chunks: &[(u8, Vec<u8>)], end: Option<&[u8]>) -> Vec<u8> {
    let mut file = SIGNATURE.to_vec();
    file.extend_from_slice(&record(1, 0, 0, frame));
    let start = file.len();
    let mut lengths = Vec::new();
    for (number, (kind, body)) in chunks.iter().enumerate() {
        file.extend_from_slice(&record(*kind, 0, number as u32, body));
        put_number(&mut lengths, body.len() as u64);
    }
    let stored = file.len() - start;
    let lengths = match end {
        Some(end) => end,
        None if chunks.len() > 1 => &lengths,
        None => &[],
    };
    if !lengths.is_empty() {
        file.extend_from_slice(&record(4, 0, 0, lengths));
    }
    let mut body = Vec::new();
    for number in [0, frame.len(), stored, lengths.len()] {
        put_number(&mut body, number as u64);
    }
    put_index(&mut file, 1, body);
    file
}

/// Appends the index record of this many frames, with the given table.
pub fn put_index(file: &mut Vec<u8>, frames: u32, mut table: Vec<u8>) {
    table.extend_from_slice(&(file.len() as u64).to_le_bytes()[..TAIL_BYTES]);
    file.extend_from_slice(&record(5, frames, 0, &table));
}
