//! The chunk table that all kernels read; `Chunk` in `wgsl/prelude.wgsl`.

use ebz::engine::fz::{Coded, Layout, Narrow, TILE, UNIT};

/// One chunk of a batch.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Row {
    pub first: u32,
    pub count: u32,
    pub first_unit: u32,
    pub units: u32,
    pub nx: u32,
    pub plane: u32,
    pub lags: u32,
    pub step: u32,
    pub step_exponent: i32,
    pub base: i32,
    pub limit: u32,
    pub inverse_low: u32,
    pub inverse_high: u32,
    pub inverse_exponent: i32,
    pub rounded_to: u32,
    pub fills: u32,
    pub body: u32,
    pub body_words: u32,
    pub mode: u32,
    pub step_low: u32,
    pub step_high: u32,
    pub base_low: u32,
    pub base_high: u32,
    pub segments: u32,
    pub first_segment: u32,
    pub planes: u32,
    pub fill: [u32; 8],
}

/// Bytes of a body before its codes.
pub(crate) const HEADER: usize = 24;

/// The table of a batch, and the buffer sizes it needs.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The common layout: all chunks are of one frame.
    pub layout: Layout,
    pub rows: Vec<Row>,
    pub values: usize,
    pub units: usize,
    pub body_words: usize,
    pub segments: usize,
}

impl Table {
    /// Adds a chunk to encode.
    pub fn add_values(&mut self, narrow: &Narrow) {
        let count = narrow.dims.len();
        let units = count.div_ceil(UNIT);
        let (inverse, inverse_exponent, rounded_to) = match narrow.base {
            0 => {
                let (mantissa, exponent) = split_single(narrow.inverse as f32);
                (u64::from(mantissa), exponent, 24)
            }
            _ => split_double(narrow.inverse),
        };
        let (step, base) = (f64::from(narrow.step), f64::from(narrow.base));
        // Bodies larger than the values are not needed; header and codes are always written.
        let codes = codes_bytes(narrow.layout, units);
        let body_words = count.max((HEADER + codes).div_ceil(4)) + 1;
        let mut fill = [0; 8];
        for (place, value) in fill.iter_mut().zip(&narrow.fill) {
            *place = value.to_bits();
        }
        let row = Row {
            body_words: body_words as u32,
            limit: narrow.limit.to_bits(),
            inverse_low: inverse as u32,
            inverse_high: (inverse >> 32) as u32,
            inverse_exponent,
            rounded_to,
            fills: narrow.fill.len() as u32,
            mode: u32::from(narrow.lags) << 8 | (narrow.layout as u32) << 16,
            step_low: step.to_bits() as u32,
            step_high: (step.to_bits() >> 32) as u32,
            base_low: base.to_bits() as u32,
            base_high: (base.to_bits() >> 32) as u32,
            fill,
            ..lattice(narrow.step, narrow.base, narrow.lags)
        };
        self.layout = narrow.layout;
        self.add(row, narrow.dims, body_words);
    }

    /// Adds a chunk to decode, with a body of this many bytes.
    pub fn add_body(&mut self, coded: &Coded<'_>, dims: ebz::engine::fz::Dims, bytes: usize) {
        let row = lattice(coded.step, coded.base, coded.lags);
        self.layout = coded.layout;
        self.add(row, dims, bytes.div_ceil(4));
    }

    fn add(&mut self, mut row: Row, dims: ebz::engine::fz::Dims, body_words: usize) {
        let count = dims.len();
        let planes = if row.lags & 4 != 0 { dims.nz } else { 1 };
        let segments = (count / planes).div_ceil(UNIT);
        row.first = self.values as u32;
        row.count = count as u32;
        row.units = count.div_ceil(UNIT) as u32;
        row.nx = dims.nx as u32;
        row.plane = (dims.nx * dims.ny) as u32;
        row.segments = segments as u32;
        row.planes = planes as u32;
        self.add_row(row, body_words);
    }

    /// Adds an existing row with its body after the previous ones.
    pub fn add_row(&mut self, mut row: Row, body_words: usize) {
        row.first_unit = self.units as u32;
        row.body = self.body_words as u32;
        row.first_segment = self.segments as u32;
        self.values += row.count as usize;
        self.units += row.units as usize;
        self.body_words += body_words;
        self.segments += (row.segments * row.planes) as usize;
        self.rows.push(row);
    }

    /// The same for decoding: without a lag of rows, columns are cut to get many.
    pub fn decoding(&self) -> Vec<Row> {
        let free = |row: &Row| Row {
            nx: row.count.div_ceil(VALUES_PER_THREAD),
            ..*row
        };
        let rows = self.rows.iter();
        rows.map(|row| if row.lags & 2 == 0 { free(row) } else { *row })
            .collect()
    }

    /// Number of tiles in the buffers: every chunk starts a new tile.
    pub fn tiles(&self) -> usize {
        self.units.div_ceil(TILE_UNITS) + self.rows.len()
    }

    /// The largest number of units of a chunk.
    pub fn most(&self, size: impl Fn(&Row) -> u32) -> u32 {
        self.rows.iter().map(size).max().unwrap_or(0)
    }
}

/// Units per tile.
pub(crate) const TILE_UNITS: usize = TILE / UNIT;

/// Bytes of a body between its header and its planes or blocks.
pub(crate) fn codes_bytes(layout: Layout, units: usize) -> usize {
    match layout {
        Layout::Planes => units,
        Layout::Flags => 32 * units.div_ceil(TILE_UNITS),
    }
}

/// Values per thread if they need not be in one column.
const VALUES_PER_THREAD: u32 = 8;

fn lattice(step: f32, base: i32, lags: u8) -> Row {
    let (mantissa, exponent) = split_single(step);
    Row {
        lags: lags.into(),
        step: mantissa >> 15,
        step_exponent: exponent + 15,
        base,
        ..Row::default()
    }
}

/// Mantissa and exponent: the value is mantissa · 2^exponent.
fn split_single(value: f32) -> (u32, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = (bits >> 23 & 255, bits & 0x7f_ffff);
    match exponent {
        0 => (fraction, 1 - 150),
        _ => (fraction | 0x80_0000, exponent as i32 - 150),
    }
}

/// The same in double precision, with its number of bits.
fn split_double(value: f64) -> (u64, i32, u32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    (
        fraction | 1 << 52,
        (bits >> 52 & 2047) as i32 - 1075,
        f64::MANTISSA_DIGITS,
    )
}
