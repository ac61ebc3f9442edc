"""Whole arrays in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arrays import is_compressed, readable, stream
from .errors import InvalidArgument
from .settings import Fill, Params, count, fill_text, limit, options, plain

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Codec(TypedDict):
    """A row of the table of codecs."""

    name: str
    summary: str
    bounds: list[str]
    params: dict[str, tuple[str, str]]
    rewrites_exactly: dict[str, str] | None


def compress(
    a: ArrayLike,
    *,
    abs: float | None = None,
    range: float | None = None,
    pointwise: float | None = None,
    psnr: float | None = None,
    ratio: float | None = None,
    precision: int | None = None,
    lossless: bool = False,
    codec: str = "fz",
    favor: str = "balanced",
    threads: int = 1,
    fill: Fill = "auto",
    clip: str = "auto",
    keep_zeros: bool = False,
    chunk: Sequence[int] | None = None,
    params: Params | None = None,
    metadata: Any = None,
    device: str = "cpu",
) -> bytes:
    """Compress an array of `float16`, `bfloat16`, `float32` or `float64` to a stream that describes itself.

    Give exactly one bound:

    - `abs`: every value changes by at most this much.
    - `range`: every value changes by at most this times (max - min) of the finite values.
    - `pointwise`: every value changes by at most this times itself.
    - `psnr`: the peak signal-to-noise ratio is at least this, in dB.
    - `ratio`: the result is at least so many times smaller; the bound that takes is recorded.
    - `precision`: so many bit planes are kept.
    - `lossless`: no bit changes.

    NaN, infinities and values that mark missing data always come back as they are, and do not count
    for the range. With `fill="auto"` such values are found: numbers that conventions use (1e20, -999,
    9.96921e36, ...) and others that repeat far outside of all the rest. A number or a list of up to
    eight names them, `["auto", -1]` does both, and with `None` every finite value is data.

    `clip` keeps values within limits wherever the original is: `"0..1"`, `"0.."`, `"data"` for its own
    range, `"none"`; with `"auto"` they do not become negative where the smallest is 0 and the bound needs a
    look at all of them. `keep_zeros=True` keeps exact zeros. Neither breaks a bound.

    `codec` is one of `ebz.codecs()`, with `params` of its own, or `"auto"` for the one that samples of the
    array suggest: with `favor="speed"` a codec that takes twice the time must halve the size, with
    `"balanced"` save a tenth of it, and with `"ratio"` time does not count. `threads=0` uses all cores; the bytes
    do not depend on it. `chunk` gives the extents of the parts that can be read by themselves.
    `metadata` is anything that JSON can hold, and is kept with the array. `device="gpu"` has codec `fz`
    done by a GPU, `"gpu:NAME"` by the first whose name contains that, with the same bytes; what it does
    not take is done by the CPU. This needs a package that was built with the feature `gpu`.

    Arrays may be read-only, strided or in Fortran order: they are not copied, and come back in C
    order. The GIL is released.
    """
    settings = dict(
        abs=abs,
        range=range,
        pointwise=pointwise,
        psnr=psnr,
        ratio=ratio,
        precision=precision,
        lossless=lossless,
        codec=codec,
        favor=favor,
        threads=threads,
        fill=fill,
        clip=clip,
        keep_zeros=keep_zeros,
        chunk=chunk,
        params=params,
        metadata=metadata,
    )
    chosen = None if device == "cpu" else device
    return _core.compress(readable(a), options(settings), chosen)


def decompress(
    data: Buffer,
    *,
    threads: int = 1,
    max_bytes: int | None = None,
    max_memory: int | None = None,
    device: str = "cpu",
) -> NDArray[Any]:
    """The array of a stream, in C order and native byte order.

    `data` is anything with the buffer protocol. Damage is a `CorruptError` or `TruncatedError`; an
    array larger than `max_bytes`, or one that takes more than `max_memory` bytes with all that decoding
    needs, a `LimitError`, before memory is reserved. By default that is the memory of the machine.
    `device` is that of `compress`.
    """
    threads = count("threads", threads)
    limits = limit("max_bytes", max_bytes), limit("max_memory", max_memory)
    return _core.decompress(stream(data), threads, *limits, None if device == "cpu" else device)


def decompress_into(data: Buffer, out: NDArray[Any], *, threads: int = 1) -> None:
    """Decompress into an array of the same shape and type; any strides or byte order will do.

    Contiguous arrays, in C or Fortran order, are filled in place; others by way of a temporary one.
    """
    if not isinstance(out, np.ndarray):
        raise TypeError(f"a NumPy array is needed to decompress into, not {type(out).__name__}")
    threads = count("threads", threads)
    flags = out.flags
    if flags.forc and flags.aligned and out.dtype.isnative and is_compressed(out.dtype):
        _core.decompress_into(stream(data), out, threads)
        return
    if not flags.writeable:
        raise InvalidArgument("the output array is read-only: give one that can be written")
    values = decompress(data, threads=threads)
    if values.shape != out.shape or values.dtype != out.dtype.newbyteorder("="):
        raise InvalidArgument(
            f"the output is {out.dtype} of shape {out.shape}, but the data is {values.dtype} of "
            f"shape {values.shape}"
        )
    out[...] = values


def compare(
    a: ArrayLike,
    b: ArrayLike,
    *,
    fill: Fill = "auto",
    ssim: bool = True,
    threads: int = 1,
) -> dict[str, Any]:
    """How far the array `b` is from its original `a`.

    The names are those of `ebz compare --json`: libpressio's (`error_stat:max_error`,
    `error_stat:psnr`, `error_stat:rmse`, `error_stat:value_range`, `ssim:ssim`, ...), and
    `ebz:exact`, the number of values that are the same to the last bit, `ebz:lost_specials`, the
    number of NaN, infinite and fill values that are not, and `ebz:histogram` of the errors.
    `ssim=False` leaves out the structural similarity, which takes most of the time. `fill` is that of
    `compress`.
    """
    original, decoded = (np.ascontiguousarray(readable(x)).reshape(np.shape(x)) for x in (a, b))
    if original.dtype != decoded.dtype:
        raise InvalidArgument(
            f"arrays of {original.dtype} and {decoded.dtype} cannot be compared: convert one"
        )
    chosen = fill_text(plain({"fill": fill}).get("fill", "auto"))
    return _core.compare(original, decoded, chosen, ssim, count("threads", threads))


def suggest(
    a: ArrayLike, *, keep: Mapping[str, float] | None = None, fill: Fill = "auto"
) -> dict[str, Any]:
    """Bounds for an array, from what its values say and from what is to be kept of them.

    `keep` names wishes and their thresholds, such as `{"ssim": 0.995, "gradient": 0.01}`; without it, those of
    climate scientists are taken. The result is what `ebz suggest --json` prints: `range` and `codec` are the largest
    bound relative to the range that keeps all wishes and the codec with the best ratio there (`None` if there is no such
    bound), `from_values` what the values say themselves, and `steps` all that was tried:

        found = ebz.suggest(a)
        data = ebz.compress(a, range=found["range"], codec=found["codec"])
    """
    wishes = [f"{name}={float(threshold)!r}" for name, threshold in (keep or {}).items()]
    chosen = fill_text(plain({"fill": fill}).get("fill", "auto"))
    found: dict[str, Any] = json.loads(_core.suggest(readable(a), wishes, chosen))
    return found


def codecs() -> list[Codec]:
    """The codecs: name, what it is for, the bounds it offers, and its parameters as
    `{name: (default, help)}`."""
    return _core.codecs()
