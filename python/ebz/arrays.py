"""Converts arrays and buffers to the forms that the extension module takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InvalidType

FLOAT64 = np.dtype(np.float64)

#: Sizes of the supported NumPy types.
SIZES = (2, 4, 8)

#: Integers up to this magnitude are exact in `float64`.
MAX_EXACT = 1 << 53


def readable(values: ArrayLike) -> NDArray[Any]:
    """An aligned array of a supported native type, copied only if necessary.

    Arrays of the other byte order and unaligned ones are converted, lists of numbers become arrays
    of `float64`. Any other type raises `InvalidType`, because a silent conversion would change
    values or sizes.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidType(
            "a masked array: fill it first and pass the fill value, as in "
            "compress(a.filled(1e20), fill=1e20, ...)"
        )
    array = np.asarray(values)
    dtype = array.dtype
    if is_compressed(dtype):
        if not dtype.isnative:
            return array.astype(dtype.newbyteorder("="))
        return array if array.flags.aligned else array.copy()
    if isinstance(values, (list, tuple, int)) and dtype.kind in "iu":
        if array.size == 0 or (array.min() >= -MAX_EXACT and array.max() <= MAX_EXACT):
            return array.astype(FLOAT64)
        raise InvalidType(f"integers beyond {MAX_EXACT} are not exact in float64")
    raise rejected(dtype)


def is_compressed(dtype: np.dtype[Any]) -> bool:
    """Whether a type is supported: `float16`, `float32`, `float64`, and `bfloat16` of the package
    ml_dtypes."""
    return (dtype.kind == "f" and dtype.itemsize in SIZES) or dtype.name == "bfloat16"


def rejected(dtype: np.dtype[Any]) -> InvalidType:
    """The exception for an unsupported type."""
    return InvalidType(f"an array of {dtype} is not compressed: {_advice(dtype)}")


def _advice(dtype: np.dtype[Any]) -> str:
    match dtype.kind:
        case "c":
            part = "float32" if dtype.itemsize == 8 else "float64"
            return f"compress its parts, with a.view(numpy.{part})"
        case "f":
            return "round it, with a.astype(numpy.float64)"
        case "i" | "u" | "b" if dtype.itemsize <= 2:
            return "widen it without loss, with a.astype(numpy.float32)"
        case "i" | "u":
            return "convert it, with a.astype(numpy.float64), or use a codec for integers"
        case "O":
            return "if its elements are numbers, convert it, with a.astype(numpy.float64)"
        case _:
            return "use numpy.float32 or numpy.float64"


def stream(data: Any) -> bytes | NDArray[np.uint8]:
    """The bytes of any buffer, without copying if possible."""
    if isinstance(data, bytes):
        return data
    try:
        view = memoryview(data)
    except TypeError:
        raise InvalidType(
            f"{type(data).__name__} is not a buffer: pass the result of compress"
        ) from None
    if not view.c_contiguous:
        return view.tobytes()
    return np.frombuffer(view, np.uint8) if view.nbytes else b""
