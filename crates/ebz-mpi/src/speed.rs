//! Measured speeds of links and codecs, to decide whether compression pays off.

/// Compress only if its estimated time is below this fraction of the raw one: samples are in cache, and
/// ranks that share cores and memory take up to twice as long.
const MAX_TIME_FRACTION: f64 = 0.5;

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

impl Rates {
    /// Whether no ratio lets compression pay off over this link.
    pub fn hopeless(&self, link: f64, ranks: usize) -> bool {
        let least = self.encode.min(self.decode);
        let most = self.encode.max(self.decode);
        // The busiest rank encodes or decodes every byte that crosses, and does both for its own part.
        least + most / ranks as f64 > MAX_TIME_FRACTION * link
    }
}

/// Measurements of a communicator.
#[derive(Debug, Default)]
pub(crate) struct Speeds {
    /// Seconds per byte by route.
    pub links: Option<[f64; 2]>,
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
