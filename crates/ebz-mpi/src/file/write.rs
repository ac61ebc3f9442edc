//! Writes distributed arrays to one file.
//!
//! Steps of a frame: 1 the ranks agree on shape, bound and blocks; 2 each chunk is encoded by the rank that
//! holds most of it, which receives the rest from the others; 3 the ranks exchange the lengths of their
//! chunks, from which all compute the offset of every record; 4 all write in parallel. Rank 0 writes
//! everything except chunks.

use super::access::SharedFile;
use super::cut::{self, Region, intersect, rows, volume};
use super::sketch::Sketch;
use crate::comm::{Comm, Tag};
use crate::error::{Error, Result};
use crate::message::{self, Kind, Message};
use crate::settings::MAX_AXES;
use crate::slabs::Outbox;
use ebz::engine::Form;
use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, Element, Options, Tolerance, ValueScan, View, Writer};
use std::ops::Range;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Report of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FrameReport {
    /// Raw bytes of the array.
    pub raw_bytes: u64,
    /// Bytes in the file.
    pub stored_bytes: u64,
    /// The tolerance of every value.
    pub tolerance: Tolerance,
    /// Bytes that this rank sent to others before compression.
    pub moved_bytes: u64,
}

/// Writes a file. All methods are collective, and fail on every rank or on none.
///
/// The file has the suffix `.partial` until it is finished. After a crash, `ebz recover` saves the complete
/// frames from it.
pub struct FileWriter<'c> {
    comm: &'c Comm,
    path: PathBuf,
    partial: PathBuf,
    file: Option<SharedFile>,
    /// A replica on every rank, which tracks offsets.
    layout: Option<Writer<Sketch>>,
    sketch: Sketch,
    /// The writes of this rank: offset, length and checksum.
    written: Vec<(u64, usize, u64)>,
}

/// Bytes per read when checking the file.
const READ_BACK_BYTES: usize = 4 << 20;

/// Words of a scan, and of a rank's description of its block.
const SCAN_WORDS: usize = 28;
const WORDS: usize = 5 + 2 * MAX_AXES + 1 + SCAN_WORDS;

