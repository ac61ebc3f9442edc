//! Conversion of `.npy` values in another byte or axis order.

use super::PIECE;
use crate::npy::Header;
use anyhow::{Context, Result};
use ebz::{element_count, with_type};
use std::fs::File;
use std::io::{Read, Write};

/// Writes the values of an `.npy` file as little-endian values in C order. Fortran order needs the
/// array in memory.
pub fn convert(
    input: &mut dyn Read,
    out: &mut File,
    header: &Header,
    transposed: bool,
) -> Result<()> {
    let width = header.element.size();
    let mut left = element_count(&header.shape)? * width;
    let mut whole = Vec::new();
    if transposed {
        whole.try_reserve_exact(left).with_context(|| {
            format!("an array in Fortran order must fit into memory: {left} bytes")
        })?;
    }
    let mut piece = vec![0; PIECE.min(left)];
    while left > 0 {
        let piece = &mut piece[..PIECE.min(left)];
        input
            .read_exact(piece)
            .context("the file ends before the array does")?;
        left -= piece.len();
        if header.big_endian {
            piece.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        match transposed {
            true => whole.extend_from_slice(piece),
            false => out.write_all(piece)?,
        }
    }
    if transposed {
        with_type!(header.element, T => write_transposed::<T>(&whole, &header.shape, out))?;
    }
    Ok(())
}

/// Writes an array in Fortran order in C order.
fn write_transposed<W: bytemuck::Pod>(bytes: &[u8], shape: &[usize], out: &mut File) -> Result<()> {
    let width = size_of::<W>();
    let (&last, outer) = shape.split_last().context("an array without axes")?;
    let mut strides = vec![width; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let step = strides[outer.len()];
    let mut out = std::io::BufWriter::with_capacity(PIECE, out);
    let mut row = vec![W::zeroed(); last];
    for number in 0..outer.iter().product() {
        let (mut rest, mut start) = (number, 0);
        for axis in (0..outer.len()).rev() {
            start += rest % outer[axis] * strides[axis];
            rest /= outer[axis];
        }
        for (i, value) in row.iter_mut().enumerate() {
            let at = start + i * step;
            *value = bytemuck::pod_read_unaligned(&bytes[at..at + width]);
        }
        out.write_all(bytemuck::cast_slice(&row))?;
    }
    Ok(out.flush()?)
}
