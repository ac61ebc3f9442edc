//! Parses sizes and rates.

use anyhow::{Result, bail, ensure};

/// Units, longest suffix first.
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
        "'{text}' is out of range: write it as 16MiB or 2GB"
    );
    Ok(bytes as u64)
}

/// Bytes per second, as in `500MB/s`.
pub fn rate(text: &str) -> Result<u64> {
    size(text.strip_suffix("/s").unwrap_or(text))
        .map_err(|_| anyhow::anyhow!("'{text}' is not a rate: write it as 500MB/s"))
}

/// A relative bound, as in `1e-3` or `0.1%`.
pub fn share(text: &str) -> Result<f64> {
    let Some(percent) = text.strip_suffix('%').map(str::trim_end) else {
        return number(text);
    };
    // Shifting the decimal point in the text gives the correctly rounded number.
    match format!("{percent}e-2").parse() {
        Ok(share) => Ok(share),
        Err(_) => Ok(number(percent)? / 100.0),
    }
}

/// A bound in units of the data.
pub fn bound(text: &str) -> Result<f64> {
    ensure!(
        !text.ends_with('%'),
        "{text} of what? Use --range {text} for max - min, or --pointwise {text} for each value"
    );
    number(text)
}

fn number(text: &str) -> Result<f64> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => bail!("'{text}' is not a number: write it as 0.001, 1e-3 or 0.1%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        let good = [
            ("0.1%", 1e-3),
            ("1e-3", 1e-3),
            ("5 %", 0.05),
            ("1e-1%", 1e-3),
        ];
        for (text, value) in good {
            assert_eq!(share(text).unwrap(), value, "{text}");
        }
        for text in ["", "%", "0.1%%", "a%", "1,5"] {
            assert!(share(text).is_err(), "{text}");
            assert!(bound(text).is_err(), "{text}");
        }
        assert_eq!(bound("0.5").unwrap(), 0.5);
        assert!(
            bound("0.1%")
                .unwrap_err()
                .to_string()
                .contains("--range 0.1%")
        );
    }

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
