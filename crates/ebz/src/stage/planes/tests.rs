use super::*;

/// Units of every width with different densities.
fn units() -> Vec<[u16; UNIT]> {
    let mut state = 7u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut units = vec![[0; UNIT], [u16::MAX; UNIT]];
    for width in 1..=16 {
        for rarity in [1, 3, 20, 200] {
            let mut unit = [0; UNIT];
            for value in &mut unit {
                if random() % rarity == 0 {
                    *value = (random() >> 20) as u16 >> (16 - width);
                }
            }
            units.push(unit);
            let ramp = std::array::from_fn(|i| unit[i] >> (i / 40).min(15));
            units.push(ramp);
        }
    }
    units
}

/// Encodes bit by bit, as the module documentation defines it.
fn naive(unit: &[u16; UNIT]) -> (u8, Vec<u8>) {
    let width = (0..16)
        .rev()
        .find(|p| unit.iter().any(|v| v >> p & 1 == 1))
        .map_or(0, |p| p + 1);
    let plane = |p: usize| -> Vec<u8> {
        let byte = |b: usize| {
            (0..8)
                .map(|j| ((unit[8 * b + j] >> p & 1) as u8) << j)
                .sum()
        };
        (0..PLANE_BYTES).map(byte).collect()
    };
    let planes: Vec<_> = (0..width).map(plane).collect();
    let in_use = |p: &Vec<u8>| p.iter().filter(|b| **b != 0).count();
    let dense = planes
        .iter()
        .rposition(|p| in_use(p) >= 28)
        .map_or(0, |p| p + 1);
    let mut bytes: Vec<u8> = planes[..dense].concat();
    let mut nibbles = vec![0; (width - dense).div_ceil(2)];
    let mut rest = Vec::new();
    for (i, plane) in planes[dense..].iter().enumerate() {
        for (g, group) in plane.chunks(8).enumerate() {
            let mask: u8 = (0..8).map(|j| u8::from(group[j] != 0) << j).sum();
            if mask != 0 {
                nibbles[i / 2] += 1 << (g + 4 * (i % 2));
                rest.push(mask);
            }
        }
        rest.extend(plane.iter().filter(|b| **b != 0));
    }
    bytes.extend(nibbles);
    bytes.extend(rest);
    ((width * (width + 1) / 2 + dense) as u8, bytes)
}

#[test]
fn every_level_matches_the_definition_and_round_trips() {
    for unit in units() {
        let (code, expected) = naive(&unit);
        for level in Level::available() {
            let mut out = [0xaa; MAX_UNIT];
            let (found, length) = encode(level, &unit, &mut out);
            assert_eq!((found, &out[..length]), (code, &expected[..]), "{level:?}");
            assert_eq!(encoded_length(level, &unit), length, "{level:?}");
            let mut back = [0x5555; UNIT];
            assert_eq!(decode(level, code, &expected, &mut back).unwrap(), length);
            assert_eq!(back, unit, "{level:?}");
        }
    }
}

#[test]
fn damaged_units_decode_identically_at_every_level() {
    let mut state = 99u64;
    for round in 0..20_000 {
        let mut bytes = vec![0; round % (MAX_UNIT + 40)];
        for byte in &mut bytes {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            *byte = (state >> 33) as u8 | (state >> 41) as u8;
        }
        let code = (state >> 50) as u8;
        let results: Vec<_> = Level::available()
            .map(|level| {
                let mut unit = [0; UNIT];
                decode(level, code, &bytes, &mut unit)
                    .ok()
                    .map(|length| (length, unit))
            })
            .collect();
        assert!(results.iter().all(|r| *r == results[0]));
    }
}
