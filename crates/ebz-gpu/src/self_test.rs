//! Self-test: a device must reproduce the bytes of the CPU, and the values, before it is used.

use crate::device::Gpu;
use crate::error::{GpuError, Result};
use crate::kernels::Transpose;
use ebz::engine::Context;
use ebz::engine::{Cpu, EncodedChunks, Engine, Target, Values};
use ebz::slab::FramePlan;
use ebz::{Fill, Options, Tolerance};

/// Extents of the test array: three dimensions, with a partial unit.
const SHAPE: [usize; 3] = [3, 19, 67];

/// If this environment variable is set, kernels do not use subgroups.
const NO_SUBGROUPS: &str = "EBZ_GPU_NO_SUBGROUPS";

impl Gpu {
    /// Opens the best adapter, or the first whose name contains `name` in any case, and tests it.
    pub fn open(name: Option<&str>) -> Result<Self> {
        let transpose = match std::env::var_os(NO_SUBGROUPS) {
            Some(_) => Transpose::Gather,
            None => Transpose::Ballot,
        };
        let gpu = Self::untested(name, transpose)?;
        run(&gpu)?;
        Ok(gpu)
    }
}

/// Encodes and decodes small arrays with everything that drivers tend to get wrong.
fn run(gpu: &Gpu) -> Result<()> {
    // Near 0; far from it, where quotients need double precision; near the smallest numbers.
    let places = [(1e-3, 1.0, 0.0), (1e-3, 1.0, 900.0), (2e-38, 4e-35, 0.0)];
    let layouts = ["planes", "flags"];
    for ((bound, scale, offset), layout) in places
        .into_iter()
        .flat_map(|place| layouts.map(|layout| (place, layout)))
    {
        let options = Options::new(ebz::Bound::Abs(bound))
            .fill(Fill::from(-999.0))
            .param("layout", layout);
        let plan = FramePlan::new::<f32>(&SHAPE, Tolerance::Abs(bound), &options)?;
        let values = values(bound, scale, offset);
        let bytes = bytemuck::cast_slice(&values);
        let chunk = Values { chunk: 0, bytes };
        let mut context = Context::default();
        let (mut own, mut expected) = (EncodedChunks::default(), EncodedChunks::default());
        gpu.encode(&plan, &[chunk], &mut context, &mut own)?;
        Cpu.encode(&plan, &[chunk], &mut context, &mut expected)?;
        let failed = |what: &str| {
            let why = gpu.notices().join(", ");
            Err(GpuError::SelfTest(format!(
                "{what} at a bound of {bound:e} with layout={layout} {why}"
            )))
        };
        if !own.bodies().eq(expected.bodies()) {
            return failed("bytes differ from the CPU's");
        }
        let mut decoded = [vec![0f32; values.len()], vec![0f32; values.len()]];
        let engines: [&dyn Engine; 2] = [gpu, &Cpu];
        for (engine, decoded) in engines.into_iter().zip(&mut decoded) {
            for body in expected.bodies() {
                let out = bytemuck::cast_slice_mut(decoded);
                let mut target = [Target {
                    chunk: 0,
                    body,
                    out,
                }];
                engine.decode(&plan, &mut target, &mut context)?;
            }
        }
        let [own, expected] = decoded.map(|values| values.into_iter().map(f32::to_bits));
        if !own.eq(expected) {
            return failed("values differ from the CPU's");
        }
    }
    let done = gpu.work();
    let arrays = (places.len() * layouts.len()) as u64;
    if (done.encoded, done.decoded) != (arrays, arrays) {
        return Err(GpuError::SelfTest(gpu.notices().join(", ")));
    }
    gpu.forget_work();
    Ok(())
}

/// A wave with exact ties and their neighbours, special values, and a few exceptions.
fn values(bound: f64, scale: f64, offset: f64) -> Vec<f32> {
    let count: usize = SHAPE.iter().product();
    let value = |i: usize| {
        let x = i as f64;
        let wave = offset + scale * ((x * 0.01).sin() + 0.1 * (x * 0.7).cos());
        let tie = offset + bound * (2.0 * (x % 40.0 - 20.0) + 1.0);
        match i % 131 {
            7 => tie as f32,
            8 => (tie as f32).next_up(),
            9 => (tie as f32).next_down(),
            50 => -0.0,
            60 if i < 1000 => -999.0,
            70 if i < 1000 => f32::NAN,
            71 if i < 1000 => f32::NEG_INFINITY,
            90 => f32::from_bits(i as u32),
            _ => wave as f32,
        }
    };
    (0..count).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Kernel;

    #[test]
    #[ignore = "needs an adapter: scripts/test_gpu"]
    fn drivers_that_compute_something_else_are_refused() {
        let device = || Gpu::untested(None, Transpose::Ballot).expect("a GPU");
        run(&device()).unwrap();
        let prelude = include_str!("wgsl/prelude.wgsl");
        // Ties rounded up, and a lattice point off by one.
        for (good, bad) in [
            ("select(whole.x & 1u, 1u, rest != 0u)", "1u"),
            (
                "let product = k * p.step;",
                "let product = (k + 1u) * p.step;",
            ),
        ] {
            let mut gpu = device();
            assert!(prelude.contains(good));
            let prelude = prelude.replace(good, bad);
            let parts = [&prelude[..], include_str!("wgsl/columns.wgsl")];
            gpu.kernels.columns = Kernel::of_source(
                &gpu.device,
                "columns",
                gpu.kernels.columns.bindings,
                parts.concat(),
            );
            let parts = [
                &prelude[..],
                include_str!("wgsl/quantize.wgsl"),
                include_str!("wgsl/gather.wgsl"),
                include_str!("wgsl/pack.wgsl"),
                &Transpose::Gather.fit(include_str!("wgsl/encode.wgsl")),
            ];
            gpu.kernels.encode = Kernel::of_source(
                &gpu.device,
                "encode",
                gpu.kernels.encode.bindings,
                parts.concat(),
            );
            let result = run(&gpu);
            assert!(matches!(result, Err(GpuError::SelfTest(_))), "{result:?}");
        }
    }
}