impl<'c> FileWriter<'c> {
    /// Creates a file; an existing one is replaced when this one is finished.
    pub fn create(comm: &'c Comm, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let mut name = path.clone().into_os_string();
        name.push(".partial");
        let partial = PathBuf::from(name);
        // Left by an earlier program that was killed.
        let removed = match comm.rank() {
            0 => match std::fs::remove_file(&partial) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
                _ => Ok(()),
            },
            _ => Ok(()),
        };
        comm.settle(removed)?;
        let sketch = Sketch::default();
        // Frames have their own plans.
        let layout = Writer::new(sketch.clone(), Options::new(Bound::Lossless))?;
        let file = comm.settle(SharedFile::create(comm, &partial))?;
        Ok(Self {
            comm,
            path,
            partial,
            file: Some(file),
            layout: Some(layout),
            sketch,
            written: Vec::new(),
        })
    }

    /// Writes an array of `shape` as the next frame. This rank holds the values of `block`, in C order; the
    /// blocks of all ranks together are the array.
    pub fn frame<T: Element>(
        &mut self,
        shape: &[usize],
        block: &[Range<usize>],
        values: &[T],
        options: &Options,
    ) -> Result<FrameReport> {
        let fits = match volume(block) == values.len() {
            true => Ok(()),
            false => Err(Error::from(ebz::Error::invalid(format!(
                "{} values do not fill the block {block:?}",
                values.len()
            )))),
        };
        if let Err(error) = self.comm.settle(fits) {
            return Err(self.give_up(error));
        }
        self.frame_from(shape, block, options, |part, out| {
            rows(part, block, |from, to, length| {
                out[to..to + length].copy_from_slice(&values[from..from + length]);
            });
            Ok(())
        })
    }

    /// The same with values from `fill` on demand: it is called with a box within this rank's block, and
    /// the memory for its values.
    pub fn frame_from<T: Element>(
        &mut self,
        shape: &[usize],
        block: &[Range<usize>],
        options: &Options,
        fill: impl FnMut(&[Range<usize>], &mut [T]) -> Result<()>,
    ) -> Result<FrameReport> {
        let result = self.try_frame(shape, block, options, fill);
        result.map_err(|error| self.give_up(error))
    }

    fn try_frame<T: Element>(
        &mut self,
        shape: &[usize],
        block: &[Range<usize>],
        options: &Options,
        mut fill: impl FnMut(&[Range<usize>], &mut [T]) -> Result<()>,
    ) -> Result<FrameReport> {
        let comm = self.comm;
        let scan = match options.needs_range() {
            true => scan(block, options, &mut fill).map(|scan| scan.to_words()),
            false => Ok(Vec::new()),
        };
        let (blocks, scan) = agree::<T>(comm, shape, block, options, scan)?;
        cut::check(shape, &blocks)?;
        let plan = plan::<T>(shape, &blocks, options, &scan)?;
        let frame = self.layout.as_ref().ok_or_else(finished)?.frames() as u32;
        let encoded = encode(comm, &plan, frame, &blocks, fill);
        let encoded = comm.settle(encoded)?;
        self.write(&plan, encoded)
    }

    /// Assigns offsets to the records of all ranks, and writes them.
    fn write(&mut self, plan: &FramePlan, encoded: Encoded) -> Result<FrameReport> {
        let comm = self.comm;
        let all = comm.allgather_bytes(&encoded.listing())?;
        let bodies = comm.settle(bodies_of(&all, plan.chunks()))?;
        let layout = self.layout.as_mut().ok_or_else(finished)?;
        let mut frame = layout.begin(plan)?;
        let mut runs = Vec::new();
        let mut own = encoded.bodies.iter().peekable();
        for (chunk, body) in bodies.iter().enumerate() {
            let place = frame.reserve(std::slice::from_ref(body))?;
            if own.next_if(|(number, ..)| *number == chunk).is_some() {
                runs.push((place.start, (place.end - place.start) as usize));
            }
        }
        let stats = frame.end()?;
        // Header and frame record come first, so that an interrupted file can be recovered.
        let file = self.write_sketch()?;
        file.write_all(comm, &runs, &encoded.bytes)?;
        let mut rest = &encoded.bytes[..];
        for &(place, length) in &runs {
            let (mut bytes, after) = rest.split_at(length);
            rest = after;
            let mut at = place;
            while !bytes.is_empty() {
                let (piece, more) = bytes.split_at(bytes.len().min(READ_BACK_BYTES));
                self.written.push((at, piece.len(), xxh3_64(piece)));
                at += piece.len() as u64;
                bytes = more;
            }
        }
        Ok(FrameReport {
            raw_bytes: stats.raw_bytes,
            stored_bytes: stats.stored_bytes,
            tolerance: stats.tolerance,
            moved_bytes: encoded.moved_bytes,
        })
    }

    /// Rank 0 writes everything except chunks.
    fn write_sketch(&self) -> Result<&SharedFile> {
        let file = self.file.as_ref().ok_or_else(finished)?;
        let pieces = self.sketch.take();
        let written = match self.comm.rank() {
            0 => pieces
                .iter()
                .try_for_each(|(at, bytes)| file.write_at(*at, bytes)),
            _ => Ok(()),
        };
        self.comm.settle(written)?;
        Ok(file)
    }

    /// Writes the index, syncs, and renames the file.
    pub fn finish(mut self) -> Result<()> {
        let result = self.try_finish();
        result.map_err(|error| self.give_up(error))
    }

    fn try_finish(&mut self) -> Result<()> {
        let comm = self.comm;
        self.layout.take().ok_or_else(finished)?.finish()?;
        comm.settle(self.write_sketch()?.sync())?;
        comm.settle(self.read_back())?;
        if let Some(file) = self.file.take() {
            comm.settle(file.close())?;
        }
        let named = match comm.rank() {
            0 => std::fs::rename(&self.partial, &self.path)
                .map_err(Error::from)
                .and_then(|()| Ok(ebz::sync_folder(&self.path)?)),
            _ => Ok(()),
        };
        comm.settle(named)
    }

    /// Reads the file back and checks it: Open MPI's collective writes report success even if the disk is
    /// full.
    fn read_back(&self) -> Result<()> {
        let file = self.file.as_ref().ok_or_else(finished)?;
        let mut bytes = Vec::new();
        for &(place, length, checksum) in &self.written {
            bytes.resize(length, 0);
            file.read_at(place, &mut bytes)?;
            if xxh3_64(&bytes) != checksum {
                let text = "the file differs from what was written to it: is the disk full?";
                return Err(std::io::Error::other(text).into());
            }
        }
        Ok(())
    }

    /// After a failure on every rank, removes the file.
    fn give_up(&mut self, error: Error) -> Error {
        if let Some(file) = self.file.take() {
            // Report the first error, not that of the cleanup.
            let _ = file.close();
            if self.comm.rank() == 0 {
                let _ = std::fs::remove_file(&self.partial);
            }
        }
        error
    }
}

fn finished() -> Error {
    ebz::Error::invalid("an earlier write failed, and the file is closed").into()
}

