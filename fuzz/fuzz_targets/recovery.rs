#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ebz_fuzz_targets::files::recovery(bytes));
