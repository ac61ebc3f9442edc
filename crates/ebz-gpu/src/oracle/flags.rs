//! The kernels of `layout=flags`.

use super::*;
use crate::encode::TILE_BYTES;
use crate::table::TILE_UNITS;
use ebz::engine::fz::{encode_tile, sign_magnitude};

/// The CPU's version of a tile: its flags, and all of its blocks including zero ones.
struct Tile {
    flags: [u8; 32],
    blocks: Vec<u8>,
    words: Vec<u32>,
}

impl Model {
    /// Codes of a chunk, unit by unit.
    fn codes(&self) -> Vec<u16> {
        let unzigzag = |r: u16| r >> 1 ^ (r & 1).wrapping_neg();
        let residuals = self.residuals.as_flattened().iter();
        residuals.map(|&r| sign_magnitude(unzigzag(r))).collect()
    }
}

fn tiles(codes: &[u16]) -> Vec<Tile> {
    let tile = |codes: &[u16]| {
        let mut tile = [0; ebz::engine::fz::TILE];
        tile[..codes.len()].copy_from_slice(codes);
        let (flags, blocks) = encode_tile(&tile);
        let mut words = vec![0u32; 1024];
        let mut left = blocks.chunks(16);
        for (i, block) in words.chunks_mut(4).enumerate() {
            if flags[i / 8] >> (i % 8) & 1 == 1 {
                bytemuck::cast_slice_mut(block).copy_from_slice(left.next().unwrap());
            }
        }
        Tile {
            flags,
            blocks,
            words,
        }
    };
    codes.chunks(ebz::engine::fz::TILE).map(tile).collect()
}

impl Run {
    /// Codes of a chunk from the device.
    fn codes_of(&mut self, chunk: usize) -> Vec<u16> {
        let words = SLOT_BYTES as usize / 4;
        let slots = self.read(&self.encoding.slots.clone(), self.table.units * words);
        let row = &self.table.rows[chunk];
        let first = row.first_unit as usize * words;
        let slots = &slots[first..first + row.units as usize * words];
        bytemuck::pod_collect_to_vec(slots)
    }

    /// Compares shuffled tiles, flags and block counts with the CPU's for these codes.
    fn check_tiles(&mut self, chunk: usize, codes: &[u16]) {
        let stored = self.encoding.tiles.clone().unwrap();
        let stored = self.read(&stored, self.table.tiles() * TILE_BYTES as usize / 4);
        let bodies = self.read(&self.encoding.bodies.clone(), self.table.body_words);
        let marks = self.read(&self.encoding.marks.clone(), self.table.units);
        let row = &self.table.rows[chunk];
        let first = (row.first_unit as usize).div_ceil(TILE_UNITS) + chunk;
        let body: &[u8] = bytemuck::cast_slice(&bodies[row.body as usize..]);
        for (t, tile) in tiles(codes).iter().enumerate() {
            assert!(
                stored[(first + t) * 1024..][..1024] == tile.words,
                "{chunk} {t}"
            );
            assert_eq!(body[HEADER + 32 * t..][..32], tile.flags, "{chunk} {t}");
            let mark = marks[row.first_unit as usize + TILE_UNITS * t];
            assert_eq!(16 * length(mark), tile.blocks.len(), "{chunk} {t}");
        }
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn predict_and_resolve_make_signs_and_magnitudes() {
    let mut first = encoded_as("flags", Transpose::Gather, 1);
    let all = first.units();
    let codes: Vec<_> = (0..first.models.len()).map(|m| first.codes_of(m)).collect();
    let mut checked = 0;
    for (m, unit, _, depends) in all {
        if !depends {
            let expected = &first.models[m].codes()[unit * UNIT..][..UNIT];
            assert!(codes[m][unit * UNIT..][..UNIT] == *expected, "{m} {unit}");
            checked += 1;
        }
    }
    assert!(checked > 5);
    let mut resolved = encoded_as("flags", Transpose::Gather, 3);
    for m in 0..resolved.models.len() {
        assert!(resolved.codes_of(m) == resolved.models[m].codes(), "{m}");
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn shuffle_and_mark_do_what_the_paper_says() {
    let mut run = encoded_as("flags", Transpose::Gather, 4);
    for m in 0..run.models.len() {
        let codes = run.models[m].codes();
        run.check_tiles(m, &codes);
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn prefix_sum_and_encode_put_bodies_together() {
    let mut run = encoded_as("flags", Transpose::Gather, usize::MAX);
    let bodies = run.read(&run.encoding.bodies.clone(), run.table.body_words);
    let offsets = run.read(
        &run.encoding.offsets.clone(),
        run.table.units + run.table.rows.len(),
    );
    for (m, row) in run.table.rows.iter().enumerate() {
        let tiles = tiles(&run.models[m].codes());
        let mut blocks: Vec<u8> = Vec::new();
        for (t, tile) in tiles.iter().enumerate() {
            let offset = offsets[row.first_unit as usize + m + t];
            assert_eq!(offset, blocks.len() as u32, "{m} {t}");
            blocks.extend(&tile.blocks);
        }
        let body: &[u8] = bytemuck::cast_slice(&bodies[row.body as usize..]);
        assert_eq!(body[..4], [0, row.lags as u8, 1, 0]);
        assert_eq!(
            body[HEADER - 4..HEADER],
            (blocks.len() as u32).to_le_bytes()
        );
        let start = HEADER + 32 * tiles.len();
        assert!(body[start..][..blocks.len()] == blocks, "{m}");
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn the_kernels_of_the_ablation_do_what_they_are_called() {
    let mut run = encoded_as("flags", Transpose::Gather, 0);
    let mut recorder = Recorder::new(&run.gpu);
    let outliers = run
        .gpu
        .record_before(&run.encoding, &run.table, &mut recorder)
        .unwrap();
    recorder.submit();
    let outliers = run.read(&outliers, UNIT * run.table.units);
    for m in 0..run.models.len() {
        // Differences of coordinates, those of exceptions being 0: around a radius, or as outliers.
        let (row, model) = (run.table.rows[m], &run.models[m]);
        let mut differences: Vec<u16> = model
            .numbers
            .iter()
            .zip(&model.good)
            .map(|(&number, &good)| if good { number } else { 0 })
            .collect();
        for (bit, lag) in [1, row.nx, row.plane].into_iter().enumerate() {
            if row.lags >> bit & 1 == 1 {
                for i in (lag as usize..differences.len()).rev() {
                    differences[i] = differences[i].wrapping_sub(differences[i - lag as usize]);
                }
            }
        }
        let inside = |d: u16| d.cast_signed().unsigned_abs() < 512;
        let code = |&d: &u16| if inside(d) { d.wrapping_add(512) } else { 0 };
        let expected: Vec<u16> = differences.iter().map(code).collect();
        let found = run.codes_of(m);
        assert!(found == expected, "codes of chunk {m}");
        let apart = &outliers[row.first_unit as usize * UNIT..];
        for (i, &d) in differences.iter().enumerate() {
            let expected = if inside(d) {
                0
            } else {
                i32::from(d.cast_signed())
            };
            assert_eq!(apart[i].cast_signed(), expected, "{m} {i}");
        }
        // Separate shuffle and mark.
        run.check_tiles(m, &expected);
    }
}
