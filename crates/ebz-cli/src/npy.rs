//! Headers of `.npy` files, versions 1 to 3, as NumPy writes them.

use anyhow::{Context, Result, bail};
use ebz::ElementType;
use std::io::Read;

/// First bytes of every file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Longest header accepted: arrays of numbers need far less.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// A parsed header.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Type of the elements.
    pub element: ElementType,
    /// Whether the bytes of each element must be swapped.
    pub big_endian: bool,
    /// Whether the first axis is the fastest one.
    pub fortran: bool,
    /// Extents of the axes.
    pub shape: Vec<usize>,
    /// Size of the header in bytes: the offset of the values.
    pub length: usize,
}

impl Header {
    /// Reads everything before the values.
    pub fn read(input: &mut impl Read) -> Result<Self> {
        let mut exactly = |count: usize| -> Result<Vec<u8>> {
            let mut bytes = Vec::new();
            input.take(count as u64).read_to_end(&mut bytes)?;
            if bytes.len() != count {
                bail!("the .npy header is not complete: is the file truncated?");
            }
            Ok(bytes)
        };
        let start = exactly(8)?;
        if start[..6] != MAGIC[..] {
            bail!("this is not an .npy file: rename it, or save it again with numpy.save");
        }
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => bail!("version {version} of .npy is unknown: save it with version 1 or 2"),
        };
        let field = exactly(width)?;
        let length = field.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
        if length > MAX_HEADER_BYTES {
            bail!("the .npy header claims {length} bytes: the file is damaged");
        }
        let text = String::from_utf8(exactly(length)?).context("the .npy header is not text")?;
        let (element, big_endian) = element(value(&text, "descr")?)?;
        let fortran = match value(&text, "fortran_order")? {
            order if order.starts_with("True") => true,
            order if order.starts_with("False") => false,
            _ => bail!("the .npy header has no valid 'fortran_order': it is damaged"),
        };
        Ok(Self {
            element,
            big_endian,
            fortran,
            shape: shape(value(&text, "shape")?)?,
            length: 8 + width + length,
        })
    }

    /// The header of a little-endian array in C order.
    pub fn bytes(element: ElementType, shape: &[usize]) -> Result<Vec<u8>> {
        let descr = descr(element).with_context(|| {
            format!("NumPy has no {element}: write raw values, to a name without .npy")
        })?;
        let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
        let extents = match shape.len() {
            0 | 1 => extents.trim_end(),
            _ => extents.trim_end_matches(", "),
        };
        let mut text =
            format!("{{'descr': '<{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
        // Padded with spaces and a newline to a multiple of 64 bytes.
        let total = (10 + text.len() + 1).next_multiple_of(64);
        text.extend(std::iter::repeat_n(' ', total - 10 - text.len() - 1));
        text.push('\n');
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        // At most 16 axes: far below 2^16 bytes.
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        Ok(bytes)
    }
}

/// The text after a key.
fn value<'a>(text: &'a str, key: &str) -> Result<&'a str> {
    [format!("'{key}'"), format!("\"{key}\"")]
        .iter()
        .find_map(|key| text.split_once(key.as_str()))
        .and_then(|(_, rest)| rest.trim_start().strip_prefix(':'))
        .map(str::trim_start)
        .with_context(|| format!("the .npy header has no '{key}': it is damaged"))
}

fn element(text: &str) -> Result<(ElementType, bool)> {
    let quote = |c| c == '\'' || c == '"';
    let Some(name) = text
        .strip_prefix(quote)
        .and_then(|rest| rest.split(quote).next())
    else {
        bail!("the .npy file holds records: save each field as an array of its own");
    };
    let plain = name.trim_start_matches(['<', '=', '>']);
    let mut all = ElementType::ALL.into_iter();
    match all.find(|element| descr(*element) == Some(plain)) {
        Some(element) if plain.len() < name.len() => Ok((element, name.starts_with('>'))),
        _ => bail!(
            "the .npy file holds '{name}' values, but ebz takes f2, f4 and f8: {}",
            advice(name)
        ),
    }
}

