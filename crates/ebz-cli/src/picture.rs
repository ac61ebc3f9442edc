//! Plots of slices with axes, colour bars and titles, as PNG or SVG.

use crate::foreign::has_extension;
use crate::report;
use anyhow::{Result, anyhow};
use colorgrad::Gradient;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};
use std::io::Write;
use std::path::Path;

/// Pixels along the longer side of a slice.
const SIDE: u32 = 420;
/// Pixels around a slice: title, axes, and the colour bar on the right.
const TOP: u32 = 34;
const BOTTOM: u32 = 44;
const LEFT: u32 = 64;
/// Pixels between the border of a panel and its axis label.
const MARGIN: u32 = 10;
const BAR: u32 = 120;
/// Height of the heading in pixels.
const HEADING: u32 = 36;
/// Minimum aspect ratio of a slice.
const MIN_ASPECT: f64 = 0.25;

/// Meaning of the colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Colours {
    /// Values, dark to bright.
    Values,
    /// Errors: blue is negative, white is zero, red is positive.
    Errors,
}

/// A slice of an array.
#[derive(Debug, Clone)]
pub struct Panel {
    pub title: String,
    /// Names of the vertical and horizontal axes.
    pub axes: [String; 2],
    /// Extents of these axes in the array; the samples may be fewer.
    pub extents: [usize; 2],
    pub rows: usize,
    pub columns: usize,
    /// Samples, row by row; NaN is drawn grey.
    pub values: Vec<f64>,
    pub colours: Colours,
    /// The values at both ends of the colour scale.
    pub scale: (f64, f64),
    /// The bound of the errors, if known.
    pub bound: Option<f64>,
}

/// Draws rows of panels under a heading, in the format of the file extension.
pub fn draw(path: &Path, heading: &str, rows: &[Vec<Panel>], out: &mut impl Write) -> Result<()> {
    let font = include_bytes!("../assets/sans.ttf");
    register_font("sans-serif", FontStyle::Normal, font).map_err(|_| anyhow!("a damaged font"))?;
    let widths = rows.iter().map(|row| row.iter().map(|p| p.size().0).sum());
    let width: u32 = widths.max().unwrap_or(0);
    let heights = rows.iter().map(|row| row.iter().map(|p| p.size().1).max());
    let height = HEADING + heights.map(Option::unwrap_or_default).sum::<u32>();
    let size = (width, height);
    if has_extension(path, "svg") {
        let mut text = String::new();
        paint(SVGBackend::with_string(&mut text, size), heading, rows)?;
        return Ok(out.write_all(text.as_bytes())?);
    }
    let mut pixels = vec![0; width as usize * height as usize * 3];
    paint(BitMapBackend::with_buffer(&mut pixels, size), heading, rows)?;
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    Ok(encoder.write_header()?.write_image_data(&pixels)?)
}

fn paint(backend: impl DrawingBackend, heading: &str, rows: &[Vec<Panel>]) -> Result<()> {
    let root = backend.into_drawing_area();
    let paint = || -> Result<(), Box<dyn std::error::Error + '_>> {
        root.fill(&WHITE)?;
        root.draw_text(
            heading,
            &("sans-serif", 18).into_text_style(&root),
            (12, 10),
        )?;
        let mut top = HEADING;
        for row in rows {
            let mut left = 0;
            for panel in row {
                let (width, height) = panel.size();
                let area = root.clone();
                let area = area.shrink((left, top), (width, height));
                panel.paint(&area)?;
                left += width;
            }
            top += row.iter().map(|panel| panel.size().1).max().unwrap_or(0);
        }
        root.present()?;
        Ok(())
    };
    paint().map_err(|error| anyhow!("cannot draw the picture: {error}"))
}

impl Panel {
    /// Size of the slice in pixels.
    fn slice_size(&self) -> (u32, u32) {
        let [down, right] = self.extents.map(|n| n.max(1) as f64);
        let side = |share: f64| (f64::from(SIDE) * share.clamp(MIN_ASPECT, 1.0)) as u32;
        (side(right / down), side(down / right))
    }

