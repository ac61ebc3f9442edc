"""Build backend: builds the HDF5 plugin, a separate library, then the package with maturin.

Hooks not defined here are maturin's.
"""

import io
import json
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

import maturin
from maturin import *  # noqa: F403

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "python" / "ebz" / "plugins"


def get_requires_for_build_wheel(config_settings=None):
    """The first hook that is called: without Rust, nothing else can be done."""
    need("cargo")
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    need("cargo")
    return maturin.get_requires_for_build_editable(config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    put_plugin_in_place()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    put_plugin_in_place()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    """An archive of all tracked files: the plugin is built from crates that maturin's own would leave out."""
    with tempfile.TemporaryDirectory() as folder:
        info = pathlib.Path(folder, maturin.prepare_metadata_for_build_wheel(folder))
        about = (info / "METADATA").read_bytes()
    name = info.name.removesuffix(".dist-info")
    with tarfile.open(pathlib.Path(sdist_directory, f"{name}.tar.gz"), "w:gz") as archive:
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(about)
        archive.addfile(entry, io.BytesIO(about))
        for path in tracked_files():
            archive.add(ROOT / path, f"{name}/{path}", recursive=False)
    return f"{name}.tar.gz"


def tracked_files():
    """The files of the repository; in an archive that was unpacked, all that it holds."""
    if (ROOT / ".git").exists():
        listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
        return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    made = {"target", "plugins", "__pycache__", "PKG-INFO"}
    files = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in files if not made & set(path.parts))


def need(program):
    """Stops with advice where a program is missing."""
    if shutil.which(program) is None:
        raise SystemExit(
            f"ebz is built from Rust, but there is no {program} on the PATH. Install Rust 1.89 or newer: see "
            "https://rustup.rs, or on Debian 12 `apt install cargo-web rustc-web`, and try again.")


def put_plugin_in_place(command=("cargo", "build"), target=None):
    """Builds the HDF5 plugin and puts it where the wheel takes it from."""
    need(command[0])
    where = ["--target", target] if target else []
    messages = subprocess.check_output(
        [*command, "--release", "--locked", "--package", "ebz-hdf5", "--lib", *where,
         "--message-format", "json-render-diagnostics"], cwd=ROOT, text=True)
    artifacts = [json.loads(line) for line in messages.splitlines()]
    (library,) = [
        name for a in artifacts
        if a["reason"] == "compiler-artifact" and a["target"]["name"] == "h5ebz"
        for name in a["filenames"] if name.endswith((".so", ".dylib", ".dll"))
    ]
    PLUGINS.mkdir(exist_ok=True)
    shutil.copy2(library, PLUGINS)
