"""Indexing: the elements that an index selects."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Box = Sequence[tuple[int, int]]
Piece = tuple[slice, range]


class Selection:
    """The elements selected by integers, slices and `...`: a range of indices for every axis.

    Anything else raises `IndexError`.
    """

    def __init__(self, key: object, shape: Sequence[int]) -> None:
        keys = list(key) if isinstance(key, tuple) else [key]
        dots = [i for i, k in enumerate(keys) if isinstance(k, EllipsisType)]
        if len(dots) > 1:
            raise IndexError("an index can have only one '...'")
        missing = len(shape) - (len(keys) - len(dots))
        if missing < 0:
            raise IndexError(f"{len(keys) - len(dots)} indices for an array of {len(shape)} axes")
        at = dots[0] if dots else len(keys)
        keys[at : at + len(dots)] = [slice(None)] * missing
        self.axes: list[range] = []
        #: The axes that an integer removes.
        self.dropped: list[int] = []
        for axis, (one, extent) in enumerate(zip(keys, shape)):
            if isinstance(one, slice):
                self.axes.append(range(*one.indices(extent)))
            else:
                self.axes.append(_single(one, extent, axis))
                self.dropped.append(axis)

        #: Whether NumPy would return a scalar.
        self.is_scalar = len(self.dropped) == len(shape) and not dots and bool(shape)

    def read(self, box: Callable[[Box], NDArray[Any]], chunk: Sequence[int]) -> NDArray[Any]:
        """Reads the elements with a function that reads boxes of a chunked array."""
        shape = tuple(len(indices) for indices in self.axes)
        result: NDArray[Any] | None = None
        for piece in self._pieces(chunk):
            values = box(_box(piece))
            if any(indices.step != 1 for _, indices in piece):
                values = values[tuple(slice(None, None, indices.step) for _, indices in piece)]
                values = values.copy()
            if values.shape == shape:
                result = values
                break
            if result is None:
                result = np.empty(shape, values.dtype)
            result[tuple(place for place, _ in piece)] = values
        assert result is not None, "there is at least one piece"
        return result.squeeze(axis=tuple(self.dropped)) if self.dropped else result

    def boxes(self, chunk: Sequence[int]) -> list[Box]:
        """The boxes to read."""
        return [_box(piece) for piece in self._pieces(chunk)]

    def _pieces(self, chunk: Sequence[int]) -> Iterator[tuple[Piece, ...]]:
        """Splits the selection so that no unneeded chunks lie within a part: for each axis the
        position in the result, and the indices."""
        return itertools.product(*map(_split, self.axes, chunk))

    def share(self, shape: Sequence[int]) -> float:
        """The selected fraction of the array; 1 means all of it, possibly in another order."""
        return math.prod(len(indices) for indices in self.axes) / max(1, math.prod(shape))


def _single(key: object, extent: int, axis: int) -> range:
    try:
        if isinstance(key, (bool, np.bool_)):
            raise TypeError
        index = operator.index(key)  # type: ignore[arg-type]
    except TypeError:
        raise IndexError(
            "only integers, slices and '...' can index a file: for other indices read the array first, "
            "with numpy.asarray(file)"
        ) from None
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    return range(index % extent, index % extent + 1)


def _split(indices: range, extent: int) -> list[Piece]:
    if len(indices) <= 1 or abs(indices.step) <= extent:
        return [(slice(None), indices)]
    return [(slice(at, at + 1), range(i, i + 1)) for at, i in enumerate(indices)]


def _box(piece: Sequence[Piece]) -> Box:
    ranges = [indices for _, indices in piece]
    return [(min(one), max(one) + 1) if one else (0, 0) for one in ranges]
