//! Hints for options of other compressors.

use clap::error::{ContextKind, ContextValue};

/// Options of zfp, SZ and PFPL, and their counterparts.
const HINTS: [(&str, &str); 9] = [
    ("--rel", RELATIVE),
    ("--relative", RELATIVE),
    ("--noa", "it is --range here: |error| <= E (max - min)"),
    ("--accuracy", "it is --abs here: |error| <= E"),
    ("--tolerance", "it is --abs here: |error| <= E"),
    (
        "--eb",
        "say what it is relative to: --abs E, --range E or --pointwise E",
    ),
    (
        "--rate",
        "bits per value are --ratio here: 32 or 64 bits divided by RATE",
    ),
    ("--pwr", "it is --pointwise here: |error| <= E |x|"),
    (
        "--dims",
        "it is --shape here, slowest axis first, as in -s 100x500x500",
    ),
];

const RELATIVE: &str = "relative to what? To max - min of the array: --range E (REL of SZ and cuSZ, NOA of PFPL), \
                        to each value: --pointwise E (REL of PFPL and LC)";

/// The hint for an option of another compressor.
pub fn foreign_option(error: &clap::Error) -> Option<String> {
    let ContextValue::String(option) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let (_, hint) = HINTS.iter().find(|(name, _)| name == option)?;
    Some(format!("there is no {option}: {hint}"))
}
