//! Symbol probabilities and their encoding.
//!
//! Symbols 2a − 1 and 2a are the two signs of a magnitude a and share one frequency, which halves
//! the size of a table. [`ESCAPE`] stands for every symbol without a frequency.

use super::{ALPHABET, ESCAPE, PRECISION, TOTAL};
use crate::bits::{BitReader, BitWriter};
use crate::error::{Error, Result};
use std::sync::OnceLock;

/// Number of nonzero magnitudes.
const PAIRS: usize = (ALPHABET - 2) / 2;
/// Bits of a rare symbol, in addition to the escape.
const RARE_BITS: u64 = 8;
/// Maximum number of symbols for a table from the family; larger contexts get their own.
const MAX_SYMBOLS_FOR_FAMILY: u64 = 1 << 15;
/// First byte of a table with explicit frequencies.
const EXPLICIT: u8 = FAMILY_SIZE as u8;

/// Probability of symbol 0 in the family, in parts of 1024.
const FAMILY_ZERO: [u16; 16] = [
    30, 64, 128, 205, 297, 400, 500, 595, 681, 755, 817, 868, 912, 952, 984, 1008,
];
/// Ratio of the probabilities of successive magnitudes in the family, in parts of 1024.
const FAMILY_DECAY: [u16; 12] = [30, 82, 154, 256, 379, 512, 635, 748, 840, 901, 942, 973];
const FAMILY_SIZE: usize = FAMILY_ZERO.len() * FAMILY_DECAY.len();

/// Frequencies of all symbols; their sum is [`TOTAL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Distribution {
    zero: u16,
    escape: u16,
    pairs: [u16; PAIRS],
}

impl Distribution {
    /// The only symbol is 0: encoding it leaves the state unchanged and costs nothing.
    pub(super) const CERTAIN: Self = Self {
        zero: TOTAL as u16,
        escape: 0,
        pairs: [0; PAIRS],
    };

    /// The frequency of each symbol.
    pub(super) fn frequencies(&self) -> [u16; ALPHABET] {
        std::array::from_fn(|symbol| match symbol {
            0 => self.zero,
            s if s == ESCAPE as usize => self.escape,
            s => self.pairs[(s - 1) / 2],
        })
    }

    /// Estimated size of symbols in bits, without tables: their entropy.
    pub(super) fn estimate(counts: &[u32; ALPHABET]) -> u64 {
        let Pairs { zero, pairs, total } = Pairs::of(counts);
        let information = |count: u64| count * logarithm(count);
        let known: u64 = pairs.iter().map(|&pair| information(pair)).sum();
        let unsigned = information(total).saturating_sub(information(zero) + known);
        (unsigned >> LOG_BITS) + (total - zero)
    }

    /// The best distribution for these counts, and its id.
    pub(super) fn choose(counts: &[u32; ALPHABET]) -> (u8, Self) {
        let own = Self::from_counts(counts);
        let pairs = Pairs::of(counts);
        let mut best = (EXPLICIT, own);
        let cost = pairs.cost(&own) + (own.header_bits() << LOG_BITS);
        if pairs.total <= MAX_SYMBOLS_FOR_FAMILY {
            let (id, less) = pairs.best_member();
            if less < cost {
                best = (id as u8, family()[id]);
            }
        }
        best
    }

    /// Frequencies proportional to the counts.
    fn from_counts(counts: &[u32; ALPHABET]) -> Self {
        let Pairs { zero, pairs, total } = Pairs::of(counts);
        let mut result = Self {
            zero: 0,
            escape: 0,
            pairs: [0; PAIRS],
        };
        let share =
            |of: u32, count: u64| ((count * u64::from(of) + total / 2) / total.max(1)) as u16;
        let mut rare = 0;
        // Most counts are zero, and a division takes time.
        for (frequency, &count) in result.pairs.iter_mut().zip(&pairs).filter(|(_, c)| **c > 0) {
            *frequency = share(TOTAL / 2, count);
            if *frequency == 0 {
                rare += count;
            }
        }
        if rare > 0 {
            result.escape = share(TOTAL, rare).max(1);
        }
        // Rounding may exceed the total: reduce the most common magnitudes.
        let least = i32::from(zero > 0);
        let mut rest = TOTAL as i32 - result.sum_without_zero() as i32;
        while rest < least {
            match result.pairs.iter_mut().max() {
                Some(largest) if *largest > 1 => {
                    *largest -= 1;
                    rest += 2;
                }
                _ => {
                    result.escape -= 1;
                    rest += 1;
                }
            }
        }
        result.zero = rest as u16;
        result
    }

