//! Outputs: a file that appears under its name only when it is complete, or a pipe.

use crate::args::Force;
use crate::cleanup::Guard;
use crate::temporary::temporary;
use anyhow::{Context, Result, bail};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// An output being written.
#[derive(Debug)]
pub struct Output {
    name: String,
    target: Target,
    sync: bool,
}

#[derive(Debug)]
enum Target {
    Stdout(Stdout),
    /// A device or a named pipe, which a file cannot be renamed to.
    Direct(File),
    Staged(Staged),
}

#[derive(Debug)]
struct Staged {
    file: File,
    temporary: TempPath,
    path: PathBuf,
    replace: bool,
    guard: Guard,
}

impl Output {
    /// Opens an output; `-` is standard output. An existing file is an error unless it is to be
    /// replaced.
    pub fn create(path: &Path, manner: &Force, quiet: bool) -> Result<Self> {
        let &Force { force, sync } = manner;
        if path == Path::new("-") {
            let stdout = std::io::stdout();
            if stdout.is_terminal() {
                bail!("will not write binary data to a terminal: name a file with -o");
            }
            return Ok(Self {
                name: "standard output".into(),
                target: Target::Stdout(stdout),
                sync,
            });
        }
        let name = path.display().to_string();
        let target = match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => bail!("{name} is a directory: name a file with -o"),
            Ok(meta) if !meta.is_file() => {
                let file = OpenOptions::new().write(true).open(path);
                Target::Direct(file.with_context(|| format!("cannot write {name}"))?)
            }
            Ok(_) if !force => {
                bail!("{name} exists: choose another name with -o, or replace it with --force")
            }
            // Resolve links, so that they stay.
            Ok(_) => Target::Staged(Staged::new(&path.canonicalize()?, true, quiet)?),
            Err(_) => {
                if let Ok(target) = std::fs::read_link(path) {
                    bail!(
                        "{name} is a link to {}, which does not exist: remove the link, or create a \
                         file there",
                        target.display()
                    );
                }
                Target::Staged(Staged::new(path, force, quiet)?)
            }
        };
        Ok(Self { name, target, sync })
    }

    /// Renames the result to its final name.
    pub fn commit(mut self) -> Result<()> {
        self.flush()?;
        let Target::Staged(staged) = self.target else {
            return Ok(());
        };
        let Staged {
            file,
            temporary,
            path,
            replace,
            guard,
        } = staged;
        let unsafe_yet = || format!("cannot write {} to the disk", self.name);
        guard.finish(|| {
            if self.sync {
                file.sync_all().with_context(unsafe_yet)?;
            }
            let moved = if replace {
                temporary.persist(&path)
            } else {
                temporary.persist_noclobber(&path)
            };
            moved
                .map_err(|failed| failed.error)
                .with_context(|| format!("cannot create {}", self.name))?;
            if self.sync {
                ebz::sync_folder(&path).with_context(unsafe_yet)?;
            }
            Ok(())
        })
    }

    /// The temporary path, if there is one.
    pub fn staged(&self) -> Option<&Path> {
        match &self.target {
            Target::Staged(staged) => Some(&staged.temporary),
            _ => None,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.target {
            Target::Stdout(out) => out.write(bytes),
            Target::Direct(file) => file.write(bytes),
            Target::Staged(staged) => staged.file.write(bytes),
        }
        .map_err(|error| explain(&self.name, error))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.target {
            Target::Stdout(out) => out.flush(),
            Target::Direct(file) => file.flush(),
            Target::Staged(staged) => staged.file.flush(),
        }
        .map_err(|error| explain(&self.name, error))
    }
}

impl Staged {
    fn new(path: &Path, replace: bool, quiet: bool) -> Result<Self> {
        let name = path.file_name().with_context(|| {
            format!(
                "{} is not the name of a file: give one with -o",
                path.display()
            )
        })?;
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let folder = folder(path);
        if !folder.is_dir() {
            bail!(
                "there is no folder {}: create it, or write elsewhere with -o",
                folder.display()
            );
        }
        let (file, temporary, guard) = temporary(folder, &prefix, quiet)
            .with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self {
            file,
            temporary,
            path: path.to_path_buf(),
            replace,
            guard,
        })
    }
}

/// The folder of a file, which need not exist.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A write error with advice.
pub fn explain(name: &str, error: std::io::Error) -> std::io::Error {
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            ": free some space, or write elsewhere with -o"
        }
        _ => "",
    };
    std::io::Error::new(error.kind(), format!("cannot write {name}: {error}{hint}"))
}
