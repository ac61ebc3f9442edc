//! Bit planes in portable Rust.

use super::{MAX_UNIT, MIN_DENSE_BYTES, PLANE_BYTES, Shape, UNIT};
use crate::bits::transpose8;

/// Encodes a unit; returns its shape and length.
pub(super) fn encode(unit: &[u16; UNIT], out: &mut [u8; MAX_UNIT]) -> (Shape, usize) {
    // 1. Width.
    let used = unit.iter().fold(0, |all, residual| all | residual);
    let width = (u16::BITS - used.leading_zeros()) as usize;

    // 2. Planes, and the number of dense ones.
    let planes = transpose(unit, width);
    let in_use = |plane: &[u8; PLANE_BYTES]| plane.iter().filter(|b| **b != 0).count() as u32;
    let dense = planes[..width]
        .iter()
        .rposition(|plane| in_use(plane) >= MIN_DENSE_BYTES)
        .map_or(0, |last| last + 1);
    let mut at = 0;
    for plane in &planes[..dense] {
        out[at..at + PLANE_BYTES].copy_from_slice(plane);
        at += PLANE_BYTES;
    }

    // 3. Groups of the sparse planes, then their masks and bytes.
    let groups = at;
    at += (width - dense).div_ceil(2);
    out[groups..at].fill(0);
    for (i, plane) in planes[dense..width].iter().enumerate() {
        for (group, bytes) in plane.as_chunks::<8>().0.iter().enumerate() {
            let mask = (0..8).fold(0, |mask, i| mask | u8::from(bytes[i] != 0) << i);
            if mask != 0 {
                out[groups + i / 2] |= 1 << (group + 4 * (i % 2));
                out[at] = mask;
                at += 1;
            }
        }
        for &byte in plane.iter().filter(|b| **b != 0) {
            out[at] = byte;
            at += 1;
        }
    }
    let shape = Shape {
        width: width as u8,
        dense: dense as u8,
    };
    (shape, at)
}

/// Decodes a unit of this shape; returns its length.
pub(super) fn decode(shape: Shape, bytes: &[u8; MAX_UNIT], unit: &mut [u16; UNIT]) -> usize {
    let (width, dense) = (usize::from(shape.width), usize::from(shape.dense));
    let mut planes = [[0; PLANE_BYTES]; 16];
    let mut at = 0;
    for plane in &mut planes[..dense] {
        plane.copy_from_slice(&bytes[at..at + PLANE_BYTES]);
        at += PLANE_BYTES;
    }
    let groups = at;
    at += (width - dense).div_ceil(2);
    for (i, plane) in planes[dense..width].iter_mut().enumerate() {
        let group_mask = bytes[groups + i / 2] >> (4 * (i % 2));
        let mut masks = [0u8; 4];
        for (group, mask) in masks.iter_mut().enumerate() {
            if group_mask >> group & 1 == 1 {
                *mask = bytes[at];
                at += 1;
            }
        }
        let mask = u32::from_le_bytes(masks);
        for (i, byte) in plane.iter_mut().enumerate() {
            if mask >> i & 1 == 1 {
                *byte = bytes[at];
                at += 1;
            }
        }
    }
    untranspose(&planes, width, unit);
    at
}

/// The planes of a unit; those from `width` on are left zero.
fn transpose(unit: &[u16; UNIT], width: usize) -> [[u8; PLANE_BYTES]; 16] {
    let mut planes = [[0; PLANE_BYTES]; 16];
    for (b, values) in unit.as_chunks::<8>().0.iter().enumerate() {
        for half in 0..width.div_ceil(8) {
            let bytes = values.map(|v| (v >> (8 * half)) as u8);
            let bits = transpose8(u64::from_le_bytes(bytes)).to_le_bytes();
            for (plane, byte) in planes[8 * half..].iter_mut().zip(bits) {
                plane[b] = byte;
            }
        }
    }
    planes
}

/// The unit of these planes.
fn untranspose(planes: &[[u8; PLANE_BYTES]; 16], width: usize, unit: &mut [u16; UNIT]) {
    for (b, values) in unit.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *values = [0; 8];
        for half in 0..width.div_ceil(8) {
            let mut bits = [0; 8];
            for (bits, plane) in bits.iter_mut().zip(&planes[8 * half..]) {
                *bits = plane[b];
            }
            let bytes = transpose8(u64::from_le_bytes(bits)).to_le_bytes();
            for (value, byte) in values.iter_mut().zip(bytes) {
                *value |= u16::from(byte) << (8 * half);
            }
        }
    }
}
