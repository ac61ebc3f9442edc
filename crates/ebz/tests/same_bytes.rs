//! The bytes of a file depend on values and options only, not on the API path, thread count,
//! instruction set or engine.

use ebz::codec::{Entry, TABLE};
use ebz::engine::Context;
use ebz::engine::{Cpu, EncodedChunks, Engine, Target, Values};
use ebz::simd::Level;
use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, BoundKind, Element, Options, ValueScan, View, Writer, bf16, f16};
use ebz_store::{FrameStore, Policy, StoreOptions};
use ebz_testkit::fields::{Content, Field};
use std::sync::Arc;

/// The last chunk along each axis is shorter.
const SHAPE: [usize; 3] = [20, 21, 33];

/// Whole planes; parts of planes; one chunk.
const CHUNKS: [[usize; 3]; 3] = [[8, 21, 33], [16, 11, 33], SHAPE];

/// Smooth planes, noisy ones from the middle on: the best modes differ between chunks.
fn frames<T: Element>() -> [Field<T>; 2] {
    let mut mixed: Field<T> = Content::Smooth.field(&SHAPE, 6);
    let noise: Field<T> = Content::Noise.field(&SHAPE, 7);
    let middle = mixed.values.len() / 2;
    mixed.values[middle..].copy_from_slice(&noise.values[middle..]);
    [mixed, Content::Specials.field(&SHAPE, 8)]
}

/// A bound of each kind that a codec supports, and one that depends on the whole array.
fn bounds(entry: &Entry) -> impl Iterator<Item = Bound> + '_ {
    let offered = entry.info.tolerances.iter().copied();
    let by_range = entry.offers(BoundKind::Range).then_some(BoundKind::Range);
    offered.chain(by_range).map(|kind| match kind {
        BoundKind::Precision => Bound::new(kind, 12.0).unwrap(),
        _ => Bound::new(kind, 1e-3).unwrap(),
    })
}

/// The file written from whole arrays.
fn whole<T: Element>(fields: &[Field<T>], options: &Options, engine: Arc<dyn Engine>) -> Vec<u8> {
    let writer = Writer::new(Vec::new(), options.clone()).unwrap();
    let mut writer = writer.engine(engine);
    for field in fields {
        let view = View::new(&field.values, &SHAPE).unwrap();
        writer.frame(&view).unwrap();
    }
    writer.finish().unwrap()
}

/// An engine that takes several chunks at once, from several slabs, and has its own body buffers.
#[derive(Debug)]
struct Batches;

impl Engine for Batches {
    fn batch(&self, _: &FramePlan) -> usize {
        3
    }

    fn encode(
        &self,
        plan: &FramePlan,
        chunks: &[Values<'_>],
        context: &mut Context,
        out: &mut EncodedChunks,
    ) -> ebz::Result<()> {
        let mut made = EncodedChunks::default();
        Cpu.encode(plan, chunks, context, &mut made)?;
        made.bodies().for_each(|body| out.push(body));
        Ok(())
    }

    fn decode(
        &self,
        plan: &FramePlan,
        chunks: &mut [Target<'_>],
        context: &mut Context,
    ) -> ebz::Result<()> {
        Cpu.decode(plan, chunks, context)
    }
}

/// The file written from byte streams.
fn streamed<T: Element>(
    fields: &[Field<T>],
    options: &Options,
    engine: Arc<dyn Engine>,
) -> Vec<u8> {
    let writer = Writer::new(Vec::new(), options.clone()).unwrap();
    let mut writer = writer.engine(engine);
    for field in fields {
        let scan = ValueScan::of(&field.values, options.fill);
        let mut bytes: &[u8] = bytemuck::cast_slice(&field.values);
        writer
            .frame_from::<T>(&mut bytes, &SHAPE, Some(&scan))
            .unwrap();
    }
    writer.finish().unwrap()
}

/// The file written from slabs, encoded in reverse order.
fn by_slabs<T: Element>(fields: &[Field<T>], options: &Options) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), options.clone()).unwrap();
    for (number, field) in fields.iter().enumerate() {
        let scan = ValueScan::of(&field.values, options.fill);
        let tolerance = options.tolerance(|| Ok(scan.range().extent())).unwrap();
        let mut plan = FramePlan::new::<T>(&SHAPE, tolerance, options).unwrap();
        if options.needs_range() {
            plan = plan
                .with_fill(scan.fill())
                .with_clip(options.clip.resolve(scan.range()));
        }
        let mut slabs: Vec<_> = (0..plan.slabs()).map(|_| EncodedSlab::default()).collect();
        for (slab, out) in slabs.iter_mut().enumerate().rev() {
            let region = plan.slab_region(slab);
            let plane = SHAPE[1] * SHAPE[2];
            let values = &field.values[region[0].start * plane..region[0].end * plane];
            let shape: Vec<_> = region.iter().map(|range| range.len()).collect();
            let view = View::new(values, &shape).unwrap();
            // A fresh coder.
            let mut coder = SlabCoder::new(options.simd);
            coder
                .encode(&plan, number as u32, slab, &view, out)
                .unwrap();
        }
        let mut frame = writer.begin(&plan).unwrap();
        for slab in &slabs {
            frame.slab(slab).unwrap();
        }
        frame.end().unwrap();
    }
    writer.finish().unwrap()
}

/// The file written by a frame store.
fn stored<T: Element>(fields: &[Field<T>], options: &Options) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames.ebz");
    let options = StoreOptions::new(Policy::CompressedDiskServants, options.clone())
        .path(&path)
        .servants(2);
    let mut store = FrameStore::create(&SHAPE, options).unwrap();
    for field in fields {
        store.put(&mut field.values.clone()).unwrap();
    }
    store.finish().unwrap();
    std::fs::read(path).unwrap()
}

fn check<T: Element>(entry: &Entry) {
    let fields = frames::<T>();
    for bound in bounds(entry) {
        for chunk in CHUNKS {
            let options = Options::new(bound).codec(entry.info.name).chunk(&chunk);
            let options = options.threads(1).simd(Level::Portable);
            let expected = whole(&fields, &options, Arc::new(Cpu));
            let same = |bytes: Vec<u8>, way: &str| {
                let name = entry.info.name;
                assert!(bytes == expected, "{way}: {name} {bound} {chunk:?}");
            };
            for threads in [1, 2, 3] {
                let options = options.clone().threads(threads).simd(Level::detect());
                same(whole(&fields, &options, Arc::new(Cpu)), "threads");
                same(streamed(&fields, &options, Arc::new(Cpu)), "stream");
            }
            let engine = || Arc::new(Batches);
            same(whole(&fields, &options, engine()), "another engine");
            same(
                streamed(&fields, &options, engine()),
                "another engine, stream",
            );
            for level in Level::available() {
                let options = options.clone().simd(level);
                same(by_slabs(&fields, &options), "slabs and instruction sets");
            }
            same(stored(&fields, &options), "store");
        }
    }
}

#[test]
fn every_api_path_gives_the_same_f32_file() {
    for entry in TABLE {
        check::<f32>(entry);
    }
}

#[test]
fn every_api_path_gives_the_same_16_bit_file() {
    for (i, entry) in TABLE.iter().enumerate() {
        match i % 2 {
            0 => check::<f16>(entry),
            _ => check::<bf16>(entry),
        }
    }
}

#[test]
fn every_api_path_gives_the_same_f64_file() {
    for entry in TABLE {
        check::<f64>(entry);
    }
}
