//! Every kernel against a plain reference, buffer by buffer.
//!
//! These need an adapter: `scripts/test_gpu` runs them.

mod flags;

use crate::buffers::{Buffers, Role};
use crate::decode::Decoding;
use crate::device::Gpu;
use crate::encode::{Encoding, SLOT_BYTES, length, unit_of};
use crate::kernels::Transpose;
use crate::run::Recorder;
use crate::table::{HEADER, Table};
use crate::traffic;
use ebz::codec::Params;
use ebz::engine::fz::{Dims, Narrow, Task, UNIT, encode_unit};
use ebz::simd::Level;
use ebz::{FillValues, Tolerance};

const FILL: f32 = -999.0;

/// Chunks of three shapes with single and clustered exceptions, and partial units.
fn chunks() -> Vec<(Dims, Vec<f32>)> {
    let shapes = [(1, 1, 5000), (1, 60, 77), (5, 33, 41)];
    let value = |dims: Dims, i: usize| {
        let (x, y) = ((i % dims.nx) as f32, (i / dims.nx) as f32);
        let wave = (x * 0.05).sin() + (y * 0.09).cos() + 0.01 * ((i * 7919 % 101) as f32);
        match i {
            900..=2000 if !i.is_multiple_of(3) => FILL,
            2100..2900 => FILL,
            4000 => f32::NAN,
            _ => wave,
        }
    };
    let chunk = |(nz, ny, nx)| {
        let dims = Dims { nz, ny, nx };
        (dims, (0..dims.len()).map(|i| value(dims, i)).collect())
    };
    shapes.into_iter().map(chunk).collect()
}

fn narrow(dims: Dims, values: &[f32], params: &Params) -> Narrow {
    let task = Task {
        dims,
        tolerance: Tolerance::Abs(1e-3),
        fill: FillValues::from(f64::from(FILL)),
        params,
    };
    Narrow::choose(values, &task, Level::Portable).expect("16 bits are enough")
}

/// Coordinates of a chunk, unit by unit; exceptions repeat the previous one.
struct Model {
    numbers: Vec<u16>,
    good: Vec<bool>,
    /// The last coordinate of each unit that has one.
    states: Vec<Option<u16>>,
    residuals: Vec<[u16; UNIT]>,
}

impl Model {
    fn new(values: &[f32], narrow: &Narrow) -> Self {
        let (mut numbers, mut good, mut states) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = 0;
        for unit in 0..values.len().div_ceil(UNIT) {
            let values = unit_of(values, unit);
            let padded = std::array::from_fn(|i| values[i.min(values.len() - 1)]);
            let (q, fine) = narrow.quantize(&padded);
            states.push((0..UNIT).rev().find(|&i| fine[i]).map(|i| q[i]));
            for (q, fine) in q.into_iter().zip(fine) {
                last = if fine { q } else { last };
                numbers.push(last);
                good.push(fine);
            }
        }
        let mut residuals = numbers.clone();
        let lags = [1, narrow.dims.nx, narrow.dims.nx * narrow.dims.ny];
        for (bit, lag) in lags.into_iter().enumerate() {
            if narrow.lags >> bit & 1 == 1 {
                let before = residuals.clone();
                for i in lag..residuals.len() {
                    residuals[i] = before[i].wrapping_sub(before[i - lag]);
                }
            }
        }
        let zigzag = |r: u16| r << 1 ^ (r.cast_signed() >> 15).cast_unsigned();
        let residuals: Vec<u16> = residuals.into_iter().map(zigzag).collect();
        let (residuals, _) = residuals.as_chunks();
        Self {
            numbers,
            good,
            states,
            residuals: residuals.to_vec(),
        }
    }
}

struct Run {
    gpu: Gpu,
    table: Table,
    encoding: Encoding,
    models: Vec<Model>,
    buffers: Buffers,
    values: Vec<f32>,
}

/// Encodes all chunks with the first `kernels` kernels.
fn encoded(transpose: Transpose, kernels: usize) -> Run {
    encoded_as("planes", transpose, kernels)
}

/// The same in a given layout.
fn encoded_as(layout: &str, transpose: Transpose, kernels: usize) -> Run {
    let gpu = Gpu::untested(None, transpose).expect("a GPU");
    let mut params = Params::default();
    params.set("layout", layout);
    let (mut table, mut models, mut all) = (Table::default(), Vec::new(), Vec::new());
    for (dims, values) in chunks() {
        let narrow = narrow(dims, &values, &params);
        table.add_values(&narrow);
        models.push(Model::new(&values, &narrow));
        all.extend(values);
    }
    let mut buffers = Buffers::default();
    let values = buffers
        .get(&gpu, Role::Values, 4 * all.len() as u64)
        .unwrap();
    gpu.queue
        .write_buffer(&values, 0, bytemuck::cast_slice(&all));
    let encoding = Encoding::new(&gpu, &table, values, &mut buffers).unwrap();
    let mut recorder = Recorder::new(&gpu);
    encoding.record_some(&gpu, &table, &mut recorder, kernels);
    recorder.submit();
    Run {
        gpu,
        table,
        encoding,
        models,
        buffers,
        values: all,
    }
}

