//! Temporary files, and removal of those that killed commands left.
//!
//! A temporary file is locked while its owner runs, and the system drops the lock even if the owner
//! is killed: a file that can be locked has no owner and is removed.

use crate::cleanup::{Guard, Undo};
use crate::report;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use tempfile::TempPath;

/// Suffix of all temporary files.
const SUFFIX: &str = ".part";

/// Number of random characters between prefix and suffix.
const RANDOM_CHARS: usize = 6;

/// A new file that is removed unless it is renamed. Also removes files with the same prefix that
/// killed commands left.
pub fn temporary(folder: &Path, prefix: &OsStr, quiet: bool) -> Result<(File, TempPath, Guard)> {
    const TRIES: usize = 100;
    sweep(folder, prefix, quiet);
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(prefix)
        .suffix(SUFFIX)
        .rand_bytes(RANDOM_CHARS);
    #[cfg(unix)]
    {
        // The umask decides, as for any other new file.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    for _ in 0..TRIES {
        // The reason alone: the temporary name means nothing to users.
        let created = builder.tempfile_in(folder);
        let (file, path) = created.map_err(|error| error.kind())?.into_parts();
        let guard = Guard::new(Undo::Remove(path.to_path_buf()));
        // A sweep may happen before the lock.
        match file.lock() {
            Err(error) if error.kind() != ErrorKind::Unsupported => return Err(error),
            _ if path.exists() => return Ok((file, path, guard)),
            _ => {}
        }
    }
    Err(Error::other(
        "other commands keep removing the temporary file",
    ))
}

/// Removes temporary files without an owner. Errors are ignored.
fn sweep(folder: &Path, prefix: &OsStr, quiet: bool) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !is_temporary(&name, prefix) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::open(&path) else {
            continue;
        };
        if file.try_lock().is_ok() && std::fs::remove_file(&path).is_ok() {
            let text = format!("removed {}, which a killed command left", path.display());
            report::note(quiet, &text);
        }
    }
}

fn is_temporary(name: &OsStr, prefix: &OsStr) -> bool {
    name.as_encoded_bytes()
        .strip_prefix(prefix.as_encoded_bytes())
        .and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()))
        .is_some_and(|random| {
            random.len() == RANDOM_CHARS && random.iter().all(u8::is_ascii_alphanumeric)
        })
}
