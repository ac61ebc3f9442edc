"""HDF5 with h5py: datasets that ebz compresses chunk by chunk.

    python h5py_chunks.py [field.h5]
"""

import sys

import h5py
import numpy

import ebz.hdf5

path = sys.argv[1] if len(sys.argv) > 1 else "field.h5"
z, y, x = numpy.meshgrid(*(numpy.arange(n, dtype="f4") for n in (64, 128, 256)), indexing="ij")
field = 280 + 15 * numpy.sin(0.02 * x + 0.05 * z) * numpy.cos(0.03 * y)
bound = 1e-3 * float(field.max() - field.min())

# 1. The filter is two keyword arguments of create_dataset.
with h5py.File(path, "w") as f:
    f.create_dataset("t", data=field, chunks=(8, 128, 256), **ebz.hdf5.Ebz(range=1e-3))

# 2. The same file, faster: chunks compressed by several threads.
with h5py.File(path, "a") as f:
    settings = ebz.hdf5.Ebz(range=1e-3)
    d = f.create_dataset("t2", field.shape, field.dtype, chunks=(8, 128, 256), **settings)
    ebz.hdf5.write_parallel(d, field)

# 3. Reading needs nothing but the import. Parts decode only the chunks that they touch.
with h5py.File(path) as f:
    for name in ("t", "t2"):
        stored = f[name].id.get_storage_size()
        error = abs(f[name][...].astype("f8") - field).max()
        print(f"{name}: {field.nbytes} bytes to {stored}, largest error {error / bound:.3f} bounds")
        assert error <= bound and stored < field.nbytes / 5
    assert abs(f["t"][10, 20:30, ::7].astype("f8") - field[10, 20:30, ::7]).max() <= bound

# 4. What cannot be compressed is an error, and never stored otherwise in silence.
with h5py.File(path, "a") as f:
    try:
        f.create_dataset("n", data=numpy.arange(1000), chunks=(100,), **ebz.hdf5.Ebz(abs=0.5))
    except (ValueError, OSError) as error:
        print(error)
    else:
        raise AssertionError("whole numbers were accepted")
