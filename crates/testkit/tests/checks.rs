//! The checks themselves: a faulty codec must be caught.

use ebz::codec::{Entry, Info, Params};
use ebz::engine::Context;
use ebz::internals::{Codec, Dims, Float, Task};
use ebz::simd::Level;
use ebz::{BoundKind, Error, Result, Tolerance};
use ebz_testkit::conformance::{Cases, Checker};
use ebz_testkit::corruption::decode_garbage;
use ebz_testkit::fields::{Content, Field};

/// Faults of a codec.
const NO_FAULT: u8 = 0;
const BOUND: u8 = 1;
const NAN_PAYLOAD: u8 = 2;
const FILL: u8 = 3;
const LEVEL: u8 = 4;
const SCRATCH: u8 = 5;
const PREFIX: u8 = 6;
const STREAMING: u8 = 7;
const PANIC: u8 = 8;
const ERROR_KIND: u8 = 9;

/// Stores every value but the first, with one fault.
struct Faulty<const FAULT: u8>;

impl<const FAULT: u8> Codec for Faulty<FAULT> {
    const INFO: Info = Info {
        id: 40000,
        name: "faulty",
        summary: "has a fault",
        tolerances: &[BoundKind::Abs],
        params: &[],
        rewrites_exactly: None,
    };

    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Tolerance::Abs(e) = task.tolerance else {
            return Err(Error::unsupported("only abs"));
        };
        if FAULT == PREFIX {
            out.clear();
        }
        let mut used = context.take::<u8>();
        out.push(match FAULT {
            LEVEL => u8::from(context.simd() != Level::Portable),
            SCRATCH => *used,
            _ => 0,
        });
        *used = used.saturating_add(1);
        context.put_back(used);
        for &x in &values[1..] {
            let fill = task.fill.as_slice().contains(&x.to_f64());
            let y = match FAULT {
                BOUND if x.is_finite() && !fill => T::from_f64(x.to_f64() + e * 1.001),
                NAN_PAYLOAD if !x.is_finite() => T::from_f64(f64::NAN),
                FILL if fill => T::from_f64(x.to_f64().next_down()),
                _ => x,
            };
            out.extend_from_slice(&y.to_word().to_le_bytes()[..T::SIZE]);
        }
        Ok(())
    }

    fn decode<T: Float>(bytes: &[u8], _: Dims, context: &mut Context, out: &mut [T]) -> Result<()> {
        let length = (out.len() - 1) * T::SIZE + 1;
        if FAULT == PANIC {
            assert_eq!(bytes.len(), length);
        }
        if bytes.len() != length {
            return Err(match FAULT {
                ERROR_KIND => Error::invalid("you did it"),
                _ => Error::corrupt("length"),
            });
        }
        for (y, word) in out[1..].iter_mut().zip(bytes[1..].chunks_exact(T::SIZE)) {
            let mut bytes = [0; 8];
            bytes[..T::SIZE].copy_from_slice(word);
            *y = T::from_word(u64::from_le_bytes(bytes));
        }
        // The first value is not stored: the test field starts with a zero.
        out[0] = T::default();
        if FAULT == STREAMING && context.streaming {
            out[0] = T::from_f64(1e-9);
        }
        Ok(())
    }
}

fn judge<const FAULT: u8>() -> std::result::Result<usize, String> {
    let entry = Entry::of::<Faulty<FAULT>>();
    let mut field: Field<f64> = Content::Specials.field(&[7, 11], 1);
    field.values[0] = 0.0;
    field.values[1] = 1e20;
    field.fill = 1e20.into();
    let mut checker = Checker::default();
    // Twice, so that the second run sees the scratch of the first.
    checker.chunk(&entry, &Params::default(), &field, Tolerance::Abs(1e6))?;
    checker.chunk(&entry, &Params::default(), &field, Tolerance::Abs(1e6))?;
    decode_garbage::<f64>(&entry, &Params::default(), &[7, 11], 50, |_, decode| {
        decode()
    })
}

fn is_caught<const FAULT: u8>(by: &str) {
    let what = judge::<FAULT>().unwrap_err();
    assert!(what.contains(by), "{FAULT}: {what}");
}

#[test]
fn a_correct_codec_passes() {
    assert!(judge::<NO_FAULT>().unwrap() > 0);
}

#[test]
fn every_fault_is_caught() {
    is_caught::<BOUND>("absolute bound violated");
    is_caught::<NAN_PAYLOAD>("NaN or infinity not exact");
    is_caught::<FILL>("fill value not exact");
    is_caught::<SCRATCH>("encode differs");
    is_caught::<PREFIX>("changed existing output");
    is_caught::<STREAMING>("decode differs");
    is_caught::<ERROR_KIND>("wrong kind of error");
    if Level::available().count() > 1 {
        is_caught::<LEVEL>("encode differs");
    }
}

#[test]
#[should_panic(expected = "1 of 2 cases failed")]
fn a_panic_is_a_failure() {
    let mut cases = Cases::default();
    cases.case(|| "panics".into(), judge::<PANIC>);
    cases.case(|| "is fine".into(), judge::<NO_FAULT>);
    cases.finish("both");
}
