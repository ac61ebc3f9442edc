//! Speed of the links between ranks, measured once per communicator.

use crate::comm::{Comm, Tag};
use crate::error::Result;
use std::time::Instant;

/// Sizes of the first and the last probe message in bytes.
const MIN_PROBE_BYTES: usize = 256 << 10;
const MAX_PROBE_BYTES: usize = 8 << 20;
/// Minimum duration of a conclusive probe in seconds: past the bursts that shapers and buffers absorb.
const MIN_PROBE_SECONDS: f64 = 0.02;

impl Comm {
    /// Seconds per byte of the slowest link between neighbours; measured once, collectively.
    pub fn link(&self) -> Result<f64> {
        if let Some(link) = self.speeds.borrow().link {
            return Ok(link);
        }
        let link = self.measure_link()?;
        self.speeds.borrow_mut().link = Some(link);
        Ok(link)
    }

    fn measure_link(&self) -> Result<f64> {
        if self.size() == 1 {
            return Ok(0.0);
        }
        let next = (self.rank() + 1) % self.size();
        let previous = (self.rank() + self.size() - 1) % self.size();
        // Written once, to fault the pages in.
        let mut from = vec![1u8; MAX_PROBE_BYTES];
        let mut to = vec![1u8; MAX_PROBE_BYTES];
        let mut length = MIN_PROBE_BYTES;
        loop {
            self.barrier()?;
            let start = Instant::now();
            from.truncate(length);
            let receiving = self.ireceive(previous, Tag::Probe, &mut to[..length])?;
            let sending = self.isend(next, Tag::Probe, from)?;
            receiving.wait()?;
            from = sending.wait()?;
            let seconds = start.elapsed().as_secs_f64();
            // Non-negative floats are ordered like their bits.
            let mut slowest = [seconds.to_bits()];
            self.max(&mut slowest)?;
            let seconds = f64::from_bits(slowest[0]);
            if seconds >= MIN_PROBE_SECONDS || length == MAX_PROBE_BYTES {
                return Ok(seconds / length as f64);
            }
            length *= 2;
            from.resize(length, 1);
        }
    }
}
