//! Input arrays: raw values, `.npy`, `.ebz` or a pipe, always as little-endian values in C order.
//!
//! Files are streamed, and can be read several times. A pipe can be read once: a second pass needs
//! a copy in a temporary file. `.npy` files in another byte or axis order are converted to a
//! temporary file too.

mod convert;
mod decode;

use self::convert::convert;
use self::decode::decode;
use crate::args::{self, Extents, Layout};
use crate::cleanup::Guard;
use crate::foreign::{self, has_extension};
use crate::npy::{self, Header};
use crate::report;
use crate::temporary::temporary;
use anyhow::{Context, Result, anyhow, bail, ensure};
use ebz::{
    Element, ElementType, Fill, Limits, Reader, Tolerance, ValueScan, element_count, with_type,
};
use ebz_store::threads::each;
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempPath;

/// Bytes per read.
pub const PIECE: usize = 4 << 20;

/// An input array.
pub struct Field {
    /// Name for messages.
    pub name: String,
    /// Type of the values.
    pub element: ElementType,
    /// Extents, slowest axis first.
    pub shape: Vec<usize>,
    /// Fill values, if the file records them.
    pub fill: Option<Fill>,
    /// Tolerance, if the file records it.
    pub tolerance: Option<Tolerance>,
    body: Body,
    /// The temporary file of a body that was a pipe or had to be converted.
    spool: Option<Spool>,
}

enum Body {
    /// Values from this offset to the end of the file.
    File(PathBuf, u64),
    /// A frame of an `.ebz` file, decoded by this many threads within these limits.
    Frame(PathBuf, usize, usize, Limits),
    /// A source that can be read once.
    Pipe(Option<Box<dyn Read + Send>>),
}

/// A temporary file.
pub struct Spool {
    path: TempPath,
    _guard: Guard,
}

impl Spool {
    /// Copies a pipe to a file in this folder.
    pub fn new(input: &mut dyn Read, folder: &Path) -> Result<Self> {
        Self::fill(folder, |file| Ok(std::io::copy(input, file).map(drop)?))
    }

