"""Files that are not on a disk, notebooks, and xarray's engine."""

import io
import pickle
import subprocess
import sys

import numpy as np
import pytest

import ebz

FIELD = np.random.default_rng(0).normal(size=(20, 30, 40)).cumsum(axis=2).astype(np.float32)


class Slow(io.BytesIO):
    """Reads less than it is asked for, as sockets do."""

    def read(self, size=-1):
        return super().read(min(size, 1000) if size and size > 0 else size)


@pytest.mark.parametrize("kind", [io.BytesIO, Slow])
@pytest.mark.parametrize("threads", [1, 3])
def test_objects_that_are_like_files(kind, threads):
    buffer = kind()
    ebz.save(buffer, FIELD, abs=1e-3, chunk=(5, 30, 40))
    file = ebz.open(buffer, threads=threads)
    assert abs(file[3:17, ::2, -1] - FIELD[3:17, ::2, -1]).max() <= 1e-3
    assert abs(np.asarray(file) - FIELD).max() <= 1e-3
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        file[...]


def test_objects_cannot_be_appended_to_and_damage_is_found():
    with pytest.raises(ebz.InvalidArgument, match="append"):
        ebz.save(io.BytesIO(), FIELD, abs=1, append=True)
    with pytest.raises(ebz.Error):
        ebz.open(io.BytesIO(b"not a file of this kind"))
    whole = ebz.compress(FIELD, abs=1e-3)
    with pytest.raises(ebz.CorruptError):
        ebz.open(io.BytesIO(whole[: len(whole) // 2]))


def test_urls():
    pytest.importorskip("fsspec")
    ebz.save("memory://bucket/field.ebz", FIELD, abs=1e-3)
    file = ebz.open("memory://bucket/field.ebz")
    assert abs(pickle.loads(pickle.dumps(file))[5] - FIELD[5]).max() <= 1e-3
    with pytest.raises(FileNotFoundError):
        ebz.open("memory://bucket/nothing.ebz")


def test_notebooks_show_a_table(tmp_path):
    ebz.save(tmp_path / "a.ebz", FIELD, range=1e-3, metadata={"units": "<m/s>"})
    shown = ebz.open(tmp_path / "a.ebz")._repr_html_()
    assert "20 × 30 × 40" in shown and "range 0.001" in shown and "&lt;m/s&gt;" in shown


def test_engine_of_xarray(tmp_path):
    xarray = pytest.importorskip("xarray")
    import ebz.xarray

    dataset = xarray.Dataset(
        {"t": (("z", "lat", "lon"), FIELD, {"units": "K"}), "p": (("z",), np.arange(20.0))},
        coords={"lat": np.linspace(-90, 90, 30)},
    )
    ebz.xarray.save(dataset, tmp_path / "a.ebz", abs=1e-3, variables={"p": {"lossless": True}})
    with xarray.open_dataset(tmp_path / "a.ebz") as back:
        assert back.t.attrs == {"units": "K"} and back.t.dims == ("z", "lat", "lon")
        assert abs(back.t[3:5, ::2] - dataset.t[3:5, ::2]).max() <= 1e-3
        assert back.p.identical(dataset.p) and back.lat.equals(dataset.lat)
        assert abs(back.t.sel(lat=-90).values - dataset.t.sel(lat=-90).values).max() <= 1e-3
    ebz.save(tmp_path / "plain.ebz", FIELD, abs=1e-3)
    with xarray.open_dataset(tmp_path / "plain.ebz", engine="ebz") as plain:
        assert plain.plain.shape == FIELD.shape
    with pytest.raises(ebz.InvalidType, match="steps"):
        ebz.xarray.save(dataset.assign(steps=("z", np.arange(20))), tmp_path / "b.ebz", abs=1e-3)


def test_the_command_comes_along(tmp_path):
    np.save(tmp_path / "a.npy", FIELD)
    command = [sys.executable, "-m", "ebz"]
    subprocess.run([*command, "compress", "a.npy", "--abs", "0.001", "-q"], cwd=tmp_path, check=True)
    assert abs(ebz.open(tmp_path / "a.npy.ebz")[...] - FIELD).max() <= 1e-3
    wrong = subprocess.run([*command, "compress", "none.npy"], cwd=tmp_path, capture_output=True, check=False)
    assert wrong.returncode == 2 and b"ebz:" in wrong.stderr