/// The scan of a block.
fn scan<T: Element>(
    block: &[Range<usize>],
    options: &Options,
    fill: &mut impl FnMut(&[Range<usize>], &mut [T]) -> Result<()>,
) -> Result<ValueScan> {
    let mut scan = ValueScan::new(options.fill);
    let mut values = Vec::new();
    // In parts, because the values may be generated on demand.
    let rows = block.first().cloned().unwrap_or(0..1);
    let row = volume(block) / rows.len().max(1);
    let step = ((1 << 20) / row.max(1)).max(1);
    let mut part = block.to_vec();
    for start in rows.clone().step_by(step) {
        if let Some(first) = part.first_mut() {
            *first = start..(start + step).min(rows.end);
        }
        values.resize(volume(&part), T::default());
        fill(&part, &mut values)?;
        scan.add(&values);
    }
    Ok(scan)
}

/// The ranks exchange requests and blocks. Returns the blocks of all, and the scan of all values.
fn agree<T: Element>(
    comm: &Comm,
    shape: &[usize],
    block: &[Range<usize>],
    options: &Options,
    scan: Result<Vec<u64>>,
) -> Result<(Vec<Region>, ValueScan)> {
    let mut words = [0u64; WORDS];
    let checked = options.check().map_err(Error::from).and_then(|_| {
        if block.len() != shape.len() || shape.len() > MAX_AXES {
            return Err(ebz::Error::invalid(
                "blocks and arrays must have the same number of axes, 0 to 4",
            )
            .into());
        }
        if matches!(options.bound, Bound::Ratio(_) | Bound::Psnr(_)) {
            let text = "ratio and psnr need all values in one place: use abs or range";
            return Err(ebz::Error::unsupported(text).into());
        }
        scan
    });
    words[0] = u64::from(checked.is_err());
    for (word, text) in words[1..5].iter_mut().zip([
        format!("{shape:?}"),
        T::TYPE.to_string(),
        format!("{:?} {:?}", options.bound, options.fill),
        format!(
            "{} {:?} {:?} {:?}",
            options.codec, options.params, options.chunk, options.metadata
        ),
    ]) {
        *word = xxh3_64(text.as_bytes());
    }
    if let Ok(scan) = &checked {
        for (pair, range) in words[5..].chunks_mut(2).zip(block) {
            pair.copy_from_slice(&[range.start as u64, range.end as u64]);
        }
        let at = 5 + 2 * MAX_AXES;
        words[at] = scan.len() as u64;
        words[at + 1..][..scan.len()].copy_from_slice(scan);
    }
    let all = comm.allgather(&words)?;
    let ranks: Vec<&[u64]> = all.chunks_exact(WORDS).collect();
    if let Some(rank) = ranks.iter().position(|words| words[0] != 0) {
        checked?;
        let text = "it failed to start".into();
        return Err(Error::Other { rank, text });
    }
    let what = ["shape", "element type", "bound", "codec, chunk or metadata"];
    for (at, what) in what.into_iter().enumerate() {
        let differs = |words: &&[u64]| words[1 + at] != ranks[0][1 + at];
        if let Some(rank) = ranks.iter().position(differs) {
            let text = format!("rank {rank} requests a different {what} than rank 0");
            return Err(Error::Disagree(text));
        }
    }
    let mut scan = ValueScan::new(options.fill);
    let mut blocks = Vec::new();
    for words in ranks {
        let pairs = words[5..].chunks(2).take(shape.len());
        blocks.push(
            pairs
                .map(|pair| pair[0] as usize..pair[1] as usize)
                .collect(),
        );
        let at = 5 + 2 * MAX_AXES;
        if words[at] > 0 {
            scan.join_words(&words[at + 1..][..(words[at] as usize).min(SCAN_WORDS)])?;
        }
    }
    Ok((blocks, scan))
}

/// Identical on every rank.
fn plan<T: Element>(
    shape: &[usize],
    blocks: &[Region],
    options: &Options,
    scan: &ValueScan,
) -> Result<FramePlan> {
    let tolerance = options.tolerance(|| Ok(scan.range().extent()))?;
    let mut options = options.clone();
    if options.chunk.is_none() {
        options.chunk = cut::chunk_of_blocks(shape, blocks, size_of::<T>());
    }
    let plan = FramePlan::new::<T>(shape, tolerance, &options)?;
    Ok(match options.needs_range() {
        true => plan
            .with_fill(scan.fill())
            .with_clip(options.clip.resolve(scan.range())),
        false => plan,
    })
}

/// The records of a rank's chunks.
#[derive(Default)]
struct Encoded {
    bytes: Vec<u8>,
    /// In chunk order.
    bodies: Vec<(usize, Form, u64)>,
    moved_bytes: u64,
}

const FORMS: [Form; 3] = [Form::Coded, Form::Raw, Form::Constant];
/// Bytes per chunk in a listing.
const LISTED_BYTES: usize = 4 + 1 + 8;

