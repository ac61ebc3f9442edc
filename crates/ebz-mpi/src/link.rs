//! Speed of the links between ranks, measured once per communicator and, rarely, again.

use crate::comm::{Comm, Tag};
use crate::error::Result;
use crate::speed::Route;
use std::time::Instant;

/// Sizes of the first and the last probe message in bytes.
const MIN_PROBE_BYTES: usize = 256 << 10;
const MAX_PROBE_BYTES: usize = 8 << 20;
/// Minimum duration of a conclusive probe in seconds: past the bursts that shapers and buffers absorb.
const MIN_PROBE_SECONDS: f64 = 0.02;
/// Probes of the last size; the fastest counts, because other programs can only slow them down.
const LAST_PROBES: usize = 4;

impl Comm {
    /// Measures the links between ranks, collectively; not if all are on one host. Adaptive operations between
    /// all ranks do this themselves.
    pub fn measure_links(&self) -> Result<()> {
        if !self.one_host() {
            self.link(Route::Ring)?;
        }
        Ok(())
    }

    /// Seconds per byte of the slowest link.
    pub(crate) fn link(&self, route: Route) -> Result<f64> {
        let known = self.speeds.borrow_mut().use_link(route);
        if let Some(link) = known {
            return Ok(link);
        }
        let links = [
            self.measure_link(Route::Root)?,
            self.measure_link(Route::Ring)?,
        ];
        self.speeds.borrow_mut().set_links(links);
        Ok(links[route as usize])
    }

    fn measure_link(&self, route: Route) -> Result<f64> {
        let next = (self.rank() + 1) % self.size();
        let previous = (self.rank() + self.size() - 1) % self.size();
        // From the last rank to the first: they are seldom on the same host.
        let sends = route == Route::Ring || next == 0;
        let receives = route == Route::Ring || self.rank() == 0;
        // Written once, to fault the pages in.
        let mut from = vec![1u8; MAX_PROBE_BYTES];
        let mut to = vec![1u8; MAX_PROBE_BYTES];
        let mut length = MIN_PROBE_BYTES;
        let (mut fastest, mut last_probes) = (f64::INFINITY, 0);
        while last_probes < LAST_PROBES {
            from.resize(length, 1);
            self.barrier()?;
            let start = Instant::now();
            let receiving = match receives {
                true => Some(self.ireceive(previous, Tag::Probe, &mut to[..length])?),
                false => None,
            };
            if sends {
                from = self.isend(next, Tag::Probe, from)?.wait()?;
            }
            if let Some(receiving) = receiving {
                receiving.wait()?;
            }
            let seconds = start.elapsed().as_secs_f64();
            // Non-negative floats are ordered like their bits.
            let mut slowest = [seconds.to_bits()];
            self.max(&mut slowest)?;
            let seconds = f64::from_bits(slowest[0]);
            if last_probes > 0 || seconds >= MIN_PROBE_SECONDS || length == MAX_PROBE_BYTES {
                last_probes += 1;
                fastest = fastest.min(seconds / length as f64);
            } else {
                length *= 2;
            }
        }
        Ok(fastest)
    }
}