    fn fill(folder: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<Self> {
        let failed = || format!("cannot keep the input in {}", folder.display());
        let (mut file, path, guard) =
            temporary(folder, ".ebz-input.".as_ref(), true).with_context(failed)?;
        write(&mut file).with_context(failed)?;
        Ok(Self {
            path,
            _guard: guard,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Field {
    /// Opens raw values or `.npy`; `folder` is for a temporary copy if one is needed.
    pub fn open(path: &Path, layout: &Layout, folder: &Path, quiet: bool) -> Result<Self> {
        let given = layout.shape.as_ref().map(|shape| shape.0.clone());
        if path == Path::new("-") {
            return Self::pipe("standard input", Box::new(std::io::stdin()), layout, folder);
        }
        let name = path.display().to_string();
        foreign::check_folder(path)?;
        let (mut file, size) = open_file(path)?;
        let Some(size) = size else {
            return Self::pipe(&name, Box::new(file), layout, folder);
        };
        let mut start = Vec::new();
        (&mut file)
            .take(foreign::MAGIC_BYTES)
            .read_to_end(&mut start)?;
        if !layout.raw {
            foreign::check_input(&name, &start)?;
        }
        if !layout.raw && (has_extension(path, "npy") || start.starts_with(npy::MAGIC)) {
            file.seek(SeekFrom::Start(0))?;
            let header = Header::read(&mut file).with_context(|| name.clone())?;
            check_agreement(&name, &header, layout)?;
            check_size(
                &name,
                size - header.length as u64,
                header.element,
                &header.shape,
            )?;
            let body = Body::File(path.to_path_buf(), header.length as u64);
            return Self::npy(name, &header, body, folder);
        }
        let told = told_by_name(path);
        let element = layout
            .element
            .or(told.0)
            .with_context(|| format!("{name}: what is its type? Give -t f32 or -t f64"))?;
        let shape = given.clone().or(told.1).with_context(|| {
            format!("{name}: what is its shape? Give it slowest axis first, as in -s 100x500x500")
        })?;
        check_size(&name, size, element, &shape)?;
        if layout.element.is_none() || given.is_none() {
            let text = format!(
                "{name}: taken from its name: {element}, {}",
                report::shape(&shape)
            );
            report::note(quiet, &text);
        }
        Ok(Self {
            name,
            element,
            shape,
            fill: None,
            tolerance: None,
            body: Body::File(path.to_path_buf(), 0),
            spool: None,
        })
    }

    /// A frame of an `.ebz` file.
    pub fn frame(path: &Path, frame: usize, threads: usize, limits: Limits) -> Result<Self> {
        let name = path.display().to_string();
        let reader = Reader::open(path).with_context(|| name.clone())?;
        let reader = reader.limits(limits);
        let stored = reader.frame(frame).with_context(|| name.clone())?;
        Ok(Self {
            name,
            element: stored.header().element,
            shape: stored.header().shape().to_vec(),
            fill: Some(stored.header().fill),
            tolerance: Some(stored.header().tolerance),
            body: Body::Frame(path.to_path_buf(), frame, threads, limits),
            spool: None,
        })
    }

    fn pipe(
        name: &str,
        mut input: Box<dyn Read + Send>,
        layout: &Layout,
        folder: &Path,
    ) -> Result<Self> {
        let mut start = Vec::new();
        (&mut input)
            .take(foreign::MAGIC_BYTES)
            .read_to_end(&mut start)
            .with_context(|| format!("cannot read {name}"))?;
        if !layout.raw {
            foreign::check_input(name, &start)?;
        }
        let is_npy = start.starts_with(npy::MAGIC) && !layout.raw;
        let mut input: Box<dyn Read + Send> = Box::new(std::io::Cursor::new(start).chain(input));
        if is_npy {
            let header = Header::read(&mut input).with_context(|| name.to_string())?;
            check_agreement(name, &header, layout)?;
            element_count(&header.shape).with_context(|| name.to_string())?;
            return Self::npy(name.into(), &header, Body::Pipe(Some(input)), folder);
        }
        let (Some(element), Some(Extents(shape))) = (layout.element, layout.shape.clone()) else {
            bail!("{name} has no type and shape: give both, as in -t f32 -s 100x500x500");
        };
        element_count(&shape)?;
        Ok(Self {
            name: name.into(),
            element,
            shape,
            fill: None,
            tolerance: None,
            body: Body::Pipe(Some(input)),
            spool: None,
        })
    }

    fn npy(name: String, header: &Header, body: Body, folder: &Path) -> Result<Self> {
        let mut field = Self {
            name,
            element: header.element,
            shape: header.shape.clone(),
            fill: None,
            tolerance: None,
            body,
            spool: None,
        };
        let transposed = header.fortran && header.shape.len() > 1;
        if header.big_endian || transposed {
            let mut input = field.reader()?;
            let spool = Spool::fill(folder, |file| {
                convert(&mut input, file, header, transposed).with_context(|| field.name.clone())
            })?;
            field.keep(spool);
        }
        Ok(field)
    }

    /// Size of the values in bytes.
    pub fn bytes(&self) -> u64 {
        self.shape.iter().product::<usize>() as u64 * self.element.size() as u64
    }

    /// Makes a copy if the values cannot be read more than once.
    pub fn make_replayable(&mut self, folder: &Path) -> Result<()> {
        if let Body::Pipe(_) = self.body {
            let bytes = self.bytes();
            // Read one byte more than needed to detect excess data.
            let mut input = self.reader()?.take(bytes + 1);
            let spool = Spool::new(&mut input, folder)?;
            let size = spool.path().metadata()?.len();
            check_size(&self.name, size, self.element, &self.shape)?;
            self.keep(spool);
        }
        Ok(())
    }

    fn keep(&mut self, spool: Spool) {
        self.body = Body::File(spool.path().to_path_buf(), 0);
        self.spool = Some(spool);
    }

    /// A sequential reader of the values.
    pub fn reader(&mut self) -> Result<Box<dyn Read + Send>> {
        let failed = || format!("cannot read {}", self.name);
        Ok(match &mut self.body {
            Body::File(path, offset) => {
                let mut file = File::open(path).with_context(failed)?;
                file.seek(SeekFrom::Start(*offset))?;
                Box::new(file)
            }
            Body::Frame(path, frame, threads, limits) => {
                Box::new(decode(path, *frame, *threads, *limits)?)
            }
            Body::Pipe(input) => input
                .take()
                .with_context(|| format!("{} cannot be read twice", self.name))?,
        })
    }

    /// Range and fill values; scans files with several threads.
    pub fn scan(&mut self, fill: Fill, threads: usize, bar: &ProgressBar) -> Result<ValueScan> {
        with_type!(self.element, T => self.scan_as::<T>(fill, threads, bar))
    }

    fn scan_as<T: Element>(
        &mut self,
        fill: Fill,
        threads: usize,
        bar: &ProgressBar,
    ) -> Result<ValueScan> {
        let total = self.bytes();
        let Body::File(path, offset) = &self.body else {
            let mut input = self.reader()?;
            let mut values = vec![T::default(); PIECE / T::SIZE];
            let mut scan = ValueScan::new(fill);
            let mut left = total as usize / T::SIZE;
            while left > 0 {
                let values = &mut values[..left.min(PIECE / T::SIZE)];
                self.fill(&mut input, values)?;
                scan.add(values);
                left -= values.len();
                bar.inc(size_of_val(values) as u64);
            }
            return Ok(scan);
        };
        let (name, next) = (&self.name, AtomicU64::new(0));
        let work = |_| -> Result<ValueScan> {
            let mut file = File::open(path)?;
            let mut values = vec![T::default(); PIECE / T::SIZE];
            let mut scan = ValueScan::new(fill);
            loop {
                let start = next.fetch_add(PIECE as u64, Ordering::Relaxed);
                if start >= total {
                    return Ok(scan);
                }
                let values = &mut values[..(total - start).min(PIECE as u64) as usize / T::SIZE];
                file.seek(SeekFrom::Start(offset + start))?;
                read_values(name, &mut file, values)?;
                scan.add(values);
                bar.inc(size_of_val(values) as u64);
            }
        };
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let threads = threads.min(total.div_ceil(PIECE as u64) as usize).max(1);
        let mut all = ValueScan::new(fill);
        for scan in each(0..threads, work)? {
            all.join(&scan);
        }
        Ok(all)
    }

    /// All values in memory.
    pub fn load<T: Element>(&mut self) -> Result<Vec<T>> {
        let count = element_count(&self.shape)?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(count)
            .with_context(|| format!("{} does not fit into memory", self.name))?;
        values.resize(count, T::default());
        let mut input = self.reader()?;
        self.fill(&mut input, &mut values)?;
        Ok(values)
    }

    /// Reads the next values.
    pub fn fill<T: Element>(&self, input: &mut dyn Read, values: &mut [T]) -> Result<()> {
        read_values(&self.name, input, values)
    }
}

fn read_values<T: Element>(name: &str, input: &mut dyn Read, values: &mut [T]) -> Result<()> {
    input
        .read_exact(bytemuck::cast_slice_mut(values))
        .map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                anyhow!("{name} ends before the array does: check its shape and type")
            }
            _ => anyhow::Error::new(error).context(format!("cannot read {name}")),
        })
}

/// Opens a file and returns its size, or `None` for a pipe or a device.
pub fn open_file(path: &Path) -> Result<(File, Option<u64>)> {
    let name = path.display();
    let meta = std::fs::metadata(path).with_context(|| format!("cannot open {name}"))?;
    ensure!(!meta.is_dir(), "{name} is a directory: name a file");
    let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
    Ok((file, meta.is_file().then_some(meta.len())))
}

fn check_size(name: &str, size: u64, element: ElementType, shape: &[usize]) -> Result<()> {
    let values = element_count(shape).with_context(|| name.to_string())? as u64;
    let needed = values * element.size() as u64;
    if size == needed {
        return Ok(());
    }
    let shape = report::shape(shape);
    ensure!(
        size > 0,
        "{name} is empty, but {shape} of {element} takes {needed} bytes"
    );
    let fits = |other: &ElementType| values * other.size() as u64 == size;
    let others: Vec<_> = ElementType::ALL
        .into_iter()
        .filter(fits)
        .map(|other| format!("-t {other}"))
        .collect();
    let hint = match others.is_empty() {
        false => format!("it fits {}", others.join(" or ")),
        true => "check shape and type".into(),
    };
    bail!("{name} holds {size} bytes, but {shape} of {element} takes {needed}: {hint}")
}

/// Type and shape on the command line must match an `.npy` file.
fn check_agreement(name: &str, header: &Header, layout: &Layout) -> Result<()> {
    let differs = layout.element.is_some_and(|t| t != header.element)
        || layout.shape.as_ref().is_some_and(|s| s.0 != header.shape);
    ensure!(
        !differs,
        "{name} holds {} of shape {}: leave out -t and -s",
        header.element,
        report::shape(&header.shape)
    );
    Ok(())
}

/// Type and shape from a name such as `wave_100x500x500.f32`.
fn told_by_name(path: &Path) -> (Option<ElementType>, Option<Vec<usize>>) {
    let part = |part: Option<&std::ffi::OsStr>| part.and_then(|p| p.to_str().map(String::from));
    let element = part(path.extension()).and_then(|end| end.parse().ok());
    let shape = part(path.file_stem()).and_then(|stem| {
        let (_, last) = stem.rsplit_once(['_', '-', '.'])?;
        args::extents(last).ok().map(|shape| shape.0)
    });
    (element, shape)
}
