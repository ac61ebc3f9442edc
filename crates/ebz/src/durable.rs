//! Files that outlive a power failure: everything on the disk, not only with the system.

use crate::error::Result;
use std::fs::File;
use std::path::Path;

/// Waits until a file and its name are on the disk, for example behind
/// [`Writer::finish`](crate::Writer::finish).
pub fn sync_file(path: impl AsRef<Path>) -> Result<()> {
    File::open(&path)?.sync_all()?;
    sync_folder(path)
}

/// Waits until the names in the folder of this file are on the disk, for example behind a rename.
/// Systems whose folders cannot be opened keep their names themselves.
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
    fn files_and_folders_that_are_there_are_flushed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(sync_file(&path).is_err());
        std::fs::write(&path, b"a").unwrap();
        sync_file(&path).unwrap();
        // The name itself need not be there any more.
        std::fs::remove_file(&path).unwrap();
        sync_folder(&path).unwrap();
        sync_folder("a").unwrap();
        assert!(cfg!(not(unix)) || sync_folder(path.join("b")).is_err());
    }
}
