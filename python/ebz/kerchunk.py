"""kerchunk references to the chunks of HDF5 and netCDF files compressed with ebz.

    >>> refs = ebz.kerchunk.SingleHdf5ToZarr("field.nc").translate()            # doctest: +SKIP
    >>> ds = xarray.open_dataset(refs, engine="kerchunk")

Every chunk of such a file is an `.ebz` stream, which `ebz.numcodecs.Ebz` decodes. kerchunk has a
fixed list of filters; the class here adds ours.
"""

from __future__ import annotations

from typing import Any

from kerchunk import hdf

from .hdf5 import codec_settings
from .numcodecs import Ebz

__all__ = ["SingleHdf5ToZarr"]


class SingleHdf5ToZarr(hdf.SingleHdf5ToZarr):  # type: ignore[misc]
    """kerchunk's class of the same name, with support for the ebz filter."""

    def _decode_filters(self, h5obj: Any) -> Any:
        settings = codec_settings(h5obj)
        if settings is None or h5obj.id.get_create_plist().get_nfilters() != 1:
            return super()._decode_filters(h5obj)
        return [Ebz(**settings)]
