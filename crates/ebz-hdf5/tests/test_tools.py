"""The filter in netCDF4, xarray and the HDF5 and netCDF tools."""

import os
import subprocess

import h5py
import netCDF4
import numpy
import pytest
import xarray

import ebz
import ebz.hdf5

EBZ = os.environ.get("EBZ_COMMAND", "ebz")


def run(*command):
    return subprocess.check_output(command, text=True, stderr=subprocess.STDOUT)


def plain_file(path, field):
    with netCDF4.Dataset(path, "w") as f:
        for name, extent in zip("zyx", field.shape):
            f.createDimension(name, extent)
        f.createVariable("t", "f4", ("z", "y", "x"), chunksizes=(8, 32, 70))[...] = field
        f.createVariable("n", "i4", ("z",))[...] = range(field.shape[0])


def check(path, field, bound):
    """Reads the values with each library, and checks that ebz compressed them."""
    with h5py.File(path) as f:
        assert str(ebz.hdf5.FILTER_ID) in f["t"]._filters
        assert f["t"].id.get_storage_size() < field.nbytes / 3
        assert abs(f["t"][...].astype("f8") - field).max() <= bound
    with netCDF4.Dataset(path) as f:
        assert abs(f["t"][...].astype("f8") - field).max() <= bound


def test_netcdf4(tmp_path, field, bound):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as f:
        for name, extent in zip("zyx", field.shape):
            f.createDimension(name, extent)
        variable = f.createVariable("t", "f4", ("z", "y", "x"), chunksizes=(8, 32, 70))
        ebz.hdf5.compress_variable(variable, range=1e-3)
        variable[...] = field
        with pytest.raises(ebz.Error, match="before values are written"):
            ebz.hdf5.compress_variable(variable, range=1e-4)
    check(path, field, bound)


def test_variables_of_other_types_are_rejected_at_once(tmp_path):
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as f:
        f.createDimension("x", 64)
        for dtype in ("i4", "u1", "S1", str):
            variable = f.createVariable(f"v{dtype}", dtype, ("x",))
            with pytest.raises(TypeError, match="f4 and f8"):
                ebz.hdf5.compress_variable(variable, range=1e-3)
        f["vi4"][...] = numpy.arange(64)
    with netCDF4.Dataset(tmp_path / "a.nc") as f:
        assert (f["vi4"][...] == numpy.arange(64)).all()


def test_big_endian_variables(tmp_path, field, bound):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as f:
        for name, extent in zip("zyx", field.shape):
            f.createDimension(name, extent)
        variable = f.createVariable("t", ">f4", ("z", "y", "x"), chunksizes=(8, 32, 70), endian="big")
        ebz.hdf5.compress_variable(variable, range=1e-3)
        variable[...] = field
    check(path, field, bound)


def test_xarray(tmp_path, field, bound):
    path = tmp_path / "a.nc"
    encoding = {**ebz.hdf5.Ebz(range=1e-3), "chunksizes": (8, 32, 70)}
    data = xarray.Dataset({"t": (("z", "y", "x"), field)})
    data.to_netcdf(path, engine="h5netcdf", encoding={"t": encoding})
    check(path, field, bound)
    with xarray.open_dataset(path, engine="h5netcdf") as again:
        assert abs(again.t.values.astype("f8") - field).max() <= bound


def test_h5repack_and_h5dump(tmp_path, field, bound):
    plain_file(tmp_path / "a.nc", field)
    argument = run(EBZ, "hdf5-args", "--range", "1e-3").strip()
    run("h5repack", "-f", f"t:{argument}", tmp_path / "a.nc", tmp_path / "b.nc")
    check(tmp_path / "b.nc", field, bound)
    text = run("h5dump", "-d", "/t", "-s", "0,0,0", "-c", "1,1,3", tmp_path / "b.nc")
    values = text[text.index("(0,0,0):"):].split("\n")[0].split(":")[1].split(",")
    assert abs(numpy.array(values, "f8") - field[0, 0, :3]).max() <= bound + 1e-3
    # Packed again with another bound: the words are replaced.
    argument = run(EBZ, "hdf5-args", "--abs", "0.5", "--codec", "ceaz").strip()
    run("h5repack", "-f", f"t:{argument}", tmp_path / "b.nc", tmp_path / "c.nc")
    check(tmp_path / "c.nc", field, bound + 0.5)


def test_h5dump_reports_damage(tmp_path, field):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("t", data=field, chunks=(8, 32, 70), **ebz.hdf5.Ebz(range=1e-3))
        f.flush()
        place = f["t"].id.get_chunk_info(0)
    damaged = bytearray(path.read_bytes())
    damaged[place.byte_offset + place.size // 2] ^= 1
    path.write_bytes(damaged)
    dumped = subprocess.run(["h5dump", "--enable-error-stack", "-d", "/t", path], text=True,
                            capture_output=True)
    assert "ebz: corrupt stream" in dumped.stderr


def test_nccopy(tmp_path, field, bound):
    plain_file(tmp_path / "a.nc", field)
    argument = run(EBZ, "hdf5-args", "--range", "1e-3", "--for", "nccopy").strip()
    run("nccopy", "-F", f"t,{argument}", tmp_path / "a.nc", tmp_path / "b.nc")
    check(tmp_path / "b.nc", field, bound)
    run("nccopy", "-F", "t,none", tmp_path / "b.nc", tmp_path / "c.nc")
    with netCDF4.Dataset(tmp_path / "c.nc") as f:
        assert abs(f["t"][...].astype("f8") - field).max() <= bound


def test_the_command_and_python_agree():
    line = run(EBZ, "hdf5-args", "--abs", "0.1", "--codec", "ceaz", "--fill", "-999").strip()
    words = ebz.hdf5.Ebz(abs=0.1, codec="ceaz", fill=-999).words
    assert line == f"UD={ebz.hdf5.FILTER_ID},0,{len(words)}," + ",".join(map(str, words))
