"""The keyword arguments of a compression, for those who pass them on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Union

from . import _core
from .errors import InvalidArgument

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

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


def options(settings: Mapping[str, Any]) -> _core.Options:
    """Checks them, all at once."""
    metadata = as_json(settings.get("metadata"))
    return _core.Options(**{**settings, "metadata": metadata})


def as_json(metadata: Any) -> str | None:
    """What is kept with an array, as text."""
    return None if metadata is None else json.dumps(metadata)


class Configured:
    """What codecs of other libraries share: settings that are checked when they are given, can be
    compared and pickled, and can be written down as JSON."""

    def __init__(self, **settings: Unpack[Settings]) -> None:
        if "metadata" in settings:
            raise InvalidArgument("metadata belongs to an array, not to a codec")
        self.settings: dict[str, Any] = {
            name: value
            for name, value in settings.items()
            if value is not None and value is not False
        }
        if "chunk" in self.settings:
            self.settings["chunk"] = [int(extent) for extent in self.settings["chunk"]]
        if "params" in self.settings:
            self.settings["params"] = dict(self.settings["params"])
        self.options = options(self.settings)

    @property
    def threads(self) -> int:
        """Threads for each chunk."""
        return int(self.settings.get("threads", 1))

    def configuration(self) -> dict[str, Any]:
        """The settings that are written down; the number of threads is a matter of the day."""
        return {name: value for name, value in self.settings.items() if name != "threads"}

    @classmethod
    def configured(cls, configuration: Mapping[str, Any]) -> Self:
        """A codec from what was written down."""
        unknown = set(configuration) - (set(Settings.__annotations__) - {"metadata"})
        if unknown:
            raise InvalidArgument(f"unknown configuration of ebz: {', '.join(sorted(unknown))}")
        return cls(**configuration)

    def __reduce__(self) -> tuple[Any, ...]:
        return _configured, (type(self), self.settings)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Configured) and type(self) is type(other):
            return self.settings == other.settings
        return NotImplemented

    def __hash__(self) -> int:
        return hash(json.dumps(self.settings, sort_keys=True))

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__module__}.{type(self).__name__}({named})"


def _configured(cls: type[Configured], settings: Settings) -> Configured:
    return cls(**settings)
