//! The kernels: one WGSL file each, behind a common prelude.

/// Compiled kernels of a device.
#[derive(Debug)]
pub(crate) struct Kernels {
    pub encode: Kernel,
    pub carry: Kernel,
    pub resolve: Kernel,
    pub offsets: Kernel,
    pub compact: Kernel,
    pub unpack: Kernel,
    pub totals: Kernel,
    pub columns: Kernel,
    pub scatter: Kernel,
    pub range: Kernel,
}

/// A compiled kernel, and the numbers of its bindings.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub name: &'static str,
    pub pipeline: wgpu::ComputePipeline,
    pub bindings: &'static [u32],
}

const PRELUDE: &str = include_str!("wgsl/prelude.wgsl");
const QUANTIZE: &str = include_str!("wgsl/quantize.wgsl");
const PACK: &str = include_str!("wgsl/pack.wgsl");

/// How bit planes are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transpose {
    /// By subgroup ballots.
    Ballot,
    /// By gathering from workgroup memory.
    Gather,
}

impl Transpose {
    fn source(self) -> &'static str {
        match self {
            Self::Ballot => include_str!("wgsl/ballot.wgsl"),
            Self::Gather => include_str!("wgsl/gather.wgsl"),
        }
    }

    /// Fills in what a kernel must know of subgroups.
    fn fit(self, kernel: &str) -> String {
        let (parameters, set) = match self {
            Self::Ballot => (
                ",\n        @builtin(subgroup_id) number: u32, @builtin(subgroup_size) size: u32,\
                 \n        @builtin(subgroup_invocation_id) lane: u32",
                "\n    subgroup = vec3<u32>(number, size, lane);",
            ),
            Self::Gather => ("", ""),
        };
        kernel
            .replace("/*SUBGROUP*/", parameters)
            .replace("/*SET_SUBGROUP*/", set)
    }
}

impl Kernels {
    pub fn new(device: &wgpu::Device, transpose: Transpose) -> Self {
        let kernel = |name, bindings, parts: &[&str]| {
            let mut source = PRELUDE.to_string();
            parts.iter().for_each(|part| source.push_str(part));
            Kernel::new(device, name, bindings, source)
        };
        let plain = |name, bindings, part| kernel(name, bindings, &[part]);
        let packing = |name, part| {
            let part = transpose.fit(part);
            let parts = [QUANTIZE, transpose.source(), PACK, &part];
            kernel(name, &[0, 1, 2, 3, 4], &parts)
        };
        Self {
            encode: packing("encode", include_str!("wgsl/encode.wgsl")),
            carry: plain("carry", &[0, 4], include_str!("wgsl/carry.wgsl")),
            resolve: packing("resolve", include_str!("wgsl/resolve.wgsl")),
            offsets: plain("offsets", &[0, 2, 5, 6], include_str!("wgsl/offsets.wgsl")),
            compact: plain(
                "compact",
                &[0, 2, 3, 5, 6],
                include_str!("wgsl/compact.wgsl"),
            ),
            unpack: plain(
                "unpack",
                &[0, 1, 2, 3, 4, 5],
                include_str!("wgsl/unpack.wgsl"),
            ),
            totals: plain("totals", &[0, 4], include_str!("wgsl/totals.wgsl")),
            columns: plain("columns", &[0, 3, 4, 6], include_str!("wgsl/columns.wgsl")),
            scatter: plain("scatter", &[1, 6], include_str!("wgsl/scatter.wgsl")),
            range: plain("range", &[0, 1, 2], include_str!("wgsl/range.wgsl")),
        }
    }
}

impl Kernel {
    fn new(
        device: &wgpu::Device,
        name: &'static str,
        bindings: &'static [u32],
        source: String,
    ) -> Self {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        Self {
            name,
            pipeline,
            bindings,
        }
    }
}
