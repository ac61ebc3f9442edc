"""Writes and reads an array through h5py with ebz and with the filters of hdf5plugin, at one bound.

    pip install h5py hdf5plugin && python bench/python/hdf5_speed.py [--mib 1024] [--repeats 3]

Prints a table: ratio, GB/s of writing and reading (best of the repeats, wall clock and CPU time of
the process, file in memory where there is /dev/shm), and the largest error as a part of the bound.
"""

import argparse
import os
import pathlib
import tempfile
import time

import h5py
import hdf5plugin
import numpy

import ebz.hdf5


def smooth_field(mib):
    """Waves with some noise, in planes of 1 MiB."""
    ny, nx = 512, 512
    nz = max(1, mib)
    y, x = numpy.meshgrid(numpy.arange(ny, dtype="f4"), numpy.arange(nx, dtype="f4"), indexing="ij")
    random = numpy.random.default_rng(1)
    noise = random.normal(scale=0.02, size=(ny, nx)).astype("f4")
    field = numpy.empty((nz, ny, nx), "f4")
    for z in range(nz):
        field[z] = 280 + 15 * numpy.sin(0.02 * x + 0.05 * z) * numpy.cos(0.03 * y - 0.01 * z)
        field[z] += numpy.roll(noise, 7 * z)
    return field


def measured(action):
    wall, cpu = time.perf_counter(), time.process_time()
    result = action()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def write(path, field, chunks, settings, parallel):
    with h5py.File(path, "w") as f:
        d = f.create_dataset("a", field.shape, field.dtype, chunks=chunks, **settings)
        if parallel:
            ebz.hdf5.write_parallel(d, field)
        else:
            d[...] = field


def read(path, out):
    with h5py.File(path) as f:
        f["a"].read_direct(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=1024, help="size of the array")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--range", type=float, default=1e-3, help="bound, relative to the range")
    parser.add_argument("--chunk", type=int, default=4, help="MiB of a chunk")
    parser.add_argument("--only", help="names that contain this")
    arguments = parser.parse_args()

    field = smooth_field(arguments.mib)
    bound = arguments.range * float(field.max() - field.min())
    chunks = (min(arguments.chunk, field.shape[0]), 512, 512)
    cases = {
        "no filter": ({}, False),
        "ebz fz": (ebz.hdf5.Ebz(abs=bound), False),
        "ebz fz, write_parallel": (ebz.hdf5.Ebz(abs=bound), True),
        "ebz ceaz": (ebz.hdf5.Ebz(abs=bound, codec="ceaz"), False),
        "ebz interp": (ebz.hdf5.Ebz(abs=bound, codec="interp"), False),
        "zfp": (hdf5plugin.Zfp(accuracy=bound), False),
        "SZ3": (hdf5plugin.SZ3(absolute=bound), False),
        "blosc zstd 3 + shuffle": (hdf5plugin.Blosc(cname="zstd", clevel=3), False),
        "gzip 4 + shuffle": ({"compression": "gzip", "shuffle": True}, False),
    }
    out = numpy.zeros_like(field)
    copy = min(measured(lambda: numpy.copyto(out, field))[0] for _ in range(5))
    print(f"{field.nbytes / 1e9:.2f} GB, chunks of {arguments.chunk} MiB, bound {bound:.3g}; "
          f"memcpy {field.nbytes / 1e9 / copy:.1f} GB/s; HDF5 {h5py.version.hdf5_version}")
    print(f"{'filter':24} {'ratio':>7} {'write':>7} {'(cpu)':>7} {'read':>7} {'(cpu)':>7}  error/bound")
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder) as folder:
        path = pathlib.Path(folder, "a.h5")
        for name, (settings, parallel) in cases.items():
            if arguments.only and arguments.only not in name:
                continue
            best = [float("inf")] * 4
            for _ in range(arguments.repeats):
                writing = measured(lambda: write(path, field, chunks, settings, parallel))
                reading = measured(lambda: read(path, out))
                now = (*writing[:2], *reading[:2])
                best = [min(a, b) for a, b in zip(best, now)]
            size = path.stat().st_size
            error = max(float(abs(a.astype("f8") - b).max()) for a, b in zip(out, field))
            speeds = " ".join(f"{field.nbytes / 1e9 / seconds:7.2f}" for seconds in best)
            print(f"{name:24} {field.nbytes / size:7.2f} {speeds}  {error / bound:11.3f}",
                  flush=True)
            path.unlink()


main()
