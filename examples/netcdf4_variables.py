"""netCDF: variables that ebz compresses, written with netCDF4 and with xarray, read by both.

    python netcdf4_variables.py [field.nc]
"""

import sys

import netCDF4
import numpy
import xarray

import ebz.hdf5

path = sys.argv[1] if len(sys.argv) > 1 else "field.nc"
t, y, x = numpy.meshgrid(*(numpy.arange(n, dtype="f4") for n in (24, 180, 360)), indexing="ij")
field = 280 + 15 * numpy.sin(0.02 * x + 0.05 * t) * numpy.cos(0.03 * y)
bound = 1e-3 * float(field.max() - field.min())

# 1. With netCDF4: the filter is chosen after the variable is created, before it is written.
with netCDF4.Dataset(path, "w") as f:
    for name, extent in zip(("time", "lat", "lon"), field.shape):
        f.createDimension(name, extent)
    v = f.createVariable("t", "f4", ("time", "lat", "lon"), chunksizes=(6, 180, 360))
    ebz.hdf5.compress_variable(v, range=1e-3)
    v[...] = field

# 2. With xarray: the filter is part of the encoding. The engine is h5netcdf.
data = xarray.Dataset({"t": (("time", "lat", "lon"), field)})
encoding = {"t": {**ebz.hdf5.Ebz(range=1e-3), "chunksizes": (6, 180, 360)}}
data.to_netcdf(path + "4", engine="h5netcdf", encoding=encoding)

# 3. Every library reads both.
for one in (path, path + "4"):
    with netCDF4.Dataset(one) as f:
        assert abs(f["t"][...].astype("f8") - field).max() <= bound
    for engine in ("netcdf4", "h5netcdf"):
        with xarray.open_dataset(one, engine=engine) as f:
            error = abs(f.t.values.astype("f8") - field).max()
            print(f"{one} with {engine}: largest error {error / bound:.3f} bounds")
            assert error <= bound
