//! Compares the channels of the zfp family with the codecs `de-zfp` (three axes) and `zfp-v` (two).
//!
//! A core writes one stream. A segment of a chunk has four streams, with block b in stream b mod 4,
//! so that four cores write a segment.

use crate::{Conditions, Flit, RoundTrip, byte_flits, check, flits};
use ebz::codec::{Params, by_name};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::{FillValues, Tolerance};
use ebz_testkit::random::Random;

/// Streams of a segment.
pub const STREAMS: usize = 4;

/// How many planes of each block are kept.
#[derive(Debug, Clone, Copy)]
pub enum Mode {
    /// This many.
    Planes(u32),
    /// By zfp's formula for this absolute tolerance.
    Tolerance(f64),
}

impl Mode {
    /// The second word of a header flit.
    pub fn word(self, axes: usize) -> u32 {
        match self {
            // Decoded values reach four times the maximum, and must stay finite.
            Self::Planes(planes) => planes | 253 << 8,
            Self::Tolerance(tolerance) => {
                // From this exponent on, the precision of values is coarser than the tolerance.
                let binade = (tolerance.to_bits() >> 52) as i32 - 1023;
                let special = (binade + 127 + 23 + 3).clamp(1, 253).cast_unsigned();
                let field = ((tolerance as f32).to_bits() >> 23).cast_signed();
                let offset = (field - 2 * (axes as i32 + 1) - 1).cast_unsigned() & 0x1ff;
                1 << 6 | special << 8 | offset << 16
            }
        }
    }
}

/// An array of whole blocks.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// Extents: multiples of four, except that the first is 1 for two axes.
    pub dims: Dims,
    /// Values in raster order.
    pub values: Vec<f32>,
}

impl Blocks {
    /// The largest part of an array with extents that are multiples of four; with two axes, of a
    /// plane.
    pub fn of(values: &[f32], shape: [usize; 3], axes: usize) -> Self {
        let [nz, ny, nx] = shape.map(|n| n / 4 * 4);
        let nz = if axes == 3 { nz } else { 1 };
        let at = |i: usize| (i / (ny * nx) * shape[1] + i / nx % ny) * shape[2] + i % nx;
        let dims = Dims { nz, ny, nx };
        Self {
            dims,
            values: (0..dims.len()).map(|i| values[at(i)]).collect(),
        }
    }

    /// Number of axes: 2 or 3.
    pub fn axes(&self) -> usize {
        self.dims.axes()
    }

    /// Values of a block.
    fn block_size(&self) -> usize {
        1 << (2 * self.axes())
    }

    /// The values of a block in raster order, taken from `values`, which has the extents of this array.
    fn block(&self, index: usize, values: &[f32]) -> Vec<u32> {
        let Dims { ny, nx, .. } = self.dims;
        let (along_x, along_y) = (nx / 4, ny / 4);
        let corner = [
            index / along_x / along_y,
            index / along_x % along_y,
            index % along_x,
        ]
        .map(|i| 4 * i);
        let value = |i: usize| {
            let [z, y, x] = [corner[0] + i / 16, corner[1] + i / 4 % 4, corner[2] + i % 4];
            values[(z * ny + y) * nx + x].to_bits()
        };
        (0..self.block_size()).map(value).collect()
    }

    /// Output of the codec: blocks and bytes of each stream, and all decoded values.
    fn codec(&self, mode: Mode) -> Result<(Vec<Stream>, Vec<f32>), String> {
        let mut params = Params::default();
        params.set("planes", "formula");
        let tolerance = match mode {
            Mode::Planes(planes) => Tolerance::Precision(planes),
            Mode::Tolerance(tolerance) => Tolerance::Abs(tolerance),
        };
        let task = Task {
            dims: self.dims,
            tolerance,
            fill: FillValues::NONE,
            params: &params,
        };
        let codec = by_name(if self.axes() == 3 { "de-zfp" } else { "zfp-v" })
            .map_err(|error| error.to_string())?;
        let mut context = Context::default();
        let mut body = Vec::new();
        let mut back = vec![0.0; self.values.len()];
        codec
            .encode(&self.values, &task, &mut context, &mut body)
            .and_then(|()| codec.decode(&body, self.dims, &mut context, &mut back))
            .map_err(|error| error.to_string())?;
        if usize::from(body[0]) != self.axes() {
            return Err("the codec wrote a side list".into());
        }
        Ok((self.streams(&body), back))
    }

