"""Arrays of 16-bit values: NumPy's float16, and the bfloat16 of ml_dtypes."""

import h5py
import ml_dtypes
import numcodecs
import numpy as np
import pytest
import zarr

import ebz
import ebz.hdf5
import ebz.numcodecs
import ebz.zarr

TYPES = [np.dtype("f2"), np.dtype(ml_dtypes.bfloat16)]


def waves(dtype, shape=(40, 50, 30)):
    grid = np.meshgrid(*(np.linspace(0, 3, n) for n in shape), indexing="ij")
    return (100 * np.sin(sum(grid))).astype(dtype)


def error(values, decoded):
    assert values.dtype == decoded.dtype and values.shape == decoded.shape
    return np.abs(values.astype("f8") - decoded.astype("f8")).max()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_bound_is_that_of_the_values_themselves(dtype):
    values = waves(dtype)
    for codec in ebz.codecs():
        for bound in (0.01, 0.3, 1.7, 1e6):
            if "abs" in codec["bounds"]:
                data = ebz.compress(values, abs=bound, codec=codec["name"])
                assert error(values, ebz.decompress(data)) <= bound
    data = ebz.compress(values, lossless=True)
    assert np.array_equal(ebz.decompress(data).view("u2"), values.view("u2"))
    assert len(ebz.compress(values, abs=1, fill=None)) < values.nbytes / 4


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_pattern_comes_back(dtype):
    values = np.arange(1 << 16, dtype="u2").view(dtype)
    for settings in ({"lossless": True}, {"abs": 0}):
        decoded = ebz.decompress(ebz.compress(values, **settings))
        assert np.array_equal(decoded.view("u2"), values.view("u2"))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_strides_and_outputs(dtype):
    values = waves(dtype)[::2, ::-3].T
    data = ebz.compress(values, abs=0.5)
    out = np.zeros(values.shape, dtype)
    ebz.decompress_into(data, out)
    assert error(values, out) <= 0.5
    wrong = np.zeros(values.shape, "f4")
    with pytest.raises((TypeError, ValueError)):
        ebz.decompress_into(data, wrong)
    assert ebz.compare(values, out)["error_stat:max_error"] <= 0.5


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_files(dtype, tmp_path):
    values = waves(dtype)
    ebz.save(tmp_path / "a.ebz", values, range=1e-2)
    file = ebz.open(tmp_path / "a.ebz")
    assert file.dtype == dtype
    assert error(values[3:9], file[3:9]) <= 2.0


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_numcodecs(dtype):
    values = waves(dtype)
    codec = numcodecs.get_codec(ebz.numcodecs.Ebz(abs=0.5).get_config())
    assert error(values, codec.decode(codec.encode(values))) <= 0.5


@pytest.mark.parametrize("version", [2, 3])
def test_zarr(version, tmp_path):
    values = waves("f2")
    codec = {
        2: {"compressors": ebz.numcodecs.Ebz(abs=0.5)},
        3: {"serializer": ebz.zarr.Ebz(abs=0.5), "compressors": None},
    }
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=values.shape, dtype="f2", chunks=(20, 25, 30),
        zarr_format=version, **codec[version])
    array[:] = values
    assert error(values, zarr.open_array(tmp_path / "a.zarr")[:]) <= 0.5


@pytest.mark.parametrize("dtype", ["<f2", ">f2"])
def test_hdf5(dtype, tmp_path):
    values = waves(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("a", data=values, chunks=(20, 25, 30), **ebz.hdf5.Ebz(abs=0.5))
    with h5py.File(tmp_path / "a.h5") as file:
        assert error(values, file["a"][:]) <= 0.5
        assert file["a"].id.get_storage_size() < values.nbytes
