"""Compressors that Python users know, as functions: a bound in, `(encode, decode)` out.

Each is imported when it is made, so that one that is not installed is an `ImportError` of its own.
"""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np


def zfp(bound):
    import zfpy

    return lambda a: zfpy.compress_numpy(a, tolerance=bound), zfpy.decompress_numpy


def sz3(algorithm):
    def make(bound):
        import pysz

        shape = {}

        def encode(a):
            config = pysz.szConfig(a.shape)
            config.errorBoundMode = pysz.szErrorBoundMode.ABS
            config.absErrorBound = bound
            config.cmprAlgo = getattr(pysz.szAlgorithm, algorithm)
            config.openmp = False
            shape.update(dtype=a.dtype, shape=a.shape)
            return pysz.sz.compress(a, config)[0]

        return encode, lambda data: pysz.sz.decompress(data, shape["dtype"], shape["shape"])[0]

    return make


def sperr(bound):
    """As a filter of HDF5, on a file in memory."""
    import h5py
    import hdf5plugin

    filters = hdf5plugin.Sperr(absolute=bound)

    def dataset(dtype, shape):
        if not 2 <= len(shape) <= 3:
            raise ValueError("two or three axes are needed")
        file = h5py.File("peer", "w", driver="core", backing_store=False)
        return file.create_dataset("a", shape, dtype, chunks=shape, **filters)

    def encode(a):
        made = dataset(a.dtype, a.shape)
        with made.file:
            made[...] = a
            made.file.flush()
            return a.dtype, a.shape, made.id.read_direct_chunk((0,) * a.ndim)[1]

    def decode(data):
        made = dataset(*data[:2])
        with made.file:
            made.id.write_direct_chunk((0,) * len(data[1]), data[2])
            return made[...]

    return encode, decode


def blosc(codec):
    def make(bound):
        import blosc2

        blosc2.set_nthreads(1)
        parameters = {
            "codec": blosc2.Codec[codec], "filters": [blosc2.Filter.BITSHUFFLE], "clevel": 5,
            "nthreads": 1,
        }

        def encode(a):
            return a.dtype, a.shape, blosc2.compress2(a, typesize=a.itemsize, **parameters)

        def decode(data):
            out = np.empty(data[1], data[0])
            blosc2.decompress2(data[2], dst=out, nthreads=1)
            return out

        return encode, decode

    return make


def pcodec(bound):
    from numcodecs.pcodec import PCodec

    codec = PCodec()

    def decode(data):
        return np.frombuffer(codec.decode(data[2]), data[0]).reshape(data[1])

    return lambda a: (a.dtype, a.shape, codec.encode(a)), decode


def fpzip(bound):
    import fpzip as library

    def decode(data):
        return library.decompress(data[2], order="C").reshape(data[1])

    return lambda a: (a.dtype, a.shape, library.compress(a, precision=0, order="C")), decode


PEERS = {
    "zfp (zfpy)": zfp,
    # Its default, which may also choose Lorenzo, and Lorenzo with regression.
    "SZ3 interp. (pysz)": sz3("INTERP_LORENZO"),
    "SZ3 Lorenzo (pysz)": sz3("LORENZO_REG"),
    "SPERR (hdf5plugin)": sperr,
    "blosc2 lz4, lossless": blosc("LZ4"),
    "blosc2 zstd, lossless": blosc("ZSTD"),
    "pcodec, lossless": pcodec,
    "fpzip, lossless": fpzip,
}
INSTALL = {"numcodecs.pcodec": "numcodecs pcodec"}


def size_of(data):
    """Bytes of what an encoder made."""
    return len(data[2]) if isinstance(data, tuple) else memoryview(data).nbytes


def best(work, repeats):
    """The least processor time, and the result."""
    least = np.inf
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return least, result
