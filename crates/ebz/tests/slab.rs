//! Frames written and read slab by slab equal those written and read whole.

use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, Error, Options, Reader, Tolerance, View, Writer};
use std::io::Cursor;

const SHAPE: [usize; 3] = [23, 17, 40];

fn values() -> Vec<f32> {
    let count = SHAPE.iter().product();
    (0..count)
        .map(|i| (i as f32 * 0.01).sin() * 100.0)
        .collect()
}

/// Chunks of whole planes, and of parts of planes.
fn options() -> [Options; 2] {
    let options = Options::new(Bound::Abs(1e-2));
    [[4, 17, 40], [4, 5, 16]].map(|chunk| options.clone().chunk(&chunk))
}

fn encode(
    plan: &FramePlan,
    values: &[f32],
    order: impl Iterator<Item = usize>,
) -> Vec<EncodedSlab> {
    let mut coder = SlabCoder::new(ebz::simd::Level::detect());
    let mut slabs: Vec<_> = (0..plan.slabs()).map(|_| EncodedSlab::default()).collect();
    for slab in order {
        let region = plan.slab_region(slab);
        let plane = SHAPE[1] * SHAPE[2];
        let part = &values[region[0].start * plane..region[0].end * plane];
        let shape: Vec<_> = region.iter().map(|r| r.len()).collect();
        let view = View::new(part, &shape).unwrap();
        coder
            .encode(plan, 0, slab, &view, &mut slabs[slab])
            .unwrap();
    }
    slabs
}

#[test]
fn slabs_in_any_order_give_the_same_file() {
    let values = values();
    for options in options() {
        let whole = ebz::compress(&View::new(&values, &SHAPE).unwrap(), &options).unwrap();
        let plan = FramePlan::new::<f32>(&SHAPE, Tolerance::Abs(1e-2), &options).unwrap();
        let slabs = encode(&plan, &values, (0..plan.slabs()).rev());
        let mut writer = Writer::new(Vec::new(), options).unwrap();
        let mut frame = writer.begin(&plan).unwrap();
        let places: Vec<_> = slabs.iter().map(|s| frame.slab(s).unwrap()).collect();
        frame.end().unwrap();
        let bytes = writer.finish().unwrap();
        assert!(bytes == whole);

        let reader = Reader::from_source(&bytes[..]).unwrap();
        let frame = reader.frame(0).unwrap();
        let expected = frame.read::<f32>().unwrap();
        let mut decoded = Vec::new();
        let mut coder = SlabCoder::new(ebz::simd::Level::detect());
        for (slab, place) in places.into_iter().enumerate() {
            assert_eq!(frame.slab_bytes(slab).unwrap(), place);
            let records = &bytes[place.start as usize..place.end as usize];
            let length = plan.slab_region(slab).iter().map(|r| r.len()).product();
            let mut out = vec![0f32; length];
            let plan = frame.plan().unwrap();
            coder.decode(&plan, 0, slab, records, &mut out).unwrap();
            decoded.extend(out);
        }
        assert_eq!(decoded, expected.values());
        assert!(frame.slab_bytes(plan.slabs()).is_err());
    }
}

#[test]
fn records_can_be_written_externally() {
    let values = values();
    for options in options() {
        let whole = ebz::compress(&View::new(&values, &SHAPE).unwrap(), &options).unwrap();
        let plan = FramePlan::new::<f32>(&SHAPE, Tolerance::Abs(1e-2), &options).unwrap();
        let slabs = encode(&plan, &values, 0..plan.slabs());
        let mut writer = Writer::new(Cursor::new(Vec::new()), options).unwrap();
        let mut frame = writer.begin(&plan).unwrap();
        // The writer only knows the lengths.
        let places = slabs.iter().map(|slab| frame.reserve(&slab.bodies()));
        let places: Vec<_> = places.collect::<Result<_, _>>().unwrap();
        frame.end().unwrap();
        let mut file = writer.finish().unwrap().into_inner();
        assert!(file != whole);
        for (slab, place) in slabs.iter().zip(places) {
            file[place.start as usize..place.end as usize].copy_from_slice(slab.bytes());
        }
        assert!(file == whole);
    }
}

#[test]
fn misplaced_missing_and_damaged_slabs_are_rejected() {
    let values = values();
    let [options, _] = options();
    let plan = FramePlan::new::<f32>(&SHAPE, Tolerance::Abs(1e-2), &options).unwrap();
    let slabs = encode(&plan, &values, 0..plan.slabs());
    let mut writer = Writer::new(Vec::new(), options).unwrap();
    let mut frame = writer.begin(&plan).unwrap();
    assert!(matches!(
        frame.slab(&slabs[1]),
        Err(Error::InvalidArgument(_))
    ));
    frame.slab(&slabs[0]).unwrap();
    assert!(matches!(frame.end(), Err(Error::InvalidArgument(_))));

    let mut coder = SlabCoder::new(ebz::simd::Level::detect());
    let mut out = vec![0f32; 4 * SHAPE[1] * SHAPE[2]];
    let good = slabs[1].bytes();
    coder.decode(&plan, 0, 1, good, &mut out).unwrap();
    for (frame, slab) in [(1, 1), (0, 2)] {
        assert!(matches!(
            coder.decode(&plan, frame, slab, good, &mut out),
            Err(Error::Corrupt(_))
        ));
    }
    assert!(coder.decode(&plan, 0, 1, good, &mut out[1..]).is_err());
    assert!(
        coder
            .decode(&plan, 0, plan.slabs(), good, &mut out)
            .is_err()
    );
    assert!(
        coder
            .decode(&plan, 0, 1, good, &mut vec![0f64; out.len()])
            .is_err()
    );
    for cut in 0..good.len() {
        assert!(coder.decode(&plan, 0, 1, &good[..cut], &mut out).is_err());
    }
    let mut damaged = good.to_vec();
    for byte in 0..damaged.len() {
        damaged[byte] ^= 0x10;
        assert!(coder.decode(&plan, 0, 1, &damaged, &mut out).is_err());
        damaged[byte] ^= 0x10;
    }
    let view = View::new(&values, &SHAPE).unwrap();
    let mut slab = EncodedSlab::default();
    assert!(coder.encode(&plan, 0, 0, &view, &mut slab).is_err());
}
