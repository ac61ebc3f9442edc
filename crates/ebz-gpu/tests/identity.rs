//! The GPU writes the bytes of the CPU and reads the same values, for any input.
//!
//! All of these need an adapter: `scripts/test_gpu` runs them, and fails where there is none.

use ebz::{Bound, Fill, FillValues, Options, Reader, View, Writer};
use ebz_gpu::{Gpu, Work};
use ebz_testkit::fields::Content;
use ebz_testkit::random::Random;
use std::cell::RefCell;
use std::sync::Arc;

/// One device per test, which counts its own work; another one after a failure of the driver, of which software
/// drivers have one now and then.
fn gpu() -> Arc<Gpu> {
    thread_local! {
        static GPU: RefCell<Arc<Gpu>> = RefCell::new(open());
    }
    GPU.with_borrow_mut(|gpu| {
        if gpu.has_failed() {
            eprintln!("the device failed: {:?}", gpu.notices());
            *gpu = open();
        }
        gpu.clone()
    })
}

fn open() -> Arc<Gpu> {
    Arc::new(Gpu::open(None).expect("a GPU"))
}

/// Compresses and decompresses on both; returns the chunks processed by the GPU, and the number of
/// values.
fn same(values: &[f32], shape: &[usize], options: &Options) -> Work {
    let gpu = gpu();
    let before = gpu.work();
    let view = View::new(values, shape).unwrap();
    let write = |gpu: Option<Arc<Gpu>>| {
        let mut writer = Writer::new(Vec::new(), options.clone()).unwrap();
        if let Some(gpu) = gpu {
            writer = writer.engine(gpu);
        }
        writer.frame(&view).unwrap();
        writer.finish().unwrap()
    };
    let (own, expected) = (write(Some(gpu.clone())), write(None));
    assert!(own == expected, "other bytes: {shape:?} {options:?}");
    let read = |reader: Reader<&[u8]>| {
        let array = reader.read::<f32>().unwrap();
        array
            .values()
            .iter()
            .map(|v| v.to_bits())
            .collect::<Vec<_>>()
    };
    let own = read(
        Reader::from_source(&expected[..])
            .unwrap()
            .engine(gpu.clone()),
    );
    let cpu = read(Reader::from_source(&expected[..]).unwrap());
    assert!(own == cpu, "other values: {shape:?} {options:?}");
    let mut work = gpu.work();
    work.encoded -= before.encoded;
    work.decoded -= before.decoded;
    work
}

fn abs(bound: f64) -> Options {
    Options::new(Bound::Abs(bound)).threads(2)
}

/// The layouts of the codec.
const LAYOUTS: [&str; 2] = ["planes", "flags"];

