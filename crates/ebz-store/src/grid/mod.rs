//! Grids that are updated in passes and stored raw or compressed, in memory or on disk.
//!
//! ```text
//! old grid ─► read ahead ─► decode ─► (stencil) ─► encode ─► write behind ─► new grid
//! ```
//!
//! Two grids alternate: the old one is read while the new one is written. The new one replaces it
//! only when it is complete, and on disk it then survives a crash.

mod buffers;
mod checkpoint;
mod generation;
mod layout;
mod reader;
mod servant;
mod settings;
mod writer;

pub use layout::Layout;
pub use reader::Reader;
pub use settings::{Moved, Settings, State};
pub use writer::Writer;

use crate::io::BLOCK_BYTES;
use crate::threads;
use buffers::Buffers;
use ebz::simd::Level;
use ebz::slab::FramePlan;
use ebz::{Element, Error, Result, Tolerance};
use generation::{Body, Filed, Generation};
use servant::WriteBehind;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use writer::{Budget, Encoder, Segments, Sink};

/// How slabs are encoded.
struct Packing {
    plan: FramePlan,
    simd: Level,
}

/// The part of a pass on one thread: planes in, planes out.
pub struct Lane<'g, T = f64> {
    range: Range<usize>,
    /// Reads the old grid, starting a halo before the range.
    pub reader: Reader<'g, T>,
    /// Writes the new grid.
    pub writer: Writer<'g, T>,
}

impl<T: Element> Lane<'_, T> {
    /// The planes that this lane writes.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Waits until every plane is stored.
    pub fn finish(mut self) -> Result<Moved> {
        let written = self.writer.finish()?;
        Ok(self.reader.moved().join(written))
    }
}

/// A grid that is updated in passes.
pub struct Grid<T = f64> {
    settings: Settings,
    packing: Option<Packing>,
    generations: [Generation<T>; 2],
    current: usize,
    budget: Budget,
    buffers: Arc<Buffers>,
}

