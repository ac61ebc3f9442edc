"""HDF5 datasets and netCDF variables with chunks compressed by ebz.

    >>> import h5py, ebz.hdf5                                                   # doctest: +SKIP
    >>> f.create_dataset("t", data=t, chunks=(4, 256, 256), compression=ebz.hdf5.Ebz(range=1e-3))

Reading only requires importing this module, in h5py, netCDF4, xarray and anything else that uses an
HDF5 library of this process. Other programs find the filter in `ebz.hdf5.PLUGIN_PATH`:

    HDF5_PLUGIN_PATH=$(python -c 'import ebz.hdf5; print(ebz.hdf5.PLUGIN_PATH)') h5dump file.h5
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import pathlib
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy

from . import _core
from .errors import Error, InvalidArgument, InvalidType, UnsupportedError
from .settings import BOUNDS, Fill, Params, fill_text, plain

__all__ = [
    "FILTER_ID", "PLUGIN_PATH", "Ebz", "codec_settings", "compress_variable", "settings_of", "write_parallel"]

FILTER_ID = 60192
"""The filter id."""

PLUGIN_PATH = os.environ.get("EBZ_PLUGIN_PATH", str(pathlib.Path(__file__).parent / "plugins"))
"""The folder of the filter plugin, for `HDF5_PLUGIN_PATH`."""

_MOST_WORDS = 256
_MESSAGE = 4096


try:
    # The type that h5py accepts as `compression=`.
    import h5py

    _FilterReference: Any = h5py.filters.FilterRefBase
except ImportError:  # netCDF4 without h5py is fine.
    _FilterReference = Mapping


class Ebz(_FilterReference):  # type: ignore[misc]
    """The filter with a bound, for `h5py.Group.create_dataset`: `compression=Ebz(range=1e-3)`, or
    `**Ebz(range=1e-3)`.

    Exactly one bound is required: `abs`, `range`, `pointwise`, `ratio`, `precision` or `lossless`, as
    for `ebz.compress`. A filter sees one chunk at a time: `range` refers to the range of the chunk,
    which is at most that of the dataset, so the bound also holds for the dataset; `ratio` is met
    by every chunk. In xarray with the engine h5netcdf it is part of a variable's encoding:
    `encoding={"t": {**Ebz(range=1e-3), "chunksizes": (1, 256, 256)}}`; `ebz.xarray.encoding` makes
    that of a whole dataset.

    The dataset's fill value and conventional fill values are stored exactly and excluded from the
    range. `fill` sets others; `fill=None` disables detection.
    """

    filter_id = FILTER_ID

    def __init__(
        self,
        *,
        abs: float | None = None,
        range: float | None = None,
        pointwise: float | None = None,
        psnr: float | None = None,
        ratio: float | None = None,
        precision: int | None = None,
        lossless: bool = False,
        codec: str | None = None,
        favor: str = "balanced",
        params: Params | None = None,
        fill: Fill = "auto",
        clip: str = "auto",
        keep_zeros: bool = False,
    ) -> None:
        self._settings = plain(dict(
            abs=abs, range=range, pointwise=pointwise, psnr=psnr, ratio=ratio, precision=precision,
            lossless=lossless, codec=codec, favor=favor, params=params, fill=fill, clip=clip, keep_zeros=keep_zeros))
        given: list[Any] = [
            name if name == "lossless" else {name: value}
            for name, value in self._settings.items() if name in BOUNDS]
        if len(given) != 1:
            raise InvalidArgument(
                "pass exactly one bound: abs, range, pointwise, ratio, precision or lossless")
        request = {
            "bound": given[0],
            "codec": codec,
            "favor": favor,
            "params": {key: _text(v) for key, v in self._settings.get("params", {}).items()},
            "fill": fill_text(self._settings.get("fill", "auto")),
            "clip": self._settings.get("clip", "auto"),
            "keep_zeros": self._settings.get("keep_zeros", False),
        }
        try:
            text = json.dumps(request, allow_nan=False).encode()
        except ValueError:
            raise InvalidArgument("the bound must be finite") from None
        words = (ctypes.c_uint32 * _MOST_WORDS)()
        count = _checked(_plugin.h5ebz_words, text, len(text), _MOST_WORDS, words)
        self.words: tuple[int, ...] = tuple(words[:count])
        """The filter parameters in an HDF5 file (`cd_values`)."""

    @property
    def filter_options(self) -> tuple[int, ...]:
        """The filter parameters, under h5py's name."""
        return self.words

    def __getitem__(self, key: str) -> Any:
        return {"compression": FILTER_ID, "compression_opts": self.words}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("compression", "compression_opts"))

    def __len__(self) -> int:
        return 2

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ebz):
            return self.words == other.words
        return dict(self) == other if isinstance(other, dict) else NotImplemented

    def __hash__(self) -> int:
        return hash((FILTER_ID, self.words))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._settings,)

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={value!r}" for name, value in self._settings.items())
        return f"ebz.hdf5.Ebz({named})"


