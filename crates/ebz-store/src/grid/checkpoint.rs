//! Checkpoints of a grid on disk: the index of a complete grid, written after all of its data has
//! reached the disk.
//!
//! Two grids alternate, each with a data file and an index file. Before a data file is overwritten,
//! its index is removed. So at any time the index with the highest step belongs to a complete grid.

use super::{Layout, State};
use ebz::{Error, Result};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Byte range of a slab in a file.
pub(super) type Place = Range<u64>;

const SIGNATURE: &[u8; 8] = b"ebzgrid1";
/// Signature, checksum, length of the description.
const HEADER_BYTES: usize = 24;

/// Description of a grid in its index.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct About {
    /// Everything that determines the results of the run.
    pub identity: String,
    pub step: u64,
    /// The frame number in its records.
    pub frame: u32,
    pub state: State,
    pub layout: Layout,
}

/// A complete grid found on disk.
pub(super) struct Found {
    pub about: About,
    pub places: Vec<Place>,
}

pub(super) fn data_path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("grid-{number}.data"))
}

fn index_path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("grid-{number}.index"))
}

/// Invalidates grid `number` before its data changes.
pub(super) fn invalidate(folder: &Path, number: usize) -> Result<()> {
    let path = index_path(folder, number);
    match fs::remove_file(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
        // It must not reappear after a power failure, when the data has changed.
        Ok(()) => ebz::sync_folder(path),
    }
}

/// Flushes the data of grid `number`, then writes and flushes its index.
pub(super) fn write(folder: &Path, number: usize, about: &About, places: &[Place]) -> Result<()> {
    File::open(data_path(folder, number))?.sync_data()?;
    let about = serde_json::to_vec(about).map_err(|e| Error::invalid(e.to_string()))?;
    let mut body = (about.len() as u64).to_le_bytes().to_vec();
    body.extend_from_slice(&about);
    for place in places {
        body.extend_from_slice(&place.start.to_le_bytes());
        body.extend_from_slice(&place.end.to_le_bytes());
    }
    let path = index_path(folder, number);
    let draft = path.with_extension("draft");
    let mut file = File::create(&draft)?;
    file.write_all(SIGNATURE)?;
    file.write_all(&xxhash_rust::xxh3::xxh3_64(&body).to_le_bytes())?;
    file.write_all(&body)?;
    file.sync_data()?;
    fs::rename(draft, &path)?;
    ebz::sync_folder(path)
}

/// The grid `number`, if it is complete.
pub(super) fn read(folder: &Path, number: usize) -> Result<Option<Found>> {
    let path = index_path(folder, number);
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    let damaged = || {
        Error::corrupt(format!(
            "'{}' is damaged: remove it to continue from the other grid",
            path.display()
        ))
    };
    let (header, rest) = bytes
        .split_first_chunk::<HEADER_BYTES>()
        .ok_or_else(damaged)?;
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[16..]);
    if header[..8] != SIGNATURE[..] || word(8) != checksum {
        return Err(damaged());
    }
    let length = usize::try_from(word(16)).map_err(|_| damaged())?;
    let (about, places) = rest.split_at_checked(length).ok_or_else(damaged)?;
    let about: About = serde_json::from_slice(about).map_err(|_| damaged())?;
    let word = |bytes: &[u8]| u64::from_le_bytes(std::array::from_fn(|i| bytes[i]));
    let places: Vec<Place> = places
        .chunks_exact(16)
        .map(|place| word(&place[..8])..word(&place[8..]))
        .collect();
    // Before memory is allocated for a place, it must be one in the file.
    let available = fs::metadata(data_path(folder, number))?.len();
    let within = |place: &Place| place.start <= place.end && place.end <= available;
    let whole = places.iter().all(within);
    if !whole || places.len() != about.layout.slabs() {
        return Err(damaged());
    }
    Ok(Some(Found { about, places }))
}
