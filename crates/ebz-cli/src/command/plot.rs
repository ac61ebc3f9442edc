//! A picture of the middle slices: original, decoded, error.

use crate::report;
use anyhow::{Result, ensure};
use ebz::Element;
use ebz_sim::picture::{BLUE_RED, VIRIDIS, along, write_png};
use std::io::Write;

/// The longest side of a panel, in samples and in pixels.
const SIDE: usize = 512;

/// Pixels between panels.
const GAP: usize = 8;

/// Samples of the slices, taken as the arrays pass by.
pub struct Plot {
    panels: Vec<Panel>,
    /// Place in the array, panel and pixel of every sample, in the order of the array.
    wanted: Vec<(usize, usize, usize)>,
    taken: usize,
    position: usize,
}

/// A slice, at most [`SIDE`] pixels wide and high.
struct Panel {
    rows: usize,
    columns: usize,
    pixels: Vec<(f64, f64)>,
}

impl Plot {
    /// The middle slice across each axis of the last three; of two axes, the array itself.
    pub fn new(shape: &[usize]) -> Result<Self> {
        ensure!(
            shape.len() >= 2 && !shape.contains(&0),
            "an array of shape {} has no slices to plot: leave out --plot",
            report::shape(shape)
        );
        let [.., ny, nx] = *shape else {
            unreachable!("checked above")
        };
        let nz = match shape {
            [.., nz, _, _] => *nz,
            _ => 1,
        };
        let slower: usize = shape[..shape.len().saturating_sub(3)].iter().product();
        let base = slower / 2 * nz * ny * nx;
        let (sz, sy) = (ny * nx, nx);
        // Offset, and rows and columns with their strides.
        let mut slices = vec![(nz / 2 * sz, (ny, sy), (nx, 1))];
        if nz > 1 {
            slices.push((ny / 2 * sy, (nz, sz), (nx, 1)));
            slices.push((nx / 2, (nz, sz), (ny, sy)));
        }
        let mut plot = Self {
            panels: Vec::new(),
            wanted: Vec::new(),
            taken: 0,
            position: 0,
        };
        for (offset, (rows, down), (columns, right)) in slices {
            let reduce = rows.max(columns).div_ceil(SIDE).max(1);
            let (height, width) = (rows.div_ceil(reduce), columns.div_ceil(reduce));
            for pixel in 0..height * width {
                let (row, column) = (pixel / width * reduce, pixel % width * reduce);
                let at = base + offset + row * down + column * right;
                plot.wanted.push((at, plot.panels.len(), pixel));
            }
            plot.panels.push(Panel {
                rows: height,
                columns: width,
                pixels: vec![(f64::NAN, f64::NAN); height * width],
            });
        }
        plot.wanted.sort_unstable();
        Ok(plot)
    }

    /// Takes the next values of both arrays.
    pub fn push<T: Element>(&mut self, original: &[T], decoded: &[T]) {
        while let Some(&(at, panel, pixel)) = self.wanted.get(self.taken) {
            let Some(x) = original.get(at - self.position) else {
                break;
            };
            let y = decoded[at - self.position];
            self.panels[panel].pixels[pixel] = (x.to_f64(), y.to_f64());
            self.taken += 1;
        }
        self.position += original.len();
    }

    /// Draws a row of three panels per slice; tells what the colours mean.
    pub fn draw(&self, out: &mut impl Write) -> Result<String> {
        let all = || self.panels.iter().flat_map(|panel| &panel.pixels);
        let finite = all().map(|p| p.0).filter(|x| x.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.fold(f64::NEG_INFINITY, f64::max);
        let errors = all().map(|p| (p.1 - p.0).abs()).filter(|e| e.is_finite());
        let most = errors.fold(0.0, f64::max);

        // Small slices are enlarged.
        let sides = self.panels.iter().map(|p| p.columns.max(p.rows));
        let zoom = (SIDE / sides.max().unwrap_or(1)).max(1);
        let widest = self
            .panels
            .iter()
            .map(|p| zoom * p.columns)
            .max()
            .unwrap_or(0);
        let width = 3 * widest + 4 * GAP;
        let height = GAP
            + self
                .panels
                .iter()
                .map(|p| zoom * p.rows + GAP)
                .sum::<usize>();
        let mut image = vec![255; width * height * 3];
        let mut top = GAP;
        for panel in &self.panels {
            let columns = zoom * panel.columns;
            for pixel in 0..zoom * panel.rows * columns {
                let (row, column) = (pixel / columns, pixel % columns);
                let (x, y) = panel.pixels[row / zoom * panel.columns + column / zoom];
                let error = if x == y { 0.0 } else { (y - x) / most };
                let colours = [
                    along(&VIRIDIS, (x - low) / (high - low)),
                    along(&VIRIDIS, (y - low) / (high - low)),
                    along(&BLUE_RED, 0.5 + 0.5 * error),
                ];
                for (number, colour) in colours.iter().enumerate() {
                    let at = (top + row) * width + GAP + number * (widest + GAP) + column;
                    image[at * 3..at * 3 + 3].copy_from_slice(colour);
                }
            }
            top += zoom * panel.rows + GAP;
        }
        write_png(out, width, height, &image)?;
        Ok(format!(
            "plot: A and B from {} (dark) to {} (bright), B - A from -{2} (blue) to {2} (red)",
            report::number(low),
            report::number(high),
            report::number(most)
        ))
    }
}
