//! Codec `fz` of [`ebz`] on GPUs of any vendor: byte-identical to the CPU.
//!
//! ```text
//! values ─► encode ─► carry ─► resolve ─► offsets ─► compact ─► bodies      (five kernels)
//! values ◄─ columns ◄─ totals ◄─ unpack ◄─────────────────────── bodies      (three)
//! ```
//!
//! With `layout=flags` the kernels are those of the paper: predict, shuffle and mark, prefix sum and encode;
//! carry and resolve remain, for exceptions.
//!
//! [`Gpu`] is an [`Engine`](ebz::engine::Engine): pass it to a `Writer` or a `Reader`. The library itself
//! chooses lattice and lags and codes the side list; the kernels do the rest in integer arithmetic.
//! `docs/gpu.md` counts their memory traffic.

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
