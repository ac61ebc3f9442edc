//! The kernels: one WGSL file each, after a common prelude.

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
    pub flags: FlagKernels,
}

/// Kernels of `layout=flags`; the others belong to the default layout.
#[derive(Debug)]
pub(crate) struct FlagKernels {
    pub predict: Kernel,
    pub resolve: Kernel,
    pub shuffle_mark: Kernel,
    pub sum_tiles: Kernel,
    pub encode_tiles: Kernel,
    pub unpack: Kernel,
}

/// The baseline kernels of the paper; compiled for the ablation only.
#[derive(Debug)]
pub(crate) struct AblationKernels {
    pub predict_v1: Kernel,
    pub shuffle: Kernel,
    pub mark: Kernel,
}

/// A compiled kernel and its binding numbers.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub name: &'static str,
    pub pipeline: wgpu::ComputePipeline,
    pub bindings: &'static [u32],
}

const PRELUDE: &str = include_str!("wgsl/prelude.wgsl");
const QUANTIZE: &str = include_str!("wgsl/quantize.wgsl");
const PACK: &str = include_str!("wgsl/pack.wgsl");
const UNPACK: &str = include_str!("wgsl/unpack.wgsl");
const TILE: &str = include_str!("wgsl/tile.wgsl");

/// How kernels transpose bits to planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transpose {
    /// With subgroup ballots.
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

    /// Inserts the subgroup parameters of a kernel.
    pub fn fit(self, kernel: &str) -> String {
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
        let kernel = |name, bindings, parts: &[&str]| Kernel::new(device, name, bindings, parts);
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
            unpack: kernel(
                "unpack",
                &[0, 1, 2, 3, 4, 5],
                &[include_str!("wgsl/unpack_planes.wgsl"), UNPACK],
            ),
            totals: plain("totals", &[0, 4], include_str!("wgsl/totals.wgsl")),
            columns: plain("columns", &[0, 3, 4, 6], include_str!("wgsl/columns.wgsl")),
            scatter: plain("scatter", &[1, 6], include_str!("wgsl/scatter.wgsl")),
            range: plain("range", &[0, 1, 2], include_str!("wgsl/range.wgsl")),
            flags: FlagKernels::new(device),
        }
    }
}

impl FlagKernels {
    fn new(device: &wgpu::Device) -> Self {
        let coding = |name, part| {
            let part = Transpose::Gather.fit(part);
            let parts = [QUANTIZE, include_str!("wgsl/codes.wgsl"), &part];
            Kernel::new(device, name, &[0, 1, 2, 3, 4], &parts)
        };
        Self {
            predict: coding("predict", include_str!("wgsl/encode.wgsl")),
            resolve: coding("resolve", include_str!("wgsl/resolve.wgsl")),
            shuffle_mark: Kernel::new(
                device,
                "shuffle+mark",
                &[0, 2, 3, 6, 7],
                &[TILE, include_str!("wgsl/shuffle_mark.wgsl")],
            ),
            sum_tiles: Kernel::new(
                device,
                "prefix sum",
                &[0, 2, 5, 6],
                &[include_str!("wgsl/sum_tiles.wgsl")],
            ),
            encode_tiles: Kernel::new(
                device,
                "encode",
                &[0, 5, 6, 7],
                &[include_str!("wgsl/encode_tiles.wgsl")],
            ),
            unpack: Kernel::new(
                device,
                "unpack",
                &[0, 1, 3, 4, 5],
                &[include_str!("wgsl/unpack_flags.wgsl"), UNPACK],
            ),
        }
    }
}

impl AblationKernels {
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            predict_v1: Kernel::new(
                device,
                "predict, outliers apart",
                &[0, 1, 3, 7],
                &[QUANTIZE, include_str!("wgsl/predict_v1.wgsl")],
            ),
            shuffle: Kernel::new(
                device,
                "shuffle",
                &[0, 3, 7],
                &[TILE, include_str!("wgsl/shuffle.wgsl")],
            ),
            mark: Kernel::new(
                device,
                "mark",
                &[0, 2, 6, 7],
                &[TILE, include_str!("wgsl/mark.wgsl")],
            ),
        }
    }
}

impl Kernel {
    pub fn new(
        device: &wgpu::Device,
        name: &'static str,
        bindings: &'static [u32],
        parts: &[&str],
    ) -> Self {
        Self::of_source(
            device,
            name,
            bindings,
            PRELUDE.to_string() + &parts.concat(),
        )
    }

    /// Compiles the whole source, including the prelude.
    pub fn of_source(
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
