//! Checks `docs/format.md` against the library: its listing, the layout of every file, and the
//! codec registry.

use ebz::codec::TABLE;
use ebz::{Bound, BoundKind, Options, View};
use ebz_testkit::corruption::small_files;
use ebz_testkit::fields::{Content, Field, workspace};
use ebz_testkit::layout::{self, FILE_HEADER_BYTES, TAIL_BYTES};

fn document() -> String {
    let text = std::fs::read_to_string(workspace().join("docs/format.md")).unwrap();
    text.replace("\r\n", "\n")
}

/// A field of the listing: length and description.
type Row = (usize, &'static str);

const FILE_ROWS: [Row; 3] = [
    (8, "signature"),
    (2, "format version"),
    (6, "previous index: none"),
];
const FRAME_ROWS: [Row; 17] = [
    (3, "marker"),
    (1, "kind"),
    (1, "frame"),
    (1, "length of the body"),
    (4, "checksum"),
    (1, "flags: metadata"),
    (1, "element type: f32"),
    (1, "codec: raw"),
    (1, "bound kinds: lossless, requested and resolved"),
    (8, "number of the resolved bound"),
    (1, "axes"),
    (1, "extent of the array"),
    (1, "length"),
    (12, "metadata: {\"unit\":\"m\"}"),
    (1, "writer: major version"),
    (1, "minor version"),
    (1, "patch version"),
];
const CHUNK_ROWS: [Row; 8] = [
    (3, "marker"),
    (1, "kind"),
    (1, "frame"),
    (1, "number"),
    (4, "length of the body"),
    (8, "checksum"),
    (4, "1.0"),
    (4, "-2.5"),
];
const INDEX_ROWS: [Row; 10] = [
    (3, "marker"),
    (1, "kind"),
    (1, "frames"),
    (1, "length of the body"),
    (4, "checksum"),
    (1, "bytes before the frame"),
    (1, "frame record: length of the body"),
    (1, "chunk records: bytes"),
    (1, "end record: length of the body: none"),
    (6, "tail: offset of the index record"),
];

/// Appends lines of at most eight bytes; returns the end of the fields.
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
fn the_listing_matches_a_written_file() {
    let options = Options::new(Bound::Lossless)
        .codec("raw")
        .metadata(serde_json::json!({"unit": "m"}));
    let bytes = ebz::compress(&View::new(&[1.0f32, -2.5], &[2]).unwrap(), &options).unwrap();
    let mut listing = String::new();
    let mut at = list(&mut listing, &bytes, 0, &FILE_ROWS);
    let bodies: [(&str, &[Row]); 3] = [
        ("frame record", &FRAME_ROWS),
        ("chunk record, raw", &CHUNK_ROWS),
        ("index record", &INDEX_ROWS),
    ];
    for (name, rows) in bodies {
        listing.push_str(&format!("\n      {name}\n"));
        at = list(&mut listing, &bytes, at, rows);
    }
    assert_eq!(at, bytes.len(), "the listing is incomplete");
    let expected =
        format!("<!-- file listing: begin -->\n```text\n{listing}```\n<!-- file listing: end -->");
    assert!(
        document().contains(&expected),
        "docs/format.md must contain:\n{expected}"
    );
}

#[test]
fn files_consist_of_the_documented_records() {
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
            (5, 2, 0),
        ];
        assert_eq!(kinds, expected, "{}", file.name);
        assert_eq!(records[0].bytes.start, FILE_HEADER_BYTES);
        assert_eq!(records[6].bytes.end, bytes.len());
        for record in &records {
            let again = layout::record(
                record.kind,
                record.frame,
                record.number,
                &bytes[record.body()],
            );
            assert_eq!(again, bytes[record.bytes.clone()], "{}", file.name);
        }
        let numbers = |numbers: &[usize]| {
            let mut out = Vec::new();
            for &number in numbers {
                layout::put_number(&mut out, number as u64);
            }
            out
        };
        let length = |at: usize| records[at].body().len();
        let whole = |at: usize| records[at].bytes.len();
        assert_eq!(bytes[records[3].body()], numbers(&[length(1), length(2)]));
        let first = [0, length(0), whole(1) + whole(2), length(3)];
        let mut index = numbers(&first);
        index.extend(numbers(&[0, length(4), whole(5), 0]));
        index.extend(&records[6].bytes.start.to_le_bytes()[..TAIL_BYTES]);
        assert_eq!(bytes[records[6].body()], index);
    }
}

#[test]
fn a_stream_of_one_chunk_has_at_most_100_bytes_overhead() {
    for entry in TABLE {
        let kinds = [BoundKind::Range, BoundKind::Abs, BoundKind::Pointwise];
        for kind in kinds.into_iter().filter(|&kind| entry.offers(kind)) {
            for shape in [
                &[300_000][..],
                &[600, 500],
                &[128, 50, 50],
                &[9, 70, 20, 20],
            ] {
                let field: Field<f64> = Content::Smooth.field(shape, 3);
                let bound = Bound::new(kind, 1e-3).unwrap();
                let options = Options::new(bound).codec(entry.info.name).chunk(shape);
                let view = View::new(&field.values, shape).unwrap();
                let bytes = ebz::compress(&view, &options).unwrap();
                let reader = ebz::Reader::from_source(&bytes[..]).unwrap();
                let own: u64 = reader.frame(0).unwrap().chunk_bytes().sum();
                let extra = bytes.len() as u64 - own;
                assert!(
                    extra <= 100,
                    "{} {bound} {shape:?}: {extra}",
                    entry.info.name
                );
            }
        }
    }
}

#[test]
fn every_codec_id_is_in_the_registry() {
    let document = document();
    for entry in TABLE {
        let row = format!("| {} | {} |", entry.info.id, entry.info.name);
        assert!(document.contains(&row), "docs/format.md has no row {row}");
    }
}