def _restored(settings: dict[str, Any]) -> Ebz:
    return Ebz(**settings)


def codec_settings(dataset: Any) -> dict[str, Any] | None:
    """The settings of the filter of an `h5py.Dataset`, as keyword arguments of `Ebz` and of
    `ebz.numcodecs.Ebz`, which decodes the chunks of such a dataset; None without this filter.
    """
    properties = dataset.id.get_create_plist()
    for place in range(properties.get_nfilters()):
        number, _, words, _ = properties.get_filter(place)
        if number == FILTER_ID:
            return settings_of(words)
    return None


def settings_of(words: Sequence[int]) -> dict[str, Any]:
    """The settings in the parameters of the filter (`cd_values`), for readers that only have these."""
    settings: dict[str, Any] = json.loads(_core.hdf5_settings(list(words)))
    return settings


def compress_variable(variable: Any, **settings: Any) -> None:
    """Adds the filter to a new `netCDF4.Variable`, before any value is written.

    The settings are those of `Ebz`: `compress_variable(v, range=1e-3)`.
    """
    words = Ebz(**settings).words
    dtype = variable.dtype
    if not isinstance(dtype, numpy.dtype) or dtype.kind != "f" or dtype.itemsize not in (4, 8):
        raise InvalidType(
            f"variable {variable.name} is of type {dtype}: the filter supports f4 and f8; do not use it "
            "for this variable")
    libraries = list(_loaded("libnetcdf"))
    if not libraries:
        raise UnsupportedError(
            "cannot find the netCDF library of netCDF4: write with h5netcdf, or compress the file with "
            "nccopy -F and the output of `ebz hdf5-args --for nccopy`")
    library = ctypes.CDLL(libraries[0])
    library.nc_strerror.restype = ctypes.c_char_p
    status = library.nc_def_var_filter(
        ctypes.c_int(variable._grpid), ctypes.c_int(variable._varid), ctypes.c_uint(FILTER_ID),
        ctypes.c_size_t(len(words)), (ctypes.c_uint * len(words))(*words))
    if status != 0:
        reason = library.nc_strerror(ctypes.c_int(status)).decode()
        raise Error(
            f"variable {variable.name}: {reason}. The filter supports variables of type f4 or f8 with "
            "at least one dimension, and must be set before values are written")


