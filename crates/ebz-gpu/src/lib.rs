//! Codec `fz` of [`ebz`] on the GPU of any vendor: the same bytes as the CPU, to the bit.
//!
//! ```text
//! values ─► encode ─► carry ─► resolve ─► offsets ─► compact ─► bodies      (five kernels)
//! values ◄─ columns ◄─ totals ◄─ unpack ◄─────────────────────── bodies      (three)
//! ```
//!
//! With `layout=flags` the kernels are those of the paper: predict, shuffle and mark, prefix sum and encode;
//! carry and resolve stay, for exceptions.
//!
//! [`Gpu`] is an [`Engine`](ebz::engine::Engine): give it to a `Writer` or a `Reader`. Lattice, lags and
//! side list are the library's own code; the kernels do what remains, in integers. `docs/gpu.md` counts
//! what they move.

mod ablation;
mod buffers;
mod decode;
mod device;
mod encode;
mod engine;
mod error;
mod kernels;
#[cfg(test)]
mod oracle;
mod resident;
mod run;
mod self_test;
mod table;
#[cfg(test)]
mod traffic;
mod transfer;

pub use ablation::Ablation;
pub use device::{AdapterInfo, Gpu, Work, devices};
pub use error::{GpuError, Result};
pub use resident::{DeviceFrame, Profile};
pub use run::KernelTime;
pub use wgpu;
