"""Builds the package: the HDF5 plugin first, which is a library of its own, then all else by maturin.

The hooks that are not here are maturin's.
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
    """What builders expect of a hook that has nothing to offer."""


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation(
        "a source archive of the package alone would lack the HDF5 plugin: build wheels, from the "
        "repository")


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
