"""Arrays in files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arrays import readable
from .errors import InvalidArgument
from .selection import Selection
from .settings import Settings, count, limit, options

if TYPE_CHECKING:
    from typing_extensions import Unpack


def save(
    path: str | os.PathLike[str],
    a: ArrayLike,
    *,
    append: bool = False,
    **settings: Unpack[Settings],
) -> None:
    """Compress an array to a file, replacing an existing one.

    With `append=True` the array is appended as the next frame of an existing file; frames may differ
    in shape and type. The other keyword arguments are those of `ebz.compress`.
    """
    _core.save(path, readable(a), options(settings), append)


def open(
    path: str | os.PathLike[str],
    frame: int = 0,
    *,
    threads: int = 1,
    max_memory: int | None = None,
) -> File:
    """Open a file to read regions of one of its arrays: `ebz.open(path)[10:20, :, 5]`.

    Reads that need more than `max_memory` bytes raise `LimitError`.
    """
    return File(path, frame, threads=threads, max_memory=max_memory)


class File:
    """An array in a file. Indexing reads only the chunks that it needs.

    Supports integers, slices with any step and `...`, as NumPy does. `numpy.asarray(file)` reads
    everything. Files can be pickled, shared between threads, and used after a fork.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        frame: int = 0,
        *,
        threads: int = 1,
        max_memory: int | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.threads = count("threads", threads)
        self.max_memory = limit("max_memory", max_memory)
        self._open(_core.Reader.open(self.path, self.threads, self.max_memory), frame)

    def _open(self, reader: _core.Reader, frame: int) -> None:
        self._reader: _core.Reader | None = reader
        #: Number of arrays in the file.
        self.frames = reader.frames()
        if not -self.frames <= frame < self.frames:
            raise InvalidArgument(f"no frame {frame}: the file has {self.frames}")
        #: Index of this one.
        self.number = frame % self.frames
        header = reader.header(self.number)
        self.shape = tuple(header["shape"])
        self.dtype = np.dtype(header["dtype"])
        #: Chunk extents, the granularity of reads.
        self.chunks = tuple(header["chunk"])
        self.codec = header["codec"]
        #: The requested bound, as name and number.
        self.bound = header["bound"]
        #: The error bound that every value meets, as name and number.
        self.tolerance = header["tolerance"]
        #: The fill values stored in the file.
        self.fill = tuple(header["fill"])
        self.metadata = json.loads(header["metadata"])
        #: Size of the array in the file.
        self.stored_bytes = header["stored_bytes"]

    def frame(self, number: int) -> File:
        """Another array of the same file; -1 is the last."""
        other = File.__new__(File)
        other.path, other.threads, other.max_memory = self.path, self.threads, self.max_memory
        other._open(self._opened(), number)
        return other

    def _opened(self) -> _core.Reader:
        if self._reader is None:
            raise InvalidArgument("the file is closed: open it again")
        return self._reader

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        """Size of the array in memory."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-dimensional array has no length")
        return self.shape[0]

    def __getitem__(self, key: object) -> Any:
        reader = self._opened()
        selection = Selection(key, self.shape)
        values = selection.read(lambda box: reader.read(self.number, box), self.chunks)
        return values[()] if selection.is_scalar else values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("reading an array from a file always makes a copy")
        values: NDArray[Any] = self[...]
        return values if dtype is None else values.astype(dtype, copy=False)

    def close(self) -> None:
        """Close the file."""
        self._reader = None

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.number, self.threads, self.max_memory)

    def __repr__(self) -> str:
        name, value = self.bound
        return (
            f"<ebz.File {self.path!r} frame {self.number} of {self.frames}: {self.dtype} "
            f"{self.shape}, {self.codec}, {name} {value:g}>"
        )


def _reopen(path: str, frame: int, threads: int, max_memory: int | None) -> File:
    return File(path, frame, threads=threads, max_memory=max_memory)