    /// Size of the panel in pixels.
    fn size(&self) -> (u32, u32) {
        let (width, height) = self.slice_size();
        (LEFT + width + BAR, TOP + height + BOTTOM)
    }

    fn paint<'a, B: DrawingBackend + 'a>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let (width, _) = self.slice_size();
        let (slice, bar) = area.split_horizontally(LEFT + width);
        let [down, right] = self.extents.map(|n| n as f64);
        let table = colour_table(self.colours);
        let (low, high) = self.scale;
        let colour = |x: f64| match x.is_finite() && high > low {
            true => table[((x - low) / (high - low) * 255.0).round().clamp(0.0, 255.0) as usize],
            false if x.is_finite() => table[128],
            false => [128; 3],
        };

        // The slice, with row 0 at the top.
        let mut chart = ChartBuilder::on(&slice)
            .caption(&self.title, ("sans-serif", 15))
            .margin_left(MARGIN)
            .margin_bottom(MARGIN)
            .x_label_area_size(BOTTOM - MARGIN)
            .y_label_area_size(LEFT - MARGIN)
            .build_cartesian_2d(0.0..right, down..0.0)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_labels(6)
            .y_labels(6)
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| format!("{y:.0}"))
            .x_desc(&self.axes[1])
            .y_desc(&self.axes[0])
            .label_style(("sans-serif", 12))
            .draw()?;
        let sample = |u: f64, v: f64| {
            let at = |share: f64, count: usize| ((share * count as f64) as usize).min(count - 1);
            colour(self.values[at(v, self.rows) * self.columns + at(u, self.columns)])
        };
        let plotted = chart.plotting_area();
        let size = plotted.dim_in_pixel();
        if let Some(image) =
            BitMapElement::with_owned_buffer((0.0, 0.0), size, pixels(size, sample))
        {
            plotted.draw(&image)?;
        }

        // The colour bar, with the bound.
        let (bottom, top) = if high > low {
            (low, high)
        } else {
            (low - 1.0, low + 1.0)
        };
        let mut chart = ChartBuilder::on(&bar)
            .margin_top(TOP - 10)
            .margin_left(10)
            .x_label_area_size(BOTTOM)
            .right_y_label_area_size(BAR - 30)
            .build_cartesian_2d(0.0..1.0, bottom..top)?
            .set_secondary_coord(0.0..1.0, bottom..top);
        chart
            .configure_secondary_axes()
            .y_labels(7)
            .y_label_formatter(&|&y| match y.abs() < 1e-9 * (top - bottom) {
                true => "0".into(),
                false => report::number(y),
            })
            .label_style(("sans-serif", 12))
            .draw()?;
        let plotted = chart.plotting_area();
        let size = plotted.dim_in_pixel();
        let ramp = |_: f64, v: f64| colour(top + (bottom - top) * v);
        if let Some(image) = BitMapElement::with_owned_buffer((0.0, top), size, pixels(size, ramp))
        {
            plotted.draw(&image)?;
        }
        for bound in self.bound.into_iter().flat_map(|bound| [-bound, bound]) {
            let line = vec![(0.0, bound), (1.0, bound)];
            plotted.draw(&PathElement::new(line, BLACK.stroke_width(2)))?;
        }
        Ok(())
    }
}

/// Pixels with colours from `colour`, whose arguments go from 0 to 1 to the right and down.
fn pixels((width, height): (u32, u32), colour: impl Fn(f64, f64) -> [u8; 3]) -> Vec<u8> {
    let place = |at: u32, count: u32| (f64::from(at) + 0.5) / f64::from(count);
    let all = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    all.flat_map(|(x, y)| colour(place(x, width), place(y, height)))
        .collect()
}

fn colour_table(colours: Colours) -> [[u8; 3]; 256] {
    let at = |i: usize| match colours {
        Colours::Values => colorgrad::preset::viridis().at(i as f32 / 255.0),
        Colours::Errors => colorgrad::preset::rd_bu().at(1.0 - i as f32 / 255.0),
    };
    std::array::from_fn(|i| {
        let [red, green, blue, _] = at(i).to_rgba8();
        [red, green, blue]
    })
}