impl Run {
    fn read(&mut self, buffer: &wgpu::Buffer, words: usize) -> Vec<u32> {
        let part = (buffer, 0, 4 * words as u64);
        self.gpu
            .download(&mut self.buffers, &[part], bytemuck::pod_collect_to_vec)
            .unwrap()
    }

    /// Each unit of the models with its global number, and whether it depends on an exception.
    fn units(&self) -> Vec<(usize, usize, usize, bool)> {
        let mut units = Vec::new();
        for (m, (model, row)) in self.models.iter().zip(&self.table.rows).enumerate() {
            let lags = [(1, 1), (2, row.nx as usize), (4, row.plane as usize)];
            let back: Vec<usize> = (0..8u32)
                .filter(|set| set & row.lags == *set)
                .map(|set| {
                    lags.iter()
                        .filter(|(bit, _)| set & bit != 0)
                        .map(|(_, lag)| lag)
                        .sum()
                })
                .collect();
            for unit in 0..row.units as usize {
                // Kernel 1 always examines the number before a window, whether lag 1 is in use or not.
                let depends = back.iter().any(|back| {
                    (0..=UNIT).any(|i| {
                        let place = (unit * UNIT + i).checked_sub(back + 1);
                        place.is_some_and(|place| !model.good[place])
                    })
                });
                units.push((m, unit, row.first_unit as usize + unit, depends));
            }
        }
        units
    }

