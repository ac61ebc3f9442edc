//! The offline codebooks: built once from the average of many fields, and shipped with the library.
//!
//! Symbol frequencies depend on the bound, so fields are first aligned to one rate in bits per
//! value, as in section 3.2.2 of the paper. The paper has one codebook for one rate. With a single
//! one, chunks at other rates lose a quarter or more; so there are several, and a chunk gives the
//! index of the best. `examples/offline_books.rs` computes the histograms from fields, and the
//! codebooks from the histograms.

use super::codebooks::Codebooks;
use crate::error::{Error, Result};
use crate::stage::huffman::{Book, Histogram, Sort};
use std::sync::LazyLock;

/// The offline codebooks.
pub(super) static CODEBOOKS: LazyLock<Codebooks> = LazyLock::new(|| {
    // The test `shipped_codebooks_match_the_histograms` reads the same bytes.
    read_from(include_bytes!("offline_books.bin")).unwrap_or_default()
});

fn read_from(mut bytes: &[u8]) -> Result<Codebooks> {
    let mut codebooks = Codebooks::default();
    while !bytes.is_empty() {
        codebooks.masks.push(Book::read_from(&mut bytes)?.into());
        codebooks
            .residuals
            .push(Book::read_from(&mut bytes)?.into());
    }
    Ok(codebooks)
}

/// Serializes the offline codebooks for these histograms: lines of 256 frequencies, alternating
/// between masks and residuals. Lines that start with `#` are comments.
pub fn books(histograms: &str) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut lines = histograms.lines().filter(|line| !line.starts_with('#'));
    while let Some(masks) = lines.next() {
        let residuals = lines
            .next()
            .ok_or_else(|| Error::invalid("the last line of masks has no line of residuals"))?;
        book(masks)?.write_to(&mut out);
        book(residuals)?.write_to(&mut out);
    }
    Ok(out)
}

fn book(line: &str) -> Result<Book> {
    let counts: std::result::Result<Vec<u32>, _> =
        line.split_whitespace().map(str::parse).collect();
    let histogram = counts.ok().and_then(Histogram::from_counts);
    let histogram = histogram.ok_or_else(|| Error::invalid("a line must have 256 frequencies"))?;
    Ok(Book::of(&histogram, Sort::Exact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::ceaz::codebooks::Entry;

    #[test]
    fn shipped_codebooks_match_the_histograms() {
        let made = books(include_str!("offline_histograms.txt")).unwrap();
        assert_eq!(made, include_bytes!("offline_books.bin"));
        let Codebooks { masks, residuals } = read_from(&made).unwrap();
        assert!(!masks.is_empty());
        let complete = |entry: &Entry| entry.book.lengths().iter().all(|&l| l > 0);
        assert!(masks.iter().chain(&residuals).all(complete));
    }
}
