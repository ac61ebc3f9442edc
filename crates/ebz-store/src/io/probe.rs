//! Measures the speed of a disk, for reports.

use super::file::DirectFile;
use super::memory::AlignedBuffer;
use super::memory::MAX_REQUEST_BYTES;
use ebz::{Error, Result};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Bytes per second of a disk with large requests from one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiskSpeed {
    /// Overwriting existing blocks.
    pub write: f64,
    /// Reading.
    pub read: f64,
    /// Whether this used direct I/O; otherwise it is the speed of memory.
    pub direct: bool,
}

impl fmt::Display for DiskSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.direct {
            "direct"
        } else {
            "through the page cache"
        };
        let (write, read) = (self.write / 1e9, self.read / 1e9);
        write!(f, "writes {write:.2} GB/s, reads {read:.2} GB/s, {how}")
    }
}

/// Measures the disk of a folder with a temporary file of this size (256 MiB is enough).
pub fn probe(folder: impl AsRef<Path>, bytes: usize) -> Result<DiskSpeed> {
    let path = folder
        .as_ref()
        .join(format!(".ebz-probe-{}", std::process::id()));
    if path.exists() {
        return Err(Error::invalid(format!(
            "'{}' exists already: remove it to measure the disk",
            path.display()
        )));
    }
    let file = DirectFile::create(&path, true, Arc::default())?;
    // Unlinked at once, so that the file disappears however this process ends; some systems keep
    // the name until the file is closed.
    let unnamed = std::fs::remove_file(&path);
    let speed = measure(file, bytes);
    if unnamed.is_err() {
        // Cleanup errors do not affect the measurement.
        let _ = std::fs::remove_file(&path);
    }
    speed
}

fn measure(file: DirectFile, bytes: usize) -> Result<DiskSpeed> {
    let mut buffer = AlignedBuffer::new(MAX_REQUEST_BYTES)?;
    // Not zeros, which some disks do not write.
    for (i, byte) in buffer.iter_mut().enumerate() {
        *byte = (i.wrapping_mul(0x9E37_79B9) >> 11) as u8;
    }
    let requests = bytes.div_ceil(MAX_REQUEST_BYTES).max(1) as u64;
    let place = |request: u64| request * MAX_REQUEST_BYTES as u64;
    let rate = |start: Instant| place(requests) as f64 / start.elapsed().as_secs_f64();
    for request in 0..requests {
        file.write_blocks(place(request), &buffer, MAX_REQUEST_BYTES)?;
    }
    let start = Instant::now();
    for request in 0..requests {
        file.write_blocks(place(request), &buffer, MAX_REQUEST_BYTES)?;
    }
    let write = rate(start);
    let start = Instant::now();
    for request in 0..requests {
        file.read(place(request)..place(request + 1), &mut buffer)?;
    }
    let (read, direct) = (rate(start), file.is_direct());
    Ok(DiskSpeed {
        write,
        read,
        direct,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_probe_that_is_killed_leaves_nothing() -> Result<()> {
        let folder = tempfile::tempdir()?;
        std::thread::scope(|scope| {
            let running = scope.spawn(|| probe(folder.path(), 64 << 20));
            // The name exists only for a moment.
            let (mut seen, mut looks) = (0, 0);
            while !running.is_finished() {
                looks += 1;
                seen += std::fs::read_dir(folder.path())?.count();
            }
            assert!(looks > 10 && seen * 10 < looks, "{seen} of {looks}");
            let speed = running.join().expect("the probe does not panic");
            speed.map(drop)
        })
    }

    #[test]
    fn a_probe_measures_and_leaves_nothing() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let speed = probe(folder.path(), 1)?;
        assert!(speed.write > 0.0 && speed.read > 0.0);
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
        assert!(probe(folder.path().join("missing"), 1).is_err());
        Ok(())
    }
}
