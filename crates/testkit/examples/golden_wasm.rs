//! What a golden file decodes to, for programs without files such as those of browsers.
//!
//! A host gives the bytes of a file with `push`, calls `decode`, and takes the text of the sidecar file
//! with `byte`. scripts/golden_wasm.cjs does.

use ebz_testkit::golden;
use std::sync::Mutex;

static FILE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static VERDICT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Appends a byte to the file.
// SAFETY: no other function of the program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn push(byte: u8) {
    FILE.lock().expect("one thread").push(byte);
}

/// Decodes the file, forgets it, and returns the length of the verdict.
// SAFETY: no other function of the program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn decode() -> usize {
    let file = std::mem::take(&mut *FILE.lock().expect("one thread"));
    let verdict = golden::verdict(&file).into_bytes();
    let length = verdict.len();
    *VERDICT.lock().expect("one thread") = verdict;
    length
}

/// A byte of the verdict.
// SAFETY: no other function of the program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn byte(at: usize) -> u8 {
    VERDICT.lock().expect("one thread")[at]
}
