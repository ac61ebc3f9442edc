//! Faults: no adapter, no memory, a lost device, a corrupt stream, a timeout. The result is an error, or a
//! fallback to the CPU with a notice; never wrong data, never a hang.

use ebz::{Bound, Options, Reader, View, Writer};
use ebz_gpu::{Gpu, GpuError};
use ebz_testkit::fields::Content;
use std::sync::Arc;
use std::time::Duration;

const SHAPE: [usize; 3] = [20, 50, 60];

fn options() -> Options {
    Options::new(Bound::Range(1e-3))
}

/// Compresses with a device that may have failed: always the bytes of the CPU.
fn survives(gpu: Arc<Gpu>) {
    let field = Content::Smooth.field::<f32>(&SHAPE, 1);
    let view = View::new(&field.values, &SHAPE).unwrap();
    let expected = ebz::compress(&view, &options()).unwrap();
    let mut writer = Writer::new(Vec::new(), options())
        .unwrap()
        .engine(gpu.clone());
    writer.frame(&view).unwrap();
    assert!(writer.finish().unwrap() == expected);
    let reader = Reader::from_source(&expected[..]).unwrap().engine(gpu);
    let own = reader.read::<f32>().unwrap();
    assert!(own == ebz::decompress(&expected).unwrap());
}

#[test]
fn no_adapter_is_an_error() {
    // No machine has this adapter; machines without a GPU report the same error.
    let result = Gpu::open(Some("an adapter that nobody makes"));
    assert!(matches!(result, Err(GpuError::NoAdapter(_))), "{result:?}");
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn a_lost_device_leaves_the_work_to_the_cpu() {
    let gpu = Arc::new(Gpu::open(None).expect("a GPU"));
    survives(gpu.clone());
    assert!(gpu.work().encoded > 0);
    gpu.device().destroy();
    let before = gpu.work();
    survives(gpu.clone());
    assert_eq!(gpu.work(), before);
    assert!(!gpu.notices().is_empty());
    assert!(gpu.allocate(100).is_err());
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn a_device_that_does_not_answer_is_given_up() {
    let gpu = Gpu::open(None).expect("a GPU").with_timeout(Duration::ZERO);
    let gpu = Arc::new(gpu);
    survives(gpu.clone());
    survives(gpu);
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn too_much_memory_is_refused() {
    let gpu = Gpu::open(None).expect("a GPU");
    let result = gpu.allocate(usize::MAX / 8);
    assert!(matches!(result, Err(GpuError::Memory(_))), "{result:?}");
    assert!(!gpu.has_failed());
    survives(Arc::new(gpu));
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn corrupt_chunks_are_errors_where_they_are_for_the_cpu() {
    for layout in ["planes", "flags"] {
        corrupt_chunks(layout);
    }
}

fn corrupt_chunks(layout: &str) {
    use ebz::engine::Context;
    use ebz::engine::{Body, Cpu, EncodedChunks, Engine, Form, Target, Values};
    use ebz::slab::FramePlan;
    let gpu = Gpu::open(None).expect("a GPU");
    let shape = [4, 20, 30];
    let mut field = Content::Smooth.field::<f32>(&shape, 1);
    field.values[77] = f32::NAN;
    let tolerance = ebz::Tolerance::Abs(1e-3);
    let options = Options::new(Bound::Abs(1e-3)).param("layout", layout);
    let plan = FramePlan::new::<f32>(&shape, tolerance, &options).unwrap();
    let bytes = bytemuck::cast_slice(&field.values);
    let (mut bodies, mut context) = (EncodedChunks::default(), Context::default());
    let values = Values { chunk: 0, bytes };
    Cpu.encode(&plan, &[values], &mut context, &mut bodies)
        .unwrap();
    let body = bodies.bodies().next().unwrap().bytes.to_vec();
    let mut decode = |engine: &dyn Engine, bytes: &[u8]| {
        let mut out = vec![0f32; field.values.len()];
        let form = Form::Coded;
        let mut target = [Target {
            chunk: 0,
            body: Body { form, bytes },
            out: bytemuck::cast_slice_mut(&mut out),
        }];
        let result = engine.decode(&plan, &mut target, &mut context);
        let bits: Vec<_> = out.iter().map(|v| v.to_bits()).collect();
        result.is_ok().then_some(bits)
    };
    let mut accepted = 0;
    for at in 0..body.len().min(160) {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = body.clone();
            damaged[at] ^= flip;
            let (own, cpu) = (decode(&gpu, &damaged), decode(&Cpu, &damaged));
            accepted += usize::from(cpu.is_some());
            assert!(own == cpu, "{layout}: byte {at} ^ {flip}");
        }
        assert!(decode(&gpu, &body[..at]).is_none());
    }
    assert!(accepted > 10 && !gpu.has_failed());
}
