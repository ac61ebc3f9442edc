//! The stages of the 16-bit path for `f32`, for engines that run its kernels on another device.
//!
//! Lattice, lags and side list are computed here, so that every engine writes the same bytes.

use super::encode::PlaneBytes;
use super::flags::{self, EveryLag};
use super::{Layout, header, too_short};
use crate::bound::Tolerance;
use crate::codec::{Dims, Task};
use crate::element::real::Real;
use crate::element::word::Word;
use crate::error::{Error, Result};
use crate::simd::Level;
use crate::stage::dualquant::{self, MAX_NARROW, Mode, Plan};
use crate::stage::exceptions::{self, Exceptions};
use crate::stage::flags::{BLOCK, FLAGS, MAX_TILE};
use crate::stage::planes::{self, MAX_UNIT};
use crate::stage::proof::Proof;
use crate::stage::quantize::{self, Quantizer, Scale};
use std::ops::Range;

/// Values per unit.
pub const UNIT: usize = crate::stage::UNIT;

/// Codes per tile of [`Layout::Flags`].
pub const TILE: usize = crate::stage::flags::TILE;

/// How the values of a chunk are converted to residuals.
#[derive(Debug, Clone)]
pub struct Narrow {
    /// How residuals are stored.
    pub layout: Layout,
    /// Extents of the chunk.
    pub dims: Dims,
    /// Bit 0: lag 1; bit 1: lag nx; bit 2: lag nx · ny.
    pub lags: u8,
    /// Spacing of lattice points; 9 significant bits, a normal `f32`.
    pub step: f32,
    /// The lattice point of coordinate 0.
    pub base: i32,
    /// 1 / step, rounded towards 0: in single precision with base 0, otherwise in double precision.
    pub inverse: f64,
    /// Largest error within the bound.
    pub limit: f32,
    /// Values that must not be quantized, and that no other value may decode to.
    pub fill: Vec<f32>,
    near: Quantizer<f32, f32>,
    far: Quantizer<f32, f64>,
    whole: Quantizer<f32, f64>,
}

impl Narrow {
    /// The parameters that the encoder of this chunk tries first; `None` if it does not try the 16-bit path.
    pub fn choose(values: &[f32], task: &Task<'_>, level: Level) -> Option<Self> {
        let layout = Layout::of(task.params).ok()?;
        let plan = match layout {
            Layout::Planes => dualquant::narrow_plan::<PlaneBytes>(values, task, level)?,
            Layout::Flags => dualquant::narrow_plan::<EveryLag>(values, task, level)?,
        };
        Self::new(layout, &plan, task)
    }

    fn new(layout: Layout, plan: &Plan, task: &Task<'_>) -> Option<Self> {
        let Tolerance::Abs(bound) = task.tolerance else {
            return None;
        };
        let (step, base, fill) = (plan.step, plan.base as i64, &task.fill);
        Some(Self {
            layout,
            dims: task.dims,
            lags: plan.lags.0,
            step: step as f32,
            base: base as i32,
            inverse: match base {
                0 => f64::from(quantize::inverse::<f32>(step)),
                _ => quantize::inverse(step),
            },
            limit: Proof::of_exact_differences(bound).limit(),
            fill: fill.as_slice().iter().map(|&v| v as f32).collect(),
            near: Quantizer::new(step, base, MAX_NARROW, bound, fill),
            far: Quantizer::new(step, base, MAX_NARROW, bound, fill),
            whole: Quantizer::new(step, 0, f32::FARTHEST, bound, fill),
        })
    }

    /// Coordinates of a unit, and which of them are valid.
    pub fn quantize(&self, unit: &[f32; UNIT]) -> ([u16; UNIT], [bool; UNIT]) {
        let mut q = [0; UNIT];
        let good = match self.base {
            0 => self.near.forward(unit, &mut q),
            _ => self.far.forward(unit, &mut q),
        };
        let accepted = match self.base {
            _ if good => [true; UNIT],
            0 => self.near.accepted::<u16>(unit),
            _ => self.far.accepted::<u16>(unit),
        };
        (q, accepted)
    }

