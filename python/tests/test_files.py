"""Files, and parts of them."""

import errno
import os
import pickle

import numpy as np
import pytest

import ebz

KEYS = [
    np.s_[...], np.s_[3], np.s_[-1], np.s_[10:20, :, 5], np.s_[..., 5], np.s_[1, ..., 2],
    np.s_[1, 2, 3], np.s_[::-1], np.s_[20:3:-4, ::17, ::-23], np.s_[5:2], np.s_[100:],
    np.s_[:, np.int64(4)], np.s_[2:3, 1:39:5], (), np.s_[0, 0, 0, ...],
    np.s_[::11, 3:3],
]


@pytest.fixture(scope="module")
def path(field, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "field.ebz"
    ebz.save(path, field, abs=1e-2, chunk=(5, 7, 9), metadata={"unit": "K"})
    ebz.save(path, field[0].astype("f8"), lossless=True, append=True)
    return path


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices(field, path, key):
    file = ebz.open(path)
    expected = ebz.decompress(ebz.compress(field, abs=1e-2, chunk=(5, 7, 9)))[key]
    part = file[key]
    assert type(part) is type(expected) and part.dtype == expected.dtype
    assert np.array_equal(part, expected, equal_nan=True) and part.shape == expected.shape


@pytest.mark.parametrize("key", [24, -25, (0, 0, 0, 0), None, [1], True, 1.0, (..., ...)], ids=str)
def test_bad_indices(path, key):
    with pytest.raises(IndexError):
        ebz.open(path)[key]


def test_facts(field, path):
    file = ebz.open(str(path))
    assert file.shape == field.shape and file.dtype == field.dtype and file.ndim == 3
    assert file.size == field.size and file.nbytes == field.nbytes and len(file) == len(field)
    assert file.chunks == (5, 7, 9) and file.codec == "fz" and file.fill == ()
    assert file.bound == ("abs", 1e-2) == file.tolerance and file.metadata == {"unit": "K"}
    assert 0 < file.stored_bytes < os.path.getsize(path) and file.frames == 2
    assert "float32" in repr(file)


def test_frames(field, path):
    file = ebz.open(path)
    assert np.array_equal(file.frame(-1)[...], field[0].astype("f8"), equal_nan=True)
    assert ebz.open(path, 1).dtype == np.float64
    with pytest.raises(ValueError, match="frame"):
        ebz.open(path, 2)


def test_other_libraries_see_an_array(path):
    file = ebz.open(path)
    assert np.asarray(file).shape == file.shape
    assert np.asarray(file, dtype="f8").dtype == np.float64
    with pytest.raises(ValueError):
        np.array(file, copy=False)


def test_pickle(path):
    file = ebz.open(path, 1, threads=2, max_memory=1 << 30)
    other = pickle.loads(pickle.dumps(file))
    assert other.number == 1 and other.threads == 2 and other.max_memory == 1 << 30
    assert np.array_equal(other[...], file[...], equal_nan=True)


def test_memory_is_limited(path, field):
    with pytest.raises(ebz.LimitError, match="memory"):
        ebz.open(path, max_memory=field.nbytes // 2)[...]


def test_only_needed_chunks_are_read(field, tmp_path):
    """Damage elsewhere in the file is not even seen."""
    path = tmp_path / "field.ebz"
    ebz.save(path, field, lossless=True, chunk=(6, 40, 56))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    file = ebz.open(path)
    assert np.array_equal(file[:6], field[:6], equal_nan=True)
    assert np.array_equal(file[0:24:23], field[0:24:23], equal_nan=True)
    with pytest.raises(ebz.CorruptError, match="checksum"):
        file[...]


def test_closed_and_missing(path, tmp_path):
    with ebz.open(path) as file:
        assert file[0, 0].any()
    with pytest.raises(ValueError, match="closed"):
        file[0]
    for missing in (
        lambda path: ebz.open(path),
        lambda path: ebz.save(path, np.zeros(3), abs=1, append=True),
        lambda path: ebz.save(path / "a.ebz", np.zeros(3), abs=1),
    ):
        with pytest.raises(FileNotFoundError, match="No such file or directory: .*none.ebz") as e:
            missing(tmp_path / "none.ebz")
        assert e.value.errno == errno.ENOENT and "none.ebz" in e.value.filename
    with pytest.raises(IsADirectoryError) as e:
        ebz.open(tmp_path)
    assert e.value.filename == str(tmp_path)
    (tmp_path / "text.ebz").write_text("not a stream, but long enough to be one")
    with pytest.raises(ebz.CorruptError, match="not an .ebz file"):
        ebz.open(tmp_path / "text.ebz")
    with pytest.raises(ValueError):
        ebz.save(path, np.zeros(3))
    assert ebz.open(path).frames == 2, "a bad argument leaves the file alone"
