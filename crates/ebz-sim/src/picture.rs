//! Fields as pictures: colour maps, and PNG files.

use ebz::{Error, Result};
use std::io::Write;

/// Corner points of a colour map.
pub type Colours = [[u8; 3]];

/// The colour map viridis: from dark to bright.
pub const VIRIDIS: [[u8; 3]; 5] = [
    [68, 1, 84],
    [59, 82, 139],
    [33, 145, 140],
    [94, 201, 98],
    [253, 231, 37],
];

/// For values of both signs: white is zero.
pub const BLUE_RED: [[u8; 3]; 3] = [[33, 102, 172], [247, 247, 247], [178, 24, 43]];

/// The colour at `place`, from 0 to 1; grey for what is no number.
pub fn along(colours: &Colours, place: f64) -> [u8; 3] {
    if place.is_nan() {
        return [128; 3];
    }
    let place = place.clamp(0.0, 1.0) * (colours.len() - 1) as f64;
    let first = (place as usize).min(colours.len() - 2);
    let part = place - first as f64;
    let mix = |a: u8, b: u8| (f64::from(a) * (1.0 - part) + f64::from(b) * part).round() as u8;
    std::array::from_fn(|i| mix(colours[first][i], colours[first + 1][i]))
}

/// Writes pixels, three bytes each, row by row, as PNG.
pub fn write_png(out: impl Write, width: usize, height: usize, pixels: &[u8]) -> Result<()> {
    let side = |side: usize| {
        u32::try_from(side).map_err(|_| Error::invalid("a picture of this size is no PNG"))
    };
    let mut encoder = png::Encoder::new(out, side(width)?, side(height)?);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(pixels));
    written.map_err(|error| match error {
        png::EncodingError::IoError(error) => Error::Io(error),
        other => Error::invalid(format!("cannot write the picture: {other}")),
    })
}

/// A plane of a field.
#[derive(Debug, Clone)]
pub struct Slice {
    /// Rows, from top to bottom.
    pub rows: usize,
    /// Columns, from left to right.
    pub columns: usize,
    /// The values, row by row.
    pub values: Vec<f64>,
}

impl Slice {
    /// A slice whose value at row and column is what `value` says.
    pub fn new(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let values = places.map(|(row, column)| value(row, column)).collect();
        Self {
            rows,
            columns,
            values,
        }
    }

    /// Draws it with the colours from `low` to `high`, every value as `zoom` × `zoom` pixels.
    pub fn draw(
        &self,
        out: impl Write,
        colours: &Colours,
        (low, high): (f64, f64),
        zoom: usize,
    ) -> Result<()> {
        let zoom = zoom.max(1);
        let mut pixels = Vec::with_capacity(self.values.len() * zoom * zoom * 3);
        for row in self.values.chunks_exact(self.columns.max(1)) {
            let line: Vec<u8> = row
                .iter()
                .map(|value| along(colours, (value - low) / (high - low)))
                .flat_map(|colour| std::iter::repeat_n(colour, zoom))
                .flatten()
                .collect();
            (0..zoom).for_each(|_| pixels.extend_from_slice(&line));
        }
        write_png(out, self.columns * zoom, self.rows * zoom, &pixels)
    }

    /// The size of value that all but this share of the values stay below.
    pub fn size_of_most(&self, beyond: f64) -> f64 {
        let mut sizes: Vec<f64> = self.values.iter().map(|value| value.abs()).collect();
        sizes.retain(|size| size.is_finite());
        sizes.sort_unstable_by(f64::total_cmp);
        let place = (sizes.len() as f64 * (1.0 - beyond)) as usize;
        sizes
            .get(place.min(sizes.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_becomes_a_picture_of_its_size_and_colours() {
        let slice = Slice::new(3, 4, |row, column| (row * 4 + column) as f64);
        let mut png = Vec::new();
        slice.draw(&mut png, &VIRIDIS, (0.0, 11.0), 2).unwrap();
        let decoder = png::Decoder::new(std::io::Cursor::new(&png));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (8, 6));
        assert_eq!(pixels[..3], VIRIDIS[0]);
        assert_eq!(pixels[pixels.len() - 3..], VIRIDIS[4]);
        assert_eq!(slice.size_of_most(0.0), 11.0);
        assert_eq!(slice.size_of_most(0.5), 6.0);
    }

    #[test]
    fn colours_lie_between_the_corners() {
        assert_eq!(along(&BLUE_RED, 0.5), BLUE_RED[1]);
        assert_eq!(along(&BLUE_RED, -1.0), BLUE_RED[0]);
        assert_eq!(along(&BLUE_RED, f64::NAN), [128; 3]);
    }
}
