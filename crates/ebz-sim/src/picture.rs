//! Slices of fields for plotting.

/// A 2-D slice of a field.
#[derive(Debug, Clone)]
pub struct Slice {
    /// Rows, top to bottom.
    pub rows: usize,
    /// Columns, left to right.
    pub columns: usize,
    /// The values in row-major order.
    pub values: Vec<f64>,
}

impl Slice {
    /// A slice with `value(row, column)` at each point.
    pub fn new(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let values = places.map(|(row, column)| value(row, column)).collect();
        Self {
            rows,
            columns,
            values,
        }
    }

    /// The magnitude that all but this fraction of the values stay below.
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
    fn most_values_stay_below_a_size() {
        let slice = Slice::new(3, 4, |row, column| (row * 4 + column) as f64);
        assert_eq!(slice.size_of_most(0.0), 11.0);
        assert_eq!(slice.size_of_most(0.5), 6.0);
    }
}
