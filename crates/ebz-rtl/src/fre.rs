//! Compares the FRE channels with the codec `fre`.

use crate::{Conditions, Flit, RoundTrip, byte_flits, check, flits};
use ebz::codec::{Params, by_name};
use ebz::engine::Context;
use ebz::internals::{Dims, Task};
use ebz::{FillValues, Tolerance};
use ebz_testkit::random::Random;

/// Bytes before the stream in a chunk with one lane.
const HEADER_BYTES: usize = 8;

/// The stream that the codec writes for the values, and its decoded values.
pub fn codec(values: &[f32], mantissa: u32) -> Result<(Vec<u8>, Vec<f32>), String> {
    let mut params = Params::default();
    params.set("rounding", "truncate");
    params.set("zeros", "word");
    params.set("lanes", "1");
    let dims = Dims {
        nz: 1,
        ny: 1,
        nx: values.len(),
    };
    let task = Task {
        dims,
        tolerance: Tolerance::Precision(mantissa),
        fill: FillValues::NONE,
        params: &params,
    };
    let codec = by_name("fre").map_err(|error| error.to_string())?;
    let mut context = Context::default();
    let mut body = Vec::new();
    let mut back = vec![0.0; values.len()];
    codec
        .encode(values, &task, &mut context, &mut body)
        .and_then(|()| codec.decode(&body, dims, &mut context, &mut back))
        .map_err(|error| format!("no stream: {error}"))?;
    Ok((body.split_off(HEADER_BYTES), back))
}

/// The uncompressed chunk: number of values, then the values.
pub fn plain(values: &[f32]) -> Vec<Flit> {
    let words: Vec<u32> = std::iter::once(values.len() as u32)
        .chain(values.iter().map(|x| x.to_bits()))
        .collect();
    flits(&words)
}

/// The compressed chunk with this stream.
pub fn compressed(values: usize, stream: &[u8]) -> Vec<Flit> {
    byte_flits(&[&(values as u32).to_le_bytes(), stream].concat())
}

/// Compresses and decompresses chunks back to back; compares streams and decoded values with those
/// of the codec.
pub fn round_trip(
    mantissa: u32,
    chunks: &[Vec<f32>],
    conditions: Conditions,
) -> Result<RoundTrip, String> {
    let mut streams = Vec::new();
    let mut decoded = Vec::new();
    for values in chunks {
        let (stream, back) = codec(values, mantissa)?;
        streams.push(compressed(values.len(), &stream));
        decoded.push(plain(&back));
    }
    let originals: Vec<_> = chunks.iter().map(|values| plain(values)).collect();
    Ok(RoundTrip {
        compress: check(
            &format!("fre_compress_{mantissa}"),
            &originals,
            &streams,
            conditions,
        )?,
        decompress: check(
            &format!("fre_decompress_{mantissa}"),
            &streams,
            &decoded,
            conditions,
        )?,
    })
}

/// A random walk with repeats, jumps, zeros, subnormals, NaN, infinities and arbitrary bit
/// patterns.
pub fn values(count: usize, random: &mut Random) -> Vec<f32> {
    let mut values = Vec::with_capacity(count);
    let mut last = 1f32;
    while values.len() < count {
        let bits = random.bits() as u32;
        match random.below(40) {
            0 => values.push(f32::from_bits(bits)),
            1 => values.push(f32::from_bits(bits & 0x807f_ffff)),
            2 => values.push(f32::from_bits(bits | 0x7f80_0000)),
            3 => values.extend([f32::INFINITY; 2]),
            4 | 5 => values.push(0.0),
            6..12 => values.extend(std::iter::repeat_n(last, bits as usize % 9)),
            12..20 => last *= 2f32.powi((bits % 25) as i32 - 12),
            20..24 => last = -last,
            _ => last *= 1.0 + (bits % 2001) as f32 / 4000.0 - 0.25,
        }
        if !last.is_normal() || last.abs() > 1e30 {
            last = 1.0;
        }
        values.push(last);
    }
    values.truncate(count);
    values
}
