"""Missing values are preserved, whether the dataset, an attribute or nothing declares them."""

import h5py
import netCDF4
import numpy
import pytest
import xarray

import ebz.hdf5

CHUNKS = (10, 30, 35)
MARKS = [9.96921e36, 1e20, -999.0]
BOUNDS = [{"range": 1e-3}, {"abs": 0.03}, {"pointwise": 1e-3, "codec": "fz"}]


@pytest.fixture
def land(field):
    """Whole chunks, parts of chunks, and a single value in a chunk."""
    z, y, x = numpy.indices(field.shape)
    land = (x > 25) & (y > 20) & (x + y < 90 + z)
    land[0, 0, 0] = True
    return land


def masked(field, land, mark):
    return numpy.where(land, numpy.float32(mark), field)


def check(back, field, land, mark, bound):
    back = numpy.asarray(back)
    assert (back[land] == numpy.float32(mark)).all()
    error = abs(back.astype("f8") - field)[~land]
    assert error.max() <= bound


def limit(settings, bound, field):
    return {"range": bound, "abs": 0.03, "pointwise": 1e-3 * field.max()}[next(iter(settings))]


@pytest.mark.parametrize("settings", BOUNDS, ids=lambda s: next(iter(s)))
@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("named", ["fillvalue", "attribute", "nobody"])
def test_h5py(tmp_path, field, land, bound, mark, settings, named):
    values = masked(field, land, mark)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        fill = numpy.float32(mark) if named == "fillvalue" else None
        a = f.create_dataset("a", data=values, chunks=CHUNKS, fillvalue=fill,
                             **ebz.hdf5.Ebz(**settings))
        if named == "attribute":
            a.attrs["_FillValue"] = numpy.float32(mark)
    with h5py.File(tmp_path / "a.h5") as f:
        check(f["a"][...], field, land, mark, limit(settings, bound, field))


@pytest.mark.parametrize("mark", [-1234.5, 7.0])
def test_the_fill_value_of_a_dataset_can_be_any_number(tmp_path, field, land, bound, mark):
    values = masked(field, land, mark)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("a", data=values, chunks=CHUNKS, fillvalue=mark,
                         **ebz.hdf5.Ebz(range=1e-3))
    with h5py.File(tmp_path / "a.h5") as f:
        check(f["a"][...], field, land, mark, bound)


@pytest.mark.parametrize("mark", MARKS)
def test_netcdf4(tmp_path, field, land, bound, mark):
    values = numpy.ma.masked_array(field, land)
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as f:
        for name, length in zip("zyx", field.shape):
            f.createDimension(name, length)
        t = f.createVariable("t", "f4", tuple("zyx"), fill_value=mark, chunksizes=CHUNKS)
        ebz.hdf5.compress_variable(t, range=1e-3)
        t[...] = values
    with netCDF4.Dataset(tmp_path / "a.nc") as f:
        back = f["t"][...]
        assert (numpy.ma.getmaskarray(back) == land).all()
        check(back.filled(mark), field, land, mark, bound)


@pytest.mark.parametrize("mark", MARKS)
def test_xarray(tmp_path, field, land, bound, mark):
    values = numpy.where(land, numpy.nan, field).astype("f4")
    data = xarray.Dataset({"t": (("z", "y", "x"), values)})
    encoding = {"t": {**ebz.hdf5.Ebz(range=1e-3), "chunksizes": CHUNKS, "_FillValue": mark}}
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf", encoding=encoding)
    with xarray.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as f:
        back = f["t"].values
    assert (numpy.isnan(back) == land).all()
    assert abs(back.astype("f8") - field)[~land].max() <= bound
