#!/usr/bin/env python3
"""Writes and reads an array through Zarr, with ebz and with what else there is at the same bound.

    pip install .[zarr] zfpy pysz
    python bench/python/zarr_speed.py [FILE -t float32 -s 100x500x500] [--range 1e-3]

The store is in the folder --folder: one in memory shows the codecs, one on disk the disk. Speeds are the
best of --repeats, with Zarr's own threads: first by the clock, then per second of processor time, which
also counts what other programs do not take away. The line "none" is what Zarr itself takes.
"""

import asyncio
import os
import pathlib
import shutil
import tempfile
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import zarr
from fields import arguments, load
from zarr.abc.codec import ArrayBytesCodec
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

from ebz.zarr import Ebz

warnings.simplefilter("ignore")


def numcodecs_codec(name):
    """A codec of numcodecs for Zarr format 3, wherever this version of Zarr keeps it."""
    try:
        import zarr.codecs.numcodecs as module
    except ImportError:
        import numcodecs.zarr3 as module
    return getattr(module, name)


def zfp(bound):
    import zfpy  # noqa: F401

    return {"serializer": numcodecs_codec("ZFPY")(mode=4, tolerance=bound), "compressors": None}


def sz3(bound):
    """There is no codec of SZ3 for Zarr, so here is the least that does it."""
    import pysz

    class Sz3(ArrayBytesCodec):
        is_fixed_size = False

        def to_dict(self):
            return {"name": "sz3", "configuration": {"abs": bound}}

        @classmethod
        def from_dict(cls, data):
            return cls()

        def compute_encoded_size(self, *_):
            raise NotImplementedError

        def encode_array(self, array):
            config = pysz.szConfig(array.shape)
            config.errorBoundMode = pysz.szErrorBoundMode.ABS
            config.absErrorBound = bound
            config.openmp = False
            return pysz.sz.compress(array, config)[0]

        async def _encode_single(self, chunk, spec):
            array = np.ascontiguousarray(chunk.as_numpy_array())
            data = await asyncio.to_thread(self.encode_array, array)
            return spec.prototype.buffer.from_bytes(data.tobytes())

        async def _decode_single(self, chunk, spec):
            data, dtype = chunk.as_numpy_array(), spec.dtype.to_native_dtype()
            array, _ = await asyncio.to_thread(pysz.sz.decompress, data, dtype, spec.shape)
            return spec.prototype.nd_buffer.from_numpy_array(array)

    zarr.registry.register_codec("sz3", Sz3)
    return {"serializer": Sz3(), "compressors": None}


def gzip(bound):
    shuffle = numcodecs_codec("Shuffle")
    return {"compressors": [shuffle(elementsize=4), GzipCodec(level=4)]}


KINDS = {
    "ebz fz": lambda bound: {"serializer": Ebz(abs=bound), "compressors": None},
    "ebz interp": lambda bound: {"serializer": Ebz(abs=bound, codec="interp"), "compressors": None},
    "zfp": zfp,
    "SZ3": sz3,
    "blosc: zstd + shuffle": lambda bound: {
        "compressors": BloscCodec(cname="zstd", clevel=3, shuffle="shuffle")},
    "blosc: lz4 + shuffle": lambda bound: {
        "compressors": BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")},
    "zstd": lambda bound: {"compressors": ZstdCodec(level=1)},
    "gzip + shuffle": gzip,
    "none": lambda bound: {"compressors": None},
}


def clocks():
    """The time by the clock, and that of the processor."""
    return time.perf_counter(), time.process_time()


def least(best, start):
    """The lesser of what was best and of the times since the start."""
    return tuple(min(b, now - s) for b, now, s in zip(best, clocks(), start))


def measure(path, array, chunks, encoding, repeats):
    """Seconds to write and to read, each by the clock and of the processor; bytes on disk; and the
    largest error."""
    write = read = (np.inf, np.inf)
    for _ in range(repeats):
        shutil.rmtree(path, ignore_errors=True)
        store = zarr.create_array(path, shape=array.shape, chunks=chunks, dtype=array.dtype,
                                  **encoding)
        start = clocks()
        store[...] = array
        write = least(write, start)
        start = clocks()
        back = store[...]
        read = least(read, start)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    error = max(float(np.abs(b.astype("f8") - a).max()) for a, b in zip(array, back))
    shutil.rmtree(path)
    return write, read, size, error


def main():
    parser = arguments(__doc__.splitlines()[0], 1000)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--chunk-megabytes", type=float, default=16)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", nargs="*", choices=KINDS, default=list(KINDS))
    options = parser.parse_args()
    array = load(options)
    plane = array.nbytes // len(array)
    chunks = (max(1, int(options.chunk_megabytes * 1e6 // plane)),) + array.shape[1:]
    bound = options.range * float(array.max() - array.min())
    print(f"zarr {zarr.__version__}, {array.dtype} {array.shape}, {array.nbytes / 1e6:.0f} MB, chunks "
          f"{chunks}, range {options.range:g} (abs {bound:.3g}), {os.cpu_count()} cores\n")
    print(f"{'':22}{'ratio':>8}{'write':>8}{'read':>8}{'write':>12}{'read':>8}{'error/bound':>13}\n"
          f"{'':22}{'':8}{'MB/s by the clock':>16}{'MB/s of processor':>20}", flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for name in options.only:
            try:
                encoding = KINDS[name](bound)
            except ImportError as error:
                print(f"NOT MEASURED: {name}: {error}")
                continue
            write, read, size, error = measure(
                pathlib.Path(folder, "a"), array, chunks, encoding, options.repeats)
            times = (write[0], read[0], write[1], read[1])
            speeds = [array.nbytes / 1e6 / seconds for seconds in times]
            print(f"{name:22}{array.nbytes / size:8.2f}{speeds[0]:8.0f}{speeds[1]:8.0f}"
                  f"{speeds[2]:12.0f}{speeds[3]:8.0f}{error / bound:13.4f}", flush=True)


main()
