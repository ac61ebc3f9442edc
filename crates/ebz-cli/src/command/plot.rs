//! Plots of the middle slices: original, decompressed, error.

use crate::picture::{self, Colours, Panel};
use crate::report;
use anyhow::{Result, ensure};
use ebz::{Element, FillValues};
use std::io::Write;
use std::path::Path;

/// Maximum number of samples along each side of a slice.
const MAX_SIDE: usize = 512;

/// Samples of the slices, collected while the arrays are streamed.
pub struct Plot {
    slices: Vec<Slice>,
    /// Index in the array, slice and index in the slice of every sample, in array order.
    wanted: Vec<(usize, usize, usize)>,
    taken: usize,
    position: usize,
}

/// A slice of at most [`MAX_SIDE`] samples along each side.
struct Slice {
    /// Its location, for the title.
    place: String,
    axes: [String; 2],
    extents: [usize; 2],
    rows: usize,
    columns: usize,
    /// Original and decoded values.
    samples: Vec<(f64, f64)>,
}

impl Plot {
    /// The middle slice across each of the last three axes; a 2-D array itself.
    pub fn new(shape: &[usize]) -> Result<Self> {
        ensure!(
            shape.len() >= 2 && !shape.contains(&0),
            "an array of shape {} has no slices to plot: `ebz report` draws lines",
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
        // The cut axis with its index and the vertical and horizontal axes, counted from the last;
        // extents and strides of all.
        let axes = [(nx, 1), (ny, sy), (nz, sz)];
        let mut slices = vec![(2, 1, 0)];
        if nz > 1 {
            slices.extend([(1, 2, 0), (0, 2, 1)]);
        }
        let name = |back: usize| format!("axis {}", (shape.len() - 1).saturating_sub(back));
        let mut plot = Self {
            slices: Vec::new(),
            wanted: Vec::new(),
            taken: 0,
            position: 0,
        };
        for (cut, vertical, horizontal) in slices {
            let (rows, down) = axes[vertical];
            let (columns, right) = axes[horizontal];
            let offset = axes[cut].0 / 2 * axes[cut].1;
            let reduce = rows.max(columns).div_ceil(MAX_SIDE).max(1);
            let (height, width) = (rows.div_ceil(reduce), columns.div_ceil(reduce));
            for pixel in 0..height * width {
                let (row, column) = (pixel / width * reduce, pixel % width * reduce);
                let at = base + offset + row * down + column * right;
                plot.wanted.push((at, plot.slices.len(), pixel));
            }
            let place = match nz > 1 {
                true => format!(", {} = {}", name(cut), axes[cut].0 / 2),
                false => String::new(),
            };
            plot.slices.push(Slice {
                place,
                axes: [name(vertical), name(horizontal)],
                extents: [rows, columns],
                rows: height,
                columns: width,
                samples: vec![(f64::NAN, f64::NAN); height * width],
            });
        }
        plot.wanted.sort_unstable();
        Ok(plot)
    }

    /// Takes the next values of both arrays; missing data is drawn as missing.
    pub fn push<T: Element>(&mut self, original: &[T], decoded: &[T], missing: &FillValues) {
        let is_missing = |x: T| missing.as_slice().iter().any(|&f| T::from_f64(f) == x);
        while let Some(&(at, slice, sample)) = self.wanted.get(self.taken) {
            let Some(x) = original.get(at - self.position) else {
                break;
            };
            let y = decoded[at - self.position];
            if !is_missing(*x) {
                self.slices[slice].samples[sample] = (x.to_f64(), y.to_f64());
            }
            self.taken += 1;
        }
        self.position += original.len();
    }

    /// Draws a row of three panels per slice: the original, the decompressed values, and the error, on a
    /// scale that shows the bound if it is known.
    pub fn draw(
        &self,
        names: [&str; 2],
        bound: Option<f64>,
        path: &Path,
        out: &mut impl Write,
    ) -> Result<()> {
        let all = || self.slices.iter().flat_map(|slice| &slice.samples);
        let finite = all().map(|p| p.0).filter(|x| x.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.fold(f64::NEG_INFINITY, f64::max);
        let errors = all().map(|p| (p.1 - p.0).abs()).filter(|e| e.is_finite());
        let largest = errors.fold(bound.unwrap_or(0.0), f64::max);
        let rows: Vec<_> = self
            .slices
            .iter()
            .map(|slice| {
                let panel = |name: &str, colours, scale, value: fn(&(f64, f64)) -> f64| Panel {
                    title: format!("{name}{}", slice.place),
                    axes: slice.axes.clone(),
                    extents: slice.extents,
                    rows: slice.rows,
                    columns: slice.columns,
                    values: slice.samples.iter().map(value).collect(),
                    colours,
                    scale,
                    bound: bound.filter(|_| colours == Colours::Errors),
                };
                vec![
                    panel("A", Colours::Values, (low, high), |p| p.0),
                    panel("B", Colours::Values, (low, high), |p| p.1),
                    panel("B - A", Colours::Errors, (-largest, largest), |p| {
                        match p.0 == p.1 {
                            // Also for infinities.
                            true => 0.0,
                            false => p.1 - p.0,
                        }
                    }),
                ]
            })
            .collect();
        let [a, b] = names;
        let heading = match bound {
            Some(bound) => format!("A: {a}   B: {b}   bound {}", report::number(bound)),
            None => format!("A: {a}   B: {b}"),
        };
        picture::draw(path, &heading, &rows, out)
    }
}
