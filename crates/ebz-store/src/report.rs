//! What a store counts, and what it says about it.

use crate::options::Policy;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time that threads spent on something, summed over threads.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    pub fn time<R>(&self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.0
            .fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// The clocks and sums that all threads of a store share.
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

/// What a store did.
///
/// Waits are the application's: the time that its threads spent blocked in calls of the store,
/// for a free buffer, a frame that is not there yet, or the disk. The other times are work, of
/// whichever thread did it, and overlap with the application where servants did it.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Where frames live.
    pub policy: Policy,
    /// Frames stored.
    pub frames: usize,
    /// Their bytes as values.
    pub raw_bytes: u64,
    /// Their bytes as stored, with headers.
    pub stored_bytes: u64,
    /// Time that the application waited to hand frames over.
    pub write_wait: Duration,
    /// Time that the application waited for frames.
    pub read_wait: Duration,
    /// Time spent compressing, summed over threads.
    pub encode: Duration,
    /// Time spent decompressing, summed over threads.
    pub decode: Duration,
    /// Time spent moving coded frames to where they live.
    pub write: Duration,
    /// Time spent reading coded frames.
    pub read: Duration,
    /// From the creation of the store until its last frame was stored.
    pub writing_pass: Duration,
    /// Whether the file was written and read past the page cache.
    pub direct: bool,
    /// The limit on the rate of the disk, in bytes per second.
    pub disk_rate: Option<f64>,
}

impl Report {
    /// Raw bytes per stored byte.
    pub fn ratio(&self) -> f64 {
        self.raw_bytes as f64 / (self.stored_bytes as f64).max(1.0)
    }

    /// Bytes of frames that the application made per second of the writing pass.
    pub fn raw_rate(&self) -> f64 {
        self.raw_bytes as f64 / self.writing_pass.as_secs_f64().max(1e-9)
    }

    /// Bytes per second that coded frames were written with.
    pub fn write_rate(&self) -> f64 {
        self.stored_bytes as f64 / self.write.as_secs_f64().max(1e-9)
    }

    /// Whether a disk of this many bytes per second could not take the frames as they are, so that
    /// compression buys time. On a faster disk, it buys capacity only. The rate at which frames
    /// were made is that of this run: where it waited for the disk, it is an underestimate.
    pub fn buys_time(&self, disk_bytes_per_second: f64) -> bool {
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
            let how = if self.direct { "past" } else { "through" };
            let rate = self.write_rate() / 1e9;
            write!(
                f,
                "disk              {rate:.2} GB/s written {how} the page cache"
            )?;
            match self.disk_rate {
                Some(limit) => writeln!(f, ", limited to {:.2} GB/s", limit / 1e9)?,
                None => writeln!(f)?,
            }
            let disk = self
                .disk_rate
                .unwrap_or(f64::INFINITY)
                .min(self.write_rate());
            let what = match self.buys_time(disk) {
                true => "faster than the disk takes them raw, so compression buys time",
                false => "slower than the disk takes them raw, so compression buys capacity only",
            };
            let made = self.raw_rate() / 1e9;
            writeln!(f, "balance           frames made at {made:.2} GB/s: {what}")?;
        }
        Ok(())
    }
}
