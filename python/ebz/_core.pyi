from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from .coding import Codec

__version__: str

class Header(TypedDict):
    shape: list[int]
    dtype: str
    chunk: list[int]
    codec: str
    bound: tuple[str, float]
    tolerance: tuple[str, float]
    fill: list[float]
    metadata: str
    stored_bytes: int

class Options:
    def __new__(
        cls,
        *,
        abs: float | None = None,
        range: float | None = None,
        pointwise: float | None = None,
        psnr: float | None = None,
        ratio: float | None = None,
        precision: float | None = None,
        lossless: bool = False,
        codec: str = "fz",
        favor: str = "balanced",
        threads: int = 1,
        fill: str = "auto",
        clip: str = "auto",
        keep_zeros: bool = False,
        one_pass: bool = False,
        chunk: Sequence[int] | None = None,
        params: Mapping[str, str | int | float | bool] | None = None,
        metadata: str | None = None,
        for_rewriting: bool = False,
    ) -> Options: ...

class Reader:
    @staticmethod
    def open(
        path: str | PathLike[str], threads: int, max_memory: int | None
    ) -> Reader: ...
    @staticmethod
    def object(file: Any, threads: int, max_memory: int | None) -> Reader: ...
    @staticmethod
    def pieces(size: int, pieces: Sequence[tuple[int, bytes]], threads: int) -> Reader: ...
    def frames(self) -> int: ...
    def header(self, frame: int) -> Header: ...
    def read(self, frame: int, region: Sequence[tuple[int, int]]) -> NDArray[Any]: ...
    def places(self, frame: int, region: Sequence[tuple[int, int]]) -> list[tuple[int, int]]: ...

def save(
    path: str | PathLike[str], array: NDArray[Any], options: Options, append: bool
) -> None: ...
def compress(array: NDArray[Any], options: Options, device: str | None = None) -> bytes: ...
def decompress(
    stream: bytes | NDArray[np.uint8],
    threads: int,
    max_bytes: int | None,
    max_memory: int | None,
    device: str | None = None,
) -> NDArray[Any]: ...
def choose(array: NDArray[Any], options: Options) -> str: ...
def metadata(stream: bytes | NDArray[np.uint8]) -> str: ...
def decompress_into(
    stream: bytes | NDArray[np.uint8], out: NDArray[Any], threads: int
) -> None: ...
def compare(
    original: NDArray[Any], decoded: NDArray[Any], fill: str, ssim: bool, threads: int
) -> dict[str, Any]: ...
def codecs() -> list[Codec]: ...
def command(arguments: Sequence[str]) -> int: ...
def suggest(array: NDArray[Any], keep: Sequence[str], fill: str) -> str: ...
def hdf5_settings(words: Sequence[int]) -> str: ...
