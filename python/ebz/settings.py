"""The keyword arguments of a compression, for those who pass them on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Union

from . import _core

Params = Mapping[str, Union[str, int, float, bool]]


class Settings(TypedDict, total=False):
    """The keyword arguments of `ebz.compress`, where they are explained."""

    abs: float | None
    range: float | None
    pointwise: float | None
    psnr: float | None
    ratio: float | None
    precision: int | None
    lossless: bool
    codec: str
    threads: int
    fill: float | None
    chunk: Sequence[int] | None
    params: Params | None
    metadata: Any


def options(settings: Settings) -> _core.Options:
    """Checks them, all at once."""
    metadata = as_json(settings.get("metadata"))
    return _core.Options(**{**settings, "metadata": metadata})


def as_json(metadata: Any) -> str | None:
    """What is kept with an array, as text."""
    return None if metadata is None else json.dumps(metadata)
