//! The choice of mode and order of the axes.

use super::encode::{Memory, Source};
use super::real::Real;
use super::stream::{Mode, Plan};
use crate::codec::Params;
use crate::error::{Error, Result};
use crate::simd::Isa;

/// What the user asked for: a plan, or the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Auto,
    Isotropic,
    /// The axis that planes are orthogonal to.
    Packet(usize),
    Lorenzo(u8),
}

impl Request {
    /// Reads the parameters of the codec.
    pub(super) fn from_params(params: &Params) -> Result<Self> {
        let text = params.get("mode").unwrap_or("auto");
        let parsed = match text {
            "auto" => Some(Self::Auto),
            "isotropic" => Some(Self::Isotropic),
            "packet-z" => Some(Self::Packet(0)),
            "packet-y" => Some(Self::Packet(1)),
            "packet-x" => Some(Self::Packet(2)),
            _ => text.strip_prefix("lorenzo-").and_then(|axes| {
                let names = ["0", "x", "y", "yx", "z", "zx", "zy", "zyx"];
                let at = names.iter().position(|n| *n == axes)?;
                Some(Self::Lorenzo(at as u8))
            }),
        };
        parsed.ok_or_else(|| {
            Error::invalid(format!(
                "parameter mode={text}: use auto, isotropic, packet-z, packet-y, packet-x or \
                 lorenzo-zyx (any of its axes, or 0)"
            ))
        })
    }
}

/// The plan for a chunk.
pub(super) fn plan<T: Real>(
    _isa: Isa,
    _source: &Source<'_, T>,
    request: Request,
    _memory: &mut Memory<T>,
) -> Result<Plan> {
    let mode = match request {
        Request::Auto | Request::Isotropic => Mode::Isotropic,
        Request::Packet(_) => Mode::Packet,
        Request::Lorenzo(axes) => Mode::Lorenzo(axes),
    };
    let order = match request {
        Request::Packet(axis) => axis,
        _ => 0,
    };
    Ok(Plan { mode, order })
}
