//! Options as HDF5 filter parameters: the 32-bit words ("client data") that a file stores per
//! filter.
//!
//! | word | content |
//! |---|---|
//! | 0 | version of this layout: 1 |
//! | 1 | bound kind, plus 65536 · codec id, 65535 for `auto` |
//! | 2, 3 | the bound: low and high half of an IEEE 754 double |
//! | 4 | number of fill values (at most 8), plus flags: 2¹⁶ detect others, 2¹⁷ keep zeros exactly, 2¹⁸ no limits, 2¹⁹ limits of the data, 2²⁰ given limits, 2²¹ `auto` favors speed, 2²² `auto` favors the ratio |
//! | 5 | length in bytes of the codec parameters as JSON; 0 without parameters |
//! | 6… | the fill values: low and high half of a double each |
//! | … | given limits: lower and upper, low and high half of a double each |
//! | … | the JSON, four bytes to a word, little-endian |
//!
//! Decoding needs none of these. Words that follow belong to the filter.

use crate::bound::{Bound, BoundKind};
use crate::clip::Clip;
use crate::codec::{self, Params};
use crate::error::{Error, Result};
use crate::favor::Favor;
use crate::fill::{Fill, FillValues, MAX_FILL_VALUES};
use crate::options::Options;

/// The filter id, from the range that needs no registration.
pub const FILTER_ID: u16 = 60192;

/// Version of the layout.
const VERSION: u32 = 1;

/// Flag in the word of the fill count: detect further fill values.
const FILL_AUTO: u32 = 1 << 16;
/// Flag: zeros are stored exactly.
const KEEP_ZEROS: u32 = 1 << 17;
/// Flags: which limits to apply; `Clip::Auto` without any of them.
const CLIP_NONE: u32 = 1 << 18;
const CLIP_DATA: u32 = 1 << 19;
const CLIP_GIVEN: u32 = 1 << 20;
/// In the same word: what `auto` favors; balanced without either.
const FAVOR_SPEED: u32 = 1 << 21;
const FAVOR_RATIO: u32 = 1 << 22;
const FLAGS: u32 =
    FILL_AUTO | KEEP_ZEROS | CLIP_NONE | CLIP_DATA | CLIP_GIVEN | FAVOR_SPEED | FAVOR_RATIO;

/// In place of a codec's number: it is chosen for each chunk.
const AUTO: u16 = u16::MAX;

/// Maximum length of the parameters: HDF5 passes at most 256 words to a filter, of which the chunk
/// shape takes up to 36, fill values 16 and limits 4.
const MAX_PARAM_BYTES: usize = 720;

/// Encodes bound, codec, parameters, fill values and limits; an error if the options do not work
/// chunk by chunk.
pub fn to_words(options: &Options) -> Result<Vec<u32>> {
    let entry = options.check()?;
    if options.bound.kind() == BoundKind::Psnr {
        return Err(Error::unsupported(
            "psnr needs the whole array, but an HDF5 filter sees one chunk at a time: \
             use abs or range",
        ));
    }
    if options.one_pass {
        return Err(Error::unsupported(
            "one pass over an array has no meaning for the single chunks that an HDF5 filter sees: leave \
             it out",
        ));
    }
    let (codec, favor) = match (options.is_auto(), options.favor) {
        (false, _) => (entry.info.id, 0),
        (true, Favor::Speed) => (AUTO, FAVOR_SPEED),
        (true, Favor::Balanced) => (AUTO, 0),
        (true, Favor::Ratio) => (AUTO, FAVOR_RATIO),
    };
    let mut words = vec![
        VERSION,
        options.bound.kind() as u32 | u32::from(codec) << 16,
    ];
    words.extend(halves(options.bound.value()));
    let fill = options.fill.values();
    let auto = if options.fill.is_auto() { FILL_AUTO } else { 0 };
    let zeros = if options.keep_zeros { KEEP_ZEROS } else { 0 };
    let (clip, limits) = match options.clip {
        Clip::Auto => (0, None),
        Clip::None => (CLIP_NONE, None),
        Clip::Data => (CLIP_DATA, None),
        Clip::Between(min, max) => (CLIP_GIVEN, Some([min, max])),
    };
    words.push(fill.as_slice().len() as u32 | auto | zeros | clip | favor);
    let mut text = String::new();
    if !options.params.is_empty() {
        text = serde_json::to_string(&options.params)
            .map_err(|error| Error::invalid(format!("codec parameters: {error}")))?;
    }
    if text.len() > MAX_PARAM_BYTES {
        return Err(Error::invalid(
            "the codec parameters are too long for an HDF5 filter",
        ));
    }
    words.push(text.len() as u32);
    words.extend(fill.as_slice().iter().flat_map(|&value| halves(value)));
    words.extend(limits.into_iter().flatten().flat_map(halves));
    words.extend(text.as_bytes().chunks(4).map(|bytes| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    }));
    Ok(words)
}

