//! How fast the links between ranks are: measured once for a communicator.

use crate::comm::{Comm, Tag};
use crate::error::Result;
use std::time::Instant;

/// Bytes of the first and of the last message that a link is measured with.
const FIRST_PROBE: usize = 256 << 10;
const LAST_PROBE: usize = 8 << 20;
/// A probe that takes this long is long enough: bursts that shapers and buffers swallow are behind it.
const LONG_ENOUGH: f64 = 0.02;

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
        // Written once, so that pages are there.
        let mut from = vec![1u8; LAST_PROBE];
        let mut to = vec![1u8; LAST_PROBE];
        let mut length = FIRST_PROBE;
        loop {
            self.barrier()?;
            let start = Instant::now();
            from.truncate(length);
            let receiving = self.ireceive(previous, Tag::Probe, &mut to[..length])?;
            let sending = self.isend(next, Tag::Probe, from)?;
            receiving.wait()?;
            from = sending.wait()?;
            let seconds = start.elapsed().as_secs_f64();
            // Bits of numbers that are not negative are ordered like the numbers.
            let mut slowest = [seconds.to_bits()];
            self.max(&mut slowest)?;
            let seconds = f64::from_bits(slowest[0]);
            if seconds >= LONG_ENOUGH || length == LAST_PROBE {
                return Ok(seconds / length as f64);
            }
            length *= 2;
            from.resize(length, 1);
        }
    }
}
