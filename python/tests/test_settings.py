"""Arguments of any kind of number, and what is refused when it is given, not when it is used."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

import ebz
import ebz.hdf5
import ebz.numcodecs
import ebz.zarr

CODECS = [ebz.zarr.Ebz, ebz.numcodecs.Ebz]
ALL = [*CODECS, ebz.hdf5.Ebz]

NUMBERS = [np.float32(0.25), np.float64(0.25), np.float16(0.25), np.array(0.25), Fraction(1, 4)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_any_number_is_a_bound(number):
    values = np.random.default_rng(0).normal(size=100)
    assert ebz.compress(values, abs=number) == ebz.compress(values, abs=0.25)
    for codec in ALL:
        assert codec(abs=number) == codec(abs=0.25)
    assert json.dumps(ebz.zarr.Ebz(abs=number, fill=number).to_dict()) == json.dumps(
        ebz.zarr.Ebz(abs=0.25, fill=0.25).to_dict())
    json.dumps(ebz.numcodecs.Ebz(abs=number, chunk=(np.int32(4),)).get_config())
    assert ebz.hdf5.Ebz(abs=np.int64(1)).words == ebz.hdf5.Ebz(abs=1).words
    assert ebz.zarr.Ebz(precision=np.uint8(9), codec="zfp-v").settings["precision"] == 9


def test_numbers_of_numpy_in_metadata(tmp_path):
    metadata = {"level": np.float32(0.5), "steps": [np.int64(3), (np.bool_(True),)],
                "grid": np.arange(4).reshape(2, 2), "name": np.str_("t")}
    ebz.save(tmp_path / "a.ebz", np.zeros(3), abs=1, metadata=metadata)
    assert ebz.open(tmp_path / "a.ebz").metadata == {
        "level": 0.5, "steps": [3, [True]], "grid": [[0, 1], [2, 3]], "name": "t"}
    with pytest.raises(ebz.InvalidType, match="metadata"):
        ebz.compress(np.zeros(3), abs=1, metadata={"what": object()})
    with pytest.raises(ebz.InvalidArgument, match="metadata"):
        ebz.compress(np.zeros(3), abs=1, metadata=[np.nan])


def test_parameters_of_numpy():
    name = next(row for row in ebz.codecs() if row["params"])
    (key, (default, _)), *_ = name["params"].items()
    with pytest.raises(ebz.InvalidType, match=key):
        ebz.numcodecs.Ebz(lossless=True, params={key: object()})
    codec = ebz.numcodecs.Ebz(lossless=True, params={}, codec=np.str_("fz"))
    assert json.loads(json.dumps(codec.get_config())) == {
        "id": "ebz", "lossless": True, "codec": "fz", "params": {}}


@pytest.mark.parametrize("codec", CODECS)
def test_equal_codecs_have_equal_hashes(codec):
    one, other = codec(abs=1), codec(abs=1.0)
    assert one == other and hash(one) == hash(other)
    one, other = codec(abs=0.0, fill=0.0), codec(abs=-0.0, fill=-0.0)
    assert one == other and hash(one) == hash(other)
    assert codec(abs=1) != codec(abs=2) and codec(abs=1) != codec(range=1)
    assert codec(abs=1, fill=[1, 2]) == codec(abs=1, fill=(1.0, 2)) != codec(abs=1, fill=[1])
    assert codec(abs=1, fill="auto") == codec(abs=1) != codec(abs=1, fill=None)
    assert codec(abs=1, fill=None) == codec(abs=1, fill="none")
    assert len({codec(abs=1, chunk=[2, 3]), codec(abs=1, chunk=(2, 3))}) == 1
    restored = pickle.loads(pickle.dumps(codec(abs=1, threads=2, fill=None)))
    assert restored == codec(abs=1, fill=None) and restored.threads == 2


def test_threads_do_not_tell_codecs_apart():
    codec = ebz.zarr.Ebz(abs=1, threads=2)
    assert codec == ebz.zarr.Ebz.from_dict(codec.to_dict())
    assert hash(codec) == hash(ebz.zarr.Ebz.from_dict(codec.to_dict()))
    codec = ebz.numcodecs.Ebz(abs=1, threads=2)
    assert codec == ebz.numcodecs.Ebz.from_config(codec.get_config())


WRONG_TYPES = [
    {"abs": True}, {"abs": np.True_}, {"abs": "1"}, {"range": [1]}, {"abs": 1j},
    {"abs": np.complex64(1)}, {"abs": 1, "fill": True}, {"abs": 1, "fill": [b"1"]},
    {"abs": 1, "codec": 3}, {"lossless": 1}, {"abs": 1, "params": [1]},
    {"abs": np.array([1.0, 2.0])},
]
WRONG_VALUES = [
    {"abs": 1, "fill": "mean"}, {"abs": 1, "fill": ["none", 1]}, {"precision": 2.5},
    {"abs": 10**400}, {"abs": 1, "fill": list(range(100))},
]


@pytest.mark.parametrize("codec", ALL)
@pytest.mark.parametrize("settings", WRONG_TYPES, ids=str)
def test_types_are_refused_at_once(codec, settings):
    with pytest.raises(ebz.InvalidType):
        codec(**settings)


@pytest.mark.parametrize("codec", ALL)
@pytest.mark.parametrize("settings", WRONG_VALUES, ids=range(len(WRONG_VALUES)))
def test_values_are_refused_at_once(codec, settings):
    with pytest.raises(ebz.InvalidArgument):
        codec(**settings)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"chunk": [0, 0]}, ebz.InvalidArgument), ({"chunk": [2.7]}, ebz.InvalidType),
     ({"chunk": [-1]}, ebz.InvalidArgument), ({"chunk": 5}, ebz.InvalidType),
     ({"chunk": [True]}, ebz.InvalidType), ({"threads": -1}, ebz.InvalidArgument),
     ({"threads": 1.5}, ebz.InvalidType), ({"threads": 1 << 70}, ebz.InvalidArgument)], ids=str)
def test_counts_are_refused_at_once(codec, settings, expected):
    with pytest.raises(expected, match=next(iter(settings))):
        codec(abs=1, **settings)
    with pytest.raises(expected, match=next(iter(settings))):
        ebz.compress(np.zeros((3, 3)), abs=1, **settings)


def test_threads_of_readers(tmp_path):
    data = ebz.compress(np.zeros(3), abs=1)
    (tmp_path / "a.ebz").write_bytes(data)
    for call in (
        lambda: ebz.decompress(data, threads=-1),
        lambda: ebz.decompress(data, max_bytes=-1),
        lambda: ebz.decompress_into(data, np.zeros(3), threads=-1),
        lambda: ebz.compare(np.zeros(3), np.zeros(3), threads=-1),
        lambda: ebz.open(tmp_path / "a.ebz", threads=-1),
    ):
        with pytest.raises(ebz.InvalidArgument, match="threads|max_bytes"):
            call()


def test_damage_is_a_value_error():
    with pytest.raises(ValueError, match="not an .ebz"):
        ebz.decompress(b"not a stream, but long enough to be one")
    assert issubclass(ebz.TruncatedError, ValueError)


def test_devices_are_named():
    values = np.linspace(0, 1, 1000, dtype=np.float32)
    expected = ebz.compress(values, abs=1e-3)
    assert ebz.compress(values, abs=1e-3, device="cpu") == expected
    with pytest.raises(ebz.InvalidArgument, match="device tpu"):
        ebz.compress(values, abs=1e-3, device="tpu")
    # Built without GPUs, or on a machine that does not have this one.
    with pytest.raises(ebz.UnsupportedError, match="GPU"):
        ebz.decompress(expected, device="gpu:an adapter that nobody makes")