    /// Size of symbol 0 and of a symbol of each magnitude, in 2^-[`LOG_BITS`] bits.
    fn bits(&self) -> [u64; 1 + PAIRS] {
        let logs = logarithms();
        let bits = |f: u16| logs[TOTAL as usize] - logs[usize::from(f)];
        let rare = bits(self.escape) + (RARE_BITS << LOG_BITS);
        std::array::from_fn(|i| match i.checked_sub(1).map(|i| self.pairs[i]) {
            None => bits(self.zero),
            Some(0) => rare,
            Some(frequency) => bits(frequency),
        })
    }

    /// Sum of the frequencies without symbol 0.
    fn sum_without_zero(&self) -> u32 {
        let pairs: u32 = self.pairs.iter().map(|&f| u32::from(f)).sum();
        2 * pairs + u32::from(self.escape)
    }

    fn used_pairs(&self) -> usize {
        self.pairs.iter().rposition(|&f| f > 0).map_or(0, |i| i + 1)
    }

    fn header_bits(&self) -> u64 {
        let number = |f: u16| 4 + u64::from(bit_length(f).saturating_sub(1));
        let pairs = &self.pairs[..self.used_pairs()];
        5 + number(self.escape) + pairs.iter().map(|&f| number(f)).sum::<u64>()
    }

    /// Writes explicit frequencies; nothing for members of the family, which their id defines.
    pub(super) fn write_to(&self, id: u8, out: &mut BitWriter) {
        if id != EXPLICIT {
            return;
        }
        let used = self.used_pairs();
        out.put(used as u32, 5);
        for &frequency in std::iter::once(&self.escape).chain(&self.pairs[..used]) {
            let length = bit_length(frequency);
            out.put(length, 4);
            let below = length.saturating_sub(1);
            out.put(u32::from(frequency) & ((1 << below) - 1), below);
        }
    }

    /// Reads a distribution with this id.
    pub(super) fn read_from(id: u8, bits: &mut BitReader<'_>) -> Result<Self> {
        if let Some(member) = family().get(usize::from(id)) {
            return Ok(*member);
        }
        if id != EXPLICIT {
            return Err(Error::corrupt("unknown id of a frequency table"));
        }
        let used = bits.get(5) as usize;
        let mut number = || {
            let length = bits.get(4);
            let below = length.saturating_sub(1);
            (bits.get(below) | u32::from(length > 0) << below) as u16
        };
        let mut result = Self {
            zero: 0,
            escape: number(),
            pairs: [0; PAIRS],
        };
        for frequency in &mut result.pairs[..used] {
            *frequency = number();
        }
        let rest = TOTAL.checked_sub(result.sum_without_zero());
        result.zero = rest.ok_or_else(|| Error::corrupt("frequencies exceed their total"))? as u16;
        Ok(result)
    }
}

/// Counts by magnitude, the sum of both signs.
struct Pairs {
    zero: u64,
    pairs: [u64; PAIRS],
    total: u64,
}

impl Pairs {
    fn of(counts: &[u32; ALPHABET]) -> Self {
        let pairs =
            std::array::from_fn(|i| u64::from(counts[2 * i + 1]) + u64::from(counts[2 * i + 2]));
        Self {
            zero: u64::from(counts[0]),
            pairs,
            total: u64::from(counts[0]) + pairs.iter().sum::<u64>(),
        }
    }

