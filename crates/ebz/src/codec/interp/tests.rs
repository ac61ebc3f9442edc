use super::*;
use crate::codec::Params;
use crate::fill::FillValues;
use crate::simd::Level;

const MODES: [&str; 8] = [
    "auto",
    "isotropic",
    "packet-z",
    "packet-y",
    "packet-x",
    "lorenzo-0",
    "lorenzo-x",
    "lorenzo-zyx",
];

fn dims(nz: usize, ny: usize, nx: usize) -> Dims {
    Dims { nz, ny, nx }
}

struct Case {
    dims: Dims,
    bound: f64,
    fill: FillValues,
    mode: &'static str,
}

impl Case {
    fn encode<T: Float>(&self, values: &[T], level: Level) -> Vec<u8> {
        let mut params = Params::default();
        params.set("mode", self.mode);
        let task = Task {
            dims: self.dims,
            tolerance: Tolerance::Abs(self.bound),
            fill: self.fill,
            params: &params,
        };
        let mut out = Vec::new();
        Interp::encode(values, &task, &mut Context::new(level), &mut out).unwrap();
        out
    }

    fn decode<T: Float>(&self, bytes: &[u8], level: Level) -> Result<Vec<T>> {
        let mut out = vec![T::default(); self.dims.len()];
        Interp::decode(bytes, self.dims, &mut Context::new(level), &mut out)?;
        Ok(out)
    }

    /// Checks for every instruction set that the bytes are the same and the bound holds in exact
    /// arithmetic.
    fn check<T: Float>(&self, values: &[T]) -> usize {
        let what = format!("{:?} {} {}", self.dims, self.mode, self.bound);
        let bytes = self.encode(values, Level::Portable);
        if bytes.len() == std::mem::size_of_val(values) {
            return bytes.len();
        }
        for level in Level::available() {
            assert!(
                self.encode(values, level) == bytes,
                "{what}: {level:?} writes different bytes"
            );
            let back = self.decode::<T>(&bytes, level).expect(&what);
            for (i, (x, y)) in values.iter().zip(&back).enumerate() {
                let same = x.to_word() == y.to_word();
                let fill = self.fill.as_slice().contains(&x.to_f64());
                let near = (x.to_f64() - y.to_f64()).abs() <= self.bound;
                assert!(same || (near && !fill), "{what}: [{i}] {x} became {y}");
            }
        }
        bytes.len()
    }
}

fn smooth<T: Float>(d: Dims, noise: f64) -> Vec<T> {
    let mut seed = 1u64;
    let mut values = Vec::new();
    for z in 0..d.nz {
        for y in 0..d.ny {
            for x in 0..d.nx {
                seed = seed
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let random = (seed >> 40) as f64 / (1 << 24) as f64 - 0.5;
                let wave =
                    (z as f64 * 0.11).sin() + (y as f64 * 0.07).cos() * (x as f64 * 0.05).sin();
                values.push(T::from_f64(wave + noise * random));
            }
        }
    }
    values
}

const SHAPES: [(usize, usize, usize); 22] = [
    (1, 1, 1),
    (1, 1, 2),
    (1, 1, 3),
    (1, 1, 5),
    (1, 1, 129),
    (1, 1, 1000),
    (1, 2, 1),
    (7, 1, 1),
    (1, 3, 3),
    (1, 65, 63),
    (1, 31, 100),
    (2, 2, 2),
    (3, 1, 5),
    (3, 5, 7),
    (4, 4, 4),
    (5, 63, 2),
    (13, 17, 19),
    (33, 9, 65),
    (2, 64, 64),
    (64, 3, 3),
    (8, 16, 130),
    (17, 1, 33),
];

#[test]
fn every_shape_and_mode_respects_the_bound() {
    for (nz, ny, nx) in SHAPES {
        let d = dims(nz, ny, nx);
        for mode in MODES {
            for (noise, bound) in [(0.0, 1e-3), (0.5, 1e-2), (1.0, 1e-6)] {
                let case = Case {
                    dims: d,
                    bound,
                    fill: FillValues::NONE,
                    mode,
                };
                case.check(&smooth::<f32>(d, noise));
                case.check(&smooth::<f64>(d, noise));
            }
        }
    }
}

#[test]
fn special_values_round_trip() {
    let d = dims(9, 20, 37);
    for mode in MODES {
        for bound in [1e-2, 1e3, 1e-30, 1e30, f64::from(f32::MAX), f64::MAX] {
            let mut values = smooth::<f32>(d, 0.1);
            let awkward = [
                f32::NAN,
                f32::from_bits(0x7fc1_2345),
                f32::INFINITY,
                f32::NEG_INFINITY,
                -0.0,
                f32::MIN_POSITIVE / 8.0,
                f32::MAX,
                f32::MIN,
                1e20,
            ];
            for (i, v) in values.iter_mut().enumerate() {
                if i % 7 == 3 {
                    *v = awkward[i / 7 % awkward.len()];
                }
            }
            let case = Case {
                dims: d,
                bound,
                fill: FillValues::NONE,
                mode,
            };
            case.check(&values);
            let wide: Vec<f64> = values.iter().map(|&v| f64::from(v) * 1e200).collect();
            case.check(&wide);
        }
        let case = Case {
            dims: d,
            bound: 0.1,
            fill: FillValues::NONE,
            mode,
        };
        case.check(&vec![f32::NAN; d.len()]);
        case.check(&vec![1e30f32; d.len()]);
    }
}

