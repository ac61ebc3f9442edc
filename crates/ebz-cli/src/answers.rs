//! Options of other compressors, answered with what they could mean here.

use clap::error::{ContextKind, ContextValue};

/// What people write who come from zfp, SZ or PFPL, and what they may have meant.
const ANSWERS: [(&str, &str); 9] = [
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

const RELATIVE: &str = "relative to what? Of max - min of the array it is --range E (REL of SZ and cuSZ, NOA of PFPL), \
                        of each value --pointwise E (REL of PFPL and LC)";

/// The answer to an option that others have.
pub fn foreign_option(error: &clap::Error) -> Option<String> {
    let ContextValue::String(option) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let (_, answer) = ANSWERS.iter().find(|(name, _)| name == option)?;
    Some(format!("there is no {option}: {answer}"))
}
