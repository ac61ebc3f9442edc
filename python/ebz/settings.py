"""Validation of the keyword arguments of compression."""

from __future__ import annotations

import json
import numbers
import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Union

import numpy as np

from . import _core
from .errors import InvalidArgument, InvalidType

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

Params = Mapping[str, Union[str, int, float, bool]]
Fill = Union[float, Sequence[Union[float, str]], str, None]

#: Bounds with a real number.
NUMBERS = ("abs", "range", "pointwise", "psnr", "ratio")

#: All bounds.
BOUNDS = (*NUMBERS, "precision", "lossless")


class Settings(TypedDict, total=False):
    """The keyword arguments of `ebz.compress`, which documents them."""

    abs: float | None
    range: float | None
    pointwise: float | None
    psnr: float | None
    ratio: float | None
    precision: int | None
    lossless: bool
    codec: str
    favor: str
    threads: int
    fill: Fill
    clip: str
    keep_zeros: bool
    one_pass: bool
    chunk: Sequence[int] | None
    params: Params | None
    metadata: Any


def options(settings: Mapping[str, Any], for_rewriting: bool = False) -> _core.Options:
    """Validates all settings. With `for_rewriting`, codecs preserve unmodified values of a chunk that
    is compressed again."""
    values = plain(settings)
    if "fill" in values:
        values["fill"] = fill_text(values["fill"])
    metadata = as_json(settings.get("metadata"))
    return _core.Options(**values, metadata=metadata, for_rewriting=for_rewriting)


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as plain Python values, whatever number types were passed; without metadata and
    without defaults."""
    result: dict[str, Any] = {}
    for name, value in settings.items():
        if name == "fill":
            value = _fill(value)
            if value != "auto":
                result[name] = value
        elif value is None or name == "metadata":
            continue
        elif name in NUMBERS:
            result[name] = _real(name, value)
        elif name == "precision":
            result[name] = _whole(name, value)
        elif name == "clip":
            if not isinstance(value, str):
                raise InvalidType(f"clip={value!r}: use 'auto', 'none', 'data' or limits such as '0..1'")
            if value != "auto":
                result[name] = str(value)
        elif name in ("lossless", "keep_zeros", "one_pass"):
            if not isinstance(value, (bool, np.bool_)):
                raise InvalidType(f"{name}={value!r}: use True or False")
            if value:
                result[name] = True
        elif name == "codec":
            if not isinstance(value, str):
                raise InvalidType(f"codec={value!r}: use one of the names of ebz.codecs()")
            result[name] = str(value)
        elif name == "favor":
            if not isinstance(value, str):
                raise InvalidType(f"favor={value!r}: give 'speed', 'balanced' or 'ratio'")
            if value != "balanced":
                result[name] = str(value)
        elif name == "threads":
            result[name] = count(name, value)
        elif name == "chunk":
            result[name] = _extents(value)
        elif name == "params":
            result[name] = _params(value)
        else:
            raise InvalidArgument(f"unknown argument of ebz: {name}")
    return result


def count(name: str, value: Any) -> int:
    """A non-negative integer, such as a number of threads or bytes."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InvalidType(f"{name}={value!r}: must be an integer") from None
    if not 0 <= number <= sys.maxsize:
        raise InvalidArgument(f"{name}={number}: must be from 0 to {sys.maxsize}")
    return number


def limit(name: str, value: Any) -> int | None:
    """An optional number of bytes."""
    return None if value is None else count(name, value)


def _real(name: str, value: Any) -> float:
    wrong = InvalidType(f"{name}={value!r}: must be a number")
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.ndim(value) != 0:
        raise wrong
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        raise wrong
    try:
        return float(value) + 0.0  # Drops the sign of zero.
    except (TypeError, ValueError):
        raise wrong from None
    except OverflowError:
        raise InvalidArgument(f"{name} exceeds the range of float64") from None


def _whole(name: str, value: Any) -> int:
    number = _real(name, value)
    if not number.is_integer():
        raise InvalidArgument(f"{name}={value!r}: must be an integer")
    return int(number)