const SHAPES: [&[usize]; 9] = [
    &[1],
    &[257],
    &[70_001],
    &[300, 301],
    &[17, 2049],
    &[5, 47, 51],
    &[40, 64, 64],
    &[2, 3, 30, 41],
    &[3000, 20],
];

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn every_content_and_shape() {
    for (seed, shape) in SHAPES.iter().enumerate() {
        for content in Content::ALL {
            let field = content.field::<f32>(shape, seed as u64);
            for (bound, layout) in [1e-2, 1e-4].into_iter().zip(LAYOUTS) {
                let options = Options::new(Bound::Range(bound)).fill(field.marks());
                same(&field.values, shape, &options.param("layout", layout));
                for layout in LAYOUTS {
                    same(&field.values, shape, &abs(bound).param("layout", layout));
                }
            }
        }
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn the_gpu_does_the_work_itself() {
    for shape in [&[300_000][..], &[600, 601], &[50, 81, 90]] {
        let field = Content::Smooth.field::<f32>(shape, 3);
        for layout in LAYOUTS {
            let options = Options::new(Bound::Range(1e-3)).param("layout", layout);
            let work = same(&field.values, shape, &options);
            assert!(work.encoded > 0 && work.decoded > 0, "{shape:?}: {work:?}");
        }
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn every_set_of_lags() {
    // Data that is constant along an axis selects that lag; noise selects none.
    let shape = [24, 48, 50];
    let mut random = Random::new(5);
    let mut noise = || random.unit() as f32 * 20.0;
    let (along_x, along_y, along_z): (Vec<_>, Vec<_>, Vec<_>) = (
        (0..24 * 48).map(|_| noise()).collect(),
        (0..24 * 50).map(|_| noise()).collect(),
        (0..48 * 50).map(|_| noise()).collect(),
    );
    for weights in 0..8 {
        let weight = |bit: u32| (weights >> bit & 1) as f32;
        let mut values = Vec::new();
        for z in 0..24 {
            for y in 0..48 {
                for x in 0..50 {
                    let plane = weight(0) * along_x[z * 48 + y] + weight(1) * along_y[z * 50 + x];
                    values.push(plane + weight(2) * along_z[y * 50 + x] + 1e-3 * noise());
                }
            }
        }
        let work = same(&values, &shape, &abs(1e-3).chunk(&[12, 48, 50]));
        assert_eq!((work.encoded, work.decoded), (2, 2));
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn random_bits_and_bounds() {
    let mut random = Random::new(11);
    for round in 0..60 {
        let nx = 20 + random.below(500);
        let ny = 1 + random.below(60);
        let nz = 1 + random.below(12);
        let shape = [nz, ny, nx];
        // From bounds with barely normal steps to those whose lattice points overflow.
        let exponent = -127 + random.below(253) as i32;
        let bound = (1.0 + random.unit()) * f64::from(exponent).exp2();
        let bits = |random: &mut Random| f32::from_bits(random.bits() as u32);
        let near = |random: &mut Random| ((random.unit() - 0.5) * 4e4 * bound) as f32;
        let offset = bound * [0.0, 5e4, -2e6, 7.9e6][round % 4];
        let share = [1, 3, 20, 400][round / 4 % 4];
        let values: Vec<f32> = (0..nx * ny * nz)
            .map(|_| match random.below(share) {
                0 => bits(&mut random),
                _ => (offset + f64::from(near(&mut random))) as f32,
            })
            .collect();
        let layout = LAYOUTS[round / 16 % 2];
        same(&values, &shape, &abs(bound).param("layout", layout));
    }
}

/// Number of values compared by default.
const DEFAULT_VALUES: usize = 10_000_000;

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn many_values() {
    let many = std::env::var("EBZ_GPU_VALUES")
        .map_or(DEFAULT_VALUES, |text| text.parse().expect("a number"));
    let shape = [64, 128, 128];
    let mut random = Random::new(23);
    let (mut done, mut round) = (0, 0);
    while done < many {
        // Waves with noise of any amplitude around any offset, and random bit patterns.
        let bound = 10f64.powi(random.below(12) as i32 - 8);
        let offset = bound * [0.0, 3e3, -9e4, 4e6][round % 4];
        let (size, noise) = (2e4 * random.unit() * bound, 300.0 * random.unit() * bound);
        let wave = |i: usize| (i as f64 * 1e-3).sin() + ((i / 128) as f64 * 0.03).cos();
        let values: Vec<f32> = (0..shape.iter().product())
            .map(|i| match random.below(5000) {
                0 => f32::from_bits(random.bits() as u32),
                _ => (offset + size * wave(i) + noise * random.unit()) as f32,
            })
            .collect();
        let options = abs(bound).param("layout", LAYOUTS[round / 4 % 2]);
        let work = same(&values, &shape, &options);
        // A chunk whose coordinates need more than 16 bits runs on the CPU: it does not count.
        if work.encoded > 0 && work.decoded > 0 {
            done += values.len();
        }
        round += 1;
        assert!(
            done * 2 >= round * values.len(),
            "the CPU did most of {round} rounds: {:?}",
            gpu().notices()
        );
    }
    println!("{done} values on the GPU, no byte differs");
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn exact_ties() {
    for (round, bound) in [0.5, 1e-3, 3e-5, 7e10, 1.2e-38].into_iter().enumerate() {
        for offset in [0.0, 40_000.0, 4_100_000.0] {
            let mut random = Random::new(round as u64);
            let values: Vec<f32> = (0..40_000)
                .map(|i| {
                    let k = offset + random.below(6_000) as f64 - 3_000.0;
                    let tie = ((2.0 * k + 1.0) * bound) as f32;
                    f32::from_bits(tie.to_bits().wrapping_add(i % 3).wrapping_sub(1))
                })
                .collect();
            same(&values, &[40_000], &abs(bound));
            same(&values, &[40_000], &abs(bound).param("layout", "flags"));
        }
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn masks_of_fill_values() {
    let shape = [6, 200, 300];
    let smooth = Content::Smooth.field::<f32>(&shape, 9);
    let fills = [-999.0, 1e20, 0.0, -1.0, 2.5, 3.5, 7.0, 9.0];
    for count in [1, 2, 8] {
        for period in [50, 3000, 100_000] {
            let fill = FillValues::new(&fills[..count]).unwrap();
            let masked = |(i, &v): (usize, &f32)| match i % period < period / 3 {
                true => fills[i / period % count] as f32,
                false => v,
            };
            let values: Vec<f32> = smooth.values.iter().enumerate().map(masked).collect();
            let named = abs(1e-3).fill(Fill::from(fill));
            let work = same(&values, &shape, &named);
            assert_eq!(work.encoded, work.decoded);
            assert!(work.encoded > 0 || period == 50, "{count} {period}");
            same(&values, &shape, &abs(1e-3));
        }
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn what_it_does_not_take_goes_to_the_cpu() {
    let shape = [30, 40, 50];
    let field = Content::Smooth.field::<f32>(&shape, 3);
    for bound in [Bound::Pointwise(1e-3), Bound::Lossless, Bound::Range(1e-7)] {
        let work = same(&field.values, &shape, &Options::new(bound));
        assert_eq!(work, Work::default(), "{bound}");
    }
    let work = same(&field.values, &shape, &abs(1e-3).codec("ceaz"));
    assert_eq!(work, Work::default());
    assert!(!gpu().notices().is_empty());
    let wide: Vec<f64> = field.values.iter().map(|&v| v.into()).collect();
    let view = View::new(&wide, &shape).unwrap();
    let mut writer = Writer::new(Vec::new(), abs(1e-3)).unwrap().engine(gpu());
    writer.frame(&view).unwrap();
    assert_eq!(
        writer.finish().unwrap(),
        ebz::compress(&view, &abs(1e-3)).unwrap()
    );
}
