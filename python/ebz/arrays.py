"""What comes in as an array or as bytes, in the form that the extension module takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InvalidType

FLOAT64 = np.dtype(np.float64)

#: Bytes of the types of NumPy that are compressed.
SIZES = (2, 4, 8)

#: Whole numbers up to this one are numbers of `float64`.
EXACT = 1 << 53


def readable(values: ArrayLike) -> NDArray[Any]:
    """An aligned array of native values that are compressed; a copy only where it is not one already.

    Arrays of the other byte order and unaligned ones are converted, lists of numbers become arrays
    of `float64`. Every other type is an `InvalidType`, because a silent conversion would change
    values or sizes.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidType(
            "a masked array: fill it first, and say which value means missing, as in "
            "compress(a.filled(1e20), fill=1e20, ...)"
        )
    array = np.asarray(values)
    dtype = array.dtype
    if is_compressed(dtype):
        if not dtype.isnative:
            return array.astype(dtype.newbyteorder("="))
        return array if array.flags.aligned else array.copy()
    if isinstance(values, (list, tuple, int)) and dtype.kind in "iu":
        if array.size == 0 or (array.min() >= -EXACT and array.max() <= EXACT):
            return array.astype(FLOAT64)
        raise InvalidType(f"whole numbers beyond {EXACT} have no exact value of float64")
    raise rejected(dtype)


def is_compressed(dtype: np.dtype[Any]) -> bool:
    """Whether values of a type are compressed: `float16`, `float32`, `float64`, and the `bfloat16` of
    the package ml_dtypes."""
    return (dtype.kind == "f" and dtype.itemsize in SIZES) or dtype.name == "bfloat16"


def rejected(dtype: np.dtype[Any]) -> InvalidType:
    """The exception for arrays of a type that is not compressed."""
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
            return "give numbers of type numpy.float32 or numpy.float64"


def stream(data: Any) -> bytes | NDArray[np.uint8]:
    """The bytes of anything that has bytes, without a copy."""
    if isinstance(data, bytes):
        return data
    try:
        view = memoryview(data)
    except TypeError:
        raise InvalidType(
            f"{type(data).__name__} has no bytes: give what compress returned"
        ) from None
    if not view.c_contiguous:
        return view.tobytes()
    return np.frombuffer(view, np.uint8) if view.nbytes else b""
