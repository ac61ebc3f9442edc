//! Flushing files to stable storage, so that they survive a power failure.

use crate::error::Result;
use std::fs::File;
use std::path::Path;

/// Flushes a file and its directory entry to stable storage, for example after
/// [`Writer::finish`](crate::Writer::finish).
pub fn sync_file(path: impl AsRef<Path>) -> Result<()> {
    File::open(&path)?.sync_all()?;
    sync_folder(path)
}

/// Flushes the directory entry of this file, for example after a rename. Does nothing on systems
/// where directories cannot be opened.
pub fn sync_folder(path: impl AsRef<Path>) -> Result<()> {
    let folder = match path.as_ref().parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_existing_files_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(sync_file(&path).is_err());
        std::fs::write(&path, b"a").unwrap();
        sync_file(&path).unwrap();
        // The file itself may be gone.
        std::fs::remove_file(&path).unwrap();
        sync_folder(&path).unwrap();
        sync_folder("a").unwrap();
        assert!(cfg!(not(unix)) || sync_folder(path.join("b")).is_err());
    }
}