    /// Size of these symbols under a distribution, in 2^-[`LOG_BITS`] bits.
    fn cost(&self, under: &Distribution) -> u64 {
        if (self.zero > 0 && under.zero == 0) || self.total == 0 {
            return u64::MAX >> 8;
        }
        let bits = under.bits();
        let pairs = self.pairs.iter().zip(&bits[1..]);
        self.zero * bits[0] + pairs.map(|(count, bits)| count * bits).sum::<u64>()
    }

    /// The cheapest member of the family and its cost, among those whose probability of symbol 0
    /// is next to the observed one: the best does not depend on the probabilities of the others.
    fn best_member(&self) -> (usize, u64) {
        const DECAYS: usize = FAMILY_DECAY.len();
        let below = |&zero: &u16| u64::from(zero) * self.total <= self.zero * u64::from(TOTAL);
        let above = FAMILY_ZERO.partition_point(below);
        let first = above.saturating_sub(1).min(FAMILY_ZERO.len() - 2) * DECAYS;
        let mut sums = [0; 2 * DECAYS];
        let counts = std::iter::once(&self.zero).chain(&self.pairs);
        for (&count, bits) in counts.zip(family_bits()).filter(|(count, _)| **count > 0) {
            for (sum, &bits) in sums.iter_mut().zip(&bits[first..first + 2 * DECAYS]) {
                *sum += count * u64::from(bits);
            }
        }
        let costs = sums.iter().enumerate();
        let best = costs.min_by_key(|(_, cost)| **cost);
        best.map_or((first, u64::MAX), |(i, &cost)| (first + i, cost))
    }
}

fn bit_length(frequency: u16) -> u32 {
    16 - frequency.leading_zeros()
}

/// Fraction bits of [`logarithms`].
const LOG_BITS: u32 = 16;

/// Binary logarithms of 1 to [`TOTAL`] in fixed point, so that every machine makes the same choice.
fn logarithms() -> &'static [u64; TOTAL as usize + 1] {
    static TABLE: OnceLock<[u64; TOTAL as usize + 1]> = OnceLock::new();
    TABLE.get_or_init(|| {
        std::array::from_fn(|n| {
            let n = (n as u64).max(1);
            let whole = n.ilog2();
            // The mantissa in [1, 2) with 31 fraction bits; each squaring gives one bit.
            let mut mantissa = (n << 31) >> whole;
            let mut log = u64::from(whole);
            for _ in 0..LOG_BITS {
                mantissa = (mantissa * mantissa) >> 31;
                let bit = mantissa >> 32;
                mantissa >>= bit;
                log = log << 1 | bit;
            }
            log
        })
    })
}

/// Binary logarithm of a count, interpolated between those of [`logarithms`]; 0 for 0.
fn logarithm(count: u64) -> u64 {
    let logs = logarithms();
    let Some(shift) = (u64::BITS - count.leading_zeros()).checked_sub(PRECISION) else {
        return logs[count as usize];
    };
    let (index, rest) = ((count >> shift) as usize, count & ((1 << shift) - 1));
    let step = logs[index + 1] - logs[index];
    logs[index] + (u64::from(shift) << LOG_BITS) + ((step * rest) >> shift)
}

/// Predefined geometric distributions, which take one byte in the stream.
fn family() -> &'static [Distribution; FAMILY_SIZE] {
    static TABLE: OnceLock<[Distribution; FAMILY_SIZE]> = OnceLock::new();
    TABLE.get_or_init(|| {
        std::array::from_fn(|id| {
            let zero = FAMILY_ZERO[id / FAMILY_DECAY.len()];
            let decay = u64::from(FAMILY_DECAY[id % FAMILY_DECAY.len()]);
            member(zero, decay)
        })
    })
}

/// [`Distribution::bits`] of all members of the family, by magnitude.
fn family_bits() -> &'static [[u32; FAMILY_SIZE]; 1 + PAIRS] {
    static TABLE: OnceLock<[[u32; FAMILY_SIZE]; 1 + PAIRS]> = OnceLock::new();
    TABLE.get_or_init(|| {
        let members = family().each_ref().map(Distribution::bits);
        std::array::from_fn(|i| members.map(|bits| bits[i] as u32))
    })
}

