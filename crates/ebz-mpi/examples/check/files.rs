//! One file written by all ranks: the bytes of a serial writer, and reads with any decomposition.

use crate::fields::{assert_near, smooth, special};
use ebz::{Bound, Element, Options, Tolerance, View, Writer};
use ebz_mpi::{Comm, FileReader, FileWriter};
use std::ops::Range;
use std::path::Path;

type Region = Vec<Range<usize>>;

/// The block of a rank in an even grid of blocks; empty for ranks beyond the grid.
fn block(shape: &[usize], grid: &[usize], rank: usize) -> Region {
    if rank >= grid.iter().product() {
        return vec![0..0; shape.len()];
    }
    let mut rest = rank;
    let mut region = vec![0..0; shape.len()];
    for axis in (0..shape.len()).rev() {
        let (i, n) = (rest % grid[axis], grid[axis]);
        rest /= n;
        region[axis] = shape[axis] * i / n..shape[axis] * (i + 1) / n;
    }
    region
}

fn part<T: Copy>(values: &[T], shape: &[usize], region: &Region) -> Vec<T> {
    let inside = |mut at: usize| {
        (0..shape.len()).rev().all(|axis| {
            let i = at % shape[axis];
            at /= shape[axis];
            region[axis].contains(&i)
        })
    };
    let places = (0..values.len()).filter(|&at| inside(at));
    places.map(|at| values[at]).collect()
}

/// Decompositions for this many ranks.
fn grids(axes: usize, ranks: usize) -> Vec<Vec<usize>> {
    let mut first = vec![1; axes];
    first[0] = ranks;
    let mut last = vec![1; axes];
    last[axes - 1] = ranks;
    let mut both = vec![1; axes];
    both[0] = ranks.div_ceil(2).min(2);
    both[axes - 1] *= (ranks / both[0]).max(1);
    // All ranks but one, so that one has no values.
    let mut fewer = vec![1; axes];
    fewer[axes / 2] = (ranks - 1).max(1);
    vec![first, last, both, fewer]
}

pub fn check(comm: &Comm, folder: &str) {
    let path = Path::new(folder).join("parallel.ebz");
    for shape in [&[10_007][..], &[83, 190], &[23, 41, 37], &[3, 8, 21, 19]] {
        let chunk: Vec<usize> = shape.iter().map(|&n: &usize| n.div_ceil(3)).collect();
        for grid in grids(shape.len(), comm.size()) {
            let codec = if grid[0] > 1 { "fz" } else { "interp" };
            let options = Options::new(Bound::Range(1e-4)).codec(codec).chunk(&chunk);
            written::<f32>(comm, &path, shape, &grid, &options);
            let options = Options::new(Bound::Abs(1e-5)).codec(codec);
            written::<f64>(comm, &path, shape, &grid, &options);
        }
    }
    nothing_and_wrong_blocks(comm, &path);
}

/// Two frames, compared with the file of a serial writer, and read back with other decompositions.
fn written<T: Element>(
    comm: &Comm,
    path: &Path,
    shape: &[usize],
    grid: &[usize],
    options: &Options,
) {
    let length: usize = shape.iter().product();
    let first: Vec<T> = smooth(length, 1);
    let second: Vec<T> = special(length, 2);
    let own = block(shape, grid, comm.rank());
    let mut writer = FileWriter::create(comm, path).unwrap();
    for values in [&first, &second] {
        let mine = part(values, shape, &own);
        let report = writer.frame(shape, &own, &mine, options).unwrap();
        assert_eq!(report.raw_bytes, (length * size_of::<T>()) as u64);
    }
    writer.finish().unwrap();

    // The bytes depend only on the chunk grid.
    let reader = ebz::Reader::open(path).unwrap();
    let chunk = reader.frame(0).unwrap().header().grid.chunk().to_vec();
    let mut serial = Writer::new(Vec::new(), options.clone().chunk(&chunk)).unwrap();
    serial.frame(&View::new(&first, shape).unwrap()).unwrap();
    serial.frame(&View::new(&second, shape).unwrap()).unwrap();
    let serial = serial.finish().unwrap();
    assert!(
        std::fs::read(path).unwrap() == serial,
        "{shape:?} on {grid:?}"
    );

    let whole: Vec<Vec<T>> = (0..2)
        .map(|frame| reader.frame(frame).unwrap().read().unwrap().into_values())
        .collect();
    let parallel = FileReader::open(comm, path).unwrap();
    assert_eq!(parallel.header(1).unwrap().0, 2);
    for (frame, whole) in whole.iter().enumerate() {
        for grid in grids(shape.len(), comm.size()) {
            let region = block(shape, &grid, comm.rank());
            let values = parallel.region::<T>(frame, &region);
            let values = values.unwrap_or_else(|e| panic!("{shape:?} {region:?}: {e}"));
            let right = part(whole, shape, &region);
            let bits = |x: &T| x.to_f64().to_bits();
            assert!(values.iter().map(bits).eq(right.iter().map(bits)));
        }
    }
    // Overlapping regions, and one out of range.
    let middle: Region = shape.iter().map(|n| n / 3..n / 2 + 1).collect();
    let values = parallel.region::<T>(0, &middle).unwrap();
    assert!(values == part(&whole[0], shape, &middle));
    assert!(parallel.region::<T>(2, &middle).is_err());
    let outside: Region = shape.iter().map(|n| 0..n + 1).collect();
    let region = if comm.rank() == 0 { &outside } else { &middle };
    assert!(parallel.region::<T>(0, region).is_err());
    parallel.close().unwrap();
}

