"""Imports both libraries, each with its own HDF5, before the filter: the harder order."""

import h5py  # noqa: F401
import netCDF4  # noqa: F401
import numpy
import pytest

import ebz.hdf5  # noqa: F401


@pytest.fixture
def field():
    z, y, x = numpy.meshgrid(*map(numpy.arange, (20, 60, 70)), indexing="ij")
    return (280 + 10 * numpy.sin(0.1 * x + 0.05 * z) * numpy.cos(0.08 * y)).astype("f4")


@pytest.fixture
def bound(field):
    """The error that range=1e-3 allows; the range of a chunk is not larger."""
    return 1e-3 * (float(field.max()) - float(field.min()))
