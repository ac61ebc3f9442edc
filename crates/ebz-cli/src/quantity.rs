//! Sizes and rates as people write them.

use anyhow::{Result, bail, ensure};

/// Units, the longer ones first.
const UNITS: [(&str, u64); 13] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1000),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("K", 1 << 10),
    ("M", 1 << 20),
    ("G", 1 << 30),
    ("B", 1),
];

/// A number of bytes, as in `16MiB`, `2GB` or `4096`.
pub fn size(text: &str) -> Result<u64> {
    let unit = UNITS.iter().find(|(name, _)| text.ends_with(name));
    let (name, unit) = unit.copied().unwrap_or(("", 1));
    let number = text[..text.len() - name.len()].trim_end();
    let Ok(number) = number.parse::<f64>() else {
        bail!("'{text}' is not a size: write it as 16MiB or 2GB");
    };
    let bytes = number * unit as f64;
    ensure!(
        (1.0..2f64.powi(62)).contains(&bytes),
        "'{text}' is not a size that can be used: write it as 16MiB or 2GB"
    );
    Ok(bytes as u64)
}

/// Bytes per second, as in `500MB/s`.
pub fn rate(text: &str) -> Result<u64> {
    size(text.strip_suffix("/s").unwrap_or(text))
        .map_err(|_| anyhow::anyhow!("'{text}' is not a rate: write it as 500MB/s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_rates() {
        let good = [
            ("4096", 4096),
            ("16MiB", 16 << 20),
            ("16M", 16 << 20),
            ("1.5GB", 1_500_000_000),
            ("7 B", 7),
            ("2kB", 2000),
        ];
        for (text, bytes) in good {
            assert_eq!(size(text).unwrap(), bytes, "{text}");
        }
        for text in ["", "MB", "-1MB", "0", "nanGB", "1e99GB", "12 parsecs"] {
            assert!(size(text).is_err(), "{text}");
            assert!(rate(text).is_err(), "{text}");
        }
        assert_eq!(rate("500MB/s").unwrap(), 500_000_000);
    }
}
