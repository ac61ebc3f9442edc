#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ebz_testkit::fuzz::round_trip(bytes));
