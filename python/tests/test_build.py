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


def test_advice_names_the_version_that_is_needed(backend, monkeypatch, tmp_path):
    manifest = (ROOT / "Cargo.toml").read_text()
    needed, = [line.split('"')[1] for line in manifest.splitlines() if line.startswith("rust-version = ")]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=f"Rust {needed} or newer"):
        backend.need_cargo()
