//! Serialization of the frame header, the body of a frame record.

use super::bytes::Fields;
use crate::array::{MAX_AXES, PerAxis, element_count};
use crate::bits::varint;
use crate::bound::{Bound, BoundKind, Tolerance};
use crate::chunk::{FrameHeader, Grid, WriterVersion};
use crate::clip::ValueLimits;
use crate::codec::Params;
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::fill::{Fill, FillValues, MAX_FILL_VALUES};

/// Flags: which optional fields a frame header has.
const HAS_CHUNK: u8 = 1;
const HAS_ASKED: u8 = 1 << 1;
const HAS_FILL: u8 = 1 << 2;
const HAS_PARAMS: u8 = 1 << 3;
const HAS_METADATA: u8 = 1 << 4;
const HAS_CLIP: u8 = 1 << 5;
const KEEPS_ZEROS: u8 = 1 << 6;
const ALL_FLAGS: u8 =
    HAS_CHUNK | HAS_ASKED | HAS_FILL | HAS_PARAMS | HAS_METADATA | HAS_CLIP | KEEPS_ZEROS;

/// Origin of the fill values; without [`HAS_FILL`], each chunk detects its own.
const FILL_NONE: u8 = 0;
const FILL_GIVEN: u8 = 1;
const FILL_FOUND: u8 = 2;
const FILL_PER_CHUNK: u8 = 3;

impl FrameHeader {
    /// Appends the body of a frame record.
    pub(super) fn write_to(&self, out: &mut Vec<u8>) {
        let resolved = Bound::from(self.tolerance);
        let asked = self.asked.value();
        let flag = |has: bool, flag: u8| if has { flag } else { 0 };
        let flags = flag(*self.grid.chunk() != *whole(self.shape()), HAS_CHUNK)
            | flag(asked.to_bits() != resolved.value().to_bits(), HAS_ASKED)
            | flag(self.fill != Fill::Auto, HAS_FILL)
            | flag(!self.params.is_empty(), HAS_PARAMS)
            | flag(!self.metadata.is_null(), HAS_METADATA)
            | flag(self.clip.is_some(), HAS_CLIP)
            | flag(self.keep_zeros, KEEPS_ZEROS);
        out.push(flags);
        out.push(self.element as u8);
        varint::write(self.codec.into(), out);
        out.push(self.asked.kind() as u8 | (resolved.kind() as u8) << 4);
        out.extend_from_slice(&resolved.value().to_le_bytes());
        if flags & HAS_ASKED != 0 {
            out.extend_from_slice(&asked.to_le_bytes());
        }
        out.push(self.shape().len() as u8);
        for &extent in self.shape() {
            varint::write(extent as u64, out);
        }
        if flags & HAS_CHUNK != 0 {
            for &extent in self.grid.chunk() {
                varint::write(extent as u64, out);
            }
        }
        if flags & HAS_FILL != 0 {
            write_fill(&self.fill, out);
        }
        if let Some(limits) = &self.clip {
            out.extend_from_slice(&limits.min.to_le_bytes());
            out.extend_from_slice(&limits.max.to_le_bytes());
        }
        if flags & HAS_PARAMS != 0 {
            varint::write_block(json(&self.params).as_bytes(), out);
        }
        if flags & HAS_METADATA != 0 {
            varint::write_block(json(&self.metadata).as_bytes(), out);
        }
        for number in self.writer.0 {
            varint::write(number.into(), out);
        }
    }

