//! Slices of an array and of its errors, downsampled for a page.

use ebz::{Element, FiniteRange};
use serde_json::{Value, json};

/// Maximum number of slices, and of samples along each side of one.
const MAX_SLICES: usize = 16;
const MAX_SIDE: usize = 224;
/// Values per segment of a 1-D array.
const LINE: usize = 1024;
/// The level of a missing value; others are below, scaled to the range.
const MISSING: u16 = u16::MAX;

/// Slices over the two fastest axes, or segments of a 1-D array. Values are 16-bit levels of the range,
/// errors 8-bit levels of `scale`; both as base64.
pub fn take<T: Element>(
    shape: &[usize],
    values: &[T],
    decoded: &[T],
    range: FiniteRange,
    scale: f64,
    is_missing: impl Fn(T) -> bool,
) -> Value {
    let (ny, nx) = match *shape {
        [.., ny, nx] if ny > 1 && nx > 1 => (ny, nx),
        _ => (1, values.len().min(LINE)),
    };
    let plane = ny * nx;
    let planes = values.len() / plane;
    let count = planes.min(MAX_SLICES);
    // One in how many rows and columns is kept; each axis on its own, so that a long array keeps its short one.
    let reduce = match ny {
        1 => [1, 1],
        _ => [ny, nx].map(|extent| extent.div_ceil(MAX_SIDE)),
    };
    let (rows, columns) = (ny.div_ceil(reduce[0]), nx.div_ceil(reduce[1]));
    let mut slices = Vec::new();
    for i in 0..count {
        let number = if count > 1 {
            i * (planes - 1) / (count - 1)
        } else {
            0
        };
        let mut steps = Vec::with_capacity(rows * columns * 2);
        let mut errors = Vec::with_capacity(rows * columns);
        for at in 0..rows * columns {
            let (row, column) = (at / columns * reduce[0], at % columns * reduce[1]);
            let at = number * plane + row * nx + column;
            let (x, y) = (values[at], decoded[at]);
            let (mut step, mut error) = (MISSING, 0);
            if !is_missing(x) {
                let (x, y) = (x.to_f64(), y.to_f64());
                let share = (x - range.min) / range.extent();
                step = (share * f64::from(MISSING - 1)).round() as u16;
                error = ((y - x) / scale * 127.0).round() as i8;
            }
            steps.extend(step.to_le_bytes());
            errors.push(error as u8);
        }
        slices.push(json!({
            "place": place(shape, number, ny > 1, nx),
            "values": base64(&steps),
            "errors": base64(&errors),
        }));
    }
    json!({
        "lines": ny == 1,
        "rows": rows,
        "columns": columns,
        "reduce": reduce,
        "extents": [ny, nx],
        "all": slices,
    })
}

/// The location of a slice as text.
fn place(shape: &[usize], number: usize, is_plane: bool, length: usize) -> String {
    if !is_plane {
        return format!(
            "values {} to {}",
            number * length,
            (number + 1) * length - 1
        );
    }
    let mut rest = number;
    let slower = &shape[..shape.len() - 2];
    let mut parts: Vec<_> = (0..slower.len())
        .rev()
        .map(|axis| {
            let at = rest % slower[axis];
            rest /= slower[axis];
            format!("axis {axis} = {at}")
        })
        .collect();
    parts.reverse();
    parts.join(", ")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= group.len() { digit.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_that_of_everybody() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}
