//! The container's layout, written from `docs/format.md` and not from the library's code: finds
//! the records of a file and makes records with valid checksums and hostile contents.

use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes in front of the first record.
pub const FILE_HEADER: usize = 16;
/// Bytes of a record header.
pub const RECORD_HEADER: usize = 32;
/// Kinds of records.
pub const KINDS: Range<u8> = 1..7;

/// A record of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What its body is.
    pub kind: u8,
    /// Number of the frame.
    pub frame: u32,
    /// Number of the chunk.
    pub number: u32,
    /// Where header and body lie in the file.
    pub bytes: Range<usize>,
}

impl Record {
    /// Where the body lies in the file.
    pub fn body(&self) -> Range<usize> {
        self.bytes.start + RECORD_HEADER..self.bytes.end
    }
}

/// The records of a file, one behind the other, up to the first that does not fit.
pub fn records(file: &[u8]) -> Vec<Record> {
    let mut found = Vec::new();
    let mut start = FILE_HEADER;
    while let Some(header) = file.get(start..start + RECORD_HEADER) {
        let u32_at = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| header[at + i]));
        let length = u64::from(u32_at(16)) | u64::from(u32_at(20)) << 32;
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| length.checked_add(start + RECORD_HEADER))
            .filter(|&end| end <= file.len());
        let (b"EBZr", Some(end)) = (&header[..4], end) else {
            break;
        };
        found.push(Record {
            kind: header[4],
            frame: u32_at(8),
            number: u32_at(12),
            bytes: start..end,
        });
        start = end;
    }
    found
}

/// Gives a record the checksum that belongs to its header and body.
pub fn seal(record: &mut [u8]) {
    let mut covered = record[..24].to_vec();
    covered.extend_from_slice(&record[RECORD_HEADER..]);
    record[24..RECORD_HEADER].copy_from_slice(&xxh3_64(&covered).to_le_bytes());
}

/// A record with a valid checksum.
pub fn record(kind: u8, frame: u32, number: u32, body: &[u8]) -> Vec<u8> {
    let mut record = b"EBZr".to_vec();
    record.extend_from_slice(&[kind, 0, 0, 0]);
    record.extend_from_slice(&frame.to_le_bytes());
    record.extend_from_slice(&number.to_le_bytes());
    record.extend_from_slice(&(body.len() as u64).to_le_bytes());
    record.extend_from_slice(&[0; 8]);
    record.extend_from_slice(body);
    seal(&mut record);
    record
}

/// The body of a frame record, for any extents: raw codec, lossless, f32.
pub fn frame_body(shape: &[u64], chunk: &[u64]) -> Vec<u8> {
    let mut body = vec![1, shape.len() as u8, 0, 0, 7, 7, 0, 0];
    body.extend_from_slice(&[0; 24]);
    for extent in shape.iter().chain(chunk) {
        body.extend_from_slice(&extent.to_le_bytes());
    }
    for text in ["{}", "null", "testkit"] {
        body.extend_from_slice(&(text.len() as u32).to_le_bytes());
        body.extend_from_slice(text.as_bytes());
    }
    body
}

/// A complete file of one frame: its frame record's body, its chunk records' bodies (kind, body),
/// and the chunk index, where `None` gives the true one.
pub fn file(frame: &[u8], chunks: &[(u8, Vec<u8>)], index: Option<&[u8]>) -> Vec<u8> {
    let mut file = b"\x89EBZ\r\n\x1a\n\x01\0\0\0\0\0\0\0".to_vec();
    let mut places = Vec::new();
    let mut put = |kind: u8, number: u32, body: &[u8]| {
        let place = [file.len() as u64, body.len() as u64].map(u64::to_le_bytes);
        file.extend_from_slice(&record(kind, 0, number, body));
        place.concat()
    };
    let header = put(1, 0, frame);
    for (number, (kind, body)) in chunks.iter().enumerate() {
        places.extend_from_slice(&put(*kind, number as u32, body));
    }
    let end = put(4, 0, index.unwrap_or(&places));
    let mut body = [header, end].concat();
    body.extend_from_slice(&(file.len() as u64).to_le_bytes());
    body.extend_from_slice(b"ebz-end\n");
    file.extend_from_slice(&record(5, 1, 0, &body));
    file
}