fn member(zero: u16, decay: u64) -> Distribution {
    // `side` is the weight of one sign, `tail` that of the current and all larger magnitudes, with 40
    // fraction bits.
    let side = (u64::from(TOTAL) - u64::from(zero)) / 2;
    let mut tail = side << 40;
    let mut result = Distribution {
        zero,
        escape: 0,
        pairs: [0; PAIRS],
    };
    for (index, frequency) in result.pairs.iter_mut().enumerate() {
        let before = tail;
        for _ in 0..super::symbol::magnitudes_of_pair(index) {
            tail = (tail >> 10) * decay;
            if tail == 0 {
                break;
            }
        }
        *frequency = ((before - tail + (1 << 39)) >> 40) as u16;
    }
    result.escape = (result.pairs[1..].contains(&0) as u16).max(1);
    let used = result.sum_without_zero() as i32;
    let spare = TOTAL as i32 - used;
    if spare >= 1 {
        result.zero = spare as u16;
    } else {
        result.pairs[0] -= ((2 - spare) / 2) as u16;
        result.zero = (TOTAL - result.sum_without_zero()) as u16;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums_up(d: &Distribution) {
        let sum: u32 = d.frequencies().iter().map(|&f| u32::from(f)).sum();
        assert_eq!(sum, TOTAL, "{d:?}");
    }

    #[test]
    fn logarithms_are_accurate() {
        for (n, &log) in logarithms().iter().enumerate().skip(1) {
            let error = log as f64 / 65536.0 - (n as f64).log2();
            assert!(error.abs() < 1e-4, "log2({n}) is off by {error}");
        }
        for count in (1..200_000u64).chain([u64::from(u32::MAX)]) {
            let error = logarithm(count) as f64 / 65536.0 - (count as f64).log2();
            assert!(error.abs() < 1e-4, "log2({count}) is off by {error}");
        }
    }

    #[test]
    fn members_of_the_family_are_distributions() {
        for d in family() {
            sums_up(d);
            assert!(d.zero > 0 && d.escape > 0);
        }
    }

    #[test]
    fn the_best_member_is_found_without_trying_all() {
        for round in 0..400u32 {
            let (zeros, spread) = (20 << (round % 9), 1 + round / 9 % 11);
            let count = |i: u32| (3000 >> (i / 2 * 11 / spread).min(12)) + (i * 7 + round) % 5;
            let mut counts: [u32; ALPHABET] = std::array::from_fn(|i| count(i as u32));
            counts[0] = zeros;
            counts[ALPHABET - 1] = 0;
            let pairs = Pairs::of(&counts);
            let (id, cost) = pairs.best_member();
            assert_eq!(cost, pairs.cost(&family()[id]));
            let all = family().iter().map(|member| pairs.cost(member)).min();
            assert!(
                cost <= all.unwrap() * 201 / 200,
                "{counts:?}: {cost}, {all:?}"
            );
        }
    }

    #[test]
    fn tables_round_trip() {
        let mut seed = 1u64;
        for round in 0..500 {
            let mut counts = [0u32; ALPHABET];
            for c in counts.iter_mut().take(1 + round % 63) {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
                *c = ((seed >> 33) as u32) >> (seed >> 59);
            }
            let mut writer = BitWriter::default();
            let (id, d) = Distribution::choose(&counts);
            sums_up(&d);
            let frequencies = d.frequencies();
            for (s, &c) in counts.iter().enumerate() {
                assert!(c == 0 || frequencies[s] > 0 || (s > 0 && d.escape > 0));
            }
            d.write_to(id, &mut writer);
            let bytes = writer.finish().to_vec();
            let mut reader = BitReader::new(&bytes);
            assert_eq!(Distribution::read_from(id, &mut reader).unwrap(), d);
            reader.finish().unwrap();
        }
    }
}
