"""A dataset of xarray in Zarr, in both formats, each variable with a bound of its own."""

import pathlib
import tempfile

import numpy as np
import xarray as xr

import ebz.xarray
from ebz.numcodecs import Ebz as EbzV2

rng = np.random.default_rng(1)
shape = (24, 90, 180)
dataset = xr.Dataset(
    {
        "temperature": (("time", "lat", "lon"), 280 + rng.normal(size=shape).cumsum(axis=2)),
        "rain": (("time", "lat", "lon"), np.maximum(0, rng.normal(size=shape)).astype("f4")),
    },
    coords={"lat": np.linspace(-89, 89, 90), "lon": np.arange(0.0, 360, 2)},
)
dataset["temperature"][:, :10] = np.nan

with tempfile.TemporaryDirectory() as folder:
    # Zarr format 3: the encoding of the whole dataset.
    store = pathlib.Path(folder, "three.zarr")
    encoding = ebz.xarray.encoding(
        dataset, zarr_format=3, range=1e-4, variables={"temperature": {"abs": 0.01}})
    dataset.to_zarr(store, zarr_format=3, encoding=encoding, consolidated=False)
    back = xr.open_zarr(store, consolidated=False).load()
    assert abs(back.temperature - dataset.temperature).max() <= 0.01
    assert abs(back.rain - dataset.rain).max() <= 1e-4 * float(dataset.rain.max())
    assert back.temperature.isnull().equals(dataset.temperature.isnull())

    # Zarr format 2, by hand: the codec is the compressor.
    store = pathlib.Path(folder, "two.zarr")
    encoding = {name: {"compressors": EbzV2(range=1e-3)} for name in dataset.data_vars}
    dataset.to_zarr(store, zarr_format=2, encoding=encoding, consolidated=False)
    back = xr.open_zarr(store, consolidated=False).load()
    size = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
    assert abs(back.temperature - dataset.temperature).max() <= 1e-3 * float(
        dataset.temperature.max() - dataset.temperature.min()
    )
    print(f"range 1e-3, Zarr format 2: {dataset.nbytes / size:.1f} times smaller")
