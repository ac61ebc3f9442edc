"""Missing data and bounds of whole datasets, in Zarr and netCDF."""

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr

import ebz
import ebz.hdf5
import ebz.xarray
from ebz.numcodecs import Ebz as EbzV2
from ebz.zarr import Ebz

FILLS = [-999.0, 1e20, 9.96921e36, -32768.0]
TARGETS = ["zarr 2", "zarr 3", "h5netcdf", "netcdf4"]


def sea(dtype="f4"):
    """Temperatures with a third of the points missing."""
    values = 15 + np.random.default_rng(3).normal(size=(6, 40, 60)).cumsum(axis=2).astype(dtype)
    values[:, :13] = np.nan
    values[0, 20, 30] = np.nan
    return xr.Dataset({"t": (("time", "lat", "lon"), values)})


def roundtrip(dataset, path, target, **settings):
    """Written with what `ebz.xarray` makes, and read again."""
    kind, _, number = target.partition(" ")
    if kind == "zarr":
        encoding = ebz.xarray.encoding(dataset, zarr_format=int(number), **settings)
        dataset.to_zarr(path, zarr_format=int(number), encoding=encoding, consolidated=False)
        return xr.open_zarr(path, consolidated=False).load()
    ebz.xarray.to_netcdf(dataset, path, engine=kind, **settings)
    with xr.open_dataset(path, engine=kind) as again:
        return again.load()


def check(back, dataset, limit):
    assert back.t.isnull().equals(dataset.t.isnull())
    assert float(abs(back.t.astype("f8") - dataset.t).max()) <= limit


@pytest.mark.parametrize("where", ["encoding", "attrs"])
@pytest.mark.parametrize("bound", ["abs", "range"])
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_users_write(tmp_path, zarr_format, fill, bound, where):
    """The codec alone is named; the fill value is an attribute that it never sees."""
    dataset = sea()
    codec = {"compressors": EbzV2(**{bound: 1e-3})}
    if zarr_format == 3:
        codec = {"serializer": Ebz(**{bound: 1e-3}), "compressors": None}
    written = dataset
    if where == "encoding":
        codec["_FillValue"] = np.float32(fill)
    else:
        written = dataset.fillna(np.float32(fill))
        written.t.attrs["_FillValue"] = np.float32(fill)
    written.to_zarr(tmp_path, zarr_format=zarr_format, encoding={"t": codec}, consolidated=False)
    back = xr.open_zarr(tmp_path, consolidated=False).load()
    extent = float(dataset.t.max() - dataset.t.min())
    check(back, dataset, 1e-3 if bound == "abs" else 1e-3 * extent)


@pytest.mark.parametrize("fill", [*FILLS, 12.5, -1.0, None])
@pytest.mark.parametrize("target", TARGETS)
def test_fill_values_of_a_dataset(tmp_path, target, fill):
    """Any value, even one in the middle of the data, or a single one."""
    dataset = sea()
    dataset["t"] = dataset.t.where(dataset.t != np.float32(fill)) if fill is not None else dataset.t
    dataset.t.encoding["_FillValue"] = fill if fill is None else np.float32(fill)
    back = roundtrip(dataset, tmp_path / "a", target, range=1e-3)
    check(back, dataset, 1e-3 * float(dataset.t.max() - dataset.t.min()))
    if fill is not None:
        assert back.t.encoding["_FillValue"] == np.float32(fill)


@pytest.mark.parametrize("target", TARGETS)
def test_missing_value_in_attributes(tmp_path, target):
    dataset = sea()
    raw = dataset.fillna(-1.25)
    raw.t.attrs["missing_value"] = np.float32(-1.25)
    check(roundtrip(raw, tmp_path / "a", target, abs=0.01), dataset, 0.01)


