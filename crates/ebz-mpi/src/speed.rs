//! Measured speeds of links and codecs, to decide whether compression pays off.

/// Ranks that send at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// One after the other, to or from a root.
    Root,
    /// All of them, each to its neighbour.
    Ring,
}

/// Compress only if its estimated time is below this fraction of the raw one: samples are in cache, and
/// ranks that share cores and memory take up to twice as long.
const MAX_TIME_FRACTION: f64 = 0.5;
/// Maximum number of calls for which a decision for raw data stands.
const MAX_STANDING_CALLS: u32 = 255;
/// Number of decisions after which the links are measured again; doubled each time.
const FIRST_LINK_USES: u64 = 1024;

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

/// Measurements and decisions of a communicator. All ranks have the same.
#[derive(Debug, Default)]
pub(crate) struct Speeds {
    links: Option<Links>,
    /// By route.
    standing: [Standing; 2],
}

/// Seconds per byte by route.
#[derive(Debug)]
struct Links {
    seconds: [f64; 2],
    uses_left: u64,
    uses: u64,
}

/// Decisions for raw data, which stand for a while: each in a row for twice as long.
#[derive(Debug, Default)]
struct Standing {
    /// Hash of the settings that they are for.
    settings: u64,
    calls: u32,
    left: u32,
}

impl Speeds {
    /// Seconds per byte, unless they must be measured; counts the uses.
    pub fn use_link(&mut self, route: Route) -> Option<f64> {
        let links = self.links.as_mut()?;
        links.uses_left = links.uses_left.checked_sub(1)?;
        Some(links.seconds[route as usize])
    }

    /// Seconds per byte, if they were measured.
    pub fn link(&self, route: Route) -> Option<f64> {
        self.links
            .as_ref()
            .map(|links| links.seconds[route as usize])
    }

    /// Records a measurement.
    pub fn set_links(&mut self, seconds: [f64; 2]) {
        let uses = self
            .links
            .as_ref()
            .map_or(FIRST_LINK_USES, |links| 2 * links.uses);
        self.links = Some(Links {
            seconds,
            uses_left: uses,
            uses,
        });
    }

    /// Whether an earlier decision for raw data stands for this call.
    pub fn raw_stands(&mut self, route: Route, settings: u64) -> bool {
        let standing = &mut self.standing[route as usize];
        let stands = standing.settings == settings && standing.left > 0;
        if stands {
            standing.left -= 1;
        }
        stands
    }

    /// Records a decision.
    pub fn decided(&mut self, route: Route, settings: u64, compressed: bool) {
        let standing = &mut self.standing[route as usize];
        let before = match standing.settings == settings && !compressed {
            true => standing.calls,
            false => 0,
        };
        let calls = match compressed {
            true => 0,
            false => (2 * before + 1).min(MAX_STANDING_CALLS),
        };
        *standing = Standing {
            settings,
            calls,
            left: calls,
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_for_raw_data_stand_longer_each_time() {
        let mut speeds = Speeds::default();
        let mut decisions = Vec::new();
        for call in 0..1000 {
            if !speeds.raw_stands(Route::Root, 7) {
                decisions.push(call);
                speeds.decided(Route::Root, 7, false);
            }
        }
        assert_eq!(decisions, [0, 2, 6, 14, 30, 62, 126, 254, 510, 766]);
        // Not for other settings or routes, nor after a decision to compress.
        assert!(!speeds.raw_stands(Route::Root, 8));
        assert!(!speeds.raw_stands(Route::Ring, 7));
        assert!(speeds.raw_stands(Route::Root, 7));
        speeds.decided(Route::Root, 7, true);
        assert!(!speeds.raw_stands(Route::Root, 7));
    }

    #[test]
    fn links_are_measured_again_after_many_uses() {
        let mut speeds = Speeds::default();
        assert_eq!(speeds.use_link(Route::Ring), None);
        for uses in [FIRST_LINK_USES, 2 * FIRST_LINK_USES, 4 * FIRST_LINK_USES] {
            speeds.set_links([1.0, 2.0]);
            assert!((0..uses).all(|_| speeds.use_link(Route::Ring) == Some(2.0)));
            assert_eq!(speeds.use_link(Route::Ring), None);
            assert_eq!(speeds.link(Route::Root), Some(1.0));
        }
    }
}
