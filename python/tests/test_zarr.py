"""The codec for Zarr format 3."""

import json
import pathlib
import pickle
import random
import re

import jsonschema
import numpy as np
import pytest
import zarr
from conftest import worst
from zarr.codecs import TransposeCodec
from zarr.codecs import numcodecs as numcodecs3
from zarr.storage import LocalStore, WrapperStore

import ebz
import ebz.numcodecs
from ebz.settings import BOUNDS
from ebz.zarr import Ebz

#: What is to be submitted to the registry of Zarr's extensions.
REGISTRY = pathlib.Path(__file__).resolve().parents[2] / "docs/registration/zarr/ebz"
SCHEMA = jsonschema.Draft202012Validator(json.loads((REGISTRY / "schema.json").read_text()))


def write(path, values, codec, **arguments):
    arguments = {"chunks": values.shape, "dtype": values.dtype, **arguments}
    array = zarr.create_array(
        path, shape=values.shape, serializer=codec, compressors=None, filters=None, **arguments
    )
    array[...] = values
    return zarr.open_array(path, mode="r")


class Counting(WrapperStore):
    """A store that counts the bytes that are read from chunks."""

    read = 0

    async def get(self, key, *arguments, **more):
        value = await super().get(key, *arguments, **more)
        if value is not None and "zarr.json" not in key:
            self.read += len(value)
        return value

    async def getsize(self, key):
        return await self._store.getsize(key)


SELECTIONS = [
    np.s_[...], np.s_[3], np.s_[5:20:3, 7, 1:50], np.s_[-1, -1, -1], np.s_[2:3, 39:, :5],
]


@pytest.mark.parametrize("shards", [None, (12, 20, 28)])
@pytest.mark.parametrize("dtype", ["f4", "f8", ">f4"])
def test_round_trip(field, tmp_path, shards, dtype):
    field = field.astype(dtype)
    array = write(tmp_path, field, Ebz(abs=1e-2, chunk=(2, 10, 14)), chunks=(6, 10, 14), shards=shards)
    whole = array[...]
    assert worst(whole, field) <= 1e-2 and whole.dtype == array.dtype
    for key in SELECTIONS:
        assert np.array_equal(array[key], whole[key], equal_nan=True)
    rows = np.array([0, 5, 17])
    assert np.array_equal(array.oindex[rows, :, 3], whole[rows, :, 3], equal_nan=True)
    assert np.array_equal(array.vindex[rows, rows, rows], whole[rows, rows, rows], equal_nan=True)
    mask = np.zeros(field.shape, bool)
    mask[2, 3, 4:9] = True
    assert np.array_equal(array.get_mask_selection(mask), whole[mask], equal_nan=True)


def test_parts_of_chunks_are_read(tmp_path):
    values = np.random.default_rng(0).normal(size=(64, 64, 128))
    write(tmp_path, values, Ebz(lossless=True, chunk=(2, 64, 128)))
    store = Counting(LocalStore(tmp_path, read_only=True))
    array = zarr.open_array(store, mode="r")
    assert np.array_equal(array[31:33, 5], values[31:33, 5])
    assert np.array_equal(array[3:60:40, ..., ::9], values[3:60:40, ..., ::9])
    assert 0 < store.read < values.nbytes // 4
    assert np.array_equal(array[...], values)


