//! Pieces of an array as messages of a codec.

use super::parts::Parts;
use crate::error::Result;
use crate::message::{self, Kind, Message};
use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Element, Options, Tolerance, View};

/// Encodes and decodes pieces.
pub(super) struct PieceCoder<'a> {
    parts: &'a Parts,
    tolerance: Tolerance,
    options: Options,
    /// The plan of the last piece: most have the same shape.
    plan: Option<FramePlan>,
    coder: SlabCoder,
    encoded: EncodedSlab,
}

impl<'a> PieceCoder<'a> {
    pub fn new(parts: &'a Parts, tolerance: Tolerance, options: Options) -> Self {
        Self {
            parts,
            tolerance,
            coder: SlabCoder::new(options.simd),
            options,
            plan: None,
            encoded: EncodedSlab::default(),
        }
    }

    fn plan<T: Element>(&mut self, piece: usize) -> Result<FramePlan> {
        let shape = self.parts.shape(piece);
        if let Some(plan) = self.plan.take()
            && plan.header().shape() == shape
        {
            return Ok(plan);
        }
        // One chunk.
        self.options.chunk = Some(shape.clone());
        Ok(FramePlan::new::<T>(&shape, self.tolerance, &self.options)?)
    }

    /// Makes the message of a piece with these values; of an error too, so that the receiver does not wait.
    pub fn encode<T: Element>(
        &mut self,
        piece: usize,
        values: &[T],
        message: &mut Vec<u8>,
    ) -> Result<()> {
        let encoded = self.plan::<T>(piece).and_then(|plan| {
            let view = View::new(values, plan.header().shape())?;
            self.coder.encode(&plan, 0, 0, &view, &mut self.encoded)?;
            self.plan = Some(plan);
            Ok(())
        });
        match &encoded {
            Ok(()) => {
                message::begin(Kind::Slab, 0, piece, 0.0, message);
                message.extend_from_slice(self.encoded.bytes());
                message::seal(message);
            }
            Err(error) => {
                let text = error.to_string();
                *message = message::whole(Kind::Failure, 0, piece, text.as_bytes());
            }
        }
        encoded
    }

    /// Decodes the message of a piece.
    pub fn decode<T: Element>(
        &mut self,
        piece: usize,
        message: &[u8],
        out: &mut [T],
    ) -> Result<()> {
        let records = Message::read(message)?.expect(Kind::Slab, 0, piece)?;
        let plan = self.plan::<T>(piece)?;
        self.coder.decode(&plan, 0, 0, records, out)?;
        self.plan = Some(plan);
        Ok(())
    }
}
