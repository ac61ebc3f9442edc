//! Measured speeds of links and codecs, to decide whether compression pays off.

/// Compress only if its estimated time is below this fraction of the raw one.
const MAX_TIME_FRACTION: f64 = 0.9;

/// Seconds per byte of raw data, and raw bytes per compressed byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Seconds per byte to encode.
    pub encode: f64,
    /// Seconds per byte to decode.
    pub decode: f64,
    /// Compression ratio.
    pub ratio: f64,
}

/// Measurements of a communicator.
#[derive(Debug, Default)]
pub(crate) struct Speeds {
    /// Seconds per byte between neighbours while all send.
    pub link: Option<f64>,
    /// The best of each codec so far.
    pub codecs: Vec<(String, Rates)>,
}

impl Speeds {
    /// Records a measurement: the best speeds, and the last ratio.
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

/// Estimated times of an operation both ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Seconds with raw data.
    pub raw: f64,
    /// Seconds with compression.
    pub compressed: f64,
}

impl Estimate {
    /// Whether compression pays off.
    pub fn pays(&self) -> bool {
        self.compressed < MAX_TIME_FRACTION * self.raw
    }
}
