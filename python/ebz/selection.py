"""Which elements of an array an index asks for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Box = Sequence[tuple[int, int]]


class Selection:
    """The elements that integers, slices and `...` ask for: a range of indices for every axis.

    Anything else is an `IndexError`.
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

    def read(self, box: Callable[[Box], NDArray[Any]], chunk: Sequence[int]) -> NDArray[Any]:
        """The elements, by way of a function that reads boxes of an array cut into chunks."""
        values = _read(self.axes, box, chunk)
        return values.squeeze(axis=tuple(self.dropped)) if self.dropped else values

    def is_whole(self, shape: Sequence[int]) -> bool:
        """Whether these are all elements of the array."""
        return not self.dropped and self.axes == [range(extent) for extent in shape]

    def box(self) -> Box:
        """The smallest box that holds all elements."""
        return [_ends(indices) for indices in self.axes]


def _single(key: object, extent: int, axis: int) -> range:
    try:
        if isinstance(key, (bool, np.bool_)):
            raise TypeError
        index = operator.index(key)  # type: ignore[arg-type]
    except TypeError:
        raise IndexError(
            "only integers, slices and '...' are read from a file: for other indices read the "
            "array first, with numpy.asarray(file)"
        ) from None
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    return range(index % extent, index % extent + 1)


def _ends(indices: range) -> tuple[int, int]:
    return (min(indices), max(indices) + 1) if indices else (0, 0)


def _read(
    axes: list[range], box: Callable[[Box], NDArray[Any]], chunk: Sequence[int]
) -> NDArray[Any]:
    for axis, (indices, extent) in enumerate(zip(axes, chunk)):
        if len(indices) > 1 and abs(indices.step) > extent:
            # There are chunks between the elements that nobody asked for.
            parts = [axes[:axis] + [range(i, i + 1)] + axes[axis + 1 :] for i in indices]
            return np.concatenate([_read(part, box, chunk) for part in parts], axis=axis)
    values = box([_ends(indices) for indices in axes])
    if all(indices.step == 1 for indices in axes):
        return values
    return values[tuple(slice(None, None, indices.step) for indices in axes)].copy()
