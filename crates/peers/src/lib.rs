//! Other compressors behind one trait, so that ebz can be compared with them in one process.
//!
//! Not part of ebz: nothing that is published depends on this crate.

/// Implements [`Peer`] with the functions `compress` and `decompress` of a module, which are generic over
/// the element type.
macro_rules! peer {
    ($peer:ty, $name:literal, axes: $axes:expr) => {
        peer!($peer, $name, axes: $axes, most: f64::INFINITY);
    };
    ($peer:ty, $name:literal, axes: $axes:expr, most: $most:expr) => {
        impl crate::Peer for $peer {
            fn name(&self) -> &'static str {
                $name
            }
            fn supports(&self, axes: usize, largest: f64) -> bool {
                $axes.contains(&axes) && largest <= $most
            }
            fn compress_f32(&self, values: &[f32], dims: &[usize], goal: Goal) -> Vec<u8> {
                compress(values, dims, goal)
            }
            fn compress_f64(&self, values: &[f64], dims: &[usize], goal: Goal) -> Vec<u8> {
                compress(values, dims, goal)
            }
            fn decompress_f32(&self, bytes: &[u8], dims: &[usize], goal: Goal, out: &mut [f32]) {
                decompress(bytes, dims, goal, out);
            }
            fn decompress_f64(&self, bytes: &[u8], dims: &[usize], goal: Goal, out: &mut [f64]) {
                decompress(bytes, dims, goal, out);
            }
        }
    };
}

mod bitshuffle;
mod pcodec;
mod sperr;
mod zfp_c;
mod zfp_rust;

pub use bitshuffle::Bitshuffle;
pub use pcodec::Pcodec;
pub use sperr::Sperr;
pub use zfp_c::ZfpC;
pub use zfp_rust::ZfpRust;

/// What a peer is asked to guarantee; lossless ones ignore it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// |x − x′| ≤ e, as far as the peer keeps it.
    Abs(f64),
    /// Keep this many bit planes (zfp).
    Planes(u32),
    /// Take this many bits per value.
    Rate(f64),
}

/// A compressor of arrays; `dims` are slowest first, one to three of them.
pub trait Peer {
    /// Name for tables.
    fn name(&self) -> &'static str;
    /// Whether it compresses arrays of so many axes with this largest magnitude (infinite if there are values that
    /// are not finite).
    fn supports(&self, axes: usize, largest: f64) -> bool;
    /// Compresses single precision.
    fn compress_f32(&self, values: &[f32], dims: &[usize], goal: Goal) -> Vec<u8>;
    /// Compresses double precision.
    fn compress_f64(&self, values: &[f64], dims: &[usize], goal: Goal) -> Vec<u8>;
    /// Decompresses what [`Peer::compress_f32`] made with the same `dims` and `goal`.
    fn decompress_f32(&self, bytes: &[u8], dims: &[usize], goal: Goal, out: &mut [f32]);
    /// Decompresses what [`Peer::compress_f64`] made with the same `dims` and `goal`.
    fn decompress_f64(&self, bytes: &[u8], dims: &[usize], goal: Goal, out: &mut [f64]);
}

/// Every peer, each on one thread.
pub fn all() -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(ZfpC),
        Box::new(ZfpRust),
        Box::new(Sperr),
        Box::new(Pcodec),
        Box::new(Bitshuffle),
    ]
}
