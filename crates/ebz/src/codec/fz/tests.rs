//! Fused kernels against the stages one after the other, on whole chunks.

use super::*;
use crate::bound::Tolerance;
use crate::fill::FillValues;
use crate::simd::Level;

/// Odd and even rows, planes shorter and longer than a unit, one to three axes.
const SHAPES: [(usize, usize, usize); 9] = [
    (1, 1, 1),
    (1, 1, 257),
    (1, 1, 5000),
    (1, 70, 71),
    (3, 1, 700),
    (20, 8, 33),
    (6, 30, 64),
    (40, 7, 9),
    (5, 16, 256),
];

/// Smooth, rough, far from 0, on a lattice and between its points; some with special values.
fn fields<T: Float>(dims: Dims) -> Vec<Vec<T>> {
    let mut state = 11u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let smooth = |i: usize| (i as f64 * 0.01).sin() + ((i / dims.nx) as f64 * 0.1).cos();
    let mut fields: Vec<Vec<f64>> = vec![
        (0..dims.len()).map(smooth).collect(),
        (0..dims.len()).map(|_| random() * 100.0).collect(),
        (0..dims.len()).map(|i| 900.0 + smooth(i)).collect(),
        (0..dims.len())
            .map(|i| (i % 400) as f64 * 0.015625)
            .collect(),
        vec![0.0; dims.len()],
    ];
    let specials = [
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
        -9999.0,
        -0.0,
        1e30,
        1e-310,
    ];
    let mut mixed = fields[0].clone();
    for (i, value) in mixed.iter_mut().enumerate() {
        if i % 611 < 5 {
            *value = specials[i % specials.len()];
        }
    }
    fields.push(mixed);
    let fields = fields.into_iter();
    fields
        .map(|f| f.into_iter().map(T::from_f64).collect())
        .collect()
}

struct Coded {
    bytes: Vec<u8>,
    /// The decoded values, as bits.
    words: Vec<u64>,
    extremes: Option<[(f64, f64); 2]>,
}

/// Whether all values are finite and their extremes in these intervals, if these are known.
fn are_extremes<T: Float>(extremes: Option<[(f64, f64); 2]>, values: &[T]) -> bool {
    let Some([low, high]) = extremes else {
        return true;
    };
    let numbers = || values.iter().map(|x| x.to_f64());
    let (min, max) = (numbers().reduce(f64::min), numbers().reduce(f64::max));
    let inside = |x: Option<f64>, (from, to): (f64, f64)| x.is_some_and(|x| from <= x && x <= to);
    numbers().all(f64::is_finite) && inside(min, low) && inside(max, high)
}

fn coded<T: Float>(values: &[T], task: &Task<'_>, context: &mut Context) -> Coded {
    let mut bytes = vec![1, 2, 3];
    Fz::encode(values, task, context, &mut bytes).unwrap();
    let extremes = context.extremes;
    let mut back = vec![T::default(); values.len()];
    Fz::decode(&bytes[3..], task.dims, context, &mut back).unwrap();
    Coded {
        bytes,
        words: back.into_iter().map(T::to_word).collect(),
        extremes,
    }
}

fn compare<T: Float>(layout: &str) {
    let mut params = Params::default();
    params.set("layout", layout);
    let bounds = [1e-1, 0.0078125, 1e-3, 1e-5];
    let fills = [vec![], vec![-9999.0], vec![-9999.0, 0.5]];
    for (nz, ny, nx) in SHAPES {
        let dims = Dims { nz, ny, nx };
        for values in fields::<T>(dims) {
            for (bound, fill) in bounds
                .into_iter()
                .flat_map(|b| fills.iter().map(move |f| (b, f)))
            {
                let task = Task {
                    dims,
                    tolerance: Tolerance::Abs(bound),
                    fill: FillValues::new(fill).unwrap(),
                    params: &params,
                };
                let mut staged = Context::new(Level::Portable);
                staged.fused = false;
                let expected = coded(&values, &task, &mut staged);
                for level in Level::available() {
                    let mut context = Context::new(level);
                    for streaming in [false, true] {
                        context.streaming = streaming;
                        let found = coded(&values, &task, &mut context);
                        let case = format!("{layout} {dims:?} {bound} {level:?} {streaming}");
                        assert!(found.bytes == expected.bytes, "{case}");
                        assert!(found.words == expected.words, "{case}");
                        // The stages know them for f32 only.
                        assert!(
                            T::SIZE == 8 || found.extremes == expected.extremes,
                            "{case}"
                        );
                        assert!(are_extremes(found.extremes, &values), "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn fused_kernels_give_the_bytes_and_values_of_the_stages() {
    for layout in ["planes", "flags"] {
        compare::<f32>(layout);
        compare::<f64>(layout);
    }
}
