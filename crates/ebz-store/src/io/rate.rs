//! A limit on the bytes per second, shared by all reads and writes.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Simulates a slower disk.
///
/// Requests queue as at a device of this rate: each takes at least its size divided by the rate,
/// one after the other.
#[derive(Debug, Default)]
pub struct Rate {
    limit: Option<Limit>,
}

#[derive(Debug)]
struct Limit {
    seconds_per_byte: f64,
    /// When all requests so far are finished.
    free: Mutex<Option<Instant>>,
}

impl Rate {
    /// No limit.
    pub const UNLIMITED: Self = Self { limit: None };

    /// At most this many bytes per second; anything but a positive number means no limit.
    pub fn new(bytes_per_second: Option<f64>) -> Self {
        let positive = bytes_per_second.filter(|&rate| rate > 0.0 && rate.is_finite());
        Self {
            limit: positive.map(|rate| Limit {
                seconds_per_byte: 1.0 / rate,
                free: Mutex::new(None),
            }),
        }
    }

    /// Bytes per second, if there is a limit.
    pub fn bytes_per_second(&self) -> Option<f64> {
        self.limit.as_ref().map(|l| 1.0 / l.seconds_per_byte)
    }

    /// Runs a request of this size, and returns when the simulated disk would have finished it.
    pub fn pace<R>(&self, bytes: usize, request: impl FnOnce() -> R) -> R {
        let Some(limit) = &self.limit else {
            return request();
        };
        let end = limit.reserve(bytes, Instant::now());
        let result = request();
        std::thread::sleep(end.saturating_duration_since(Instant::now()));
        result
    }
}

impl Limit {
    /// When a request that starts now is finished.
    fn reserve(&self, bytes: usize, now: Instant) -> Instant {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let start = free.map_or(now, |free| free.max(now));
        // Cap at a year for rates too low to represent the end time.
        let seconds = (bytes as f64 * self.seconds_per_byte).min(3.2e7);
        let end = start + Duration::from_secs_f64(seconds);
        *free = Some(end);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_queued() {
        let rate = Rate::new(Some(1000.0));
        let limit = rate.limit.as_ref().expect("a limit was asked for");
        let now = Instant::now();
        let seconds = |end: Instant| end.duration_since(now).as_secs_f64();
        assert!((seconds(limit.reserve(500, now)) - 0.5).abs() < 1e-6);
        assert!((seconds(limit.reserve(1000, now)) - 1.5).abs() < 1e-6);
        // Idle time is not saved up.
        let later = now + Duration::from_secs(10);
        assert!((seconds(limit.reserve(1000, later)) - 11.0).abs() < 1e-6);
    }

    #[test]
    fn a_limited_request_takes_at_least_its_time() {
        let rate = Rate::new(Some(1e6));
        let start = Instant::now();
        for _ in 0..4 {
            rate.pace(10_000, || ());
        }
        assert!(start.elapsed() >= Duration::from_millis(39));
    }

    #[test]
    fn invalid_rates_mean_no_limit() {
        for rate in [
            None,
            Some(0.0),
            Some(-1.0),
            Some(f64::NAN),
            Some(f64::INFINITY),
        ] {
            assert_eq!(Rate::new(rate).bytes_per_second(), None);
        }
    }
}
