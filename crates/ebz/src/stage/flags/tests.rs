use super::*;

/// Tiles of every width with different densities, and single bits.
fn tiles() -> Vec<[u16; TILE]> {
    let mut state = 7u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut tiles = vec![[0; TILE], [u16::MAX; TILE]];
    for bit in [0, 7, 8, 15] {
        let mut tile = [0; TILE];
        tile[random() as usize % TILE] = 1 << bit;
        tiles.push(tile);
    }
    for width in 1..=16 {
        for rarity in [1, 3, 100, 1000] {
            let mut tile = [0; TILE];
            for code in &mut tile {
                if random() % rarity == 0 {
                    *code = (random() >> 20) as u16 >> (16 - width);
                }
            }
            tiles.push(tile);
        }
    }
    tiles
}

/// Encodes bit by bit, like the listings of the paper.
fn naive(tile: &[u16; TILE]) -> ([u8; FLAGS], Vec<u8>) {
    let input: Vec<u32> = tile
        .chunks(2)
        .map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16)
        .collect();
    let mut output = [0u32; 1024];
    for y in 0..32 {
        for i in 0..32 {
            let ballot = (0..32).map(|x| (input[32 * y + x] >> i & 1) << x).sum();
            output[32 * i + y] = ballot;
        }
    }
    let mut flags = [0; FLAGS];
    let mut blocks = Vec::new();
    for (number, block) in output.chunks(4).enumerate() {
        if block.iter().any(|word| *word != 0) {
            flags[number / 8] |= 1 << (number % 8);
            blocks.extend(block.iter().flat_map(|word| word.to_le_bytes()));
        }
    }
    (flags, blocks)
}

#[test]
fn every_level_matches_the_paper_and_round_trips() {
    for tile in tiles() {
        let (expected_flags, expected) = naive(&tile);
        for level in Level::available() {
            let mut out = [0xaa; MAX_TILE];
            let mut flags = [0xaa; FLAGS];
            let length = encode(level, &tile, &mut flags, &mut out);
            assert_eq!(flags, expected_flags, "{level:?}");
            assert!(out[..length] == expected, "{level:?}");
            let mut back = [0x5555; TILE];
            assert_eq!(decode(level, &flags, &expected, &mut back).unwrap(), length);
            assert!(back == tile, "{level:?}");
            if length > 0 {
                assert!(decode(level, &flags, &expected[..length - 1], &mut back).is_err());
            }
        }
    }
}

#[test]
fn codes_are_sign_and_magnitude() {
    for number in i16::MIN..=i16::MAX {
        let residual = Word::zigzag(number.cast_unsigned());
        let code = sign_magnitude(residual);
        assert_eq!(code >> 15 == 1, number < 0);
        assert_eq!(code & 0x7fff, number.unsigned_abs() & 0x7fff);
        assert_eq!(zigzag(code), residual);
    }
    for number in [0, 1, -1, 70_000, -70_000, i32::MAX, i32::MIN] {
        let residual = Word::zigzag(number.cast_unsigned());
        let code = sign_magnitude(residual);
        assert_eq!(code & 0x7fff_ffff, number.unsigned_abs() & 0x7fff_ffff);
        assert_eq!(zigzag(code), residual);
    }
}
