//! Detects files of other formats: they are not raw values, and we do not write them.

use crate::npy;
use anyhow::{Result, bail, ensure};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes at the start of a file needed to detect its format.
pub const MAGIC_BYTES: u64 = 512;

const HDF5: &str = "write its datasets with the HDF5 filter (`ebz hdf5-args` prints its arguments, \
                    docs/guide/hdf5.md), or save one as .npy";
const NETCDF: &str = "turn it into netCDF-4 with the filter (`nccopy -4 -F`, `ebz hdf5-args --for nccopy`, \
                      docs/guide/netcdf.md), or save a variable as .npy";
const NPY: &str = "save the array in it as .npy";
const UNPACK: &str = "unpack it first";

/// The first bytes of our own files.
const EBZ: &[u8] = b"\x89EBZ\r\n\x1a\n";

/// Formats by their magic bytes, with advice.
const FORMATS: [(&[u8], &str, &str); 20] = [
    (
        EBZ,
        "an .ebz file already",
        "`ebz decompress` makes values of it",
    ),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 or netCDF-4 file", HDF5),
    (b"CDF\x01", "a netCDF file", NETCDF),
    (b"CDF\x02", "a netCDF file", NETCDF),
    (b"CDF\x05", "a netCDF file", NETCDF),
    (b"GRIB", "a GRIB file", NPY),
    (b"# vtk DataFile", "a VTK file", NPY),
    (b"<VTKFile", "a VTK file", NPY),
    (b"SIMPLE  =", "a FITS file", NPY),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file", NPY),
    (b"II*\0", "a TIFF file", NPY),
    (b"MM\0*", "a TIFF file", NPY),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture", NPY),
    (b"\xff\xd8\xff", "a JPEG picture", NPY),
    (
        b"PK\x03\x04",
        "a zip archive, such as .npz",
        "unpack it and compress the arrays in it",
    ),
    (b"PK\x05\x06", "a zip archive without files", UNPACK),
    (b"\x1f\x8b\x08", "a gzip file", UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd file", UNPACK),
    (b"\xfd7zXZ\0", "an xz file", UNPACK),
    (b"\x04\x22\x4d\x18", "an lz4 file", UNPACK),
];

/// Rejects files that are not raw values.
pub fn check_input(name: &str, start: &[u8]) -> Result<()> {
    let Some((what, advice)) = format_of(start) else {
        return Ok(());
    };
    bail!("{name} is {what}: {advice} (--raw treats it as raw values anyway)")
}

fn format_of(start: &[u8]) -> Option<(&'static str, &'static str)> {
    // A NIfTI header starts with its own length, in either byte order.
    let nifti_1 = matches!(start, [92, 1, 0, 0, ..] | [0, 0, 1, 92, ..])
        && start
            .get(344..348)
            .is_some_and(|magic| matches!(magic, b"n+1\0" | b"ni1\0"));
    let nifti_2 = start.get(4..12) == Some(b"n+2\0\r\n\x1a\n");
    let has = |text: &[u8]| start.windows(text.len()).any(|bytes| bytes == text);
    if nifti_1 || nifti_2 {
        return Some(("a NIfTI file", NPY));
    }
    if start.starts_with(b"<?xml") && has(b"<VTKFile") {
        return Some(("a VTK file", NPY));
    }
    let known = FORMATS
        .iter()
        .find(|(magic, ..)| start.starts_with(magic))?;
    Some((known.1, known.2))
}

/// Rejects files of other formats if an `.ebz` file is expected.
pub fn check_compressed(name: &str, file: &mut File) -> Result<()> {
    let mut start = Vec::new();
    file.take(MAGIC_BYTES).read_to_end(&mut start)?;
    if start.starts_with(EBZ) {
        return Ok(());
    }
    if start.starts_with(npy::MAGIC) {
        bail!("{name} is an .npy file, not an .ebz file: `ebz compress` makes one of it");
    }
    if let Some((what, _)) = format_of(&start) {
        bail!("{name} is {what}, not an .ebz file");
    }
    // With half of the magic bytes it is one that is damaged.
    let same = start.iter().zip(EBZ).filter(|(a, b)| a == b).count();
    ensure!(
        2 * same >= start.len().min(EBZ.len()),
        "{name} is not an .ebz file; if it holds raw values, `ebz compress` makes one of it"
    );
    Ok(())
}

/// Rejects folders that are arrays of another format.
pub fn check_folder(path: &Path) -> Result<()> {
    let is_zarr = path.is_dir()
        && ["zarr.json", ".zarray", ".zgroup", ".zmetadata"]
            .iter()
            .any(|name| path.join(name).exists());
    ensure!(
        !is_zarr,
        "{} is a Zarr array or group: write it with ebz as its codec (docs/guide/zarr.md), or save an \
         array as .npy",
        path.display()
    );
    Ok(())
}

/// Extensions of formats other than raw values and `.npy`.
const FOREIGN_EXTENSIONS: [&str; 36] = [
    "nc", "nc4", "cdf", "h5", "hdf5", "hdf", "he5", "grib", "grib2", "grb", "grb2", "vtk", "vti",
    "vtr", "vts", "vtu", "nii", "npz", "zip", "zarr", "fits", "fit", "fts", "tif", "tiff", "png",
    "jpg", "jpeg", "svg", "gz", "zst", "xz", "mat", "csv", "txt", "ebz",
];

/// Rejects output names with an extension of another format.
pub fn check_output(path: &Path) -> Result<()> {
    let promised = FOREIGN_EXTENSIONS
        .iter()
        .find(|end| has_extension(path, end));
    if let Some(end) = promised {
        bail!(
            "{} would not be a .{end} file: ebz writes raw values and .npy; end the name in .npy, \
             .f32, .f64, .raw, .bin or .dat with -o",
            path.display()
        );
    }
    Ok(())
}

/// Rejects picture names with an extension other than PNG or SVG.
pub fn check_picture(path: &Path) -> Result<()> {
    ensure!(
        has_extension(path, "png") || has_extension(path, "svg") || path.extension().is_none(),
        "{} does not name a PNG or SVG file: pictures are written in these formats; end the name in .png or .svg",
        path.display()
    );
    Ok(())
}

/// Whether a name has this extension, in any case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
