//! zfp with a fixed rate, for comparison.

use ebz::{Error, Result};
use ebz_peers::{Goal, Peer, ZfpC};
use ebz_sim::rtm::FixedRate;

/// zfp's C library with this many bits per value.
#[derive(Debug)]
pub struct Zfp(pub u8);

impl Zfp {
    fn goal(&self) -> Goal {
        Goal::Rate(self.0.into())
    }
}

impl FixedRate for Zfp {
    fn words(&self, shape: [usize; 3]) -> usize {
        let blocks: usize = shape.map(|extent| extent.div_ceil(4)).iter().product();
        // A block has 64 values; streams are whole words of 64 bits.
        blocks * usize::from(self.0) * 2
    }

    fn encode(&self, values: &[f32], shape: [usize; 3], words: &mut [f32]) -> Result<()> {
        let bytes = ZfpC.compress_f32(values, &shape, self.goal());
        let room = bytemuck::cast_slice_mut::<f32, u8>(words).get_mut(..bytes.len());
        let room = room.ok_or_else(|| Error::invalid("zfp exceeded its rate"))?;
        room.copy_from_slice(&bytes);
        Ok(())
    }

    fn decode(&self, words: &[f32], shape: [usize; 3], values: &mut [f32]) -> Result<()> {
        ZfpC.decompress_f32(bytemuck::cast_slice(words), &shape, self.goal(), values);
        Ok(())
    }
}
