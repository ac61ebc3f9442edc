"""Build backend: builds the HDF5 plugin, a separate library, then the package with maturin.

Hooks not defined here are maturin's.
"""

import json
import pathlib
import shutil
import subprocess

import maturin
from maturin import *  # noqa: F403

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "python" / "ebz" / "plugins"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    put_plugin_in_place()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    put_plugin_in_place()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


class UnsupportedOperation(Exception):
    """Raised by a hook that is not supported, as build frontends expect."""


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation(
        "a source distribution would lack the HDF5 plugin: build wheels from the repository")


def put_plugin_in_place():
    messages = subprocess.check_output(
        ["cargo", "build", "--release", "--locked", "--package", "ebz-hdf5", "--lib",
         "--message-format", "json-render-diagnostics"], cwd=ROOT, text=True)
    artifacts = [json.loads(line) for line in messages.splitlines()]
    (library,) = [
        name for a in artifacts
        if a["reason"] == "compiler-artifact" and a["target"]["name"] == "h5ebz"
        for name in a["filenames"] if name.endswith((".so", ".dylib", ".dll"))
    ]
    PLUGINS.mkdir(exist_ok=True)
    shutil.copy2(library, PLUGINS)