impl<T: Element> Grid<T> {
    /// Creates a grid; `plane` fills each of its planes.
    pub fn create(
        settings: Settings,
        threads: usize,
        plane: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<Self> {
        if settings.state.on_disk() {
            std::fs::create_dir_all(&settings.folder)?;
        }
        let generation = |number| {
            let Settings {
                state,
                layout,
                folder,
                rate,
                ..
            } = &settings;
            Generation::new(*state, layout, folder, number, rate)
        };
        let generations = [generation(0)?, generation(1)?];
        let mut grid = Self::with(settings, generations)?;
        let lanes = grid.split(threads, None)?;
        let fill = |(range, mut writer): (Range<usize>, Writer<'_, T>)| {
            for at in range {
                plane(at, writer.plane(at)?);
                writer.written(at)?;
            }
            writer.finish().map(|_| ())
        };
        let lanes = lanes.into_iter().map(|(range, _, writer)| (range, writer));
        threads::each(lanes, fill)?;
        grid.commit(0)?;
        Ok(grid)
    }

    /// Opens the grid in the folder of the settings, as of the last complete pass.
    pub fn resume(settings: Settings) -> Result<Self> {
        let folder = settings.folder.display().to_string();
        if !settings.state.on_disk() {
            return Err(Error::invalid(
                "a grid in memory cannot be resumed: keep it on disk (raw-disk, compressed-disk)",
            ));
        }
        let found = [0, 1].map(|number| checkpoint::read(&settings.folder, number));
        let [first, second] = match found {
            // A damaged index does not matter if the other one is valid.
            [Ok(Some(found)), Err(_)] => [Some(found), None],
            [Err(_), Ok(Some(found))] => [None, Some(found)],
            [first, second] => [first?, second?],
        };
        let step = |found: &Option<checkpoint::Found>| found.as_ref().map(|f| f.about.step);
        let current = usize::from(step(&second) > step(&first));
        let Some(found) = (if current == 0 { first } else { second }) else {
            return Err(Error::invalid(format!(
                "no complete grid in '{folder}': start without --resume"
            )));
        };
        let same = found.about.identity == settings.identity
            && found.about.state == settings.state
            && found.about.layout == settings.layout;
        if !same {
            return Err(Error::invalid(format!(
                "the grid in '{folder}' belongs to another run ({}; {}): resume with the same \
                 arguments, or choose another folder",
                found.about.state.name(),
                found.about.identity
            )));
        }
        let generation = |number: usize| -> Result<Generation<T>> {
            let path = checkpoint::data_path(&settings.folder, number);
            let rate = settings.rate.clone();
            let file = if path.exists() {
                crate::io::DirectFile::open(path, true, rate)?
            } else {
                crate::io::DirectFile::create(path, true, rate)?
            };
            Ok(Generation {
                step: 0,
                frame: 0,
                body: Body::File(Filed {
                    file: Arc::new(file),
                    places: vec![0..0; settings.layout.slabs()],
                }),
            })
        };
        let mut generations = [generation(0)?, generation(1)?];
        let last = &mut generations[current];
        last.step = found.about.step;
        last.frame = found.about.frame;
        if let Body::File(filed) = &mut last.body {
            filed.places = found.places;
        }
        let mut grid = Self::with(settings, generations)?;
        grid.current = current;
        Ok(grid)
    }

    fn with(settings: Settings, generations: [Generation<T>; 2]) -> Result<Self> {
        if settings.layout.element() != T::TYPE {
            return Err(Error::invalid(format!(
                "the layout of the grid is for {}, not {}",
                settings.layout.element(),
                T::TYPE
            )));
        }
        let packing = if settings.state.is_compressed() {
            let options = settings.options.clone().chunk(&settings.layout.chunk());
            let shape = settings.layout.shape();
            Some(Packing {
                plan: FramePlan::new::<T>(shape, settings.tolerance, &options)?,
                simd: options.simd,
            })
        } else {
            None
        };
        let budget = Budget {
            used: AtomicU64::new(0),
            limit: settings.memory,
        };
        Ok(Self {
            settings,
            packing,
            generations,
            // The first grid is written like any later one.
            current: 1,
            budget,
            buffers: Arc::default(),
        })
    }

    /// How it is split.
    pub fn layout(&self) -> &Layout {
        &self.settings.layout
    }

    /// The current time step.
    pub fn step(&self) -> u64 {
        self.generations[self.current].step
    }

    /// Stored size of the values.
    pub fn stored_bytes(&self) -> u64 {
        self.generations[self.current].stored()
    }

    /// Memory use of both grids.
    pub fn memory(&self) -> u64 {
        self.generations.iter().map(Generation::memory).sum()
    }

    /// The error bound of every stored grid.
    pub fn tolerance(&self) -> Option<Tolerance> {
        self.packing.as_ref().map(|_| self.settings.tolerance)
    }

    /// Starts a pass: at most `threads` lanes, whose readers start `halo` planes before and end as
    /// many after the planes that they write. [`Grid::commit`] ends the pass; otherwise the old
    /// grid stays.
    pub fn lanes(&mut self, threads: usize, halo: usize) -> Result<Vec<Lane<'_, T>>> {
        let mut lanes = Vec::new();
        for (range, reader, writer) in self.split(threads, Some(halo))? {
            lanes.extend(reader.map(|reader| Lane {
                range,
                reader,
                writer,
            }));
        }
        Ok(lanes)
    }