    /// Parses the body of a frame record.
    pub(super) fn read_from(body: &[u8]) -> Result<Self> {
        let mut fields = Fields::new(body, "frame header");
        let flags = fields.u8()?;
        if flags & !ALL_FLAGS != 0 {
            return Err(Error::corrupt("frame header with unknown flags"));
        }
        let has = |flag| flags & flag != 0;
        let element = ElementType::from_id(fields.u8()?)?;
        let codec = u16::try_from(fields.number()?)
            .map_err(|_| Error::corrupt("frame header with an invalid codec id"))?;
        let kinds = fields.u8()?;
        let number = fields.f64()?;
        let tolerance = match Bound::new(kind(kinds >> 4)?, number).map_err(as_corrupt)? {
            Bound::Abs(e) if e > 0.0 => Tolerance::Abs(e),
            Bound::Pointwise(e) if e > 0.0 => Tolerance::Pointwise(e),
            Bound::Precision(bits) => Tolerance::Precision(bits),
            Bound::Lossless => Tolerance::Lossless,
            other => return Err(Error::corrupt(format!("{other} as a resolved bound"))),
        };
        let asked = match has(HAS_ASKED) {
            true => fields.f64()?,
            false => number,
        };
        let asked = Bound::new(kind(kinds & 15)?, asked).map_err(as_corrupt)?;
        let axes = usize::from(fields.u8()?);
        if axes > MAX_AXES {
            return Err(Error::corrupt(format!("frame with {axes} axes")));
        }
        let mut sizes = || {
            (0..axes)
                .map(|_| fields.size())
                .collect::<Result<PerAxis<_>>>()
        };
        let shape = sizes()?;
        // No 64-bit machine has arrays that it cannot address; others may read a file of one.
        element_count(&shape).map_err(|error| match usize::BITS {
            64 => as_corrupt(error),
            _ => Error::LimitExceeded(error.to_string()),
        })?;
        let chunk = match has(HAS_CHUNK) {
            true => sizes()?,
            false => whole(&shape),
        };
        let grid = Grid::new(&shape, &chunk, element.size()).map_err(as_corrupt)?;
        if *grid.chunk() != *chunk || has(HAS_CHUNK) != (chunk != whole(&shape)) {
            return Err(Error::corrupt("frame header with invalid chunk extents"));
        }
        let header = Self {
            element,
            grid,
            codec,
            asked,
            tolerance,
            fill: match has(HAS_FILL) {
                true => read_fill(&mut fields)?,
                false => Fill::Auto,
            },
            clip: match has(HAS_CLIP) {
                true => Some(read_limits(&mut fields, tolerance)?),
                false => None,
            },
            keep_zeros: has(KEEPS_ZEROS),
            params: match has(HAS_PARAMS) {
                true => parse(fields.text()?)?,
                false => Params::default(),
            },
            metadata: match has(HAS_METADATA) {
                true => parse(fields.text()?)?,
                false => serde_json::Value::Null,
            },
            writer: WriterVersion([fields.number32()?, fields.number32()?, fields.number32()?]),
        };
        fields.finish()?;
        Ok(header)
    }
}

/// Appends the fill values: origin and count in one byte, then the values.
fn write_fill(fill: &Fill, out: &mut Vec<u8>) {
    let origin = match fill {
        Fill::None => FILL_NONE,
        Fill::Values(_) => FILL_GIVEN,
        Fill::Found(_) => FILL_FOUND,
        Fill::Auto | Fill::AutoAnd(_) => FILL_PER_CHUNK,
    };
    let values = fill.values();
    out.push(origin | (values.as_slice().len() as u8) << 4);
    for value in values.as_slice() {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// Parses the fill values.
fn read_fill(fields: &mut Fields<'_>) -> Result<Fill> {
    let unknown = || Error::corrupt("frame header with invalid fill values");
    let byte = fields.u8()?;
    let (origin, count) = (byte & 15, usize::from(byte >> 4));
    if count > MAX_FILL_VALUES {
        return Err(unknown());
    }
    let values: Vec<f64> = (0..count).map(|_| fields.f64()).collect::<Result<_>>()?;
    let list = FillValues::new(&values).map_err(as_corrupt)?;
    match origin {
        // Writers omit NaN, infinities and duplicates.
        _ if list.as_slice().len() != count => Err(unknown()),
        FILL_NONE if count == 0 => Ok(Fill::None),
        FILL_GIVEN => Ok(Fill::Values(list)),
        FILL_FOUND => Ok(Fill::Found(list)),
        FILL_PER_CHUNK if count > 0 => Ok(Fill::AutoAnd(list)),
        _ => Err(unknown()),
    }
}

/// Parses the limits, which only lossy tolerances have.
fn read_limits(fields: &mut Fields<'_>, tolerance: Tolerance) -> Result<ValueLimits> {
    let limits = ValueLimits {
        min: fields.f64()?,
        max: fields.f64()?,
    };
    match (limits.is_valid(), tolerance) {
        (true, Tolerance::Abs(_) | Tolerance::Pointwise(_)) => Ok(limits),
        _ => Err(Error::corrupt("frame header with invalid limits")),
    }
}

/// Chunk extents of an array that is a single chunk.
fn whole(shape: &[usize]) -> PerAxis<usize> {
    shape.iter().map(|&extent| extent.max(1)).collect()
}

fn kind(id: u8) -> Result<BoundKind> {
    BoundKind::ALL
        .into_iter()
        .find(|k| *k as u8 == id)
        .ok_or_else(|| Error::corrupt(format!("unknown bound kind {id}")))
}

/// JSON of a value that always serializes: string keys and plain values only.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn parse<'a, V: serde::Deserialize<'a>>(text: &'a str) -> Result<V> {
    serde_json::from_str(text).map_err(|e| Error::corrupt(format!("frame header: {e}")))
}

/// Readers enforce what writers guarantee.
fn as_corrupt(error: Error) -> Error {
    Error::corrupt(error.to_string())
}