    fn check_slots(&mut self, with_exceptions: bool) {
        let marks = self.read(&self.encoding.marks.clone(), self.table.units);
        let slots = self.read(
            &self.encoding.slots.clone(),
            self.table.units * SLOT_BYTES as usize / 4,
        );
        let mut checked = 0;
        for (m, unit, at, depends) in self.units() {
            let marked = marks[at] >> 30 & 1 == 1;
            if depends && !with_exceptions {
                assert!(marked, "unit {unit} of chunk {m}");
                continue;
            }
            let (code, bytes) = encode_unit(&self.models[m].residuals[unit]);
            assert!(!marked, "unit {unit} of chunk {m}");
            assert_eq!(
                (marks[at] & 255, length(marks[at])),
                (code.into(), bytes.len())
            );
            let slot: &[u8] = bytemuck::cast_slice(&slots[at * SLOT_BYTES as usize / 4..]);
            assert!(slot[..bytes.len()] == bytes, "unit {unit} of chunk {m}");
            let own = &self.models[m].good[unit * UNIT..][..UNIT];
            assert_eq!(marks[at] >> 31 == 1, own.contains(&false));
            checked += 1;
        }
        assert!(checked > 5);
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn encode_quantizes_predicts_and_packs() {
    for transpose in [Transpose::Ballot, Transpose::Gather] {
        let mut run = encoded(transpose, 1);
        run.check_slots(false);
        let states = run.read(&run.encoding.states.clone(), run.table.units);
        for (m, unit, at, _) in run.units() {
            let expected = run.models[m].states[unit].map_or(0x10000, u32::from);
            assert_eq!(states[at], expected, "unit {unit} of chunk {m}");
        }
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn carry_hands_on_the_last_coordinate() {
    let mut run = encoded(Transpose::Gather, 2);
    let states = run.read(&run.encoding.states.clone(), run.table.units);
    for (m, unit, at, _) in run.units() {
        let before = (unit * UNIT)
            .checked_sub(1)
            .map(|i| run.models[m].numbers[i]);
        assert_eq!(
            states[at],
            u32::from(before.unwrap_or(0)),
            "unit {unit} of chunk {m}"
        );
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn resolve_repeats_coordinates_over_exceptions() {
    for transpose in [Transpose::Ballot, Transpose::Gather] {
        encoded(transpose, 3).check_slots(true);
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn offsets_and_compact_put_bodies_together() {
    let mut run = encoded(Transpose::Gather, 5);
    let offsets = run.read(
        &run.encoding.offsets.clone(),
        run.table.units + run.table.rows.len(),
    );
    let bodies = run.read(&run.encoding.bodies.clone(), run.table.body_words);
    for (m, row) in run.table.rows.iter().enumerate() {
        let (mut codes, mut planes) = (Vec::new(), Vec::new());
        for (unit, residuals) in run.models[m].residuals.iter().enumerate() {
            assert_eq!(
                offsets[row.first_unit as usize + m + unit],
                planes.len() as u32
            );
            let (code, bytes) = encode_unit(residuals);
            codes.push(code);
            planes.extend(bytes);
        }
        let body: &[u8] = bytemuck::cast_slice(&bodies[row.body as usize..]);
        assert_eq!(
            body[HEADER - 4..HEADER],
            (planes.len() as u32).to_le_bytes()
        );
        assert!(body[HEADER..][..codes.len()] == codes);
        assert!(
            body[HEADER + codes.len()..][..planes.len()] == planes,
            "chunk {m}"
        );
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn unpack_totals_and_columns_give_the_numbers_back() {
    for layout in ["planes", "flags"] {
        numbers_come_back(encoded_as(layout, Transpose::Gather, usize::MAX));
    }
}

fn numbers_come_back(mut run: Run) {
    let (table, encoding) = (&run.table, &run.encoding);
    let mut buffers = Buffers::default();
    let values = buffers
        .get(&run.gpu, Role::Values, 4 * run.values.len() as u64)
        .unwrap();
    let inputs = (
        encoding.bodies.clone(),
        encoding.marks.clone(),
        encoding.offsets.clone(),
    );
    let decoding = Decoding::new(&run.gpu, table, inputs, values, &mut buffers).unwrap();
    let mut recorder = Recorder::new(&run.gpu);
    decoding.record(&run.gpu, table, &mut recorder);
    recorder.submit();
    let segments = run.table.segments;
    let (sums, totals, out) = (
        decoding.sums.clone(),
        decoding.totals.clone(),
        decoding.values.clone(),
    );
    let sums: Vec<u16> = bytemuck::pod_collect_to_vec(&run.read(&sums, 128 * segments));
    let totals = run.read(&totals, segments);
    let out = run.read(&out, run.values.len());
    for (m, row) in run.table.rows.iter().enumerate() {
        let model = &run.models[m];
        let lattice = |k: u16| {
            f32::from_bits(0)
                + f32::from(k.cast_signed()) * (row.step as f32) * (row.step_exponent as f32).exp2()
        };
        let count = row.count as usize;
        let length = count / row.planes as usize;
        for i in 0..count {
            let (z, within) = (i / length, i % length);
            let segment = row.first_segment as usize + z * row.segments as usize + within / 256;
            // Before the sums along columns: without the lag of rows.
            let lag = if row.lags & 2 != 0 {
                row.nx as usize
            } else {
                usize::MAX
            };
            let before = i.checked_sub(lag).map_or(0, |j| model.numbers[j]);
            let expected = model.numbers[i].wrapping_sub(before);
            let sum = sums[segment * 256 + within % 256].wrapping_add(totals[segment] as u16);
            assert_eq!(sum, expected, "value {i} of chunk {m}");
            let value = out[row.first as usize + i];
            assert_eq!(
                value,
                lattice(model.numbers[i]).to_bits(),
                "value {i} of chunk {m}"
            );
        }
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn global_memory_traffic_is_within_its_limit() {
    // A smooth field without exceptions, as usual, and the chunks above, which have many.
    let mut run = encoded(Transpose::Gather, 5);
    let marks = run.read(&run.encoding.marks.clone(), run.table.units);
    let (encode, decode) = traffic::of(&run.table, &marks);
    println!("with exceptions: {encode:.3} and {decode:.3} bytes for each byte");
    let dims = Dims {
        nz: 8,
        ny: 128,
        nx: 200,
    };
    let wave = |i: usize| (i as f32 * 3e-4).sin() + ((i / 200) as f32 * 0.02).cos();
    let values: Vec<f32> = (0..dims.len()).map(wave).collect();
    let params = Params::default();
    let mut table = Table::default();
    table.add_values(&narrow(dims, &values, &params));
    let mut buffers = Buffers::default();
    let buffer = buffers
        .get(&run.gpu, Role::Values, 4 * values.len() as u64)
        .unwrap();
    run.gpu
        .queue
        .write_buffer(&buffer, 0, bytemuck::cast_slice(&values));
    let encoding = Encoding::new(&run.gpu, &table, buffer, &mut buffers).unwrap();
    let mut recorder = Recorder::new(&run.gpu);
    encoding.record(&run.gpu, &table, &mut recorder);
    recorder.submit();
    let marks = run.read(&encoding.marks, table.units);
    let (encode, decode) = traffic::of(&table, &marks);
    println!("without: {encode:.3} and {decode:.3} bytes for each byte");
    assert!(encode <= 2.5 && decode <= 2.5, "{encode} {decode}");
}
