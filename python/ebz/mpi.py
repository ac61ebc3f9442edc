"""Files and collectives of MPI programs, with mpi4py.

    >>> import ebz.mpi, numpy                                       # doctest: +SKIP
    >>> from mpi4py import MPI
    >>> comm = MPI.COMM_WORLD
    >>> local = numpy.full((10, 20), comm.rank, "f4")
    >>> ebz.mpi.write(comm, "all.ebz", local, start=(10 * comm.rank, 0), shape=(10 * comm.size, 20), abs=1e-3)
    >>> everything = ebz.mpi.gather(comm, local, abs=1e-3)

All functions are collective: every rank of the communicator calls them, and where one fails, all do. They
use the library of the crate `ebz-mpi`, which is built for the MPI of the machine: `EBZ_MPI_LIBRARY` names the
file, `libebz_mpi_preload.so`. The bytes are those of the Rust crate.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import Error, InvalidArgument

__all__ = ["Report", "allgather", "allreduce", "bcast", "gather", "read", "write"]

MODES = {"adaptive": 0, "always": 1, "never": 2}


@dataclass(frozen=True)
class Report:
    """What became of an operation."""

    compressed: bool
    raw_bytes: int
    sent_bytes: int
    largest_bound: float


class _Array(ctypes.Structure):
    _fields_ = [
        ("values", ctypes.c_void_p),
        ("size", ctypes.c_int),
        ("axes", ctypes.c_int),
        ("shape", ctypes.POINTER(ctypes.c_size_t)),
    ]


class _Options(ctypes.Structure):
    _fields_ = [
        ("bound", ctypes.c_char_p),
        ("value", ctypes.c_double),
        ("codec", ctypes.c_char_p),
        ("chunk", ctypes.POINTER(ctypes.c_size_t)),
        ("mode", ctypes.c_int),
    ]


class _Report(ctypes.Structure):
    _fields_ = [
        ("compressed", ctypes.c_int),
        ("raw_bytes", ctypes.c_uint64),
        ("sent_bytes", ctypes.c_uint64),
        ("largest_bound", ctypes.c_double),
    ]


@cache
def _library() -> ctypes.CDLL:
    name = os.environ.get("EBZ_MPI_LIBRARY", "libebz_mpi_preload.so")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise Error(
            f"{name} cannot be loaded ({error}): build the crate ebz-mpi and name the library in "
            "EBZ_MPI_LIBRARY"
        ) from error
    library.ebz_mpi_error.restype = ctypes.c_char_p
    return library


def _handle(comm: Any) -> ctypes.c_void_p:
    from mpi4py import MPI

    address: int = MPI._addressof(comm)
    return ctypes.c_void_p.from_address(address)


def _sizes(numbers: Sequence[int]) -> Any:
    return (ctypes.c_size_t * len(numbers))(*numbers)


def _values(a: ArrayLike) -> NDArray[Any]:
    array = np.asarray(a)
    if array.dtype not in (np.float32, np.float64):
        raise InvalidArgument(f"values must be float32 or float64, not {array.dtype}")
    return np.require(array, requirements=["C", "A"])


def _array(values: NDArray[Any]) -> _Array:
    return _Array(values.ctypes.data, values.itemsize, values.ndim, _sizes(values.shape))


def _options(
    abs: float | None,
    range: float | None,
    ratio: float | None,
    lossless: bool,
    codec: str,
    mode: str,
    chunk: Sequence[int] | None = None,
) -> _Options:
    bounds = {"abs": abs, "range": range, "ratio": ratio, "lossless": 0.0 if lossless else None}
    given = [(name, value) for name, value in bounds.items() if value is not None]
    if len(given) != 1:
        raise InvalidArgument("give exactly one of abs, range, ratio, lossless")
    if mode not in MODES:
        raise InvalidArgument(f"mode is one of {', '.join(MODES)}, not {mode}")
    name, value = given[0]
    extents = None if chunk is None else _sizes(chunk)
    return _Options(name.encode(), float(value), codec.encode(), extents, MODES[mode])


def _call(function: str, *arguments: Any) -> None:
    library = _library()
    if getattr(library, function)(*arguments):
        raise Error(library.ebz_mpi_error().decode())


def _told(report: _Report) -> Report:
    return Report(
        bool(report.compressed), report.raw_bytes, report.sent_bytes, report.largest_bound
    )


def write(
    comm: Any,
    path: str | os.PathLike[str],
    local: ArrayLike,
    *,
    start: Sequence[int],
    shape: Sequence[int],
    abs: float | None = None,
    range: float | None = None,
    lossless: bool = False,
    codec: str = "fz",
    chunk: Sequence[int] | None = None,
) -> Report:
    """Write one array that is spread over the ranks to one `.ebz` file.

    `local` are this rank's values, a block that begins at index `start` of the array, whose shape is
    `shape`; blocks of all ranks together are the array, and may be empty. With the same `chunk`, the
    file is the same for any number of ranks.
    """
    values = _values(local)
    if not len(start) == len(shape) == values.ndim:
        raise InvalidArgument("start, shape and the values must have the same number of axes")
    report = _Report()
    options = _options(abs, range, None, lossless, codec, "always", chunk)
    block = _array(values)
    _call(
        "ebz_mpi_write",
        _handle(comm),
        os.fsencode(path),
        _sizes(shape),
        _sizes(start),
        ctypes.byref(block),
        ctypes.byref(options),
        ctypes.byref(report),
    )
    return _told(report)


def read(
    comm: Any, path: str | os.PathLike[str], *, start: Sequence[int], shape: Sequence[int], dtype: Any,
    frame: int = 0,
) -> NDArray[Any]:
    """Read a block of an array in a file: every rank its own, which begins at `start` and has `shape`."""
    out = np.empty(tuple(shape), dtype)
    block = _array(_values(out))
    _call(
        "ebz_mpi_read",
        _handle(comm),
        os.fsencode(path),
        ctypes.c_size_t(frame),
        _sizes(start),
        ctypes.byref(block),
    )
    return out


def _placed(comm: Any, values: NDArray[Any]) -> tuple[list[int], list[tuple[int, ...]]]:
    shapes: list[tuple[int, ...]] = comm.allgather(values.shape)
    return [int(np.prod(shape)) for shape in shapes], shapes


def gather(
    comm: Any,
    local: ArrayLike,
    *,
    root: int = 0,
    abs: float | None = None,
    range: float | None = None,
    ratio: float | None = None,
    lossless: bool = False,
    codec: str = "fz",
    mode: str = "adaptive",
) -> list[NDArray[Any]] | None:
    """The arrays of all ranks at the root, as a list; `None` elsewhere. Shapes may differ.

    With `mode="adaptive"` arrays are compressed where that is faster, by the measured speeds of links and
    codec; `"always"` and `"never"` do as they say.
    """
    values = _values(local)
    lengths, shapes = _placed(comm, values)
    out = np.empty(sum(lengths) if comm.rank == root else 0, values.dtype)
    array, options = _array(values), _options(abs, range, ratio, lossless, codec, mode)
    _call(
        "ebz_mpi_gather",
        _handle(comm),
        ctypes.byref(array),
        ctypes.c_size_t(root),
        ctypes.c_void_p(out.ctypes.data),
        ctypes.c_size_t(out.size),
        ctypes.byref(options),
        None,
    )
    return _parts(out, lengths, shapes) if comm.rank == root else None


def _parts(
    out: NDArray[Any], lengths: list[int], shapes: list[tuple[int, ...]]
) -> list[NDArray[Any]]:
    ends = np.cumsum(lengths)
    return [
        out[end - length : end].reshape(shape)
        for end, length, shape in zip(ends, lengths, shapes, strict=True)
    ]


def allgather(
    comm: Any,
    local: ArrayLike,
    *,
    abs: float | None = None,
    range: float | None = None,
    ratio: float | None = None,
    lossless: bool = False,
    codec: str = "fz",
    mode: str = "adaptive",
) -> list[NDArray[Any]]:
    """The arrays of all ranks on every rank, with the same bits everywhere."""
    values = _values(local)
    lengths, shapes = _placed(comm, values)
    out = np.empty(sum(lengths), values.dtype)
    array, options = _array(values), _options(abs, range, ratio, lossless, codec, mode)
    _call(
        "ebz_mpi_allgather",
        _handle(comm),
        ctypes.byref(array),
        ctypes.c_void_p(out.ctypes.data),
        ctypes.c_size_t(out.size),
        ctypes.byref(options),
        None,
    )
    return _parts(out, lengths, shapes)


def bcast(
    comm: Any,
    values: NDArray[Any],
    *,
    root: int = 0,
    abs: float | None = None,
    range: float | None = None,
    ratio: float | None = None,
    lossless: bool = False,
    codec: str = "fz",
    mode: str = "adaptive",
) -> Report:
    """The root's values to all ranks, in place; the root, too, holds the decoded ones behind it."""
    return _in_place(
        "ebz_mpi_bcast",
        comm,
        values,
        _options(abs, range, ratio, lossless, codec, mode),
        ctypes.c_size_t(root),
    )


def allreduce(
    comm: Any,
    values: NDArray[Any],
    *,
    abs: float | None = None,
    range: float | None = None,
    mode: str = "adaptive",
) -> Report:
    """Sum arrays over all ranks, in place.

    Each rank's values are rounded once to a lattice that all share, and whole numbers are added: the result
    is off by at most the number of ranks times the bound, and has the same bits on every rank.
    """
    return _in_place(
        "ebz_mpi_allreduce", comm, values, _options(abs, range, None, False, "fz", mode)
    )


def _in_place(
    function: str, comm: Any, values: NDArray[Any], options: _Options, *more: Any
) -> Report:
    if _values(values) is not values or not values.flags.writeable:
        raise InvalidArgument("a writable array in C order is needed")
    array, report = _array(values), _Report()
    _call(
        function,
        _handle(comm),
        ctypes.byref(array),
        *more,
        ctypes.byref(options),
        ctypes.byref(report),
    )
    return _told(report)