def write_parallel(dataset: Any, array: Any, threads: int | None = None) -> None:
    """Writes a whole array to an `h5py.Dataset` that has the filter, compressing chunks in parallel.

    Every chunk has the same bytes as with `dataset[...] = array`, but HDF5 itself would compress one
    chunk after the other.
    """
    words = _filter_words(dataset)
    array = numpy.asarray(array)
    if array.shape != dataset.shape:
        raise InvalidArgument(
            f"the array has shape {array.shape}, but the dataset has {dataset.shape}")
    if array.dtype.kind not in "fiu":
        raise InvalidArgument(f"cannot write an array of {array.dtype} as {dataset.dtype}")
    threads = threads or os.cpu_count() or 1
    steps = [range(0, n, c) for n, c in zip(dataset.shape, dataset.chunks)]

    def encode(corner: tuple[int, ...]) -> bytes:
        part = array[tuple(slice(i, i + c) for i, c in zip(corner, dataset.chunks))]
        if part.shape == dataset.chunks:
            chunk = numpy.ascontiguousarray(part, dataset.dtype)
        else:
            chunk = numpy.full(dataset.chunks, dataset.fillvalue, dataset.dtype)
            chunk[tuple(slice(n) for n in part.shape)] = part
        # Enough for raw values and their headers.
        stream = numpy.empty(chunk.nbytes + chunk.nbytes // 64 + 65536, numpy.uint8)
        length = _checked(
            _plugin.h5ebz_encode, len(words), words, chunk.nbytes, chunk.ctypes.data,
            stream.nbytes, stream.ctypes.data)
        return stream[:length].tobytes()

    with ThreadPoolExecutor(threads) as pool:
        under_way: deque[tuple[tuple[int, ...], Future[bytes]]] = deque()
        for corner in itertools.product(*steps):
            if len(under_way) > 2 * threads:
                _write_chunk(dataset, *under_way.popleft())
            under_way.append((corner, pool.submit(encode, corner)))
        while under_way:
            _write_chunk(dataset, *under_way.popleft())


def _write_chunk(dataset: Any, corner: tuple[int, ...], stream: Future[bytes]) -> None:
    dataset.id.write_direct_chunk(corner, stream.result())


def _filter_words(dataset: Any) -> Any:
    """The parameters of the filter of a dataset, which must be its only filter."""
    properties = dataset.id.get_create_plist()
    if properties.get_nfilters() != 1 or properties.get_filter(0)[0] != FILTER_ID:
        raise InvalidArgument(
            f"dataset {dataset.name} does not have ebz as its only filter: create it with "
            "create_dataset(…, chunks=…, **ebz.hdf5.Ebz(range=1e-3))")
    values = properties.get_filter(0)[2]
    return (ctypes.c_uint32 * len(values))(*values)


def _text(value: Any) -> str:
    """A parameter as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked(function: Any, *arguments: Any) -> int:
    """Calls a function of the filter library; raises an exception with its message."""
    message = ctypes.create_string_buffer(_MESSAGE)
    count = int(function(*arguments, _MESSAGE, message))
    if count == 0:
        raise InvalidArgument(message.value.decode(errors="replace"))
    return count


def _load() -> ctypes.CDLL:
    """Loads the filter library: the extension module, unless there is one of its own."""
    names = ("libh5ebz.so", "libh5ebz.dylib", "h5ebz.dll", pathlib.Path(_core.__file__).name)
    for path in (pathlib.Path(PLUGIN_PATH, name) for name in names):
        if path.exists():
            library = ctypes.CDLL(str(path))
            size, pointer = ctypes.c_size_t, ctypes.c_void_p
            library.h5ebz_words.argtypes = [ctypes.c_char_p, size, size, pointer, size, pointer]
            library.h5ebz_words.restype = size
            library.h5ebz_encode.argtypes = [
                size, pointer, size, pointer, size, pointer, size, pointer]
            library.h5ebz_encode.restype = size
            return library
    raise UnsupportedError(
        f"the HDF5 filter is not in {PLUGIN_PATH}: install ebz from a wheel, or build the filter "
        "with `cargo build --release -p ebz-hdf5` and set EBZ_PLUGIN_PATH to the folder of "
        "libh5ebz.so")


def _loaded(name: str) -> Iterator[str]:
    """The loaded shared libraries whose file names start with this."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    except OSError:
        return
    for path in sorted(paths):
        base = pathlib.Path(path).name
        if base.startswith(name) and not base.startswith((name + "_hl", name + "_cpp")):
            yield path


def _enable() -> None:
    """Makes the filter available to every HDF5 library of this process, loaded already or not."""
    # Setting the variable replaces HDF5's default folder.
    paths = os.environ.get("HDF5_PLUGIN_PATH", "/usr/local/hdf5/lib/plugin").split(os.pathsep)
    if PLUGIN_PATH not in paths:
        os.environ["HDF5_PLUGIN_PATH"] = os.pathsep.join([PLUGIN_PATH, *paths])
    folder = PLUGIN_PATH.encode()
    libraries = list(_loaded("libhdf5"))
    for path in libraries:
        library = ctypes.CDLL(path)
        if hasattr(library, "H5PLprepend") and library.H5PLprepend(folder) < 0:
            raise Error(f"{path} does not accept {PLUGIN_PATH} as a plugin folder")
    if not libraries and "h5py" in sys.modules:
        sys.modules["h5py"].h5pl.prepend(folder)


_plugin = _load()
_enable()
