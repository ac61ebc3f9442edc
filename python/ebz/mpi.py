"""Compressed parallel I/O and collectives for MPI programs with mpi4py.

    >>> import ebz.mpi, numpy                                       # doctest: +SKIP
    >>> from mpi4py import MPI
    >>> comm = MPI.COMM_WORLD
    >>> local = numpy.full((10, 20), comm.rank, "f4")
    >>> ebz.mpi.write(comm, "all.ebz", local, start=(10 * comm.rank, 0), shape=(10 * comm.size, 20), abs=1e-3)
    >>> everything = ebz.mpi.gather(comm, local, abs=1e-3)

All functions except `send` and `recv` are collective: every rank of the communicator calls them, and if one
fails, all do. They use the shared library of the crate `ebz-mpi`, built against the local MPI:
`EBZ_MPI_LIBRARY` is the path of `libebz_mpi_preload.so`. The bytes are those of the Rust crate.

Messages take exactly one bound, `abs`, `range`, `ratio` or `lossless=True`; a `codec`, `"fz"` by default; and a
`mode`: `"adaptive"`, the default, compresses if that is faster, judging by the measured speeds of links and
codec; `"always"`; or `"never"`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import Error, InvalidArgument

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Report",
    "allgather",
    "allreduce",
    "bcast",
    "gather",
    "prepare",
    "read",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
    "write",
]

MODES = {"adaptive": 0, "always": 1, "never": 2}
T = TypeVar("T")


class Compression(TypedDict, total=False):
    """Options for messages: see the module."""

    abs: float
    range: float
    ratio: float
    lossless: bool
    codec: str
    mode: str


@dataclass(frozen=True)
class Report:
    """Report of an operation."""

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


def _writable(values: NDArray[Any]) -> NDArray[Any]:
    if _values(values) is not values or not values.flags.writeable:
        raise InvalidArgument("the array must be writable and in C order")
    return values


def _array(values: NDArray[Any]) -> _Array:
    return _Array(values.ctypes.data, values.itemsize, values.ndim, _sizes(values.shape))


def _options(compression: Compression, chunk: Sequence[int] | None = None) -> _Options:
    asked: dict[str, Any] = {name: value for name, value in compression.items() if value is not None}
    codec, mode = asked.pop("codec", "fz"), asked.pop("mode", "adaptive")
    if not asked.get("lossless", True):
        del asked["lossless"]
    unknown = set(asked) - {"abs", "range", "ratio", "lossless"}
    if unknown or mode not in MODES:
        wrong = ", ".join(sorted(unknown)) or f"mode {mode}"
        raise InvalidArgument(f"unknown option {wrong}; modes are {', '.join(MODES)}")
    if len(asked) != 1:
        raise InvalidArgument("give exactly one of abs, range, ratio, lossless")
    [(bound, value)] = asked.items()
    extents = None if chunk is None else _sizes(chunk)
    return _Options(bound.encode(), float(value), codec.encode(), extents, MODES[mode])


def _all(comm: Any, make: Callable[[], T]) -> tuple[T, list[Any]]:
    """Parse this rank's arguments, and exchange the shapes of all ranks' values; if one fails, all do."""
    made, error = None, None
    try:
        made = make()
    except (Error, TypeError, ValueError) as caught:
        error = caught
    shape = made[0].shape if isinstance(made, tuple) else None
    every = comm.allgather((shape, None if error is None else str(error)))
    if error is not None:
        raise error
    for rank, (_, text) in enumerate(every):
        if text is not None:
            raise Error(f"rank {rank}: {text}")
    assert made is not None
    return made, [shape for shape, _ in every]


def _call(function: str, comm: Any, *arguments: Any) -> None:
    library = _library()
    if getattr(library, function)(_handle(comm), *map(_argument, arguments)):
        raise Error(library.ebz_mpi_error().decode())


def _argument(a: Any) -> Any:
    match a:
        case ctypes.Structure():
            return ctypes.byref(a)
        case np.ndarray():
            return ctypes.c_void_p(a.ctypes.data)
        case int():
            return ctypes.c_size_t(a)
    return a


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
    """Write an array that is distributed over the ranks to one `.ebz` file.

    `local` is this rank's block, which starts at index `start` of the array of shape `shape`; the blocks
    of all ranks together cover the array, and may be empty. With the same `chunk`, the
    file is the same for any number of ranks.
    """

    def arguments() -> tuple[NDArray[Any], _Options]:
        if not len(start) == len(shape) == np.ndim(local):
            raise InvalidArgument("start, shape and the values must have the same number of axes")
        compression: Any = {"abs": abs, "range": range, "lossless": lossless, "codec": codec}
        return _values(local), _options(compression, chunk)

    (values, options), _ = _all(comm, arguments)
    report = _Report()
    _call(
        "ebz_mpi_write",
        comm,
        os.fsencode(path),
        _sizes(shape),
        _sizes(start),
        _array(values),
        options,
        report,
    )
    return _told(report)


def read(
    comm: Any,
    path: str | os.PathLike[str],
    *,
    start: Sequence[int],
    shape: Sequence[int],
    dtype: Any,
    frame: int = 0,
) -> NDArray[Any]:
    """Read a block of an array in a file: every rank its own, at index `start` with shape `shape`."""

    def arguments() -> tuple[NDArray[Any]]:
        if len(start) != len(shape):
            raise InvalidArgument("start and shape must have the same number of axes")
        return (_values(np.empty(tuple(shape), dtype)),)

    (out,), _ = _all(comm, arguments)
    _call("ebz_mpi_read", comm, os.fsencode(path), frame, _sizes(start), _array(out))
    return out


def _parts(out: NDArray[Any], shapes: list[tuple[int, ...]]) -> list[NDArray[Any]]:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [
        part.reshape(shape)
        for part, shape in zip(np.split(out, ends[:-1]), shapes, strict=True)
    ]


def _total(shapes: list[tuple[int, ...]]) -> int:
    return sum(int(np.prod(shape)) for shape in shapes)


def gather(
    comm: Any, local: ArrayLike, *, root: int = 0, **compression: Unpack[Compression]
) -> list[NDArray[Any]] | None:
    """Gather the arrays of all ranks at the root, as a list; `None` elsewhere. Shapes may differ."""
    (values, options), shapes = _all(comm, lambda: (_values(local), _options(compression)))
    out = np.empty(_total(shapes) if comm.rank == root else 0, values.dtype)
    _call("ebz_mpi_gather", comm, _array(values), root, out, out.size, options, None)
    return _parts(out, shapes) if comm.rank == root else None


def allgather(
    comm: Any, local: ArrayLike, **compression: Unpack[Compression]
) -> list[NDArray[Any]]:
    """Gather the arrays of all ranks on every rank, with the same bits everywhere."""
    (values, options), shapes = _all(comm, lambda: (_values(local), _options(compression)))
    out = np.empty(_total(shapes), values.dtype)
    _call("ebz_mpi_allgather", comm, _array(values), out, out.size, options, None)
    return _parts(out, shapes)


def scatter(
    comm: Any,
    parts: Sequence[ArrayLike] | None,
    out: NDArray[Any],
    *,
    root: int = 0,
    **compression: Unpack[Compression],
) -> Report:
    """Send one array of the root to each rank, into `out`; only the root gives `parts`."""

    def arguments() -> tuple[NDArray[Any], _Options, NDArray[Any]]:
        mine: list[NDArray[Any]] = []
        if comm.rank == root:
            mine = [_values(part) for part in parts or []]
            if len(mine) != comm.size or any(part.dtype != out.dtype for part in mine):
                raise InvalidArgument("scatter needs one part per rank, of the type of the output")
        everything = [part.ravel() for part in mine] or [np.empty(0, out.dtype)]
        return _writable(out), _options(compression), np.concatenate(everything)

    (_, options, everything), _ = _all(comm, arguments)
    report = _Report()
    _call(
        "ebz_mpi_scatter", comm, _array(out), root, everything, everything.size, options, report
    )
    return _told(report)


def bcast(
    comm: Any, values: NDArray[Any], *, root: int = 0, **compression: Unpack[Compression]
) -> Report:
    """Broadcast the root's values in place; the root also ends up with the decoded values."""
    return _in_place("ebz_mpi_bcast", comm, values, compression, root)