def _extents(value: Any) -> list[int]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InvalidType(f"chunk={value!r}: use one extent per axis, such as (16, 256, 256)")
    extents = [count("chunk", extent) for extent in value]
    if 0 in extents:
        raise InvalidArgument(f"chunk={extents}: each extent must be 1 or more")
    return extents


def _fill(value: Any) -> Any:
    """The fill values: "auto", "none", a number, or a list of numbers, possibly with "auto"."""
    if value is None:
        return "none"
    if isinstance(value, str):
        if value not in ("auto", "none"):
            raise InvalidArgument(f"fill={value!r}: use 'auto', None, a number or a list of numbers")
        return str(value)
    if not isinstance(value, (list, tuple)) and np.ndim(value) == 0:
        return _real("fill", value)
    auto = [str(one) for one in value if isinstance(one, str)]
    if auto not in ([], ["auto"]):
        raise InvalidArgument(f"fill={value!r}: use numbers, and 'auto' to detect others as well")
    rest = [_real("fill", one) for one in value if not isinstance(one, str)]
    return [*auto, *rest] if rest else "".join(auto) or "none"


def fill_text(fill: Any) -> str:
    """The fill values as text, for the library."""
    return ",".join(map(str, fill)) if isinstance(fill, list) else str(fill)


def _params(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidType(f"params={value!r}: use a mapping, as in params={{'name': 1}}")
    params = {str(key): _plain_value(one) for key, one in value.items()}
    for key, one in params.items():
        if not isinstance(one, (str, bool, int, float)):
            raise InvalidType(f"params: {key}={one!r}: use a number, a string, True or False")
    return params


def as_json(metadata: Any) -> str | None:
    """The metadata of an array as JSON text."""
    if metadata is None:
        return None
    try:
        return json.dumps(_plain_value(metadata), allow_nan=False)
    except ValueError as error:
        raise InvalidArgument(f"metadata: {error}") from None
    except TypeError as error:
        raise InvalidType(f"metadata: {error}: use JSON values") from None


def _plain_value(value: Any) -> Any:
    """Converts NumPy scalars and arrays to plain Python values, recursively."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {_plain_value(key): _plain_value(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_value(one) for one in value]
    return value


class Configured:
    """Base class of codecs for other libraries: settings that are validated at once, comparable,
    picklable, and serializable as JSON."""

    def __init__(self, **settings: Unpack[Settings]) -> None:
        if "metadata" in settings:
            raise InvalidArgument("metadata belongs to an array, not to a codec")
        self.settings: dict[str, Any] = plain(settings)
        self.options = options(self.settings, for_rewriting=True)

    @property
    def threads(self) -> int:
        """Number of threads per chunk."""
        return int(self.settings.get("threads", 1))

    def configuration(self) -> dict[str, Any]:
        """The settings to store; the number of threads is not one of them."""
        return {name: value for name, value in self.settings.items() if name != "threads"}

    @classmethod
    def configured(cls, configuration: Mapping[str, Any]) -> Self:
        """A codec from a stored configuration."""
        unknown = set(configuration) - (set(Settings.__annotations__) - {"metadata"})
        if unknown:
            raise InvalidArgument(f"unknown ebz configuration: {', '.join(sorted(unknown))}")
        return cls(**configuration)

    def __reduce__(self) -> tuple[Any, ...]:
        return _configured, (type(self), self.settings)

    # Codecs that write the same bytes are equal, so threads do not count.

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Configured) and type(self) is type(other):
            return self.configuration() == other.configuration()
        return NotImplemented

    def __hash__(self) -> int:
        return hash(_frozen(self.configuration()))

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__module__}.{type(self).__name__}({named})"


def _frozen(value: Any) -> Any:
    """A hashable equivalent."""
    if isinstance(value, dict):
        return frozenset((name, _frozen(one)) for name, one in value.items())
    return tuple(value) if isinstance(value, list) else value


def _configured(cls: type[Configured], settings: Settings) -> Configured:
    return cls(**settings)
