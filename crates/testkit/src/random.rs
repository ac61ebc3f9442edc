//! Reproducible random numbers.

/// SplitMix64: small, fast, and without bad seeds.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Random bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.bits() as u8).collect()
    }

    /// One of `seeds`, damaged in up to five places; now and then bytes without structure.
    pub fn mutated(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        if self.below(16) == 0 {
            let length = self.below(200);
            return self.bytes(length);
        }
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(5) {
            self.damage(&mut bytes);
        }
        bytes
    }

    /// Damages bytes in one place.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            bytes.push(self.bits() as u8);
            return;
        }
        // Headers usually come first, and deserve more than their share of damage.
        let reach = if self.below(2) == 0 {
            bytes.len().min(24)
        } else {
            bytes.len()
        };
        let at = self.below(reach);
        match self.below(7) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.bits() as u8,
            2 => bytes.truncate(at),
            3 => bytes.extend(self.bytes(at.min(64))),
            4 => {
                let extreme = [0x00, 0xff, 0x7f, 0x80][self.below(4)];
                let end = (at + 1 + self.below(8)).min(bytes.len());
                bytes[at..end].fill(extreme);
            }
            5 => {
                bytes.remove(at);
            }
            _ => {
                let from = self.below(bytes.len());
                let length = self.below(bytes.len() - from.max(at)).min(32);
                bytes.copy_within(from..from + length, at);
            }
        }
    }
}
