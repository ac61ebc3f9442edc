//! Fuzz targets: arbitrary bytes to calls of the library and its front ends. A target returns for
//! every input; a panic, a failed assertion or excessive memory is a bug.
//!
//! `fuzz/` runs them with libFuzzer and AddressSanitizer (`scripts/fuzz`), `tests/replay.rs` with
//! every committed input and some generated ones on a stable compiler.

pub mod arrays;
pub mod c;
pub mod chunks;
pub mod files;
pub mod front_ends;
pub mod series;
pub mod store;

use arbitrary::Unstructured;

/// A fuzz target.
pub struct Target {
    /// Its name, also that of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Calls the library with an input.
    pub run: fn(&[u8]),
    /// Valid inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($module:ident::$name:ident from $seeds:ident),* $(,)?) => {
        [$(Target {
            name: stringify!($name),
            run: $module::$name,
            seeds: $module::$seeds,
        }),*]
    };
}

/// Every target.
pub const TARGETS: [Target; 18] = targets![
    files::container from file_seeds,
    files::stream from file_seeds,
    files::recovery from file_seeds,
    files::sealed from file_seeds,
    files::edited from edit_seeds,
    chunks::decode from small_seeds,
    chunks::decode_large from large_seeds,
    chunks::round_trip from word_seeds,
    chunks::structured from word_seeds,
    series::appends from word_seeds,
    arrays::regions from word_seeds,
    arrays::views from word_seeds,
    store::grid from grid_seeds,
    store::frames from frame_seeds,
    front_ends::npy from npy_seeds,
    front_ends::text from text_seeds,
    front_ends::hdf5 from hdf5_seeds,
    c::c_interface from c_seeds,
];

/// Some inputs without structure, for targets that take any bytes as choices.
fn words(lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut random = ebz_testkit::random::Random::new(1);
    lengths.iter().map(|&n| random.bytes(n)).collect()
}

/// One of `choices`; the first one if the input has ended.
fn choose<'a, T>(input: &mut Unstructured<'_>, choices: &'a [T]) -> &'a T {
    input.choose(choices).unwrap_or(&choices[0])
}

/// A number up to `most`; 0 if the input has ended.
fn up_to(input: &mut Unstructured<'_>, most: usize) -> usize {
    input.int_in_range(0..=most).unwrap_or(0)
}