fn nothing_and_wrong_blocks(comm: &Comm, path: &Path) {
    let options = Options::new(Bound::Abs(1e-3));
    let empty: Region = vec![0..0, 0..5];
    let mut writer = FileWriter::create(comm, path).unwrap();
    writer.frame::<f32>(&[0, 5], &empty, &[], &options).unwrap();
    writer.finish().unwrap();
    assert_eq!(
        ebz::Reader::open(path)
            .unwrap()
            .read::<f32>()
            .unwrap()
            .shape(),
        [0, 5]
    );
    // No rank may read this while others start to write.
    comm_barrier(comm);
    let kept = std::fs::read(path).unwrap();
    comm_barrier(comm);

    let shape = [comm.size(), 5];
    let own: Region = vec![comm.rank()..comm.rank() + 1, 0..5];
    let values = [1f32; 5];
    let cases: [(&[usize], Region, &[f32], Options); 5] = [
        // Too few values; a missing last row; different bounds; an unsupported bound; different
        // shapes.
        (
            &shape,
            own.clone(),
            &values[..if comm.rank() == 0 { 4 } else { 5 }],
            options.clone(),
        ),
        (&[comm.size() + 1, 5], own.clone(), &values, options.clone()),
        (
            &shape,
            own.clone(),
            &values,
            Options::new(Bound::Psnr(50.0)),
        ),
        (&shape, vec![0..1, 0..6], &[1f32; 6], options.clone()),
        (
            &shape,
            own.clone(),
            &values,
            options.clone().codec("nothing"),
        ),
    ];
    for (shape, block, values, options) in cases {
        let mut writer = FileWriter::create(comm, path).unwrap();
        assert!(writer.frame(shape, &block, values, &options).is_err());
        // A failed writer stays failed.
        assert!(writer.frame(shape, &block, values, &options).is_err());
        assert!(writer.finish().is_err());
    }
    if comm.size() > 1 {
        let mut writer = FileWriter::create(comm, path).unwrap();
        let bound = if comm.rank() == 1 { 1.0 } else { 2.0 };
        let options = Options::new(Bound::Abs(bound));
        let error = writer.frame(&shape, &own, &values, &options).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("rank 1 requests a different bound"),
            "{error}"
        );
    }
    assert!(std::fs::read(path).unwrap() == kept);
    let partial = format!("{}.partial", path.display());
    comm_barrier(comm);
    assert!(!Path::new(&partial).exists());
    assert!(FileWriter::create(comm, "/no/such/folder/x.ebz").is_err());
    assert!(FileReader::open(comm, "/no/such/folder/x.ebz").is_err());
}

fn comm_barrier(comm: &Comm) {
    let settings = ebz_mpi::Settings::new(Bound::Lossless).mode(ebz_mpi::Mode::Never);
    ebz_mpi::bcast(comm, &mut [0f32; 1], &[1], 0, &settings).unwrap();
}

/// More than 2³¹ values, and more than 2³¹ bytes. Values are generated on demand.
pub fn large(comm: &Comm, folder: &str) {
    let path = Path::new(folder).join("large.ebz");
    let columns = 1 << 16;
    // Constant except for one row, so that the file is short.
    let rows = (1 << 15) + 8;
    let own = rows * comm.rank() / comm.size()..rows * (comm.rank() + 1) / comm.size();
    let value = |row: usize| if row == rows - 1 { 7f32 } else { 1.0 };
    let options = Options::new(Bound::Abs(1e-3)).chunk(&[16, columns]);
    let mut writer = FileWriter::create(comm, &path).unwrap();
    let block = vec![own, 0..columns];
    let fill = |part: &[Range<usize>], out: &mut [f32]| {
        let rows = out.chunks_mut(part[1].len()).zip(part[0].clone());
        rows.for_each(|(out, row)| out.fill(value(row)));
        Ok(())
    };
    let report = writer
        .frame_from(&[rows, columns], &block, &options, fill)
        .unwrap();
    assert!(report.raw_bytes > 4 << 31);
    // Noise, lossless: more bytes than an MPI count can hold.
    let rows = 1060;
    let columns = 1 << 19;
    let own = rows * comm.rank() / comm.size()..rows * (comm.rank() + 1) / comm.size();
    let noise = |at: usize| {
        let bits = (at as u32).wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
        f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000 | bits << 8 & 0x8000_0000)
    };
    let block = vec![own.clone(), 0..columns];
    let options = Options::new(Bound::Lossless)
        .codec("raw")
        .chunk(&[4, columns]);
    let fill = |part: &[Range<usize>], out: &mut [f32]| {
        for (row, out) in part[0].clone().zip(out.chunks_mut(part[1].len())) {
            for (column, x) in out.iter_mut().enumerate() {
                *x = noise(row * columns + column);
            }
        }
        Ok(())
    };
    let report = writer
        .frame_from(&[rows, columns], &block, &options, fill)
        .unwrap();
    assert!(report.stored_bytes > 1 << 31);
    writer.finish().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 1 << 31);

    let reader = FileReader::open(comm, &path).unwrap();
    let last = (1 << 15) + 6..(1 << 15) + 8;
    let tail = reader.region::<f32>(0, &[last, 65_000..65_002]).unwrap();
    assert_near(&[1.0, 1.0, 7.0, 7.0], &tail, Tolerance::Abs(1e-3));
    let row = rows - 1 - comm.rank();
    let tail = reader
        .region::<f32>(1, &[row..row + 1, 0..columns])
        .unwrap();
    let right = (0..columns).map(|column| noise(row * columns + column).to_bits());
    assert!(tail.iter().map(|x| x.to_bits()).eq(right));
    reader.close().unwrap();
}
