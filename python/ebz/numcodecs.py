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
    """Compresses chunks of floating-point values to `.ebz` streams.

    The keyword arguments are those of `ebz.compress`. A `range`, `psnr` or `ratio` refers to each
    chunk by itself. numcodecs does not pass the fill value of the array to codecs: conventional
    fill values are detected, others must be given as `fill`.

    The codec takes arrays, so it cannot follow a filter that returns bytes. Axis order in memory and
    byte order of decoded arrays are those of the encoded array.
    """

    codec_id = "ebz"

    def __init__(self, **settings: Unpack[Settings]) -> None:
        super().__init__(**settings)

    def encode(self, buf: Any) -> bytes:
        """Compress an array."""
        array = np.asarray(buf)
        # Zarr looks at the memory of the decoded array, which must have the same layout.
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
        """Decompress a stream, into `out` if given."""
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
            raise InvalidType("cannot decode values into an array of objects")
        return ndarray_copy(array, out)

    def get_config(self) -> dict[str, Any]:
        """The codec as JSON."""
        return {"id": self.codec_id, **self.configuration()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The codec from JSON."""
        return cls.configured({name: value for name, value in config.items() if name != "id"})


register_codec(Ebz)
