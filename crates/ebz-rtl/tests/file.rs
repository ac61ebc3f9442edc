//! Files whose chunks are compressed by simulated cores: what a host does with cores (`docs/hardware.md`).

use ebz::engine::{Body, Context, Cpu, EncodedChunks, Engine, Form, Target, Values};
use ebz::slab::FramePlan;
use ebz::{Bound, Error, Options, Reader, Result, View, Writer};
use ebz_rtl::zfp::{Blocks, Mode, STREAMS};
use ebz_rtl::{Conditions, Flit, byte_flits, fields, flits, simulate};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const MANTISSA: u32 = 6;
const PLANES: u32 = 12;
const SHAPE: [usize; 3] = [32, 64, 64];
const CHUNK: [usize; 3] = [8, 32, 64];
const CHUNKS: usize = 8;

/// Passes one chunk of flits through a core.
fn through(core: &str, input: Vec<Flit>, room: usize) -> Result<Vec<u32>> {
    let run = simulate(core, &[input], room, Conditions::SMOOTH).map_err(Error::invalid)?;
    Ok(run.chunks.concat().concat())
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

fn bytes(words: &[u32]) -> impl Iterator<Item = u8> {
    words.iter().flat_map(|word| word.to_le_bytes())
}

/// Encodes chunks to bodies by `body`, except constant ones and those with fill values, which the cores do not know.
fn encode(
    plan: &FramePlan,
    chunks: &[Values<'_>],
    context: &mut Context,
    out: &mut EncodedChunks,
    body: impl Fn(&Values<'_>) -> Result<Vec<u8>>,
) -> Result<()> {
    for chunk in chunks {
        let plain = plan.task(*chunk, context)?;
        if !plain.is_some_and(|(task, _)| task.fill.is_empty()) {
            Cpu.encode(plan, &[*chunk], context, out)?;
            continue;
        }
        let body = body(chunk)?;
        out.push(match body.len() < chunk.bytes.len() {
            true => Body {
                form: Form::Coded,
                bytes: &body,
            },
            false => Body {
                form: Form::Raw,
                bytes: chunk.bytes,
            },
        });
    }
    Ok(())
}

/// Both cores of FRE, and how many chunks went through them.
#[derive(Debug, Default)]
struct Fre(AtomicUsize);

impl Engine for Fre {
    fn batch(&self, _: &FramePlan) -> usize {
        1
    }

    fn encode(
        &self,
        plan: &FramePlan,
        chunks: &[Values<'_>],
        context: &mut Context,
        out: &mut EncodedChunks,
    ) -> Result<()> {
        encode(plan, chunks, context, out, |chunk| {
            self.0.fetch_add(1, Ordering::Relaxed);
            let values = words(chunk.bytes);
            let input = flits(&[&[values.len() as u32], &values[..]].concat());
            let stream = through("fre_compress_6", input, values.len())?.split_off(1);
            let mut body = vec![MANTISSA as u8, 1, 0, 0];
            body.extend((4 * stream.len() as u32).to_le_bytes());
            body.extend(bytes(&stream));
            Ok(body)
        })
    }

    fn decode(
        &self,
        plan: &FramePlan,
        chunks: &mut [Target<'_>],
        context: &mut Context,
    ) -> Result<()> {
        for chunk in chunks {
            if chunk.body.form != Form::Coded {
                Cpu.decode(plan, std::slice::from_mut(chunk), context)?;
                continue;
            }
            self.0.fetch_add(1, Ordering::Relaxed);
            let values = chunk.out.len() / 4;
            let input =
                byte_flits(&[&(values as u32).to_le_bytes(), &chunk.body.bytes[8..]].concat());
            let decoded = through("fre_decompress_6", input, values)?;
            let place = chunk.out.iter_mut();
            place
                .zip(bytes(&decoded[1..]))
                .for_each(|(to, from)| *to = from);
        }
        Ok(())
    }
}

/// The compressor of DE-ZFP, four times: each core writes one stream of a chunk, which is one segment.
#[derive(Debug)]
struct DeZfp;

impl Engine for DeZfp {
    fn batch(&self, _: &FramePlan) -> usize {
        1
    }

    fn encode(
        &self,
        plan: &FramePlan,
        chunks: &[Values<'_>],
        context: &mut Context,
        out: &mut EncodedChunks,
    ) -> Result<()> {
        encode(plan, chunks, context, out, |chunk| {
            let blocks = Blocks {
                dims: plan.dims(chunk.chunk),
                values: words(chunk.bytes).into_iter().map(f32::from_bits).collect(),
            };
            let mut streams = Vec::new();
            for stream in 0..STREAMS {
                let input = blocks.every_fourth(stream, Mode::Planes(PLANES));
                let room = 2 * input.len() + 16;
                streams.push(through("zfp_compress_3", input, room)?.split_off(4));
            }
            let groups = blocks.values.len().div_ceil(8 * 64) as u32;
            let mut body = vec![3];
            body.extend(bytes(&[1, groups]));
            streams
                .iter()
                .for_each(|stream| body.extend((4 * stream.len() as u32).to_le_bytes()));
            streams.iter().for_each(|stream| body.extend(bytes(stream)));
            Ok(body)
        })
    }

    fn decode(
        &self,
        plan: &FramePlan,
        chunks: &mut [Target<'_>],
        context: &mut Context,
    ) -> Result<()> {
        Cpu.decode(plan, chunks, context)
    }
}

fn written(options: Options, engine: Arc<dyn Engine>) -> Vec<u8> {
    let values = fields::sample().unwrap().values;
    let options = options.chunk(&CHUNK);
    let mut writer = Writer::new(Vec::new(), options).unwrap().engine(engine);
    writer.frame(&View::new(&values, &SHAPE).unwrap()).unwrap();
    writer.finish().unwrap()
}

fn read(file: &[u8], engine: Arc<dyn Engine>) -> Vec<f32> {
    let reader = Reader::from_source(file).unwrap().engine(engine);
    let frame = reader.frame(0).unwrap();
    frame.verify().unwrap();
    frame.read::<f32>().unwrap().into_values()
}

fn fre() -> Options {
    Options::new(Bound::Precision(MANTISSA))
        .codec("fre")
        .param("rounding", "truncate")
        .param("zeros", "word")
        .param("lanes", "1")
}

#[test]
fn the_codec_reads_a_file_of_the_fre_cores() {
    let cores = Arc::new(Fre::default());
    let file = written(fre(), cores.clone());
    assert_eq!(cores.0.load(Ordering::Relaxed), CHUNKS);
    let expected = written(fre(), Arc::new(Cpu));
    // Each chunk is less than a flit longer.
    assert!((expected.len() + 1..expected.len() + 16 * CHUNKS).contains(&file.len()));
    assert_eq!(read(&file, Arc::new(Cpu)), read(&expected, Arc::new(Cpu)));
}

#[test]
fn the_fre_cores_read_a_file_of_the_codec() {
    let file = written(fre(), Arc::new(Cpu));
    let cores = Arc::new(Fre::default());
    assert_eq!(read(&file, cores.clone()), read(&file, Arc::new(Cpu)));
    assert!(cores.0.load(Ordering::Relaxed) >= CHUNKS);
}

#[test]
fn the_codec_reads_a_file_of_the_de_zfp_cores() {
    let options = || Options::new(Bound::Precision(PLANES)).codec("de-zfp");
    let file = written(options(), Arc::new(DeZfp));
    let expected = written(options(), Arc::new(Cpu));
    assert_ne!(file, expected);
    assert_eq!(read(&file, Arc::new(Cpu)), read(&expected, Arc::new(Cpu)));
}
