//! How fast links and codecs are: measured, so that nobody has to guess whether compression pays.

use crate::comm::{Comm, Tag};
use crate::error::Result;
use std::time::Instant;

/// Bytes of the first and of the last message that a link is measured with.
const FIRST_PROBE: usize = 256 << 10;
const LAST_PROBE: usize = 8 << 20;
/// A probe that takes this long is long enough: bursts that shapers and buffers swallow are behind it.
const LONG_ENOUGH: f64 = 0.02;

/// Compression must promise at least this part less time than raw data.
const MARGIN: f64 = 0.9;

/// Seconds per byte of raw data, and raw bytes per compressed byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Seconds per byte to encode.
    pub encode: f64,
    /// Seconds per byte to decode.
    pub decode: f64,
    /// Bytes before compression for one behind it.
    pub ratio: f64,
}

/// What a communicator knows.
#[derive(Debug, Default)]
pub(crate) struct Speeds {
    /// Seconds per byte between neighbours while all send.
    pub link: Option<f64>,
    /// Of each codec, the best seen so far.
    pub codecs: Vec<(String, Rates)>,
}

impl Speeds {
    /// Notes what was measured: the best speeds, and the last ratio.
    pub fn note(&mut self, codec: &str, rates: Rates) {
        match self.codecs.iter_mut().find(|(name, _)| name == codec) {
            Some((_, best)) => {
                best.encode = best.encode.min(rates.encode);
                best.decode = best.decode.min(rates.decode);
                best.ratio = rates.ratio;
            }
            None => self.codecs.push((codec.to_string(), rates)),
        }
    }

    pub fn codec(&self, codec: &str) -> Option<Rates> {
        let known = self.codecs.iter().find(|(name, _)| name == codec);
        known.map(|(_, rates)| *rates)
    }
}

/// How long an operation takes either way, by what was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Seconds with raw data.
    pub raw: f64,
    /// Seconds with compression.
    pub compressed: f64,
}

impl Estimate {
    /// Whether compression is worth it.
    pub fn pays(&self) -> bool {
        self.compressed < MARGIN * self.raw
    }
}

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