impl Encoded {
    /// Number, form and length of each chunk, for the other ranks.
    fn listing(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(LISTED_BYTES * self.bodies.len());
        for &(chunk, form, length) in &self.bodies {
            out.extend_from_slice(&(chunk as u32).to_le_bytes());
            out.push(FORMS.iter().position(|&f| f == form).unwrap_or(0) as u8);
            out.extend_from_slice(&length.to_le_bytes());
        }
        out
    }
}

/// The bodies of all chunks in order, from the listings of the ranks.
fn bodies_of(listings: &[Vec<u8>], chunks: usize) -> Result<Vec<(Form, u64)>> {
    let wrong = || {
        Error::from(ebz::Error::corrupt(
            "the ranks do not list every chunk exactly once",
        ))
    };
    let mut bodies = vec![None; chunks];
    for listing in listings {
        let (entries, []) = listing.as_chunks::<LISTED_BYTES>() else {
            return Err(wrong());
        };
        for &[a, b, c, d, form, ref length @ ..] in entries {
            let chunk = u32::from_le_bytes([a, b, c, d]) as usize;
            let form = *FORMS.get(usize::from(form)).ok_or_else(wrong)?;
            let slot = bodies.get_mut(chunk).ok_or_else(wrong)?;
            if slot.replace((form, u64::from_le_bytes(*length))).is_some() {
                return Err(wrong());
            }
        }
    }
    bodies
        .into_iter()
        .map(|body| body.ok_or_else(wrong))
        .collect()
}

/// Encodes the chunks of which this rank holds most.
fn encode<T: Element>(
    comm: &Comm,
    plan: &FramePlan,
    frame: u32,
    blocks: &[Region],
    mut fill: impl FnMut(&[Range<usize>], &mut [T]) -> Result<()>,
) -> Result<Encoded> {
    let own = comm.rank();
    let grid = &plan.header().grid;
    let mut encoded = Encoded::default();
    let mut outbox = Outbox::default();
    let mut result = Ok(());
    let mut owned = Vec::new();
    let mut values = Vec::new();
    // Send first what others need.
    for chunk in 0..plan.chunks() {
        let region = grid.region(chunk);
        let owner = cut::owner(&region, blocks);
        if owner == own {
            owned.push(chunk);
            continue;
        }
        let part = intersect(&region, &blocks[own]);
        if volume(&part) > 0 {
            values.resize(volume(&part), T::default());
            result = result.and(fill(&part, &mut values));
            let body = bytemuck::cast_slice(&values);
            let message = message::whole(Kind::Raw, own, chunk, body);
            encoded.moved_bytes += message.len() as u64;
            outbox.send(comm, owner, Tag::Redistribute, message)?;
        }
    }
    let mut coder = SlabCoder::new(ebz::simd::Level::detect());
    let (mut slab, mut bytes, mut part_values) = (EncodedSlab::default(), Vec::new(), Vec::new());
    for chunk in owned {
        let region = grid.region(chunk);
        values.resize(volume(&region), T::default());
        for (rank, block) in blocks.iter().enumerate() {
            let part = intersect(&region, block);
            if volume(&part) == 0 {
                continue;
            }
            if part == region {
                result = result.and(fill(&part, &mut values));
                continue;
            }
            part_values.resize(volume(&part), T::default());
            if rank == own {
                result = result.and(fill(&part, &mut part_values));
            } else {
                comm.receive(Some(rank), Tag::Redistribute, &mut bytes)?;
                let taken = take(&bytes, rank, chunk, &mut part_values);
                result = result.and(taken);
            }
            rows(&part, &region, |to, from, length| {
                values[to..to + length].copy_from_slice(&part_values[from..from + length]);
            });
        }
        outbox.progress()?;
        if result.is_err() {
            // Only parts from other ranks are still missing.
            continue;
        }
        let shape: Vec<_> = region.iter().map(Range::len).collect();
        let done = View::new(&values, &shape)
            .and_then(|view| coder.encode_chunk(plan, frame, chunk, &view, &mut slab));
        result = result.and(done.map_err(Error::from));
        encoded.bytes.extend_from_slice(slab.bytes());
        let bodies = slab.bodies().into_iter();
        encoded
            .bodies
            .extend(bodies.map(|(form, length)| (chunk, form, length)));
    }
    outbox.finish()?;
    result.map(|()| encoded)
}

fn take<T: Element>(bytes: &[u8], from: usize, chunk: usize, out: &mut [T]) -> Result<()> {
    let body = Message::read(bytes)?.expect(Kind::Raw, from, chunk)?;
    let out: &mut [u8] = bytemuck::cast_slice_mut(out);
    if body.len() != out.len() {
        return Err(ebz::Error::corrupt("a rank sent a wrong number of values").into());
    }
    out.copy_from_slice(body);
    Ok(())
}