    /// The streams of a chunk: see `docs/codecs/de-zfp.md`.
    fn streams(&self, body: &[u8]) -> Vec<Stream> {
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| body[at + i])) as usize;
        let segments = number(1);
        let all = self.values.len() / self.block_size();
        let mut streams = Vec::new();
        let mut first = 0;
        let mut at = 5 + 20 * segments;
        for segment in 0..segments {
            let entry = 5 + 20 * segment;
            let end = (first + 8 * number(entry)).min(all);
            for stream in 0..STREAMS {
                let length = number(entry + 4 + 4 * stream);
                let blocks = (first + stream..end).step_by(STREAMS).collect();
                streams.push(Stream {
                    blocks,
                    bytes: body[at..at + length].to_vec(),
                });
                at += length;
            }
            first = end;
        }
        streams
    }

    /// The uncompressed chunk with the blocks of a stream.
    fn plain(&self, stream: &Stream, mode: Mode, values: &[f32]) -> Vec<Flit> {
        let mut words = self.header(stream, mode);
        words.extend(
            stream
                .blocks
                .iter()
                .flat_map(|&index| self.block(index, values)),
        );
        flits(&words)
    }

    /// The compressed chunk with a stream.
    fn compressed(&self, stream: &Stream, mode: Mode) -> Vec<Flit> {
        let mut chunk = flits(&self.header(stream, mode));
        chunk.extend(byte_flits(&stream.bytes));
        chunk
    }

    /// The uncompressed chunk for one of the four cores that write a segment: its header flit, and every fourth block
    /// from `first` on.
    pub fn every_fourth(&self, first: usize, mode: Mode) -> Vec<Flit> {
        let blocks = first..self.values.len() / self.block_size();
        let stream = Stream {
            blocks: blocks.step_by(STREAMS).collect(),
            bytes: Vec::new(),
        };
        self.plain(&stream, mode, &self.values)
    }

    fn header(&self, stream: &Stream, mode: Mode) -> Vec<u32> {
        vec![stream.blocks.len() as u32, mode.word(self.axes()), 0, 0]
    }
}

/// One stream of a chunk.
struct Stream {
    blocks: Vec<usize>,
    bytes: Vec<u8>,
}

/// Compresses and decompresses the streams of arrays back to back; compares streams and decoded
/// values with those of the codec.
pub fn round_trip(
    axes: usize,
    mode: Mode,
    arrays: &[Blocks],
    conditions: Conditions,
) -> Result<RoundTrip, String> {
    let mut originals = Vec::new();
    let mut streams = Vec::new();
    let mut decoded = Vec::new();
    for array in arrays {
        let (made, back) = array.codec(mode)?;
        for stream in &made {
            originals.push(array.plain(stream, mode, &array.values));
            streams.push(array.compressed(stream, mode));
            decoded.push(array.plain(stream, mode, &back));
        }
    }
    Ok(RoundTrip {
        compress: check(
            &format!("zfp_compress_{axes}"),
            &originals,
            &streams,
            conditions,
        )?,
        decompress: check(
            &format!("zfp_decompress_{axes}"),
            &streams,
            &decoded,
            conditions,
        )?,
    })
}

/// Blocks of every kind: smooth, rough, few distinct values, zeros, subnormal, too large, NaN.
pub fn values(shape: [usize; 3], random: &mut Random) -> Vec<f32> {
    let mut values = vec![0.0; shape.iter().product()];
    let blocks = shape.map(|n| n.div_ceil(4));
    for block in 0..blocks.iter().product() {
        let corner = [
            block / blocks[2] / blocks[1],
            block / blocks[2] % blocks[1],
            block % blocks[2],
        ]
        .map(|i| 4 * i);
        let kind = random.below(14);
        let noise = 10f64.powi(-(random.below(8) as i32));
        let scale = 2f64.powi(random.below(30) as i32 - 15);
        for i in 0..64 {
            let [z, y, x] = [corner[0] + i / 16, corner[1] + i / 4 % 4, corner[2] + i % 4];
            if z >= shape[0] || y >= shape[1] || x >= shape[2] {
                continue;
            }
            let bits = random.bits() as u32;
            values[(z * shape[1] + y) * shape[2] + x] = match kind {
                0 => 0.0,
                1 => f32::from_bits(bits & 0x807f_ffff),
                // The whole block, or the codec would put single values into its side list.
                2 => f32::from_bits(bits | 0x7f80_0001),
                3 => f32::from_bits((bits & 0x807f_ffff) | 0x7e80_0000),
                4 => f32::from_bits((bits % (253 << 23)) | (bits & (1 << 31))),
                5 => [0.0, 1.0, -1.0][bits as usize % 3],
                // Down to the last bit of an integer, and up to the next power of two.
                6 => 2f32.powi(-(bits as i32 & 31)),
                7 => f32::from_bits(0x3f7f_ffff - bits % 4),
                _ => {
                    (scale * ((x + 2 * y + 3 * z) as f64 * 0.1).sin()
                        + scale * noise * (random.unit() - 0.5)) as f32
                }
            };
        }
    }
    values
}
