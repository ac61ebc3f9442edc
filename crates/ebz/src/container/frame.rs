//! The header of a frame as the body of a record.

use super::bytes::{Fields, put_text};
use crate::array::{MAX_AXES, element_count};
use crate::bound::{Bound, BoundKind, Tolerance};
use crate::chunk::{FrameHeader, Grid};
use crate::element::ElementType;
use crate::error::{Error, Result};

impl FrameHeader {
    /// Appends the body of a frame record.
    pub(super) fn write_to(&self, out: &mut Vec<u8>) {
        let resolved = Bound::from(self.tolerance);
        out.push(self.element as u8);
        out.push(self.shape().len() as u8);
        out.extend_from_slice(&self.codec.to_le_bytes());
        out.push(self.asked.kind() as u8);
        out.push(resolved.kind() as u8);
        out.push(u8::from(self.fill.is_some()));
        out.push(0);
        for number in [
            self.asked.value(),
            resolved.value(),
            self.fill.unwrap_or(0.0),
        ] {
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
        let has_fill = fields.u8()?;
        if has_fill > 1 || fields.u8()? != 0 {
            return Err(Error::corrupt("frame header with unknown flags"));
        }
        let asked = Bound::new(asked, fields.f64()?).map_err(as_corrupt)?;
        let tolerance = match Bound::new(resolved, fields.f64()?).map_err(as_corrupt)? {
            Bound::Abs(e) if e > 0.0 => Tolerance::Abs(e),
            Bound::Pointwise(e) if e > 0.0 => Tolerance::Pointwise(e),
            Bound::Precision(bits) => Tolerance::Precision(bits),
            Bound::Lossless => Tolerance::Lossless,
            other => return Err(Error::corrupt(format!("{other} as a resolved bound"))),
        };
        let fill = fields.f64()?;
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
            fill: (has_fill == 1).then_some(fill),
            metadata: parse(fields.text()?)?,
            writer: fields.text()?.to_string(),
        };
        fields.finish()?;
        Ok(header)
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
