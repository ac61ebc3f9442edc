use super::*;

/// Numbers that rise, fall and wrap around.
fn numbers<W: Word>(count: usize) -> Vec<W> {
    let mut state = 3u64;
    (0..count)
        .map(|i| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            W::truncate((state >> 60).wrapping_add((i as u64 * 37) ^ (state >> (i % 50))))
        })
        .collect()
}

/// The definition: one lag after the other, over the whole sequence.
fn naive<W: Word>(numbers: &[W], lags: Lags, dims: Dims) -> Vec<W> {
    let mut all = numbers.to_vec();
    for (axis, lag) in distances(dims).into_iter().enumerate() {
        if lags.has(axis) {
            for i in (lag..all.len()).rev() {
                all[i] = all[i].sub(all[i - lag]);
            }
        }
    }
    all.into_iter().map(W::zigzag).collect()
}

fn check<W: Word + std::fmt::Debug>(dims: Dims) {
    let all: Vec<W> = numbers(dims.len().next_multiple_of(UNIT));
    for lags in Lags::candidates(dims) {
        let expected = naive(&all, lags, dims);
        let mut differences = Differences::default();
        for level in Level::available() {
            differences.start(lags, dims);
            let mut unit = Numbers::default();
            let mut residuals = Vec::new();
            for part in all.as_chunks::<UNIT>().0 {
                *unit.unit() = *part;
                let mut out = [W::default(); UNIT];
                differences.forward(level, &mut unit, &mut out);
                unit.advance();
                residuals.extend(out);
            }
            assert_eq!(residuals, expected, "{dims:?} {lags:?} {level:?}");
            let mut unit = Numbers::default();
            let mut back = Vec::new();
            differences.start(lags, dims);
            for part in residuals.as_chunks::<UNIT>().0 {
                let mut residuals = *part;
                differences.inverse(level, &mut residuals, &mut unit);
                back.extend(*unit.unit());
            }
            assert_eq!(back, all, "{dims:?} {lags:?} {level:?}");
        }
    }
}

#[test]
fn differences_match_the_definition_and_round_trip_at_every_level() {
    for (nz, ny, nx) in [
        (1, 1, 5000),
        (1, 700, 3),
        (1, 20, 255),
        (3, 1, 700),
        (40, 7, 9),
        (5, 30, 64),
        (9, 16, 256),
        (3, 11, 401),
        (70, 150, 2),
        (30, 3, 11),
        (9, 2, 31),
        (9, 2, 32),
        (20, 8, 33),
        (4, 30, 128),
        (3, 3, 257),
        (2, 5, 512),
    ] {
        let dims = Dims { nz, ny, nx };
        check::<u16>(dims);
        check::<u32>(dims);
        check::<u64>(dims);
    }
}
