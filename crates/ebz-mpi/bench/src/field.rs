//! Test data: planes of 256 × 256 values.

use ebz_mpi::Comm;

pub const SIDE: usize = 256;

/// The values of a rank.
pub struct Field {
    pub values: Vec<f32>,
    pub shape: [usize; 3],
    /// 1e-3 of the range of all ranks' values.
    pub bound: f64,
}

impl Field {
    /// A smooth field of several wavelengths with a little noise, or the `f32` of the file in
    /// EBZ_FIELD, repeated.
    pub fn new(comm: &Comm, megabytes: usize) -> Self {
        let planes = (megabytes << 20).div_ceil(4 * SIDE * SIDE);
        let values = match std::env::var("EBZ_FIELD") {
            Ok(path) => from_file(&path, comm.rank(), planes * SIDE * SIDE),
            Err(_) => waves(comm.rank(), planes),
        };
        let least = values.iter().fold(f32::MAX, |a, &b| a.min(b));
        let greatest = values.iter().fold(f32::MIN, |a, &b| a.max(b));
        let ends = [least, greatest].map(|x| f64::from(x).to_bits());
        let all = comm.allgather_pair(ends).expect("all ranks");
        let ends = |i: usize| all.iter().map(move |pair| f64::from_bits(pair[i]));
        let extent = ends(1).fold(f64::MIN, f64::max) - ends(0).fold(f64::MAX, f64::min);
        Self {
            values,
            shape: [planes, SIDE, SIDE],
            bound: 1e-3 * extent,
        }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.values[..])
    }
}

fn from_file(path: &str, rank: usize, count: usize) -> Vec<f32> {
    let bytes = std::fs::read(path).expect("a field");
    let words = bytes.as_chunks::<4>().0.iter();
    let values: Vec<f32> = words.map(|word| f32::from_le_bytes(*word)).collect();
    // Every rank starts at a different offset.
    let around = values.iter().cycle().skip(values.len() / 7 * rank);
    around.take(count).copied().collect()
}

fn waves(rank: usize, planes: usize) -> Vec<f32> {
    let mut state = rank as u32 + 1;
    let row: Vec<f32> = (0..SIDE).map(|x| (x as f32 * 0.02).sin()).collect();
    let mut values = Vec::with_capacity(planes * SIDE * SIDE);
    for z in 0..planes {
        let a = (z as f32 * 0.03 + rank as f32).cos();
        for y in 0..SIDE {
            let b = (y as f32 * 0.025 + a).sin();
            for wave in &row {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 8) as f32 / (1 << 24) as f32 - 0.5;
                values.push(wave * b + 0.5 * a + 1e-2 * noise);
            }
        }
    }
    values
}
