//! `docs/format.md` says what the library does: the listing in it, the layout of every file, and
//! the registry of codecs.

use ebz::codec::TABLE;
use ebz::{Bound, Options, View};
use ebz_testkit::corruption::small_files;
use ebz_testkit::fields::workspace;
use ebz_testkit::layout::{self, FILE_HEADER, RECORD_HEADER};

fn document() -> String {
    let text = std::fs::read_to_string(workspace().join("docs/format.md")).unwrap();
    text.replace("\r\n", "\n")
}

/// A field of the listing: its length and what it is.
type Row = (usize, &'static str);

const FILE_ROWS: [Row; 3] = [(8, "signature"), (2, "format version"), (6, "reserved")];
const RECORD_ROWS: [Row; 7] = [
    (4, "marker"),
    (1, "kind"),
    (3, "reserved"),
    (4, "frame"),
    (4, "number"),
    (8, "length of the body"),
    (8, "checksum"),
];
const FRAME_ROWS: [Row; 17] = [
    (1, "element type: f32"),
    (1, "axes"),
    (2, "codec: raw"),
    (1, "bound as asked: lossless"),
    (1, "guarantee: lossless"),
    (1, "fill values: as chunks find them"),
    (1, "number of them"),
    (8, "number of the bound"),
    (8, "number of the guarantee"),
    (8, "extent of the array"),
    (8, "extent of a chunk"),
    (4, "length"),
    (2, "parameters: {}"),
    (4, "length"),
    (12, "metadata: {\"unit\":\"m\"}"),
    (4, "length"),
    (
        "ebz ".len() + env!("CARGO_PKG_VERSION").len(),
        "version of the writer",
    ),
];
const RAW_ROWS: [Row; 2] = [(4, "1.0"), (4, "-2.5")];
const END_ROWS: [Row; 2] = [(8, "chunk 0: offset"), (8, "chunk 0: length of the body")];
const INDEX_ROWS: [Row; 6] = [
    (8, "frame record: offset"),
    (8, "frame record: length of the body"),
    (8, "end record: offset"),
    (8, "end record: length of the body"),
    (8, "tail: offset of the index record"),
    (8, "tail: ebz-end"),
];

/// Appends lines of at most eight bytes; returns where the fields end.
fn list(out: &mut String, bytes: &[u8], mut at: usize, rows: &[Row]) -> usize {
    for &(length, what) in rows {
        for (line, part) in bytes[at..at + length].chunks(8).enumerate() {
            let hex: Vec<_> = part.iter().map(|byte| format!("{byte:02x}")).collect();
            let what = if line == 0 { what } else { "" };
            let text = format!("{:04x}  {:<23}  {what}", at + line * 8, hex.join(" "));
            out.push_str(text.trim_end());
            out.push('\n');
        }
        at += length;
    }
    at
}

#[test]
fn the_listing_is_the_file_that_is_written() {
    let options = Options::new(Bound::Lossless)
        .codec("raw")
        .metadata(serde_json::json!({"unit": "m"}));
    let bytes = ebz::compress(&View::new(&[1.0f32, -2.5], &[2]).unwrap(), &options).unwrap();
    let mut listing = String::new();
    let mut at = list(&mut listing, &bytes, 0, &FILE_ROWS);
    let bodies: [(&str, &[Row]); 4] = [
        ("frame record", &FRAME_ROWS),
        ("chunk record, raw", &RAW_ROWS),
        ("end record", &END_ROWS),
        ("index record", &INDEX_ROWS),
    ];
    for (name, rows) in bodies {
        listing.push_str(&format!("\n      {name}\n"));
        at = list(&mut listing, &bytes, at, &RECORD_ROWS);
        at = list(&mut listing, &bytes, at, rows);
    }
    assert_eq!(at, bytes.len(), "the listing leaves bytes out");
    let expected =
        format!("<!-- file listing: begin -->\n```text\n{listing}```\n<!-- file listing: end -->");
    assert!(
        document().contains(&expected),
        "docs/format.md must contain:\n{expected}"
    );
}

#[test]
fn files_consist_of_the_records_that_the_document_describes() {
    for file in small_files().unwrap() {
        let bytes = &file.bytes;
        let records = layout::records(bytes);
        let kinds: Vec<_> = records
            .iter()
            .map(|r| (r.kind, r.frame, r.number))
            .collect();
        let chunk = |at: usize| (records[at].kind, records[at].frame, records[at].number);
        assert!(records.iter().all(|r| layout::KINDS.contains(&r.kind)));
        let expected = [
            (1, 0, 0),
            (chunk(1).0, 0, 0),
            (chunk(2).0, 0, 1),
            (4, 0, 0),
            (1, 1, 0),
            (chunk(5).0, 1, 0),
            (4, 1, 0),
            (5, 2, 0),
        ];
        assert_eq!(kinds, expected, "{}", file.name);
        assert_eq!(records[0].bytes.start, FILE_HEADER);
        assert_eq!(records[7].bytes.end, bytes.len());
        for record in &records {
            let again = layout::record(
                record.kind,
                record.frame,
                record.number,
                &bytes[record.body()],
            );
            assert_eq!(again, bytes[record.bytes.clone()], "{}", file.name);
        }
        let place = |at: usize| {
            let record = &records[at];
            let length = record.bytes.len() - RECORD_HEADER;
            [record.bytes.start as u64, length as u64]
                .map(u64::to_le_bytes)
                .concat()
        };
        assert_eq!(bytes[records[3].body()], [place(1), place(2)].concat());
        let index = [place(0), place(3), place(4), place(6)].concat();
        assert!(bytes[records[7].body()].starts_with(&index));
        let tail = [&records[7].bytes.start.to_le_bytes()[..], b"ebz-end\n"].concat();
        assert!(bytes.ends_with(&tail));
    }
}

#[test]
fn every_codec_has_its_number_in_the_registry() {
    let document = document();
    for entry in TABLE {
        let row = format!("| {} | {} |", entry.info.id, entry.info.name);
        assert!(document.contains(&row), "docs/format.md has no row {row}");
    }
}