def test_parts_of_chunks_in_shards_are_decoded(tmp_path):
    """Damage in another part of the same chunk is not even seen."""
    values = np.random.default_rng(0).normal(size=(16, 32, 64))
    array = write(tmp_path, values, Ebz(lossless=True, chunk=(4, 32, 64)),
                  chunks=(16, 32, 32), shards=(16, 32, 64))
    (shard,) = (tmp_path / "c").rglob("0/0/0")
    data = bytearray(shard.read_bytes())
    data[len(data) // 4] ^= 255
    shard.write_bytes(data)
    assert np.array_equal(array[:2, :, 3], values[:2, :, 3])
    with pytest.raises(ebz.CorruptError):
        array[...]


def test_metadata(field, tmp_path):
    codec = Ebz(range=1e-3, codec="interp", threads=2, fill=-1.0)
    array = write(tmp_path, field, codec)
    (stored,) = json.loads((tmp_path / "zarr.json").read_text())["codecs"]
    assert stored == {
        "name": "ebz", "configuration": {"range": 1e-3, "codec": "interp", "fill": -1.0}}
    (read,) = array.metadata.codecs
    assert read.to_dict() == codec.to_dict() == Ebz.from_dict(stored).to_dict()
    assert pickle.loads(pickle.dumps(codec)) == codec == read and hash(read) == hash(codec)
    assert np.array_equal(pickle.loads(pickle.dumps(array))[...], array[...], equal_nan=True)


def test_fill_value_means_missing(tmp_path):
    values = np.random.default_rng(0).normal(size=(8, 64))
    values[:, 10:20] = 1e20
    array = write(tmp_path / "a", values, Ebz(range=1e-3), fill_value=1e20)
    assert array.metadata.codecs[0].settings["fill"] == ["auto", 1e20]
    assert worst(array[...], values) <= 1e-3 * np.ptp(values[values < 1e19])
    for fill in (0, np.nan):
        array = write(tmp_path / str(fill), values, Ebz(range=1e-3), fill_value=fill)
        assert "fill" not in array.metadata.codecs[0].settings
    empty = zarr.create_array(tmp_path / "b", shape=(4, 4), chunks=(2, 2), dtype="f4",
                              serializer=Ebz(abs=1), compressors=None, fill_value=7)
    empty[:2] = 7
    assert (empty[...] == 7).all()


FILTERS = {
    "delta": lambda dtype: numcodecs3.Delta(dtype=dtype),
    "scale": lambda dtype: numcodecs3.FixedScaleOffset(offset=1, scale=2, dtype=dtype),
    "bits": lambda dtype: numcodecs3.BitRound(keepbits=10),
    "quantize": lambda dtype: numcodecs3.Quantize(digits=2, dtype=dtype),
    "transpose": lambda dtype: TransposeCodec(order=(1, 2, 0)),
}


@pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr")
@pytest.mark.parametrize("shards", [None, (24, 40, 56)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FILTERS)
def test_filters_before_it(field, tmp_path, name, dtype, shards):
    """They hand over flat chunks, or integers of the same bits."""
    field = np.nan_to_num(field, posinf=0).astype(dtype)
    arrays = []
    for place, serializer in (("ours", Ebz(lossless=True)), ("theirs", "auto")):
        array = zarr.create_array(
            tmp_path / place, shape=field.shape, chunks=(12, 20, 28), shards=shards, dtype=dtype,
            filters=[FILTERS[name](dtype)], serializer=serializer, compressors=None)
        array[...] = field
        arrays.append(zarr.open_array(tmp_path / place, mode="r"))
    ours, theirs = arrays
    assert np.array_equal(ours[...], theirs[...])
    assert np.array_equal(ours[5, 3:30:7], theirs[5, 3:30:7])
    # The codec sees axes, not a line of values.
    if name in ("delta", "bits") and shards is None:
        chunk = (tmp_path / "ours" / "c" / "0" / "0" / "0").read_bytes()
        assert ebz.decompress(chunk).shape == (12, 20, 28)


@pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr")
def test_a_filter_that_makes_other_types_is_refused(tmp_path):
    with pytest.raises(TypeError, match="not compressed"):
        zarr.create_array(
            tmp_path, shape=(4,), chunks=(4,), dtype="f4", compressors=None,
            filters=[numcodecs3.FixedScaleOffset(offset=0, scale=1, dtype="f4", astype="i2")],
            serializer=Ebz(lossless=True))[...] = 1.0


def test_chunks_of_the_same_size_are_read(field, tmp_path):
    """What was written with the shape of a chunk lost, by earlier versions or by other programs."""
    array = write(tmp_path, field, Ebz(abs=1e-2), chunks=(12, 40, 56))
    for begin in (0, 1):
        part = field[12 * begin : 12 * begin + 12]
        flat = ebz.compress(part.ravel(), abs=1e-2)
        (tmp_path / "c" / str(begin) / "0" / "0").write_bytes(flat)
    whole = array[...]
    assert worst(whole, field) <= 1e-2
    for key in SELECTIONS:
        assert np.array_equal(array[key], whole[key], equal_nan=True)


def test_large_chunks_of_the_same_size_are_read(tmp_path):
    values = np.random.default_rng(0).normal(size=(64, 32, 64))
    array = write(tmp_path, values, Ebz(lossless=True))
    (tmp_path / "c" / "0" / "0" / "0").write_bytes(ebz.compress(values.ravel(), lossless=True))
    assert np.array_equal(array[3, 5:7], values[3, 5:7])


def test_parts_of_chunks_are_written(tmp_path):
    array = zarr.create_array(tmp_path, shape=(10, 10), chunks=(4, 4), dtype="f8",
                              serializer=Ebz(lossless=True), compressors=None)
    expected = np.zeros((10, 10))
    for key in (np.s_[3:7, 2:9], np.s_[9], np.s_[:, 0]):
        array[key] = expected[key] = np.random.default_rng(0).normal()
    assert np.array_equal(array[...], expected)


@pytest.mark.parametrize("dtype", ["i4", "c8", "bool"])
def test_other_types_are_refused(tmp_path, dtype):
    with pytest.raises(TypeError, match="not compressed"):
        write(tmp_path, np.zeros(3, dtype), Ebz(abs=1))


def test_bad_configurations(field, tmp_path):
    for configuration in ({}, {"abs": 1, "colour": "red"}, {"abs": "one"}, {"abs": -1}, [],
                          {"abs": 1, "codec": "none"}, {"abs": 1, "metadata": {}}):
        with pytest.raises((ValueError, TypeError)):
            Ebz.from_dict({"name": "ebz", "configuration": configuration})
    with pytest.raises(ValueError):
        Ebz.from_dict({"name": "zfp", "configuration": {"abs": 1}})
    with pytest.raises(ValueError, match="axes"):
        write(tmp_path, field, Ebz(abs=1, chunk=(2, 2)))


def test_any_configuration():
    """Whatever JSON a file has: a codec that is equal to what it stores, or an error that says why."""
    choice = random.Random(1)
    names = [*BOUNDS, "codec", "favor", "threads", "fill", "clip", "keep_zeros", "one_pass", "chunk",
             "params", "metadata", "x"]
    values = [0, 1, -1, 2.5, 1e-3, 1e300, 10**30, True, False, None, "", "auto", "none", "fz", "ceaz", "data", "0..1",
              "speed", [], [2, 3], [0], ["auto", 7], [None], {}, {"rewrite": "exact"}, {"lanes": 1}, {"a": {"b": []}}]
    valid = 0
    for _ in range(20_000):
        configuration = {choice.choice(names): choice.choice(values) for _ in range(choice.randrange(4))}
        try:
            codec = Ebz.from_dict({"name": "ebz", "configuration": configuration})
        except ebz.Error:
            continue
        assert Ebz.from_dict(codec.to_dict()) == codec
        SCHEMA.validate(codec.to_dict())
        valid += 1
    assert valid > 100


def test_the_schema_and_the_examples_of_the_registry():
    SCHEMA.check_schema(SCHEMA.schema)
    examples = sorted((REGISTRY / "examples").iterdir())
    assert examples
    for path in examples:
        stored = json.loads(path.read_text())
        SCHEMA.validate(stored)
        assert Ebz.from_dict(stored).to_dict() == stored
    text = (REGISTRY / "README.md").read_text()
    (shown,) = re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for codec in json.loads(shown)["codecs"]:
        SCHEMA.validate(codec)
    for wrong in ({}, {"abs": 1, "range": 0.1}, {"abs": -1}, {"abs": 1, "fill": []}, {"abs": 1, "threads": 2}):
        assert not SCHEMA.is_valid({"name": "ebz", "configuration": wrong}), wrong


def test_damaged_chunks(field, tmp_path):
    array = write(tmp_path, field, Ebz(abs=1e-3), chunks=(12, 40, 56))
    chunk = tmp_path / "c" / "0" / "0" / "0"
    data = chunk.read_bytes()
    for damaged in (data[:-5], data[:200] + b"?" + data[201:], b"", b"not a chunk of this array",
                    ebz.compress(field, abs=1), ebz.compress(field[:12].astype("f8"), abs=1)):
        chunk.write_bytes(damaged)
        for key in (np.s_[...], np.s_[3, 4]):
            with pytest.raises(ebz.Error):
                array[key]
        assert worst(array[12:], field[12:]) <= 1e-3
    chunk.unlink()
    assert not array[:12].any()


def test_the_other_pipeline(field, tmp_path):
    pipeline = "zarr.core.codec_pipeline.FusedCodecPipeline"
    if not hasattr(zarr.core.codec_pipeline, "FusedCodecPipeline"):
        pytest.skip(f"zarr {zarr.__version__} has one pipeline only")
    with zarr.config.set({"codec_pipeline.path": pipeline}):
        array = write(tmp_path, field, Ebz(abs=1e-2), chunks=(6, 20, 28), shards=(12, 40, 56))
        assert worst(array[...], field) <= 1e-2
        assert worst(array[7, 3:30], field[7, 3:30]) <= 1e-2


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("codec", ["fz", "ceaz"])
def test_rewriting_a_chunk_does_not_drift(tmp_path, zarr_format, codec):
    z, y, x = np.meshgrid(*(np.linspace(0, 3, n) for n in (12, 64, 64)), indexing="ij")
    field = (20 * np.sin(2 * z + y) * np.cos(3 * x - z)).astype("f4")
    if zarr_format == 3:
        how = {"serializer": Ebz(abs=0.01, codec=codec), "compressors": None}
    else:
        how = {"compressors": ebz.numcodecs.Ebz(abs=0.01, codec=codec)}
    array = zarr.create_array(
        tmp_path, shape=field.shape, chunks=field.shape, dtype="f4", zarr_format=zarr_format,
        filters=None, **how,
    )
    for level, values in enumerate(field):
        array[level] = values
    assert worst(array[...], field) <= 0.01
