//! `ebz decompress`: decompresses frames, or regions of them, to raw values or `.npy`.

use super::{Seekable, each, frame_number, from_end, output_in};
use crate::Outcome;
use crate::args::Decompress;
use crate::device::{Device, Opened};
use crate::foreign;
use crate::foreign::has_extension;
use crate::input::open_file;
use crate::npy::Header;
use crate::output::Output;
use crate::progress;
use crate::report;
use anyhow::{Context, Result, bail, ensure};
use ebz::{FrameHeader, StreamReader};
use std::io::{Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub fn run(args: &Decompress) -> Result<Outcome> {
    each(&args.inputs, |input| one(args, input))
}

fn one(args: &Decompress, input: &Path) -> Result<Outcome> {
    let is_pipe = input == Path::new("-") || open_file(input)?.1.is_none();
    let path = output_path(args, input)?;
    let as_npy = has_extension(&path, "npy");
    foreign::check_output(&path)?;
    // Regions, and frames counted from the end, need the index.
    let front_to_back = args.region.is_none() && args.frame.is_none_or(|frame| frame >= 0);
    let on_cpu = args.device.device == Device::Cpu;
    if is_pipe && front_to_back && on_cpu {
        from_pipe(args, input, &path, as_npy)?;
    } else {
        from_file(args, input, &path, as_npy)?;
    }
    Ok(Outcome::Fine)
}

fn output_path(args: &Decompress, input: &Path) -> Result<PathBuf> {
    let default = match has_extension(input, "ebz") {
        true => input.with_extension(""),
        false => input.to_path_buf(),
    };
    match &args.output {
        Some(path) => output_in(path, &default, args.inputs.len() > 1),
        None => {
            ensure!(
                input == Path::new("-") || default != input,
                "{} does not end in .ebz: name the output with -o",
                input.display()
            );
            Ok(default)
        }
    }
}

/// Any frames, any region.
fn from_file(args: &Decompress, input: &Path, path: &Path, as_npy: bool) -> Result<()> {
    let source = Seekable::open(input)?;
    let named = || source.name.clone();
    let device = Opened::new(&args.device.device)?;
    let reader = source.reader(&args.memory)?.threads(args.threads.count());
    let reader = reader.engine(device.engine());
    let numbers = match args.frame {
        Some(frame) => {
            let frame = frame_number(frame, reader.frames()).with_context(named)?;
            frame..frame + 1
        }
        None => 0..reader.frames(),
    };
    ensure!(!numbers.is_empty(), "{} holds no frames", source.name);
    let frames: Vec<_> = numbers
        .map(|number| reader.frame(number))
        .collect::<ebz::Result<_>>()
        .with_context(named)?;
    let header = frames[0].header();
    let same = |other: &FrameHeader| same_array(header, other);
    ensure!(
        frames.iter().all(|frame| same(frame.header())),
        "{} holds arrays of different shapes or types: choose one with --frame N",
        source.name
    );
    let region = region(args.region.as_deref(), header.shape())?;
    let mut shape: Vec<_> = region.iter().map(Range::len).collect();
    let values: usize = shape.iter().product::<usize>() * frames.len();
    if frames.len() > 1 {
        shape.insert(0, frames.len());
    }
    let mut output = Output::create(path, &args.force, args.quiet)?;
    if as_npy {
        output.write_all(&Header::bytes(header.element, &shape)?)?;
    }
    let bytes = (values * header.element.size()) as u64;
    let bar = progress::bar(bytes, "decompress", args.quiet);
    let mut writer = bar.wrap_write(&mut output);
    for frame in &frames {
        frame
            .write_region(&region, &mut writer)
            .with_context(named)?;
    }
    bar.finish_and_clear();
    output.commit()?;
    device.report(args.quiet);
    let element = header.element.name();
    done(args.quiet, &source.name, path, element, &shape);
    Ok(())
}

/// Sequentially, with a few chunks in memory.
fn from_pipe(args: &Decompress, input: &Path, path: &Path, as_npy: bool) -> Result<()> {
    let (name, input): (_, Box<dyn Read + Send>) = match input == Path::new("-") {
        true => ("standard input".into(), Box::new(std::io::stdin())),
        false => {
            let name = input.display().to_string();
            (name, Box::new(open_file(input)?.0))
        }
    };
    let named = || name.clone();
    let mut stream = StreamReader::new(input)
        .with_context(named)?
        .limits(args.memory.limits())
        .threads(args.threads.count());
    let mut output = Output::create(path, &args.force, args.quiet)?;
    let mut first: Option<FrameHeader> = None;
    let mut written = 0;
    let mut number = 0;
    while let Some(header) = stream.next_frame().with_context(named)? {
        let wanted = args.frame.is_none_or(|frame| frame == number as i64);
        number += 1;
        if !wanted {
            continue;
        }
        let header = header.clone();
        let bar = progress::bar(header.raw_bytes() as u64, "decompress", args.quiet);
        match &first {
            None => {
                if as_npy {
                    output.write_all(&Header::bytes(header.element, header.shape())?)?;
                }
                first = Some(header);
            }
            Some(_) if as_npy => bail!(
                "{name} holds several arrays, and .npy needs their number in advance: choose one with \
                 --frame N, or write raw values"
            ),
            Some(first) => ensure!(
                same_array(first, &header),
                "{name} holds arrays of different shapes or types: choose one with --frame N"
            ),
        }
        stream
            .write_frame(&mut bar.wrap_write(&mut output))
            .with_context(named)?;
        bar.finish_and_clear();
        written += 1;
    }
    let Some(header) = first else {
        bail!("{name} holds {number} frames: choose one of them with --frame N");
    };
    output.commit()?;
    let mut shape = header.shape().to_vec();
    if written > 1 {
        shape.insert(0, written);
    }
    done(args.quiet, &name, path, header.element.name(), &shape);
    Ok(())
}

fn same_array(a: &FrameHeader, b: &FrameHeader) -> bool {
    a.element == b.element && a.shape() == b.shape()
}

fn done(quiet: bool, from: &str, to: &Path, element: &str, shape: &[usize]) {
    let shape = report::shape(shape);
    report::note(
        quiet,
        &format!("{from} -> {}: {element}, {shape}", to.display()),
    );
}

/// The requested region, checked against the shape.
pub fn region(text: Option<&str>, shape: &[usize]) -> Result<Vec<Range<usize>>> {
    let mut region: Vec<_> = shape.iter().map(|&extent| 0..extent).collect();
    let Some(text) = text else {
        return Ok(region);
    };
    let parts: Vec<_> = text.split(',').collect();
    ensure!(
        parts.len() <= shape.len(),
        "region {text} has {} axes, but the array has {}: its shape is {}",
        parts.len(),
        shape.len(),
        report::shape(shape)
    );
    for (axis, (part, range)) in parts.iter().zip(&mut region).enumerate() {
        let extent = range.end;
        let outside = || {
            format!(
                "region {part} is not within axis {axis}, which goes from 0 to {extent}: the shape \
                 is {}",
                report::shape(shape)
            )
        };
        // Negative numbers count from the end, as in NumPy.
        let number = |text: &str, default: usize| match text.trim() {
            "" => Ok(default),
            text => {
                let number = text.parse::<i64>().ok().with_context(|| {
                    format!("'{part}' is not a part of an axis: write START:END, as in 0:10,:,5:20")
                })?;
                from_end(number, extent).with_context(outside)
            }
        };
        let wanted = match part.split_once(':') {
            Some((start, end)) => number(start, 0)?..number(end, extent)?,
            None => {
                let index = number(part, extent)?;
                index..index.saturating_add(1)
            }
        };
        if wanted.start > wanted.end || wanted.end > extent {
            bail!(outside());
        }
        *range = wanted;
    }
    Ok(region)
}

#[cfg(test)]
mod tests {
    use super::region;

    #[test]
    fn regions_are_written_as_in_numpy() {
        let read = |text| region(Some(text), &[30, 40, 50]).ok();
        assert_eq!(read("0:10,:,5:20"), Some(vec![0..10, 0..40, 5..20]));
        assert_eq!(read("7"), Some(vec![7..8, 0..40, 0..50]));
        assert_eq!(read("28:,:3"), Some(vec![28..30, 0..3, 0..50]));
        assert_eq!(read("4:4"), Some(vec![4..4, 0..40, 0..50]));
        assert_eq!(read("-1,:,-50"), Some(vec![29..30, 0..40, 0..1]));
        assert_eq!(read("-3:-1,-2:"), Some(vec![27..29, 38..40, 0..50]));
        assert_eq!(read("-3:,:-40"), Some(vec![27..30, 0..0, 0..50]));
        for wrong in [
            "0:31", "30", "5:4", "-31", "-31:", "-1:-2", "--1", "a:b", "0:1:2", ":,:,:,:", "",
            "1:2,",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
