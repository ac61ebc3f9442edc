//! Global memory traffic of the kernels: each byte of a buffer that a kernel accesses counts once per read and
//! once per write. Repeated reads by neighbouring workgroups are served by caches.

use crate::encode::length;
use crate::table::{HEADER, Table};

/// Bytes of traffic per byte of the values, compressing and decompressing, from the marks of the units.
pub(crate) fn of(table: &Table, marks: &[u32]) -> (f64, f64) {
    let raw = 4 * table.values;
    let rows = size_of_val(&*table.rows);
    let units = 4 * table.units;
    let words: usize = marks
        .iter()
        .map(|&mark| length(mark).next_multiple_of(4))
        .sum();
    let body = words + table.units + HEADER * table.rows.len();
    let again: usize = marks.iter().filter(|mark| **mark >> 31 == 1).count() * 4 * 256;

    // encode: values, slots, marks and states. carry: states. resolve: marks, and units with exceptions again.
    // offsets: marks, offsets, codes. compact: marks, offsets, slots, bodies.
    let encode = raw + words + 2 * units;
    let carry = 2 * units;
    let resolve = units + again;
    let offsets = 2 * units + table.units + units;
    let compact = 2 * units + words + body;
    let compress = encode + carry + resolve + offsets + compact + 5 * rows;

    // unpack: bodies, once for each of two segments if planes are summed up, marks and offsets; sums and
    // totals. totals: totals. columns: sums, totals, values.
    let twice = if table.rows.iter().any(|row| row.planes > 1) {
        2
    } else {
        1
    };
    let (sums, totals) = (512 * table.segments, 4 * table.segments);
    let unpack = twice * (body + 2 * units) + sums + totals;
    let columns = sums + totals + raw;
    let decompress = unpack + 2 * totals + columns + 3 * rows;
    (compress as f64 / raw as f64, decompress as f64 / raw as f64)
}
