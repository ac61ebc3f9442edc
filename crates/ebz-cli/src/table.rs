//! Plain-text tables with aligned columns.

use comfy_table::{CellAlignment, Table, TableStyle};

/// A table whose first `left` columns are left-aligned text; the others are right-aligned numbers.
pub fn table(left: usize, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    if !header.is_empty() {
        table.set_header(header.to_vec());
    }
    table.add_rows(rows);
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if number >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<_> = table
        .lines()
        .map(|line| line.trim_end().to_string())
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_end_at_one_place() {
        let rows = [["fz", "1.5"], ["interp", "22.25"]].map(|row| row.map(String::from).to_vec());
        let text = super::table(1, &["codec", "ratio"], rows);
        assert_eq!(text, "codec   ratio\nfz        1.5\ninterp  22.25");
    }
}
