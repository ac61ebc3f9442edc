"""Build backend: maturin's, and a library that HDF5 programs without Python can load too.

Hooks not defined here are maturin's.
"""

import base64
import hashlib
import io
import pathlib
import re
import shutil
import struct
import subprocess
import tarfile
import tempfile
import zipfile

import maturin
from maturin import *  # noqa: F403

ROOT = pathlib.Path(__file__).resolve().parents[3]
#: The oldest Rust, as in Cargo.toml.
NEEDED = 1, 89
LIBRARY = "ebz/plugins/libebz.abi3.so"


def get_requires_for_build_wheel(config_settings=None):
    """The first hook that is called: without Rust, nothing else can be done."""
    need_cargo()
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    need_cargo()
    return maturin.get_requires_for_build_editable(config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    need_cargo()
    name = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    weaken_wheel(pathlib.Path(wheel_directory, name))
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    need_cargo()
    name = maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    library = ROOT / "python" / LIBRARY
    if library.exists():
        library.write_bytes(weaken(library.read_bytes()))
    return name


def build_sdist(sdist_directory, config_settings=None):
    """An archive of all tracked files: maturin's own would leave out crates that the lock file names."""
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


def need_cargo():
    """Stops with advice where Rust is missing or too old."""
    advice = (f"Install Rust {'.'.join(map(str, NEEDED))} or newer: see https://rustup.rs, or on Debian 12 "
              "`apt install cargo-web rustc-web`, and try again.")
    if shutil.which("cargo") is None:
        raise SystemExit(f"ebz is built from Rust, but there is no cargo on the PATH. {advice}")
    # Away from the sources, whose manifests an old one may not understand.
    said = subprocess.run(["cargo", "--version"], cwd=tempfile.gettempdir(), capture_output=True, text=True)
    found = re.match(r"cargo (\d+)\.(\d+)", said.stdout)
    if found and tuple(map(int, found.groups())) < NEEDED:
        raise SystemExit(f"ebz is built from Rust, but {said.stdout.strip()} is too old. {advice}")


def weaken_wheel(path):
    """Makes the library of a wheel one that loads without Python."""
    with zipfile.ZipFile(path) as wheel:
        files = {entry: wheel.read(entry) for entry in wheel.infolist()}
    before, = [content for entry, content in files.items() if entry.filename == LIBRARY]
    after = weaken(before)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for entry, content in files.items():
            if entry.filename == LIBRARY:
                content = after
            elif entry.filename.endswith(".dist-info/RECORD"):
                content = content.replace(digest(before), digest(after))
            wheel.writestr(entry, content)


def weaken(library):
    """Makes the symbols of the interpreter in an ELF library weak, so that it loads without one: HDF5 tools load it
    as a plugin, which does not use them. Libraries of other systems stay as they are."""
    library = bytearray(library)
    if library[:6] != b"\x7fELF\x02\x01":
        return bytes(library)
    at, = struct.unpack_from("<Q", library, 40)
    size, count = struct.unpack_from("<HH", library, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", library, at + size * i) for i in range(count)]
    dynamic, = [section for section in sections if section[1] == 11]
    names = sections[dynamic[6]][4]
    for symbol in range(dynamic[4], dynamic[4] + dynamic[5], dynamic[9]):
        name, kind, _, section = struct.unpack_from("<IBBH", library, symbol)
        undefined = section == 0
        if undefined and library.startswith((b"Py", b"_Py"), names + name):
            library[symbol + 4] = 2 << 4 | kind & 15
    return bytes(library)


def digest(content):
    """How RECORD names the content of a file."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
