//! Plain loops over groups of lanes.

use super::{WEIGHTS, Weigh};
use crate::codec::interp::number::Number;
use crate::codec::interp::pack::{Pack, WIDTH, zip};

/// See [`Weigh::run`].
pub(super) fn run<T: Number>(weigh: Weigh<'_, T>) {
    let sets = 1usize << weigh.taps.len();
    let scales = if weigh.base.is_some() { 2 } else { 1 };
    for (group, &values) in weigh.values.as_chunks::<WIDTH>().0.iter().enumerate() {
        let at = group * WIDTH;
        let mut target = values;
        if let Some((base, from)) = &weigh.base {
            target = zip(target, base.group(from, at), |v, b| v - b);
        }
        for kind in 0..2 {
            let mut sums: [Pack<T>; 8] = [[T::default(); WIDTH]; 8];
            for (k, taps) in weigh.taps.iter().enumerate() {
                let part = taps[kind].group(weigh.source, at);
                for set in 1 << k..2 << k {
                    sums[set] = zip(sums[set & !(1 << k)], part, |a, b| a + b);
                }
            }
            for (set, &sum) in sums.iter().enumerate().take(sets) {
                for (scale, weights) in WEIGHTS.iter().enumerate().take(scales) {
                    let weight = T::from_f64(weights[set.count_ones() as usize]);
                    let bits = zip(target, sum, |t, s| {
                        cost(((t - s * weight) * weigh.inverse).to_f32())
                    });
                    let bits: u32 = bits.iter().sum();
                    weigh.costs[scale][kind][set] += u64::from(bits);
                }
            }
        }
    }
}

/// Approximation of log2(1 + 4e²) for a residual of e steps, in 2⁻¹¹ bits, from the bit pattern.
fn cost(steps: f32) -> u32 {
    let square = steps * steps;
    let square = if square < 1e9 { square } else { 1e9 };
    ((1.0 + 4.0 * square).to_bits() - 1.0f32.to_bits()) >> 12
}