/// Decodes the words of [`to_words`]; also returns the words that follow them.
pub fn from_words(words: &[u32]) -> Result<(Options, &[u32])> {
    let advice = "create the filter parameters with `ebz hdf5-args` or with ebz.hdf5 in Python";
    let Some((&version, rest)) = words.split_first() else {
        return Err(Error::invalid(format!(
            "the filter has no parameters: {advice}"
        )));
    };
    if version != VERSION {
        return Err(Error::unsupported(format!(
            "unknown version {version} of the filter parameters: {advice}"
        )));
    }
    let short = || Error::invalid(format!("the filter parameters are too short: {advice}"));
    let (&[kind, b0, b1, fill, length], rest) = rest.split_first_chunk::<5>().ok_or_else(short)?;
    let values = (fill & !FLAGS) as usize;
    let (values, rest) = rest
        .split_at_checked(values.saturating_mul(2))
        .filter(|_| values <= MAX_FILL_VALUES)
        .ok_or_else(short)?;
    let limits = if fill & CLIP_GIVEN != 0 { 4 } else { 0 };
    let (limits, rest) = rest.split_at_checked(limits).ok_or_else(short)?;
    let length = length as usize;
    let (text, rest) = rest
        .split_at_checked(length.div_ceil(4))
        .filter(|_| length <= MAX_PARAM_BYTES)
        .ok_or_else(short)?;
    let bound = BoundKind::ALL
        .into_iter()
        .find(|known| *known as u32 == kind & 0xffff)
        .ok_or_else(|| Error::invalid(format!("unknown bound kind: {advice}")))?;
    let codec = match (kind >> 16) as u16 {
        AUTO => codec::AUTO,
        number => codec::by_id(number)?.info.name,
    };
    let mut options = Options::new(Bound::new(bound, double(b0, b1))?).codec(codec);
    options.favor = match fill & (FAVOR_SPEED | FAVOR_RATIO) {
        0 => Favor::Balanced,
        FAVOR_SPEED => Favor::Speed,
        FAVOR_RATIO => Favor::Ratio,
        _ => return Err(Error::invalid(format!("unknown favor: {advice}"))),
    };
    let (values, _) = values.as_chunks::<2>();
    let values: Vec<f64> = values
        .iter()
        .map(|&[low, high]| double(low, high))
        .collect();
    options.fill = match fill & FILL_AUTO {
        0 => Fill::None,
        _ => Fill::Auto,
    };
    options.fill = options.fill.and(FillValues::new(&values)?)?;
    options.keep_zeros = fill & KEEP_ZEROS != 0;
    options.clip = match (fill & (CLIP_NONE | CLIP_DATA | CLIP_GIVEN), limits) {
        (0, _) => Clip::Auto,
        (CLIP_NONE, _) => Clip::None,
        (CLIP_DATA, _) => Clip::Data,
        (CLIP_GIVEN, &[a, b, c, d]) => Clip::between(double(a, b), double(c, d))?,
        _ => return Err(Error::invalid(format!("unknown limits: {advice}"))),
    };
    if length > 0 {
        let bytes: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).collect();
        options.params = serde_json::from_slice::<Params>(&bytes[..length])
            .map_err(|error| Error::invalid(format!("codec parameters: {error}")))?;
    }
    options.check()?;
    Ok((options, rest))
}

/// The low and high half of a double.
pub fn halves(value: f64) -> [u32; 2] {
    let bits = value.to_bits();
    [bits as u32, (bits >> 32) as u32]
}

/// The double with this low and high half.
pub fn double(low: u32, high: u32) -> f64 {
    f64::from_bits(u64::from(high) << 32 | u64::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_the_documented_layout() {
        let options = Options::new(Bound::Abs(0.1)).codec("fz").fill(-1.0);
        let words = to_words(&options).unwrap();
        let codec = u32::from(codec::by_name("fz").unwrap().info.id);
        let expected = [
            1,
            1 | codec << 16,
            0x9999_999a,
            0x3fb9_9999,
            1,
            0,
            0,
            0xbff0_0000,
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn options_of_every_codec_round_trip() {
        for entry in codec::TABLE {
            let kind = entry.info.tolerances[0];
            let value = if kind == BoundKind::Precision {
                12.0
            } else {
                0.25
            };
            let mut options = Options::new(Bound::new(kind, value).unwrap()).codec(entry.info.name);
            let fills = ["auto", "none", "-999,1e20", "auto,7"];
            options.fill = fills[usize::from(entry.info.id) % 4].parse().unwrap();
            let clips = ["0..1", "auto", "..7", "none", "data"];
            options.clip = clips[usize::from(entry.info.id) % 5].parse().unwrap();
            options.keep_zeros = entry.info.id % 2 == 1;
            for param in entry.info.params {
                options = options.param(param.name, param.default);
            }
            let mut words = to_words(&options).unwrap();
            words.extend([7, 8]);
            let (again, rest) = from_words(&words).unwrap();
            assert_eq!(again.bound, options.bound);
            assert_eq!(again.codec, options.codec);
            assert_eq!(again.params, options.params);
            assert_eq!(again.fill, options.fill);
            assert_eq!(
                (again.clip, again.keep_zeros),
                (options.clip, options.keep_zeros)
            );
            assert_eq!(rest, [7, 8]);
        }
    }

    #[test]
    fn invalid_words_are_rejected() {
        let good = to_words(&Options::new(Bound::Range(1e-3)).param("lag", "1"));
        assert!(good.is_err(), "an unknown parameter");
        assert!(to_words(&Options::new(Bound::Psnr(60.0))).is_err());
        let good = to_words(&Options::new(Bound::Range(1e-3))).unwrap();
        for length in 0..good.len() {
            assert!(from_words(&good[..length]).is_err(), "{length} words");
        }
        for word in [0, 1, 4, 5] {
            let mut bad = good.clone();
            bad[word] = u32::MAX;
            assert!(from_words(&bad).is_err(), "word {word}");
        }
    }
}
