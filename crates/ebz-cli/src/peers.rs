//! Other compressors on the same values, with the same bounds.

use ebz::{Element, ElementType};
use ebz_peers::{Goal, Peer};

/// The peers that support these values (none supports 16-bit ones) and a number of axes.
pub fn all<T: Element>(values: &[T], axes: usize) -> Vec<Box<dyn Peer>> {
    if T::SIZE < 4 {
        return Vec::new();
    }
    let magnitudes = values.iter().map(|value| value.to_f64().abs());
    let largest = magnitudes.fold(0.0, |largest, magnitude| match magnitude <= largest {
        true => largest,
        false if magnitude.is_finite() => magnitude,
        false => f64::INFINITY,
    });
    let mut peers = ebz_peers::all();
    peers.retain(|peer| peer.supports(axes.clamp(1, 3), largest));
    peers
}

/// A peer for arrays of one shape, with an absolute bound.
pub struct Coding<'a> {
    peer: &'a dyn Peer,
    shape: Vec<usize>,
    goal: Goal,
}

impl<'a> Coding<'a> {
    pub fn new(peer: &'a dyn Peer, shape: &[usize], bound: f64) -> Self {
        // Peers support up to three axes: merge the slow ones, as our codecs do.
        let (slow, fast) = shape.split_at(shape.len().saturating_sub(2));
        let mut shape = fast.to_vec();
        if !slow.is_empty() {
            shape.insert(0, slow.iter().product());
        }
        let goal = Goal::Abs(bound);
        Self { peer, shape, goal }
    }

    pub fn compress<T: Element>(&self, values: &[T]) -> Vec<u8> {
        let (shape, goal) = (&self.shape, self.goal);
        match T::TYPE {
            ElementType::F64 => {
                let values = bytemuck::cast_slice(values);
                self.peer.compress_f64(values, shape, goal)
            }
            _ => {
                let values = bytemuck::cast_slice(values);
                self.peer.compress_f32(values, shape, goal)
            }
        }
    }

    pub fn decompress<T: Element>(&self, coded: &[u8], out: &mut [T]) {
        let (shape, goal) = (&self.shape, self.goal);
        match T::TYPE {
            ElementType::F64 => {
                let out = bytemuck::cast_slice_mut(out);
                self.peer.decompress_f64(coded, shape, goal, out);
            }
            _ => {
                let out = bytemuck::cast_slice_mut(out);
                self.peer.decompress_f32(coded, shape, goal, out);
            }
        }
    }
}
