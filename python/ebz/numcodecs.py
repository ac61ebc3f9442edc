"""The codec for Zarr format 2 and everything else that uses numcodecs.

`zarr.create_array(..., zarr_format=2, compressors=ebz.numcodecs.Ebz(range=1e-3))`
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ndarray_copy
from numcodecs.registry import register_codec

from . import _core
from .arrays import readable, stream
from .errors import InvalidType
from .settings import Configured, Settings, options

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self, Unpack

__all__ = ["Ebz"]


class Ebz(Configured, Codec):  # type: ignore[misc]
    """Chunks of floating-point values as `.ebz` streams.

    The keyword arguments are those of `ebz.compress`. A `range`, `psnr` or `ratio` is that of each
    chunk by itself. This kind of codec is not told the fill value of the array: values that
    conventions use for missing data are found, and others have to be given as `fill`.

    It takes arrays, so no filter that makes bytes may stand before it. The order of the axes in
    memory and the order of the bytes are those of the array that was encoded.
    """

    codec_id = "ebz"

    def __init__(self, **settings: Unpack[Settings]) -> None:
        super().__init__(**settings)

    def encode(self, buf: Any) -> bytes:
        """Compress an array."""
        array = np.asarray(buf)
        # What those who look at the memory of the decoded array, as Zarr does, have to find there.
        layout: dict[str, str] = {}
        if array.flags.fnc:
            layout["order"] = "F"
            array = array.T
        if not array.dtype.isnative:
            layout["byteorder"] = array.dtype.byteorder
        chosen = self.options
        if layout:
            settings = {**self.settings, "metadata": layout}
            if "order" in layout and "chunk" in settings:
                settings["chunk"] = settings["chunk"][::-1]
            chosen = options(settings, for_rewriting=True)
        return _core.compress(readable(array), chosen)

    def decode(self, buf: Buffer, out: Any = None) -> Any:
        """The array of a stream, or `out` filled with it."""
        data = stream(buf)
        array = _core.decompress(data, self.threads, None, None)
        layout = json.loads(_core.metadata(data)) or {}
        if layout.get("order") == "F":
            array = array.T
        if "byteorder" in layout:
            array = array.astype(array.dtype.newbyteorder(layout["byteorder"]))
        if out is None:
            return array
        if getattr(out, "dtype", None) == object:
            raise InvalidType("values cannot be decoded into an array of objects")
        return ndarray_copy(array, out)

    def get_config(self) -> dict[str, Any]:
        """The codec as JSON."""
        return {"id": self.codec_id, **self.configuration()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The codec from JSON."""
        return cls.configured({name: value for name, value in config.items() if name != "id"})


register_codec(Ebz)