    /// Writers of the new grid and, with a halo, readers of the old one.
    #[expect(clippy::type_complexity, reason = "the parts of a lane")]
    fn split(
        &mut self,
        threads: usize,
        halo: Option<usize>,
    ) -> Result<Vec<(Range<usize>, Option<Reader<'_, T>>, Writer<'_, T>)>> {
        let next = 1 - self.current;
        let Self {
            settings,
            packing,
            generations,
            budget,
            buffers,
            ..
        } = self;
        let layout = &settings.layout;
        let packing = packing.as_ref();
        if settings.state.on_disk() {
            checkpoint::invalidate(&settings.folder, next)?;
        }
        let (left, right) = generations.split_at_mut(1);
        let (old, new) = match next {
            0 => (&right[0], &mut left[0]),
            _ => (&left[0], &mut right[0]),
        };
        // Records identify the pass that wrote them, so that leftovers of an older pass are
        // detected.
        new.frame = old.frame.wrapping_add(1);
        let frame = new.frame;
        let mut rest = Unwritten::of(&mut new.body);
        let mut lanes = Vec::new();
        for range in layout.shares(threads) {
            let own = layout.slabs_of(&range);
            let slabs = own.len();
            let encoder = |packing| Encoder::new(packing, frame, layout, buffers);
            let sink = match (&mut rest, packing) {
                (Unwritten::Raw(values), _) => {
                    Sink::Memory(take_first(values, range.len() * layout.plane_len()))
                }
                (Unwritten::Packed(records), Some(packing)) => {
                    Sink::Packed(encoder(packing), take_first(records, slabs), budget)
                }
                (Unwritten::File(file, places), packing) => {
                    let behind = WriteBehind::new(file.clone(), buffers.clone())?;
                    let places = take_first(places, slabs);
                    let segments =
                        Segments::new(behind, region(layout, &own), places, settings.segment);
                    match packing {
                        Some(packing) => Sink::PackedFile(encoder(packing), segments),
                        None => Sink::RawFile(segments),
                    }
                }
                (Unwritten::Packed(_), None) => {
                    return Err(Error::invalid("a compressed grid needs a codec"));
                }
            };
            let writer = Writer {
                layout,
                first: range.start,
                sink,
            };
            let reader = match halo {
                Some(halo) => {
                    let end = (range.end + halo).min(layout.planes());
                    let planes = range.start.saturating_sub(halo)..end;
                    let segment = settings.segment;
                    Some(Reader::new(layout, packing, old, planes, segment, buffers)?)
                }
                None => None,
            };
            lanes.push((range, reader, writer));
        }
        Ok(lanes)
    }

    /// Ends a pass: the new grid is complete and becomes the current one at `step`.
    pub fn commit(&mut self, step: u64) -> Result<()> {
        let next = 1 - self.current;
        let Settings {
            identity,
            state,
            layout,
            folder,
            ..
        } = &self.settings;
        if let Body::File(filed) = &self.generations[next].body {
            let about = checkpoint::About {
                identity: identity.clone(),
                step,
                frame: self.generations[next].frame,
                state: *state,
                layout: layout.clone(),
            };
            checkpoint::write(folder, next, &about, &filed.places)?;
        }
        self.generations[next].step = step;
        self.current = next;
        Ok(())
    }

    /// Frees the memory of the previous grid; the next pass will need it again.
    pub fn forget_previous(&mut self) {
        match &mut self.generations[1 - self.current].body {
            Body::Raw(values) => *values = Vec::new(),
            Body::Packed(records) => records.iter_mut().for_each(|slab| *slab = Vec::new()),
            Body::File(_) => (),
        }
    }

    /// Reads planes of the current grid.
    pub fn reader(&self, planes: Range<usize>) -> Result<Reader<'_, T>> {
        let Settings {
            layout, segment, ..
        } = &self.settings;
        let planes = planes.start..planes.end.min(layout.planes());
        let (packing, grid) = (self.packing.as_ref(), &self.generations[self.current]);
        Reader::new(layout, packing, grid, planes, *segment, &self.buffers)
    }

    /// Calls `f` for every plane of the current grid, in order.
    pub fn for_each_plane(&self, mut f: impl FnMut(usize, &[T]) -> Result<()>) -> Result<()> {
        let planes = 0..self.layout().planes();
        let mut reader = self.reader(planes.clone())?;
        for at in planes {
            f(at, reader.plane(at)?)?;
        }
        Ok(())
    }
}

/// The byte range of a file for some slabs, large enough to store each raw with its header, padded
/// to whole blocks. Unwritten bytes take no space on disk.
fn region(layout: &Layout, slabs: &Range<usize>) -> Range<u64> {
    let most = (layout.slab_bytes() + BLOCK_BYTES).next_multiple_of(BLOCK_BYTES) as u64;
    slabs.start as u64 * most..slabs.end as u64 * most
}

/// The part of the new grid that is not yet assigned to a lane.
enum Unwritten<'g, T> {
    Raw(&'g mut [T]),
    Packed(&'g mut [Vec<u8>]),
    File(Arc<crate::io::DirectFile>, &'g mut [Range<u64>]),
}

impl<'g, T> Unwritten<'g, T> {
    fn of(body: &'g mut Body<T>) -> Self {
        match body {
            Body::Raw(values) => Self::Raw(values),
            Body::Packed(records) => Self::Packed(records),
            Body::File(filed) => Self::File(filed.file.clone(), &mut filed.places),
        }
    }
}

fn take_first<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (first, last) = std::mem::take(rest).split_at_mut(count);
    *rest = last;
    first
}
