//! Statistics of a store.

use crate::options::Policy;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time spent on an activity, summed over threads.
#[derive(Debug, Default)]
pub struct Clock(AtomicU64);

impl Clock {
    /// Runs `work` and adds its time.
    pub fn time<R>(&self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.0
            .fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    /// The time so far.
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// Statistics shared by all threads of a store.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub write_wait: Clock,
    pub read_wait: Clock,
    pub encode: Clock,
    pub decode: Clock,
    pub write: Clock,
    pub read: Clock,
    pub stored_bytes: AtomicU64,
}

/// Statistics of a store.
///
/// Wait times are the application's: its threads were blocked in a call, waiting for a free buffer,
/// a frame, or the disk. The other times are work, of whichever thread did it; the work of servants
/// overlaps with the application.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Where frames are stored.
    pub policy: Policy,
    /// Number of stored frames.
    pub frames: usize,
    /// Their uncompressed size.
    pub raw_bytes: u64,
    /// Their stored size, with headers.
    pub stored_bytes: u64,
    /// Time that the application waited to hand over frames.
    pub write_wait: Duration,
    /// Time that the application waited for frames.
    pub read_wait: Duration,
    /// Time spent compressing, summed over threads.
    pub encode: Duration,
    /// Time spent decompressing, summed over threads.
    pub decode: Duration,
    /// Time spent writing encoded frames to storage.
    pub write: Duration,
    /// Time spent reading encoded frames.
    pub read: Duration,
    /// From the creation of the store until the last frame was stored.
    pub writing_pass: Duration,
    /// Whether the file used direct I/O.
    pub direct: bool,
    /// The rate limit of the disk, in bytes per second.
    pub disk_rate: Option<f64>,
}

impl Report {
    /// Uncompressed size / stored size.
    pub fn ratio(&self) -> f64 {
        self.raw_bytes as f64 / (self.stored_bytes as f64).max(1.0)
    }

    /// Rate at which the application produced frames, without its wait times: what a disk would
    /// need to sustain without compression.
    pub fn raw_rate(&self) -> f64 {
        let making = self.writing_pass.saturating_sub(self.write_wait);
        self.raw_bytes as f64 / making.as_secs_f64().max(1e-9)
    }

    /// Rate at which encoded frames were written, in bytes per second.
    pub fn write_rate(&self) -> f64 {
        self.stored_bytes as f64 / self.write.as_secs_f64().max(1e-9)
    }

    /// Whether a disk of this many bytes per second would be too slow for uncompressed frames, so
    /// that compression saves time. On a faster disk it only saves space.
    pub fn saves_time(&self, disk_bytes_per_second: f64) -> bool {
        self.raw_rate() > disk_bytes_per_second
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |time: Duration| time.as_secs_f64();
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        writeln!(f, "policy            {}", self.policy)?;
        let (raw, stored) = (gigabytes(self.raw_bytes), gigabytes(self.stored_bytes));
        let (frames, ratio) = (self.frames, self.ratio());
        writeln!(f, "frames            {frames}")?;
        writeln!(
            f,
            "bytes             {raw:.3} GB raw, {stored:.3} GB stored, ratio {ratio:.2}"
        )?;
        let (write, read) = (seconds(self.write_wait), seconds(self.read_wait));
        writeln!(
            f,
            "application waits {write:.3} s writing, {read:.3} s reading"
        )?;
        let (encode, decode) = (seconds(self.encode), seconds(self.decode));
        writeln!(
            f,
            "coding            {encode:.3} s compressing, {decode:.3} s decompressing"
        )?;
        let (write, read) = (seconds(self.write), seconds(self.read));
        writeln!(
            f,
            "moving            {write:.3} s writing, {read:.3} s reading"
        )?;
        if self.policy.needs_file() && self.frames > 0 {
            let how = if self.direct {
                "direct I/O"
            } else {
                "page cache"
            };
            let rate = self.write_rate() / 1e9;
            write!(f, "disk              {rate:.2} GB/s written, {how}")?;
            match self.disk_rate {
                Some(limit) => writeln!(f, ", limited to {:.2} GB/s", limit / 1e9)?,
                None => writeln!(f)?,
            }
            let disk = self
                .disk_rate
                .unwrap_or(f64::INFINITY)
                .min(self.write_rate());
            let what = match self.saves_time(disk) {
                true => "faster than the disk could write them, so compression saves time",
                false => "slower than the disk could write them, so compression only saves space",
            };
            let made = self.raw_rate() / 1e9;
            writeln!(
                f,
                "balance           frames produced at {made:.2} GB/s: {what}"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One gigabyte in four seconds, of which the application waited for two.
    fn report() -> Report {
        Report {
            policy: Policy::Disk,
            frames: 10,
            raw_bytes: 1_000_000_000,
            stored_bytes: 500_000_000,
            write_wait: Duration::from_secs(2),
            read_wait: Duration::ZERO,
            encode: Duration::ZERO,
            decode: Duration::ZERO,
            write: Duration::from_secs(2),
            read: Duration::ZERO,
            writing_pass: Duration::from_secs(4),
            direct: true,
            disk_rate: None,
        }
    }

    #[test]
    fn compression_saves_time_on_disks_slower_than_the_frame_rate() {
        let report = report();
        assert_eq!(report.ratio(), 2.0);
        assert_eq!(report.raw_rate(), 5e8);
        assert!(report.saves_time(4.9e8));
        assert!(!report.saves_time(5.1e8));
    }

    #[test]
    fn the_text_uses_the_slower_of_limit_and_disk() {
        // The file was written at 0.25 GB/s.
        assert!(report().to_string().contains("saves time"));
        let faster = Report {
            write: Duration::from_millis(500),
            ..report()
        };
        assert!(faster.to_string().contains("only saves space"));
        let limited = Report {
            disk_rate: Some(1e8),
            ..faster
        };
        assert!(limited.to_string().contains("saves time"));
    }
}