def mixed():
    dataset = sea()
    dataset["n"] = ("time", np.arange(6))
    dataset["rain"] = dataset.t.astype("f8") ** 2
    dataset["mask"] = dataset.t * 0
    dataset["lat_bnds"] = (("lat", "two"), np.random.default_rng(0).normal(size=(40, 2)))
    dataset["scalar"] = 1.5
    dataset["packed"] = dataset.t + 1
    dataset.packed.encoding.update(dtype="i2", scale_factor=0.01, _FillValue=-1)
    dataset["wide"] = dataset.t + 2
    dataset.wide.encoding["dtype"] = "f8"
    dataset = dataset.assign_coords(
        lat=("lat", np.random.default_rng(1).normal(size=40), {"bounds": "lat_bnds"}),
        height=(("lat", "lon"), np.random.default_rng(2).normal(size=(40, 60))))
    return dataset


@pytest.mark.parametrize("target", TARGETS)
def test_variables_have_settings_of_their_own(tmp_path, target):
    dataset = mixed()
    back = roundtrip(
        dataset, tmp_path / "a", target, range=1e-3, codec="ceaz",
        variables={"rain": {"abs": 0.5, "codec": "fz"}, "mask": None})
    check(back, dataset, 1e-3 * float(dataset.t.max() - dataset.t.min()))
    assert float(abs(back.rain - dataset.rain).max()) <= 0.5
    for name in ("n", "mask", "lat_bnds", "scalar", "lat", "height"):
        assert back[name].equals(dataset[name]), name
    assert back.wide.dtype == np.float64 and back.packed.encoding["dtype"] == np.int16
    compressed = {"t", "rain", "wide"}
    if target.startswith("zarr"):
        group = zarr.open_group(tmp_path / "a", mode="r")
        ours = {name for name, array in group.arrays() if "ebz" in str(array.metadata.to_dict())}
    else:
        with h5py.File(tmp_path / "a") as file:
            ours = {name for name in file if ebz.hdf5.codec_settings(file[name])}
            found = ebz.hdf5.codec_settings(file["rain"])
            assert found["abs"] == 0.5 and found["codec"] == "fz"
    assert ours == compressed


def test_packed_variables_that_are_named(tmp_path):
    dataset = mixed()
    back = roundtrip(dataset, tmp_path / "a", "zarr 3", range=1e-3,
                     variables={"packed": {"abs": 1e-4}})
    assert back.packed.encoding["dtype"] == np.float32
    assert float(abs(back.packed - dataset.packed).max()) <= 1e-4
    assert back.packed.isnull().equals(dataset.packed.isnull())


def test_what_is_refused(tmp_path):
    dataset = mixed()
    for settings, expected in [
        ({}, ebz.InvalidArgument),
        ({"abs": 1, "variables": {"none": None}}, ebz.InvalidArgument),
        ({"abs": 1, "variables": {"n": {"abs": 1}}}, ebz.InvalidType),
        ({"abs": 1, "engine": "scipy"}, ebz.InvalidArgument),
        ({"abs": 1, "engine": "h5netcdf", "zarr_format": 2}, ebz.InvalidArgument),
        ({"abs": 1, "engine": "netcdf4"}, ebz.UnsupportedError),
        ({"abs": True}, ebz.InvalidType),
    ]:
        with pytest.raises(expected):
            ebz.xarray.encoding(dataset, **settings)
    with pytest.raises(ebz.UnsupportedError, match="h5netcdf.*ebz.xarray.to_netcdf"):
        ebz.xarray.encoding(dataset, abs=1, engine="netcdf4")


def test_chunks_of_netcdf():
    dataset = xr.Dataset({
        "small": ("s", np.zeros(5)),
        "large": (("z", "y", "x"), np.zeros((16, 512, 512), "f4")),
        "flat": (("a", "b"), np.zeros((2, 1 << 21), "f4")),
        "chunked": (("c", "s"), np.zeros((10, 5))),
    })
    dataset["chunked"] = dataset.chunked.chunk(c=4)
    encoding = ebz.xarray.encoding(dataset, engine="h5netcdf", abs=1)
    chunks = {name: one["chunksizes"] for name, one in encoding.items()}
    assert chunks == {"small": (5,), "large": (4, 512, 512), "flat": (1, 1 << 20), "chunked": (4, 5)}


def test_dask(tmp_path):
    dataset = sea().chunk(time=2)
    back = roundtrip(dataset, tmp_path / "a", "zarr 3", abs=0.01)
    check(back, dataset, 0.01)
    assert back.t.encoding["chunks"] == (2, 40, 60)