    /// The side list of a chunk, from the indices and values of its units with exceptions, in order.
    /// Calls `take` for every exception. `None` if there are too many for the 16-bit path.
    pub fn exceptions<'a>(
        &self,
        units: impl IntoIterator<Item = (usize, &'a [f32])>,
        mut take: impl FnMut(usize, f32),
    ) -> Option<Vec<u8>> {
        let mut list = Exceptions::default();
        let most = dualquant::max_exception_bytes(self.dims.len() * size_of::<f32>());
        for (number, values) in units {
            let unit = dualquant::padded(values);
            let (_, good) = self.quantize(&unit);
            let excepted = std::array::from_fn(|i| !good[i] && i < values.len());
            let stored = |x| self.whole.snap(x);
            list.push_unit(number, &unit, &excepted, stored);
            for i in (0..UNIT).filter(|&i| excepted[i]) {
                take(number * UNIT + i, stored(unit[i]));
            }
            if list.bytes() > most {
                return None;
            }
        }
        let mut bytes = Vec::new();
        list.write_to::<f32>(&mut bytes);
        Some(bytes)
    }
}

/// The positions of the values that [`Narrow::choose`] samples.
pub fn sampled_places(dims: Dims) -> Vec<Range<usize>> {
    dualquant::sampled_places::<PlaneBytes>(dims.len(), dims)
}

/// A parsed chunk of the 16-bit path; all lengths are checked.
#[derive(Debug)]
pub struct Coded<'a> {
    /// As in [`Narrow`].
    pub layout: Layout,
    /// As in [`Narrow`].
    pub lags: u8,
    /// As in [`Narrow`].
    pub step: f32,
    /// As in [`Narrow`].
    pub base: i32,
    /// One for each unit, or 32 bytes of flags for each tile.
    pub codes: &'a [u8],
    /// The planes of all units, or the blocks of all tiles.
    pub planes: &'a [u8],
    /// Offset of each unit in the planes, or of each tile in the blocks.
    pub starts: Vec<u32>,
    list: &'a [u8],
}

impl<'a> Coded<'a> {
    /// Parses a chunk of this many values. `None` if it uses another path, or a lattice that no encoder
    /// chooses, which is left to the CPU.
    pub fn new(bytes: &'a [u8], values: usize) -> Result<Option<Self>> {
        let (layout, plan, length, rest) = header::read(bytes)?;
        let few_bits = (plan.step.to_bits() << (12 + f32::STEP_BITS - 1)) == 0;
        let (step, base) = (plan.step as f32, plan.base as i32);
        let usual = plan.mode == Mode::Narrow
            && few_bits
            && quantize::normal::<f32>(plan.step)
            && f64::from(base).to_bits() == plan.base.to_bits()
            && i64::from(base).abs() <= f32::FARTHEST;
        if !usual {
            return Ok(None);
        }
        let codes = match layout {
            Layout::Planes => dualquant::units(values),
            Layout::Flags => flags::tiles(values) * FLAGS,
        };
        let (codes, rest) = rest.split_at_checked(codes).ok_or_else(too_short)?;
        let (planes, list) = rest.split_at_checked(length).ok_or_else(too_short)?;
        let mut starts = Vec::new();
        let mut at = 0;
        match layout {
            Layout::Planes => {
                for &code in codes {
                    starts.push(at as u32);
                    at += planes::length(code, &planes[at..])?;
                }
            }
            Layout::Flags => {
                for tile in codes.chunks(FLAGS) {
                    starts.push(at as u32);
                    let blocks = tile.iter().map(|flags| flags.count_ones()).sum::<u32>();
                    at += BLOCK * blocks as usize;
                }
            }
        }
        if at > planes.len() {
            return Err(Error::corrupt("blocks are cut off"));
        }
        if at < planes.len() {
            return Err(Error::corrupt("trailing bytes after the last bit plane"));
        }
        Ok(Some(Self {
            layout,
            lags: plan.lags.0,
            step,
            base,
            codes,
            planes,
            starts,
            list,
        }))
    }

