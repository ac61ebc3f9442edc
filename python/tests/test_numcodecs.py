"""The codec for Zarr format 2."""

import array
import json
import pickle

import numcodecs
import numpy as np
import pytest
import zarr
from conftest import worst

import ebz
from ebz.numcodecs import Ebz


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f8"])
def test_zarr(field, tmp_path, order, dtype):
    field = field.astype(dtype)
    array = zarr.create_array(
        tmp_path, shape=field.shape, chunks=(12, 17, 20), dtype=dtype, zarr_format=2, order=order,
        compressors=Ebz(abs=1e-2, chunk=(4, 17, 20)),
    )
    array[...] = field
    stored = json.loads((tmp_path / ".zarray").read_text())["compressor"]
    assert stored == {"id": "ebz", "abs": 1e-2, "chunk": [4, 17, 20]}
    again = zarr.open_array(tmp_path, mode="r")
    assert worst(again[...], field) <= 1e-2
    chunk = tmp_path / "0.0.0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(ebz.TruncatedError):
        again[...]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f4"])
def test_by_itself(field, order, dtype):
    field = np.asarray(field, dtype, order=order)
    codec = numcodecs.get_codec({"id": "ebz", "range": 1e-4})
    assert codec == Ebz(range=1e-4) == pickle.loads(pickle.dumps(codec))
    data = codec.encode(field)
    decoded = codec.decode(data)
    assert decoded.shape == field.shape and decoded.dtype == field.dtype
    out = np.zeros_like(field)
    codec.decode(data, out=out)
    assert np.array_equal(out, decoded, equal_nan=True)
    finite = field[np.isfinite(field)].astype("f8")
    assert worst(decoded, field) <= 1e-4 * np.ptp(finite)


def test_configuration():
    codec = Ebz(abs=1, threads=3)
    assert Ebz.from_config(codec.get_config()).get_config() == {"id": "ebz", "abs": 1}
    with pytest.raises(ValueError, match="colour"):
        Ebz.from_config({"id": "ebz", "abs": 1, "colour": "red"})
    with pytest.raises(TypeError, match="not compressed"):
        codec.encode(b"bytes")
    with pytest.raises(ebz.CorruptError):
        codec.decode(b"bytes")


# What the suite of numcodecs asks of every codec that takes arrays.

ARRAYS = [
    np.arange(1000, dtype="f4"), np.linspace(1000, 1001, 1000, dtype="f8"),
    np.random.default_rng(0).normal(1000, 1, size=(100, 10)),
    np.random.default_rng(0).normal(1000, 1, size=(10, 10, 10)).astype("f4", order="F"),
]


@pytest.mark.parametrize("codec", [Ebz(lossless=True), Ebz(abs=1e-3), Ebz(abs=1e-3, codec="interp")],
                         ids=repr)
@pytest.mark.parametrize("values", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_suite_encode_decode(values, codec):
    limit = codec.settings.get("abs", 0)
    data = codec.encode(values)
    for buffer in (data, bytearray(data), array.array("b", data), np.frombuffer(data, "u1")):
        decoded = codec.decode(buffer)
        assert decoded.dtype == values.dtype and decoded.shape == values.shape
        assert worst(decoded, values) <= limit
    out = np.empty_like(values)
    codec.decode(data, out=out)
    assert np.array_equal(out, decoded)
    memory = bytearray(values.nbytes)
    codec.decode(data, out=memory)
    again = np.frombuffer(memory, values.dtype).reshape(
        values.shape, order="F" if values.flags.fnc else "C")
    assert np.array_equal(again, decoded)


@pytest.mark.parametrize("codec", [Ebz(abs=1), Ebz(range=1e-3, codec="ceaz", fill=[1, 2], chunk=(3,))])
def test_suite_configuration(codec):
    config = json.loads(json.dumps(codec.get_config()))
    assert numcodecs.get_codec(config) == codec
    assert eval(repr(codec), {"ebz": ebz}) == codec


def test_suite_objects_are_refused():
    codec = Ebz(lossless=True)
    with pytest.raises(TypeError):
        codec.encode(np.array(["foo", "bar"], dtype=object))
    data = codec.encode(np.arange(10.0))
    with pytest.raises(TypeError, match="objects"):
        codec.decode(data, out=np.empty(10, dtype=object))
    with pytest.raises(ValueError):
        codec.decode(data, out=np.empty(9))
