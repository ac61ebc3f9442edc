//! Fill values must not affect the rest: a masked field takes little more than the unmasked one.

use ebz::codec::TABLE;
use ebz::{Bound, BoundKind, Options, View};

const SHAPE: [usize; 3] = [6, 200, 300];

fn ocean() -> Vec<f32> {
    let value = |i: usize| {
        let (y, x) = ((i / SHAPE[2] % SHAPE[1]) as f32, (i % SHAPE[2]) as f32);
        25.0 - 0.1 * y + 3.0 * (x * 0.05).sin() * (y * 0.07).cos() + (i / 60000) as f32 * 0.2
    };
    (0..SHAPE.iter().product()).map(value).collect()
}

fn is_land(i: usize) -> bool {
    let (y, x) = ((i / SHAPE[2] % SHAPE[1]) as f32, (i % SHAPE[2]) as f32);
    (x - 90.0).hypot(y - 80.0) < 60.0 + 9.0 * (x * 0.3).sin() || x > 260.0 + 12.0 * (y * 0.2).cos()
}

fn masked(fill: f32) -> Vec<f32> {
    let values = ocean().into_iter().enumerate();
    values
        .map(|(i, x)| if is_land(i) { fill } else { x })
        .collect()
}

fn size(values: &[f32], options: &Options) -> usize {
    let bytes = ebz::compress(&View::new(values, &SHAPE).unwrap(), options).unwrap();
    let decoded = ebz::decompress::<f32>(&bytes).unwrap();
    for (i, (a, b)) in decoded.values().iter().zip(values).enumerate() {
        if options.fill.values().as_slice().contains(&f64::from(*b)) {
            assert_eq!(a.to_bits(), b.to_bits(), "at {i}");
        } else {
            assert!((a - b).abs() <= 0.04 || b.abs() > 1e9 || b.is_nan());
        }
    }
    bytes.len()
}

/// The mask may take a fifth of a byte per value; the values themselves take four.
fn check(codec: &str, found: usize, whole: usize, fill: f32) {
    let max_bytes = whole + SHAPE.iter().product::<usize>() / 5;
    assert!(
        found < max_bytes,
        "{codec}: {found} bytes with {fill}, {whole} without"
    );
}

#[test]
fn fill_values_take_little_space() {
    let codecs = TABLE
        .iter()
        .filter(|c| c.offers(BoundKind::Abs) && c.info.name != "raw");
    for codec in codecs {
        let options = Options::new(Bound::Abs(0.03)).codec(codec.info.name);
        // With a fill value that does not occur, because `ceaz` predicts differently without one.
        let whole = size(&ocean(), &options.clone().fill(-1e30));
        // Declared fill values, whatever they are; undeclared ones that are far away or not finite.
        for fill in [-999.0, 1e20, 9.96921e36] {
            let found = size(&masked(fill), &options.clone().fill(f64::from(fill)));
            check(codec.info.name, found, whole, fill);
        }
        for fill in [1e20, f32::NAN] {
            let found = size(&masked(fill), &options);
            check(codec.info.name, found, whole, fill);
        }
    }
}

#[test]
fn data_never_decodes_to_a_fill_value() {
    // Values around fill values that are on the lattice of the bound, or near it.
    let values: Vec<f32> = (0..20_000)
        .map(|i| ((i as f32 * 0.7).sin() + (i as f32 * 0.013).cos()) * 2.0 + 0.5)
        .collect();
    let view = View::new(&values, &[100, 200]).unwrap();
    let marks = [0.5, 1.0, 0.0, 1.984375];
    for codec in TABLE {
        for (kind, bound) in [
            (BoundKind::Abs, Bound::Abs(0.25)),
            (BoundKind::Pointwise, Bound::Pointwise(0.2)),
        ] {
            if !codec.offers(kind) {
                continue;
            }
            for count in [1, marks.len()] {
                let mut options = Options::new(bound).codec(codec.info.name);
                options.fill = ebz::FillValues::new(&marks[..count]).unwrap().into();
                let bytes = ebz::compress(&view, &options).unwrap();
                let decoded = ebz::decompress::<f32>(&bytes).unwrap();
                let missing = |x: &f32| marks[..count].contains(&f64::from(*x));
                for (x, y) in values.iter().zip(decoded.values()) {
                    assert_eq!(
                        missing(x),
                        missing(y),
                        "{} {bound}: {x} {y}",
                        codec.info.name
                    );
                }
            }
        }
    }
}
