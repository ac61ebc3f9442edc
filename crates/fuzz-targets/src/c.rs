//! The C interface, called as C would.

use crate::{choose, up_to};
use arbitrary::Unstructured;
use ebz_c::options::*;
use ebz_c::reader::ebz_info;
use ebz_c::status::{EBZ_INTERNAL, EBZ_OK, ebz_message_free};
use ebz_c::stream::{ebz_compress, ebz_decompress, ebz_inspect, ebz_max_compressed_size};
use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// Random choices, and streams.
pub fn c_seeds() -> Vec<Vec<u8>> {
    let mut seeds = crate::words(&[30, 100, 400]);
    seeds.extend(crate::files::file_seeds().into_iter().step_by(9));
    seeds
}

/// Runs a call, whose message must exist if it failed; returns whether it succeeded. A panic within
/// the library is a bug.
fn call(run: impl FnOnce(*mut *mut c_char) -> i32) -> bool {
    let mut message = null_mut();
    let status = run(&mut message);
    assert_ne!(status, EBZ_INTERNAL, "a panic within a call");
    assert_eq!(status == EBZ_OK, message.is_null());
    // SAFETY: null, or from the call.
    unsafe { ebz_message_free(message) };
    status == EBZ_OK
}

/// Text without zeros from the input, or one of `choices`.
fn text(input: &mut Unstructured<'_>, choices: &[&str]) -> CString {
    let text = match up_to(input, 7) {
        0 => {
            let length = up_to(input, 20);
            input.bytes(length).unwrap_or_default().to_vec()
        }
        _ => choose(input, choices).as_bytes().to_vec(),
    };
    let text = text
        .into_iter()
        .filter(|&byte| byte != 0)
        .collect::<Vec<_>>();
    CString::new(text).expect("no zeros are left")
}

/// Sets options, compresses with them, and decompresses both the result and the rest of the input.
pub fn c_interface(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let input = &mut input;
    let kind = up_to(input, 8) as i32;
    let value = match up_to(input, 3) {
        0 => input.arbitrary().unwrap_or(1.0),
        exponent => 10f64.powi(-(exponent as i32)),
    };
    let mut options = null_mut();
    // SAFETY: `options` is a place for a pointer.
    if !call(|message| unsafe { ebz_options_new(kind, value, &mut options, message) }) {
        return;
    }
    let codecs = [
        "fz", "ceaz", "interp", "fre", "de-zfp", "zfp-v", "raw", "auto",
    ];
    let codec = text(input, &codecs);
    let (key, setting) = (
        text(input, &["rewrite", "layout"]),
        text(input, &["exact", "flags"]),
    );
    let (fills, clip) = (
        text(input, &["auto", "none", "1e20,-999"]),
        text(input, &["auto", "0..1"]),
    );
    let favor = text(input, &["speed", "ratio"]);
    let json = text(input, &["{\"a\":[1]}", "3", "null"]);
    let axes = up_to(input, 4);
    let shape: Vec<usize> = (0..axes).map(|_| up_to(input, 9)).collect();
    let chunk: Vec<usize> = (0..axes).map(|_| up_to(input, 9)).collect();
    let set = up_to(input, 255);
    // SAFETY: the options are valid, texts end with a zero, and lists have `axes` numbers.
    unsafe {
        call(|message| ebz_options_set_codec(options, codec.as_ptr(), message));
        if set & 1 != 0 {
            call(|m| ebz_options_set_param(options, key.as_ptr(), setting.as_ptr(), m));
        }
        if set & 2 != 0 {
            call(|message| ebz_options_set_fills(options, fills.as_ptr(), message));
        }
        if set & 4 != 0 {
            call(|message| ebz_options_set_clip(options, clip.as_ptr(), message));
        }
        if set & 8 != 0 {
            call(|m| ebz_options_set_chunk(options, axes, chunk.as_ptr(), m));
        }
        if set & 16 != 0 {
            call(|message| ebz_options_set_metadata(options, json.as_ptr(), message));
        }
        call(|message| ebz_options_set_favor(options, favor.as_ptr(), message));
        call(|message| ebz_options_set_one_pass(options, set & 32 != 0, message));
        call(|message| ebz_options_set_keep_zeros(options, set & 64 != 0, message));
        call(|message| ebz_options_set_threads(options, 1 + set % 3, message));
    }
    let element = up_to(input, 5) as i32;
    let count: usize = shape.iter().product();
    // Aligned for every type.
    let values: Vec<u64> = (0..count).map(|_| input.arbitrary().unwrap_or(7)).collect();
    let mut again = vec![0u64; count];
    let mut room = 0;
    // SAFETY: `values` and `again` have room for the array in every type, `out` for `room` bytes.
    unsafe {
        let known = call(|message| {
            ebz_max_compressed_size(options, element, axes, shape.as_ptr(), &mut room, message)
        });
        if known {
            let full = room;
            room -= up_to(input, 3) * up_to(input, room) / 3;
            let mut out = vec![0u8; room.max(1)];
            let mut size = 0;
            let written = call(|message| {
                ebz_compress(
                    options,
                    element,
                    axes,
                    shape.as_ptr(),
                    std::ptr::null(),
                    values.as_ptr().cast(),
                    out.as_mut_ptr().cast(),
                    room,
                    &mut size,
                    message,
                )
            });
            assert!(written || room < full || size == 0);
            if written {
                assert!(size <= room);
                let read = call(|message| {
                    ebz_decompress(
                        out.as_ptr().cast(),
                        size,
                        element,
                        axes,
                        shape.as_ptr(),
                        std::ptr::null(),
                        again.as_mut_ptr().cast(),
                        1,
                        message,
                    )
                });
                assert!(read, "a stream of our own");
            }
        }
        ebz_options_free(options);
        let stream = input.bytes(input.len()).unwrap_or_default();
        let mut info = MaybeUninit::<ebz_info>::uninit();
        call(|message| {
            ebz_inspect(
                stream.as_ptr().cast(),
                stream.len(),
                info.as_mut_ptr(),
                message,
            )
        });
        call(|message| {
            ebz_decompress(
                stream.as_ptr().cast(),
                stream.len(),
                element,
                axes,
                shape.as_ptr(),
                std::ptr::null(),
                again.as_mut_ptr().cast(),
                1,
                message,
            )
        });
    }
}
