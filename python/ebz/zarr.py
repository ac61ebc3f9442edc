"""The codec for Zarr format 3: `zarr.create_array(..., serializer=ebz.zarr.Ebz(range=1e-3))`.

It compresses chunks of `float16`, `bfloat16`, `float32` and `float64` to `.ebz` streams; no other codec is
needed. Zarr finds it by its name, `ebz`, when an array is opened.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
from zarr.abc.store import RangeByteRequest, Store
from zarr.storage import StorePath

from . import _core
from .arrays import is_compressed, readable, rejected, stream
from .errors import CorruptError, InvalidArgument, TruncatedError
from .selection import Selection
from .settings import Configured, Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack
    from zarr.abc.store import ByteGetter
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer

__all__ = ["Ebz"]

#: Smaller chunks, in bytes, are fetched whole.
MIN_PARTIAL_BYTES = 1 << 18

#: Bytes fetched at both ends of a stream, for its header and index.
END_BYTES = 1 << 15


class Ebz(Configured, ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin):
    """Compresses chunks of floating-point values to `.ebz` streams.

    The keyword arguments are those of `ebz.compress`: one bound, `codec`, `params`, `chunk` (the
    granularity of reads within a Zarr chunk) and `threads` (per chunk; Zarr processes several chunks
    at once). A `range`, `psnr` or `ratio` refers to each chunk by itself.

    The array's fill value, unless it is 0, marks missing data: it is stored exactly and excluded
    from the range. Conventional fill values are detected as well. `fill` sets others, and
    `fill=None` means that there are none.
    """

    is_fixed_size = False

    def __init__(self, **settings: Unpack[Settings]) -> None:
        super().__init__(**settings)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The codec from the metadata of an array."""
        if data.get("name") not in ("ebz", "numcodecs.ebz"):
            raise InvalidArgument(f"not an ebz configuration: {data}")
        configuration = data.get("configuration", {})
        if not isinstance(configuration, dict):
            raise InvalidArgument(f"the ebz configuration is not an object: {configuration}")
        return cls.configured(configuration)

    def to_dict(self) -> dict[str, Any]:
        """The codec for the metadata of an array."""
        return {"name": "ebz", "configuration": self.configuration()}

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Reject unsupported arrays when they are created."""
        native = dtype.to_native_dtype()
        if not is_compressed(native):
            raise rejected(native)
        chunk = self.settings.get("chunk")
        if chunk is not None and len(chunk) != len(shape):
            raise InvalidArgument(f"chunk={chunk} for an array of {len(shape)} axes")

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Use the array's fill value; others are still detected."""
        fill = array_spec.fill_value
        if "fill" in self.settings or fill is None or not np.isfinite(fill) or fill == 0:
            return self
        return type(self)(**{**self.settings, "fill": ["auto", float(fill)]})

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """The size is not known in advance."""
        raise NotImplementedError

    def _encode_sync(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        values = _as_specified(chunk_array.as_numpy_array(), chunk_spec)
        data = _core.compress(readable(values), self.options)
        return chunk_spec.prototype.buffer.from_bytes(data)

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        dtype = chunk_spec.dtype.to_native_dtype()
        most = math.prod(chunk_spec.shape) * dtype.itemsize
        values = _core.decompress(stream(chunk_bytes.as_numpy_array()), self.threads, most, None)
        if values.size != math.prod(chunk_spec.shape):
            raise _other_chunk(values.dtype, values.shape, chunk_spec)
        return _as_chunk(values.reshape(chunk_spec.shape), chunk_spec)

    async def _encode_single(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._encode_sync, chunk_array, chunk_spec)

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _decode_partial_single(
        self, byte_getter: ByteGetter, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        """The selected part of a chunk; of large streams only the necessary bytes are fetched."""
        try:
            wanted = Selection(selection, chunk_spec.shape)
        except IndexError:  # Index arrays and masks.
            wanted = None
        if wanted is not None and wanted.share(chunk_spec.shape) < 0.5:
            parts = await _Parts.fetch(byte_getter, chunk_spec, wanted)
            if parts is not None:
                return await asyncio.to_thread(self._decode_parts, parts, wanted, chunk_spec)
        chunk_bytes = await byte_getter.get(chunk_spec.prototype)
        if chunk_bytes is None:
            return None
        if wanted is None or wanted.share(chunk_spec.shape) == 1:
            return (await self._decode_single(chunk_bytes, chunk_spec))[selection]
        data = chunk_bytes.to_bytes()
        parts = _Parts(len(data), [(0, data)])
        return await asyncio.to_thread(self._decode_parts, parts, wanted, chunk_spec)

    def _decode_parts(
        self, parts: _Parts, wanted: Selection, chunk_spec: ArraySpec
    ) -> NDBuffer:
        reader = _core.Reader.pieces(parts.size, parts.pieces, self.threads)
        header = reader.header(0)
        shape = tuple(header["shape"])
        if math.prod(shape) != math.prod(chunk_spec.shape):
            raise _other_chunk(header["dtype"], shape, chunk_spec)
        if shape == chunk_spec.shape:
            values = wanted.read(lambda box: reader.read(0, box), header["chunk"])
        else:  # The same values, encoded with another shape.
            whole = reader.read(0, [(0, n) for n in shape]).reshape(chunk_spec.shape)
            values = wanted.read(lambda box: whole[tuple(slice(*i) for i in box)], whole.shape)
        return _as_chunk(values, chunk_spec)


def _as_specified(values: NDArray[Any], chunk_spec: ArraySpec) -> NDArray[Any]:
    """A chunk with the shape and type of the array's metadata. Preceding numcodecs filters may pass
    the values flattened, or as integers of the same bits."""
    dtype = chunk_spec.dtype.to_native_dtype()
    if values.dtype.kind in "iu" and values.dtype.itemsize == dtype.itemsize:
        order = values.dtype.byteorder
        values = np.ascontiguousarray(values).view(dtype.newbyteorder(order))
    if values.shape == chunk_spec.shape:
        return values
    if values.size != math.prod(chunk_spec.shape):
        raise InvalidArgument(
            f"a filter returned {values.size} values for a chunk of shape {chunk_spec.shape}: remove it"
        )
    return values.reshape(chunk_spec.shape)


def _as_chunk(values: NDArray[Any], chunk_spec: ArraySpec) -> NDBuffer:
    dtype = chunk_spec.dtype.to_native_dtype()
    if values.dtype != dtype.newbyteorder("="):
        raise _other_chunk(values.dtype, values.shape, chunk_spec)
    values = values.astype(dtype, copy=False)
    return chunk_spec.prototype.nd_buffer.from_numpy_array(values)


def _other_chunk(dtype: object, shape: Sequence[int], chunk_spec: ArraySpec) -> CorruptError:
    return CorruptError(
        f"a chunk has {dtype} of shape {tuple(shape)}, but the metadata of the array says "
        f"{chunk_spec.dtype.to_native_dtype()} of shape {chunk_spec.shape}: one of them was "
        "overwritten"
    )


class _Parts:
    """The byte ranges of a stream that a selection needs."""

    def __init__(self, size: int, pieces: list[tuple[int, bytes]]) -> None:
        self.size = size
        self.pieces = pieces

    @classmethod
    async def fetch(
        cls, path: ByteGetter, chunk_spec: ArraySpec, wanted: Selection
    ) -> _Parts | None:
        """Fetch the parts; None if there is no stream, or if it is better fetched whole."""
        if not isinstance(path, StorePath) or type(path.store).getsize is Store.getsize:
            return None  # Memory, or a store that gets the size of a value only by reading it.

        async def get(start: int, end: int) -> tuple[int, bytes]:
            part = await path.get(chunk_spec.prototype, RangeByteRequest(start, end))
            if part is None:
                raise TruncatedError("a chunk was removed while it was read: retry")
            return start, part.to_bytes()

        try:
            size = await path.store.getsize(path.path)
        except FileNotFoundError:
            return None
        if size < MIN_PARTIAL_BYTES:
            return None
        pieces = list(await asyncio.gather(get(0, END_BYTES), get(size - END_BYTES, size)))
        try:
            reader = _core.Reader.pieces(size, pieces, 1)
            header = reader.header(0)
            if tuple(header["shape"]) != chunk_spec.shape:
                return None
            boxes = wanted.boxes(header["chunk"])
            places = sorted({place for box in boxes for place in reader.places(0, box)})
        except TruncatedError:  # A long header or index.
            return None
        if sum(end - start for start, end in places) > size // 2:
            return None
        pieces += await asyncio.gather(*(get(*run) for run in _runs(places)))
        return cls(size, pieces)


def _runs(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merges adjacent byte ranges."""
    runs: list[tuple[int, int]] = []
    for start, end in places:
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs
