"""Chunks of HDF5 files, read in place by way of Zarr."""

import h5py
import numpy as np
import pytest
import xarray as xr

import ebz
import ebz.hdf5
import ebz.kerchunk
import ebz.xarray


@pytest.mark.parametrize("dtype", ["<f4", ">f8"])
def test_references(tmp_path, dtype):
    path = str(tmp_path / "a.h5")
    values = np.random.default_rng(0).normal(size=(20, 30)).cumsum(axis=1).astype(dtype)
    with h5py.File(path, "w") as file:
        file.create_dataset("t", data=values, chunks=(8, 30), fillvalue=-1,
                            compression=ebz.hdf5.Ebz(abs=1e-3, codec="ceaz"))
        file.create_dataset("plain", data=values, chunks=(8, 30), compression="gzip")
        found = ebz.hdf5.codec_settings(file["t"])
        assert found["abs"] == 1e-3 and found["codec"] == "ceaz"
        assert ebz.hdf5.Ebz(**found).words == ebz.hdf5.Ebz(abs=1e-3, codec="ceaz").words
        assert ebz.hdf5.codec_settings(file["plain"]) is None
    with h5py.File(path) as file:
        expected = file["t"][...]
    translator = ebz.kerchunk.SingleHdf5ToZarr(path, inline_threshold=0)
    references = translator.translate()
    translator.close()
    with xr.open_dataset(references, engine="kerchunk", mask_and_scale=False) as dataset:
        assert dataset.t.dtype.newbyteorder("=") == np.dtype(dtype).newbyteorder("=")
        assert np.array_equal(dataset.t.values, expected)
        assert np.array_equal(dataset.plain.values, values)
    assert np.abs(expected.astype("f8") - values).max() <= 1e-3