/// The NumPy name of a type, if it has one.
fn descr(element: ElementType) -> Option<&'static str> {
    match element {
        ElementType::F16 => Some("f2"),
        ElementType::F32 => Some("f4"),
        ElementType::F64 => Some("f8"),
        ElementType::BF16 => None,
    }
}

/// Advice on values of another type, so that nothing is lost silently.
fn advice(name: &str) -> &'static str {
    let name = name.trim_start_matches(['<', '>', '=', '|']);
    match name.as_bytes() {
        b"i1" | b"u1" | b"b1" | b"i2" | b"u2" => {
            "a.astype('f4') keeps every value; so does a lossless compressor for integers"
        }
        b"i4" | b"u4" => {
            "a.astype('f8') keeps every value, a.astype('f4') only up to 2^24; or use a lossless \
             compressor for integers"
        }
        [b'i' | b'u', ..] => {
            "a.astype('f8') keeps whole numbers up to 2^53 only; use a lossless compressor for \
             integers beyond"
        }
        b"V2" => {
            "if they are bfloat16, save them raw with a.tofile and name type and shape with \
             -t bf16 -s"
        }
        [b'c', ..] => "save the parts as two arrays, a.real and a.imag, and compress each",
        [b'f', ..] => "a.astype('f8') rounds them to 53 bits",
        _ => "save the numbers in it as arrays of f4 or f8",
    }
}

fn shape(text: &str) -> Result<Vec<usize>> {
    text.strip_prefix('(')
        .and_then(|rest| rest.split(')').next())
        .and_then(|inner| {
            let extents = inner.split(',').map(str::trim).filter(|e| !e.is_empty());
            extents.map(|extent| extent.parse().ok()).collect()
        })
        .context("the .npy header has no valid shape: it is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for shape in [vec![], vec![5], vec![2, 3], vec![0, 7, 1, 4]] {
            for element in ElementType::ALL {
                let Ok(bytes) = Header::bytes(element, &shape) else {
                    assert_eq!(element, ElementType::BF16);
                    continue;
                };
                assert_eq!(bytes.len() % 64, 0);
                let header = Header::read(&mut &bytes[..]).unwrap();
                let expected = Header {
                    element,
                    big_endian: false,
                    fortran: false,
                    shape: shape.clone(),
                    length: bytes.len(),
                };
                assert_eq!(header, expected);
                for cut in 0..bytes.len() {
                    assert!(Header::read(&mut &bytes[..cut]).is_err());
                }
            }
        }
    }

    #[test]
    fn advice_loses_nothing_without_a_word() {
        let told = |name: &str| element(&format!("'{name}'")).unwrap_err().to_string();
        for complex in ["<c8", ">c16"] {
            let text = told(complex);
            assert!(text.contains("a.real and a.imag"), "{text}");
            assert!(!text.contains("astype"), "{text}");
        }
        assert!(told("<i8").contains("2^53"));
        assert!(told("<i4").contains("2^24"));
        assert!(told("|u1").contains("keeps every value"));
        assert!(told("<U7").contains("f4 or f8"));
        assert!(told("<V2").contains("-t bf16"));
        assert!(told("f4").contains("f2, f4 and f8"));
        assert_eq!(element("'>f2'").unwrap(), (ElementType::F16, true));
    }

    #[test]
    fn headers_of_other_writers_are_read() {
        let read = |version: u8, text: &str| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend([version, 0]);
            match version {
                1 => bytes.extend((text.len() as u16).to_le_bytes()),
                _ => bytes.extend((text.len() as u32).to_le_bytes()),
            }
            bytes.extend(text.as_bytes());
            Header::read(&mut &bytes[..])
        };
        let header = read(2, "{\"shape\":(3,4),'fortran_order':True,'descr':'>f8'}").unwrap();
        assert_eq!(header.shape, [3, 4]);
        assert!(header.fortran && header.big_endian && header.element == ElementType::F64);
        for wrong in [
            "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }",
            "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (3,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }",
            "{'descr': '<f4', 'fortran_order': False, }",
            "{'descr': '<f4', 'fortran_order': maybe, 'shape': (3,), }",
            "",
        ] {
            assert!(read(1, wrong).is_err(), "{wrong}");
        }
        assert!(read(9, "{}").is_err());
    }
}
