//! Arrays compressed and decompressed in device memory.
//!
//! All of these need an adapter: `scripts/test_gpu` runs them.

use ebz::engine::Context;
use ebz::engine::{Cpu, EncodedChunks, Engine, Values};
use ebz::{Bound, Fill, FillValues, Options, View};
use ebz_gpu::{Gpu, GpuError};
use ebz_testkit::fields::Content;

/// Checks for the bodies of the CPU and the same values in both layouts; returns the number of chunks left to
/// the CPU.
fn same(gpu: &Gpu, values: &[f32], shape: &[usize], options: &Options) -> usize {
    let layouts = ["planes", "flags"].into_iter();
    layouts
        .map(|layout| same_in(gpu, values, shape, &options.clone().param("layout", layout)))
        .sum()
}

fn same_in(gpu: &Gpu, values: &[f32], shape: &[usize], options: &Options) -> usize {
    let buffer = gpu.allocate(values.len()).unwrap();
    gpu.upload(values, &buffer).unwrap();
    let frame = gpu.compress_buffer(&buffer, shape, options).unwrap();

    let plan = frame.plan();
    let mut expected = EncodedChunks::default();
    let mut first = 0;
    for chunk in 0..plan.chunks() {
        let count = plan.dims(chunk).len();
        let bytes = bytemuck::cast_slice(&values[first..first + count]);
        let values = Values { chunk, bytes };
        let mut context = Context::default();
        Cpu.encode(plan, &[values], &mut context, &mut expected)
            .unwrap();
        first += count;
    }
    let own = gpu.bodies(&frame).unwrap();
    assert!(own.bodies().eq(expected.bodies()), "{shape:?} {options:?}");
    let bytes: usize = own.bodies().map(|body| body.bytes.len()).sum();
    assert_eq!(frame.bytes(), bytes as u64);

    let out = gpu.allocate(values.len()).unwrap();
    gpu.decompress_buffer(&frame, &out).unwrap();
    let mut decoded = vec![0f32; values.len()];
    gpu.read_back(&out, &mut decoded).unwrap();
    let view = View::new(values, shape).unwrap();
    let file = ebz::compress(&view, options).unwrap();
    let array = ebz::decompress::<f32>(&file).unwrap();
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert!(
        bits(array.values()) == bits(&decoded),
        "{shape:?} {options:?}"
    );
    frame.chunks_of_the_cpu()
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn arrays_stay_on_the_device() {
    let gpu = Gpu::open(None).expect("a GPU");
    for shape in [&[100_000][..], &[400, 333], &[40, 100, 90]] {
        let field = Content::Smooth.field::<f32>(shape, 3);
        for bound in [Bound::Abs(1e-3), Bound::Range(1e-4)] {
            let options = Options::new(bound).fill(Fill::None);
            assert_eq!(same(&gpu, &field.values, shape, &options), 0);
        }
        assert_eq!(
            same(&gpu, &field.values, shape, &Options::new(Bound::Abs(1e-3))),
            0
        );
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn any_content_is_whole() {
    let gpu = Gpu::open(None).expect("a GPU");
    let shape = [20, 60, 70];
    for content in Content::ALL {
        let field = content.field::<f32>(&shape, 4);
        let small_chunks = |bound| Options::new(bound).chunk(&[8, 60, 70]);
        same(&gpu, &field.values, &shape, &small_chunks(Bound::Abs(1e-3)));
        let named = small_chunks(Bound::Range(1e-3)).fill(field.marks());
        same(&gpu, &field.values, &shape, &named);
    }
    // A mask, and values that cannot be quantized.
    let mut values = Content::Smooth.field::<f32>(&shape, 5).values;
    values[3000..9000].fill(-999.0);
    values[100] = f32::NAN;
    values[101] = f32::INFINITY;
    let fill = FillValues::from(-999.0);
    let options = Options::new(Bound::Range(1e-3)).fill(Fill::from(fill));
    assert_eq!(same(&gpu, &values, &shape, &options), 0);
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn what_cannot_be_is_refused() {
    let gpu = Gpu::open(None).expect("a GPU");
    let buffer = gpu.allocate(1000).unwrap();
    let refused = |shape: &[usize], options: &Options| {
        let result = gpu.compress_buffer(&buffer, shape, options);
        assert!(matches!(result, Err(GpuError::Input(_))), "{result:?}");
    };
    let abs = Options::new(Bound::Abs(1e-3));
    refused(&[2000], &abs);
    refused(&[0], &abs);
    refused(&[1000], &Options::new(Bound::Range(1e-3)));
    refused(&[1000], &Options::new(Bound::Lossless));
    refused(&[1000], &abs.clone().codec("ceaz"));
    refused(&[10, 10, 10], &abs.chunk(&[10, 3, 10]));
    assert!(!gpu.has_failed());
}