#[test]
fn fill_values_are_exact_and_cheap() {
    let d = dims(8, 40, 50);
    for mode in MODES {
        let mut values = smooth::<f32>(d, 0.0);
        for (i, v) in values.iter_mut().enumerate() {
            if (i / 50) % 20 < 6 {
                *v = 9.96921e36;
            }
        }
        let case = Case {
            dims: d,
            bound: 1e-2,
            fill: f64::from(9.96921e36f32).into(),
            mode,
        };
        let size = case.check(&values);
        assert!(size * 4 < 4 * d.len(), "{mode}: {size} bytes");
    }
}

#[test]
fn corrupt_chunks_fail_or_decode_without_panic() {
    let d = dims(5, 7, 11);
    for mode in MODES {
        let mut values = smooth::<f32>(d, 0.2);
        values[200] = f32::NAN;
        let case = Case {
            dims: d,
            bound: 1e-3,
            fill: FillValues::NONE,
            mode,
        };
        let bytes = case.encode(&values, Level::detect());
        // Reuse the decoder as a worker does: its state must not matter.
        for level in Level::available() {
            let mut context = Context::new(level);
            let mut out = vec![0f32; d.len()];
            for length in 0..bytes.len() {
                let cut = &bytes[..length];
                assert!(Interp::decode(cut, d, &mut context, &mut out).is_err());
            }
            for bit in (0..8 * bytes.len()).step_by(11) {
                let mut broken = bytes.clone();
                broken[bit / 8] ^= 1 << (bit % 8);
                let _ = Interp::decode(&broken, d, &mut context, &mut out);
            }
            Interp::decode(&bytes, d, &mut context, &mut out).unwrap();
            let fresh = case.decode::<f32>(&bytes, level).unwrap();
            assert!(
                out.iter()
                    .zip(&fresh)
                    .all(|(a, b)| a.to_bits() == b.to_bits())
            );
        }
    }
}

#[test]
fn chosen_mode_is_close_to_the_best() {
    let steps = |d: Dims| -> Vec<f32> {
        let layer = |y: usize, x: usize| ((y * 7 + x / 3) / 40 * 37 % 11) as f32;
        let points = (0..d.len()).map(|i| (i / d.nx % d.ny, i % d.nx));
        points.map(|(y, x)| layer(y, x)).collect()
    };
    let (solid, flat) = (dims(40, 48, 96), dims(1, 300, 200));
    let fields = [
        (solid, smooth::<f32>(solid, 0.0)),
        (solid, smooth::<f32>(solid, 0.3)),
        (flat, smooth::<f32>(flat, 0.01)),
        (flat, steps(flat)),
        (solid, steps(solid)),
    ];
    for (number, (d, values)) in fields.iter().enumerate() {
        for bound in [2e-2, 2e-4] {
            let size = |mode| {
                let case = Case {
                    dims: *d,
                    bound,
                    fill: FillValues::NONE,
                    mode,
                };
                case.check(values)
            };
            let best = MODES[1..].iter().map(|mode| size(mode)).min().unwrap();
            let chosen = size("auto");
            assert!(
                chosen * 20 <= best * 23,
                "field {number}, bound {bound}: {chosen} bytes instead of {best}"
            );
        }
    }
}

#[test]
fn mode_choice_handles_special_values() {
    let d = dims(20, 33, 40);
    let mut values = smooth::<f32>(d, 0.1);
    for (i, value) in values.iter_mut().enumerate().filter(|(i, _)| i % 3 > 0) {
        *value = [f32::NAN, f32::INFINITY, f32::MIN, 1e-40, 0.0][i % 5];
    }
    for fill in [
        FillValues::NONE,
        0.0.into(),
        FillValues::new(&[0.0, 1.0]).unwrap(),
    ] {
        for bound in [1e-30, 1e-2, f64::from(f32::MAX)] {
            let case = Case {
                dims: d,
                bound,
                fill,
                mode: "auto",
            };
            case.check(&values);
            case.check(&vec![f32::NAN; d.len()]);
            case.check(&vec![0f32; d.len()]);
        }
    }
}

#[test]
fn a_constant_chunk_takes_a_few_dozen_bytes() {
    let dims = dims(32, 32, 32);
    for mode in MODES {
        let case = Case {
            dims,
            bound: 1e-3,
            fill: FillValues::NONE,
            mode,
        };
        let size = case.check(&vec![0.0f32; dims.len()]);
        assert!(size <= 64, "{mode}: {size} bytes");
    }
}

#[test]
fn values_far_from_zero_are_not_left_to_lorenzo() {
    // Few steps from each other, but too many steps from zero for a coordinate.
    let dims = dims(32, 32, 32);
    let value = |i: usize| {
        let [z, y, x] = [i / 1024, i / 32 % 32, i % 32].map(|a| a as f64);
        1.0 + 1e-9 * ((z * 0.21).sin() + (y * 0.17).cos() * (x * 0.13).sin())
    };
    let values: Vec<f64> = (0..dims.len()).map(value).collect();
    let size = |mode| {
        let case = Case {
            dims,
            bound: 1e-11,
            fill: FillValues::NONE,
            mode,
        };
        case.check(&values)
    };
    let (chosen, isotropic) = (size("auto"), size("isotropic"));
    assert!(chosen <= isotropic, "{chosen} {isotropic}");
    assert!(size("lorenzo-zyx") > 4 * isotropic);
}
