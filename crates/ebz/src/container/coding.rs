//! How the chunks of a frame are coded: by a codec, with what they have in common.

use super::constant;
use super::frame::FrameHeader;
use super::grid::dims;
use super::record::{Kind, Record};
use crate::codec::{self, Common, Context, Entry, Task};
use crate::element::Element;
use crate::error::Result;

/// A codec and what it needs besides a chunk.
#[derive(Clone)]
pub(super) struct Coding {
    pub entry: &'static Entry,
    common: Option<Common>,
}

/// A verified chunk record.
pub(super) struct Coded<'a> {
    pub record: Record,
    pub body: &'a [u8],
}

impl Coding {
    /// How the chunks of a frame were coded.
    pub fn of(header: &FrameHeader) -> Result<Self> {
        let entry = codec::by_id(header.codec)?;
        let common = match header.common.as_slice() {
            [] => None,
            bytes => Some(entry.open(bytes)?),
        };
        Ok(Self { entry, common })
    }

    /// Appends a coded chunk.
    pub fn encode<T: Element>(
        &self,
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        context.common.clone_from(&self.common);
        self.entry.encode(values, task, context, out)
    }

    /// Decodes a chunk of this shape.
    pub fn decode<T: Element>(
        &self,
        chunk: &Coded<'_>,
        shape: &[usize],
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        let entry = match chunk.record.kind {
            Kind::Constant => return constant::inverse(chunk.body, out),
            Kind::Raw => codec::by_id(codec::RAW)?,
            _ => self.entry,
        };
        context.common.clone_from(&self.common);
        entry.decode(chunk.body, dims(shape), context, out)
    }
}
