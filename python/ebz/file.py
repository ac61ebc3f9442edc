"""Arrays in files."""

from __future__ import annotations

import html
import json
import os
from typing import IO, TYPE_CHECKING, Any, Union, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arrays import readable
from .errors import InvalidArgument, UnsupportedError
from .selection import Selection
from .settings import Settings, count, limit, options

if TYPE_CHECKING:
    from typing_extensions import Unpack


#: A path, a URL that fsspec understands, or an object with `read` and `seek`, or `write`.
Place = Union[str, "os.PathLike[str]", IO[bytes]]


def save(
    path: Place,
    a: ArrayLike,
    *,
    append: bool = False,
    **settings: Unpack[Settings],
) -> None:
    """Compress an array to a file, replacing an existing one.

    With `append=True` the array is appended as the next frame of an existing file; frames may differ
    in shape and type. The other keyword arguments are those of `ebz.compress`.

    `path` may also be a URL such as `s3://bucket/a.ebz`, which fsspec opens, or an object with `write`; these
    are written whole, and cannot be appended to.
    """
    local = _local(path)
    if local is not None:
        _core.save(local, readable(a), options(settings), append)
        return
    if append:
        raise InvalidArgument("append=True needs a file on a disk: give its path")
    data = _core.compress(readable(a), options(settings))
    if isinstance(path, str):
        with _fsspec().open(path, "wb") as out:
            out.write(data)
    else:
        out = cast("IO[bytes]", path)
        out.write(data)


def open(
    path: Place,
    frame: int = 0,
    *,
    threads: int = 1,
    max_memory: int | None = None,
) -> File:
    """Open a file to read regions of one of its arrays: `ebz.open(path)[10:20, :, 5]`.

    `path` may also be a URL such as `https://host/a.ebz`, which fsspec opens, or an object with `read` and
    `seek`, which stays open. Reads that need more than `max_memory` bytes raise
    `LimitError`.
    """
    return File(path, frame, threads=threads, max_memory=max_memory)


class File:
    """An array in a file. Indexing reads only the chunks that it needs.

    Supports integers, slices with any step and `...`, as NumPy does. `numpy.asarray(file)` reads
    everything. Files can be pickled, shared between threads, and used after a fork.
    """

    def __init__(
        self,
        path: Place,
        frame: int = 0,
        *,
        threads: int = 1,
        max_memory: int | None = None,
    ) -> None:
        local = _local(path)
        #: What was opened.
        self.path: Any = path if local is None else local
        self.threads = count("threads", threads)
        self.max_memory = limit("max_memory", max_memory)
        if local is not None:
            reader = _core.Reader.open(local, self.threads, self.max_memory)
        else:
            file = _fsspec().open(path, "rb").open() if isinstance(path, str) else path
            reader = _core.Reader.object(file, self.threads, self.max_memory)
        self._open(reader, frame)

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


    def _repr_html_(self) -> str:
        """What notebooks show."""
        name, value = self.bound
        ratio = self.nbytes / max(self.stored_bytes, 1)
        rows = {
            "file": f"{self.path}, frame {self.number} of {self.frames}",
            "array": f"{self.dtype} {' × '.join(map(str, self.shape)) or 'scalar'}",
            "chunks": " × ".join(map(str, self.chunks)),
            "codec": self.codec,
            "bound": name if name == "lossless" else f"{name} {value:g}",
            "size": f"{_bytes(self.nbytes)} → {_bytes(self.stored_bytes)}, ratio {ratio:.2f}",
        }
        if self.fill:
            rows["missing"] = ", ".join(f"{one:g}" for one in self.fill)
        if self.metadata is not None:
            rows["metadata"] = json.dumps(self.metadata, ensure_ascii=False)
        cells = "".join(
            f"<tr><th style='text-align:left'>{key}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for key, text in rows.items() if text
        )
        return f"<table>{cells}</table>"


def _bytes(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _local(place: Place) -> str | None:
    """The path of a file on a disk, if it is one."""
    if isinstance(place, os.PathLike):
        return os.fspath(place)
    return place if isinstance(place, str) and "://" not in place else None


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise UnsupportedError("URLs are opened by fsspec: pip install fsspec") from error
    return fsspec


def _reopen(path: Any, frame: int, threads: int, max_memory: int | None) -> File:
    return File(path, frame, threads=threads, max_memory=max_memory)