def allreduce(comm: Any, values: NDArray[Any], **compression: Unpack[Compression]) -> Report:
    """Sum arrays over all ranks, in place; the bound is `abs` or `range`.

    Each rank's values are rounded once to a common lattice, and integers are added: the error is at most the
    number of ranks times the bound, and the result has the same bits on every rank.
    """
    return _in_place("ebz_mpi_allreduce", comm, values, compression)


def reduce(
    comm: Any, values: NDArray[Any], *, root: int = 0, **compression: Unpack[Compression]
) -> Report:
    """Sum arrays at the root only; the values on other ranks are undefined afterwards."""
    return _in_place("ebz_mpi_reduce", comm, values, compression, root)


def reduce_scatter(
    comm: Any, values: NDArray[Any], **compression: Unpack[Compression]
) -> tuple[Report, slice]:
    """Sum arrays, and leave a part on each rank: the returned slice of the flattened array."""
    start, count = _sizes([0]), _sizes([0])
    report = _in_place("ebz_mpi_reduce_scatter", comm, values, compression, start, count)
    return report, slice(start[0], start[0] + count[0])


def _in_place(
    function: str, comm: Any, values: NDArray[Any], compression: Compression, *more: Any
) -> Report:
    (_, options), _ = _all(comm, lambda: (_writable(values), _options(compression)))
    report = _Report()
    _call(function, comm, _array(values), *more, options, report)
    return _told(report)


def prepare(comm: Any) -> None:
    """Prepare a communicator for `send` and `recv`: every rank calls it once, or any function above."""
    _call("ebz_mpi_prepare", comm)


def send(comm: Any, values: ArrayLike, to: int, **compression: Unpack[Compression]) -> Report:
    """Send an array to a rank, which calls `recv`; returns once it has arrived."""
    array, report = _values(values), _Report()
    _call("ebz_mpi_send", comm, _array(array), to, _options(compression), report)
    return _told(report)


def recv(
    comm: Any, out: NDArray[Any], source: int, **compression: Unpack[Compression]
) -> Report:
    """Receive an array, with the shape and options of the sender."""
    report = _Report()
    _call("ebz_mpi_recv", comm, _array(_writable(out)), source, _options(compression), report)
    return _told(report)
