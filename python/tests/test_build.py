"""What an installation from source says without Rust."""

import importlib.util
import pathlib
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def backend(monkeypatch):
    """The build backend, without maturin, which is there only while pip builds."""
    monkeypatch.setitem(sys.modules, "maturin", types.ModuleType("maturin"))
    spec = importlib.util.spec_from_file_location("ebz_build", ROOT / "crates/ebz-python/backend/ebz_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"])
def test_advice_without_rust(backend, hook, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="no cargo on the PATH. Install Rust 1.89 or newer: see https://rustup.rs"):
        getattr(backend, hook)()


@pytest.mark.parametrize("version, is_new", [("1.63.0", False), ("1.88.0", False), ("1.89.0", True), ("2.0.0", True)])
def test_advice_about_an_old_rust(backend, monkeypatch, tmp_path, version, is_new):
    cargo = tmp_path / "cargo"
    cargo.write_text(f"#!/bin/sh\necho 'cargo {version} (d39cc9a 2022-08-01)'\n")
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if is_new:
        return backend.need_cargo()
    with pytest.raises(SystemExit, match=f"cargo {version} .* is too old. Install Rust 1.89 or newer"):
        backend.need_cargo()


def test_advice_names_the_version_that_is_needed(backend, monkeypatch, tmp_path):
    manifest = (ROOT / "Cargo.toml").read_text()
    needed, = [line.split('"')[1] for line in manifest.splitlines() if line.startswith("rust-version = ")]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=f"Rust {needed} or newer"):
        backend.need_cargo()
