//! Where results go: a file that appears under its name only when it is complete, or a pipe.

use crate::cleanup::{Guard, Undo};
use anyhow::{Context, Result, bail};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// An output that is being written.
#[derive(Debug)]
pub struct Output {
    name: String,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Stdout(Stdout),
    /// A device or a named pipe, which cannot be renamed to.
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
    /// Opens an output; `-` is standard output. A file that exists is kept unless `force` is set.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        if path == Path::new("-") {
            let stdout = std::io::stdout();
            if stdout.is_terminal() {
                bail!("will not write binary data to a terminal: name a file with -o");
            }
            return Ok(Self {
                name: "standard output".into(),
                target: Target::Stdout(stdout),
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
            // Through links, so that they stay.
            Ok(_) => Target::Staged(Staged::new(&path.canonicalize()?, true)?),
            Err(_) => Target::Staged(Staged::new(path, force)?),
        };
        Ok(Self { name, target })
    }

    /// Makes the result appear under its name.
    pub fn commit(mut self) -> Result<()> {
        self.flush()?;
        let Target::Staged(staged) = self.target else {
            return Ok(());
        };
        let Staged {
            temporary,
            path,
            replace,
            guard,
            ..
        } = staged;
        guard.finish(|| {
            let moved = if replace {
                temporary.persist(&path)
            } else {
                temporary.persist_noclobber(&path)
            };
            moved
                .map_err(|failed| failed.error)
                .with_context(|| format!("cannot create {}", self.name))
        })
    }

    /// The file under its temporary name, if it is one.
    pub fn staged(&self) -> Option<&Path> {
        match &self.target {
            Target::Staged(staged) => Some(&staged.temporary),
            _ => None,
        }
    }

    fn explain(&self, error: std::io::Error) -> std::io::Error {
        let hint = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                ": free some space, or write elsewhere with -o"
            }
            _ => "",
        };
        let text = format!("cannot write {}: {error}{hint}", self.name);
        std::io::Error::new(error.kind(), text)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.target {
            Target::Stdout(out) => out.write(bytes),
            Target::Direct(file) => file.write(bytes),
            Target::Staged(staged) => staged.file.write(bytes),
        }
        .map_err(|error| self.explain(error))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.target {
            Target::Stdout(out) => out.flush(),
            Target::Direct(file) => file.flush(),
            Target::Staged(staged) => staged.file.flush(),
        }
        .map_err(|error| self.explain(error))
    }
}

impl Staged {
    fn new(path: &Path, replace: bool) -> Result<Self> {
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
        let (file, temporary, guard) = temporary(folder, &prefix)
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

/// The folder that a file is in, or will be.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A new file that goes away unless it is given a name.
pub fn temporary(
    folder: &Path,
    prefix: &std::ffi::OsStr,
) -> std::io::Result<(File, TempPath, Guard)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(".part");
    #[cfg(unix)]
    {
        // As for any other new file: the user's mask decides.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // The reason alone: the temporary name means nothing to users.
    let created = builder.tempfile_in(folder);
    let (file, path) = created.map_err(|error| error.kind())?.into_parts();
    let guard = Guard::new(Undo::Remove(path.to_path_buf()));
    Ok((file, path, guard))
}