    /// Writes the values of the side list to their positions.
    pub fn restore_exceptions(&self, out: &mut [f32]) -> Result<()> {
        exceptions::restore(self.list, out)
    }

    /// Size of the side list, which comes last.
    pub fn list_bytes(&self) -> usize {
        self.list.len()
    }
}

/// Code and planes of a unit of residuals.
pub fn encode_unit(unit: &[u16; UNIT]) -> (u8, Vec<u8>) {
    let mut out = [0; MAX_UNIT];
    let (code, length) = planes::encode(Level::Portable, unit, &mut out);
    (code, out[..length].to_vec())
}

/// Flags and blocks of a tile of codes.
pub fn encode_tile(tile: &[u16; TILE]) -> ([u8; FLAGS], Vec<u8>) {
    let (mut flags, mut out) = ([0; FLAGS], [0; MAX_TILE]);
    let length = crate::stage::flags::encode(Level::Portable, tile, &mut flags, &mut out);
    (flags, out[..length].to_vec())
}

/// The code of a difference: sign and magnitude.
pub fn sign_magnitude(difference: u16) -> u16 {
    crate::stage::flags::sign_magnitude(Word::zigzag(difference))
}

/// Inverts [`encode_unit`].
pub fn decode_unit(code: u8, bytes: &[u8]) -> Result<[u16; UNIT]> {
    let mut unit = [0; UNIT];
    planes::decode(Level::Portable, code, bytes, &mut unit)?;
    Ok(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Params;
    use crate::fill::FillValues;

    fn wave(dims: Dims, offset: f32) -> Vec<f32> {
        let value =
            |i: usize| offset + (i as f32 * 0.01).sin() + ((i / dims.nx) as f32 * 0.1).cos();
        (0..dims.len()).map(value).collect()
    }

    fn task(dims: Dims, bound: f64, params: &Params) -> Task<'_> {
        Task {
            dims,
            tolerance: Tolerance::Abs(bound),
            fill: FillValues::NONE,
            params,
        }
    }

    #[test]
    fn the_choice_depends_only_on_sampled_positions() {
        let params = Params::default();
        for (nz, ny, nx) in [
            (1, 1, 100),
            (1, 1, 90_000),
            (1, 300, 300),
            (20, 71, 64),
            (2, 3, 40_000),
        ] {
            let dims = Dims { nz, ny, nx };
            for offset in [0.0, 300.0] {
                let values = wave(dims, offset);
                let mut sparse = vec![f32::NAN; values.len()];
                for place in sampled_places(dims) {
                    sparse[place.clone()].copy_from_slice(&values[place]);
                }
                let task = task(dims, 1e-4, &params);
                let full = Narrow::choose(&values, &task, Level::Portable).unwrap();
                let few = Narrow::choose(&sparse, &task, Level::Portable).unwrap();
                assert_eq!((full.lags, full.base), (few.lags, few.base));
                assert_eq!(offset != 0.0, full.base != 0);
            }
        }
    }

    #[test]
    fn parsed_chunks_have_the_lengths_of_the_decoder() {
        let dims = Dims {
            nz: 3,
            ny: 50,
            nx: 61,
        };
        let mut values = wave(dims, 0.0);
        values[100] = f32::NAN;
        let params = Params::default();
        let mut bytes = Vec::new();
        let task = task(dims, 1e-3, &params);
        super::super::encode::encode(
            &values,
            &task,
            &mut crate::codec::Context::default(),
            &mut bytes,
        );
        let coded = Coded::new(&bytes, values.len()).unwrap().unwrap();
        for (i, &code) in coded.codes.iter().enumerate() {
            let rest = &coded.planes[coded.starts[i] as usize..];
            let unit = decode_unit(code, rest).unwrap();
            let (again, unit_bytes) = encode_unit(&unit);
            assert_eq!((again, &unit_bytes[..]), (code, &rest[..unit_bytes.len()]));
        }
        assert!(coded.list_bytes() > 0);
        for length in 0..bytes.len() {
            let short = Coded::new(&bytes[..length], values.len());
            assert!(short.is_err() || length >= bytes.len() - 7, "{length}");
        }
    }
}
