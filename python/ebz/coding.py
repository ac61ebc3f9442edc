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
from .settings import Fill, Params, Settings, count, fill_text, limit, options, plain

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack


class Codec(TypedDict):
    """An entry of the table of codecs."""

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
    one_pass: bool = False,
    chunk: Sequence[int] | None = None,
    params: Params | None = None,
    metadata: Any = None,
    device: str = "cpu",
) -> bytes:
    """Compress an array of `float16`, `bfloat16`, `float32` or `float64` to a self-describing stream.

    Pass exactly one bound:

    - `abs`: maximum absolute error of every value.
    - `range`: the same, as a multiple of (max - min) of the finite values.
    - `pointwise`: the same, as a multiple of the magnitude of the value itself.
    - `psnr`: minimum peak signal-to-noise ratio in dB.
    - `ratio`: minimum compression ratio; the stream stores the bound that achieves it. With `one_pass=True` the
      ratio is met about, instead of at least, in one pass over the array at a constant speed.
    - `precision`: number of bit planes or mantissa bits to keep.
    - `lossless`: bit-exact.

    NaN, infinities and fill values, which mark missing data, are always preserved and do not count
    for the range. With `fill="auto"` fill values are detected: conventional ones (1e20, -999,
    9.96921e36, ...) and others that repeat far outside of the data. Pass a number or a list of up to
    eight to set them, `["auto", -1]` for both, or `None` to treat every finite value as data.

    `clip` keeps values within limits wherever the original values are: `"0..1"`, `"0.."`, `"data"` for
    the range of the data, or `"none"`; with `"auto"`, values do not become negative if the minimum is 0
    and the bound needs a scan of all values. `keep_zeros=True` keeps exact zeros. Neither violates
    the bound.

    `codec` is one of `ebz.codecs()`, with its own `params`; or `"fast"`, `"balanced"` or `"small"`; or `"auto"`,
    which samples the array: with `favor="speed"` a codec that takes twice the time must halve the size, with
    `"balanced"` save a tenth of it, with `"ratio"` time does not count; `choose` tells which and why.
    `threads=0` uses all cores; the output does not depend on it. `chunk` sets the chunk extents, the granularity of
    region reads.
    `metadata` is any JSON value, stored with the array. `device="gpu"` runs codec `fz` on a GPU,
    `"gpu:NAME"` on the first whose name contains NAME, with the same output; what the GPU does not
    support runs on the CPU. This needs a package built with the feature `gpu`.

    Arrays may be read-only, strided or in Fortran order: they are not copied, and decompress in C
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
        one_pass=one_pass,
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
    """Decompress a stream to an array in C order and native byte order.

    `data` is any buffer. Damage raises `CorruptError` or `TruncatedError`; an array larger than
    `max_bytes`, or one that needs more than `max_memory` bytes including decoder memory, raises
    `LimitError` before any allocation. The default is the memory of the machine. `device` is that of
    `compress`.
    """
    threads = count("threads", threads)
    limits = limit("max_bytes", max_bytes), limit("max_memory", max_memory)
    return _core.decompress(stream(data), threads, *limits, None if device == "cpu" else device)


def decompress_into(data: Buffer, out: NDArray[Any], *, threads: int = 1) -> None:
    """Decompress into an array of the same shape and type, with any strides or byte order.

    Contiguous arrays, in C or Fortran order, are filled in place, others through a temporary array.
    """
    if not isinstance(out, np.ndarray):
        raise TypeError(f"the output must be a NumPy array, not {type(out).__name__}")
    threads = count("threads", threads)
    flags = out.flags
    if flags.forc and flags.aligned and out.dtype.isnative and is_compressed(out.dtype):
        _core.decompress_into(stream(data), out, threads)
        return
    if not flags.writeable:
        raise InvalidArgument("the output array is read-only: pass a writable one")
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
    """Error metrics of the array `b` against its original `a`.

    The names are those of `ebz compare --json`: libpressio's (`error_stat:max_error`,
    `error_stat:psnr`, `error_stat:rmse`, `error_stat:value_range`, `ssim:ssim`, ...), and
    `ebz:exact`, the number of bit-identical values, `ebz:lost_specials`, the number of NaN, infinite
    and fill values that were not preserved, and `ebz:histogram` of the errors. `ssim=False` skips the
    structural similarity, which takes most of the time. `fill` is that of `compress`.
    """
    original, decoded = (np.ascontiguousarray(readable(x)).reshape(np.shape(x)) for x in (a, b))
    if original.dtype != decoded.dtype:
        raise InvalidArgument(
            f"cannot compare arrays of {original.dtype} and {decoded.dtype}: convert one"
        )
    chosen = fill_text(plain({"fill": fill}).get("fill", "auto"))
    return _core.compare(original, decoded, chosen, ssim, count("threads", threads))


class Suggestion(dict[str, Any]):
    """What `suggest` found: a dictionary that is shown as a short table."""

    def __repr__(self) -> str:
        lines = ["no bound meets all criteria"]
        if nearly := self["nearly"]:
            without = ", ".join(nearly["without"])
            lines = [f"range={nearly['range']:g}, codec={nearly['codec']!r}: all but {without}, which no bound meets"]
        if self["range"] is not None:
            lines = [f"range={self['range']:g}, codec={self['codec']!r}"]
        for found in self["from_values"]:
            bound = ", ".join(f"{kind}={value:.2g}" for kind, value in found["bound"].items())
            lines.append(f"{bound}: {found['why']}")
        for step in self["steps"]:
            ratios = ", ".join(f"{trial['codec']} {trial['ratio']:.1f}" for trial in step["trials"])
            broken = [name for name, found in step["criteria"].items() if not found["holds"]]
            met = f"not met: {', '.join(broken)}" if broken else "meets all criteria"
            lines.append(f"range={step['range']:g}: ratios {ratios}; {met}")
        return "\n".join(lines)


def suggest(
    a: ArrayLike, *, keep: Mapping[str, float] | None = None, fill: Fill = "auto"
) -> Suggestion:
    """Bounds for an array, from what its values say and from what is to be kept of them.

    `keep` names criteria and their thresholds, such as `{"ssim": 0.995, "gradient": 0.01}`; without it, those of
    climate scientists are taken. The result is what `ebz suggest --json` prints: `range` and `codec` are the largest
    bound relative to the range that meets all criteria and the codec with the best ratio there; if there is no such
    bound, they are `None`, and `nearly` has those that meet all `without` some criteria, if any. `from_values` is what the
    values say themselves, and `steps` all that was tried:

        found = ebz.suggest(a)
        data = ebz.compress(a, range=found["range"], codec=found["codec"])
    """
    criteria = [f"{name}={float(threshold)!r}" for name, threshold in (keep or {}).items()]
    chosen = fill_text(plain({"fill": fill}).get("fill", "auto"))
    return Suggestion(json.loads(_core.suggest(readable(a), criteria, chosen)))


class Choice(dict[str, Any]):
    """What `choose` found: a dictionary that is shown as the choice and its reason."""

    def __repr__(self) -> str:
        return str(self["why"])


def choose(a: ArrayLike, **settings: Unpack[Settings]) -> Choice:
    """The codec that `codec="auto"` chooses for an array, and why.

    The arguments are those of `compress`: one bound, and `favor`.

        found = ebz.choose(a, range=1e-3, favor="ratio")
        print(found)                    # ceaz for ratio: ratio 9.71 on 2.1 % of the values, 7.59 with fz, …
        data = ebz.compress(a, range=1e-3, codec=found["codec"])

    `ratio` is that of the samples, which are the fraction `sampled` of all values; `next` is the second best codec with
    its ratio. Codecs of Zarr and HDF5 choose for each chunk: pass one.
    """
    return Choice(json.loads(_core.choose(readable(a), options({**settings, "codec": "auto"}))))


def codecs() -> list[Codec]:
    """The codecs: name, summary, supported bounds, and parameters as `{name: (default, help)}`."""
    return _core.codecs()
