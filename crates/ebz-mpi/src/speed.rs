//! How fast links and codecs are: measured, so that nobody has to guess whether compression pays.

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
