//! Plain loops over groups of lanes.

use super::{MAX_SQUARE, SHARES, Weigh};
use crate::codec::interp::number::Number;
use crate::codec::interp::pack::{Pack, WIDTH, each, zip};

/// See [`Weigh::run`].
pub(super) fn run<T: Number>(weigh: Weigh<'_, T>) {
    let scale = weigh.scale();
    for (group, &values) in weigh.values.as_chunks::<WIDTH>().0.iter().enumerate() {
        let at = group * WIDTH;
        let mut target = values;
        if let Some((base, from)) = &weigh.base {
            target = zip(target, base.group(from, at), |v, b| v - b);
        }
        let whole = each(target, |t| (t * scale).to_f32());
        if weigh.base.is_some() {
            weigh.costs[0][0][0] += cost(whole);
        }
        for kind in 0..2 {
            let mut sums = [[0.0f32; WIDTH]; 8];
            for (k, taps) in weigh.taps.iter().enumerate() {
                let part = match kind {
                    0 => taps[0].inner_group(weigh.source, at),
                    _ => taps[1].group(weigh.source, at),
                };
                let part = zip(target, part, |t, p| ((t - p) * scale).to_f32());
                for set in 1 << k..2 << k {
                    sums[set] = match set & !(1 << k) {
                        0 => part,
                        others => zip(sums[others], part, |a, b| a + b),
                    };
                }
            }
            for set in 1usize..1 << weigh.taps.len() {
                let share = SHARES[set.count_ones() as usize];
                let steps = each(sums[set], |s| s * share);
                weigh.costs[0][kind][set] += cost(steps);
                if weigh.base.is_some() {
                    weigh.costs[1][kind][set] += cost(zip(whole, steps, |w, s| (w + s) * 0.5));
                }
            }
        }
    }
}

/// Approximation of the sum of log2(1 + e²) over residuals of e half steps, in 2⁻¹¹ bits plus a
/// constant, from the bit patterns.
fn cost(steps: Pack<f32>) -> u64 {
    let bits = each(steps, |step| {
        let square = step * step;
        let square = if square < MAX_SQUARE {
            square
        } else {
            MAX_SQUARE
        };
        u64::from((1.0 + square).to_bits() >> 12)
    });
    bits.iter().sum()
}
