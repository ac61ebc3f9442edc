"""Error-bounded compression of floating-point science data at memory speed.

    >>> import ebz, numpy
    >>> a = numpy.random.default_rng(0).normal(size=(100, 200)).cumsum(axis=1)
    >>> b = ebz.compress(a, range=1e-4)
    >>> bool(abs(ebz.decompress(b) - a).max() <= 1e-4 * (a.max() - a.min()))
    True

`ebz.zarr`, `ebz.numcodecs` and `ebz.hdf5` integrate it with Zarr and HDF5; import them explicitly.
"""

from ._core import __version__
from .coding import choose, codecs, compare, compress, decompress, decompress_into, suggest
from .errors import (
    CorruptError,
    Error,
    InvalidArgument,
    InvalidType,
    LimitError,
    TruncatedError,
    UnsupportedError,
)
from .file import File, open, save

__all__ = [
    "CorruptError",
    "Error",
    "File",
    "InvalidArgument",
    "InvalidType",
    "LimitError",
    "TruncatedError",
    "UnsupportedError",
    "__version__",
    "choose",
    "codecs",
    "compare",
    "compress",
    "decompress",
    "decompress_into",
    "open",
    "save",
    "suggest",
]
