//! The header of a frame as the body of a record.

use super::bytes::{Fields, put_text};
use crate::array::{MAX_AXES, element_count};
use crate::bound::{Bound, BoundKind, Tolerance};
use crate::chunk::{FrameHeader, Grid};
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::fill::{Fill, FillValues, MAX_FILL_VALUES};

/// Where the values that mark missing data come from.
const FILL_NONE: u8 = 0;
const FILL_NAMED: u8 = 1;
const FILL_FOUND: u8 = 2;
const FILL_PER_CHUNK: u8 = 3;

impl FrameHeader {
    /// Appends the body of a frame record.
    pub(super) fn write_to(&self, out: &mut Vec<u8>) {
        let resolved = Bound::from(self.tolerance);
        out.push(self.element as u8);
        out.push(self.shape().len() as u8);
        out.extend_from_slice(&self.codec.to_le_bytes());
        out.push(self.asked.kind() as u8);
        out.push(resolved.kind() as u8);
        let fill = self.fill.values();
        out.push(match self.fill {
            Fill::None => FILL_NONE,
            Fill::Values(_) => FILL_NAMED,
            Fill::Found(_) => FILL_FOUND,
            Fill::Auto | Fill::AutoAnd(_) => FILL_PER_CHUNK,
        });
        out.push(fill.as_slice().len() as u8);
        let bounds = [self.asked.value(), resolved.value()];
        for number in bounds.iter().chain(fill.as_slice()) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for &extent in self.shape().iter().chain(self.grid.chunk()) {
            out.extend_from_slice(&(extent as u64).to_le_bytes());
        }
        // What is usual needs no serialisation.
        match self.params.is_empty() {
            true => put_text(out, "{}"),
            false => put_text(out, &json(&self.params)),
        }
        match self.metadata.is_null() {
            true => put_text(out, "null"),
            false => put_text(out, &json(&self.metadata)),
        }
        put_text(out, &self.writer);
    }

    /// Reads the body of a frame record.
    pub(super) fn read_from(body: &[u8]) -> Result<Self> {
        let mut fields = Fields::new(body, "frame header");
        let element = ElementType::from_id(fields.u8()?)?;
        let axes = usize::from(fields.u8()?);
        if axes > MAX_AXES {
            return Err(Error::corrupt(format!("frame with {axes} axes")));
        }
        let codec = fields.u16()?;
        let asked = kind(fields.u8()?)?;
        let resolved = kind(fields.u8()?)?;
        let origin = fields.u8()?;
        let fill_values = usize::from(fields.u8()?);
        let asked = Bound::new(asked, fields.f64()?).map_err(as_corrupt)?;
        let tolerance = match Bound::new(resolved, fields.f64()?).map_err(as_corrupt)? {
            Bound::Abs(e) if e > 0.0 => Tolerance::Abs(e),
            Bound::Pointwise(e) if e > 0.0 => Tolerance::Pointwise(e),
            Bound::Precision(bits) => Tolerance::Precision(bits),
            Bound::Lossless => Tolerance::Lossless,
            other => return Err(Error::corrupt(format!("{other} as a resolved bound"))),
        };
        let fill = read_fill(origin, fill_values, &mut fields)?;
        let mut sizes = |_| fields.size();
        let shape: Vec<_> = (0..axes).map(&mut sizes).collect::<Result<_>>()?;
        let chunk: Vec<_> = (0..axes).map(&mut sizes).collect::<Result<_>>()?;
        element_count(&shape).map_err(as_corrupt)?;
        let grid = Grid::new(&shape, &chunk, element.size()).map_err(as_corrupt)?;
        if grid.chunk() != chunk {
            return Err(Error::corrupt("chunks larger than their array"));
        }
        let header = Self {
            element,
            grid,
            codec,
            params: parse(fields.text()?)?,
            asked,
            tolerance,
            fill,
            metadata: parse(fields.text()?)?,
            writer: fields.text()?.to_string(),
        };
        fields.finish()?;
        Ok(header)
    }
}

/// Reads the values that mark missing data.
fn read_fill(origin: u8, count: usize, fields: &mut Fields<'_>) -> Result<Fill> {
    let unknown = || Error::corrupt("a frame header with unknown marks of missing data");
    if count > MAX_FILL_VALUES {
        return Err(unknown());
    }
    let values: Vec<f64> = (0..count).map(|_| fields.f64()).collect::<Result<_>>()?;
    let list = FillValues::new(&values).map_err(as_corrupt)?;
    match origin {
        // NaN, infinities and repetitions are not written.
        _ if list.as_slice().len() != count => Err(unknown()),
        FILL_NONE if count == 0 => Ok(Fill::None),
        FILL_NAMED => Ok(Fill::Values(list)),
        FILL_FOUND => Ok(Fill::Found(list)),
        FILL_PER_CHUNK => Fill::Auto.and(list).map_err(as_corrupt),
        _ => Err(unknown()),
    }
}

fn kind(id: u8) -> Result<BoundKind> {
    BoundKind::ALL
        .into_iter()
        .find(|k| *k as u8 == id)
        .ok_or_else(|| Error::corrupt(format!("unknown kind of bound {id}")))
}

/// JSON of something whose serialisation cannot fail: string keys and plain values only.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn parse<'a, V: serde::Deserialize<'a>>(text: &'a str) -> Result<V> {
    serde_json::from_str(text).map_err(|e| Error::corrupt(format!("frame header: {e}")))
}

/// A rule that users must keep is one that a writer has kept.
fn as_corrupt(error: Error) -> Error {
    Error::corrupt(error.to_string())
}
