#!/usr/bin/env python3
"""What Python adds to Rust: 64 MiB against `ebz bench` on the same values, and tiny arrays.

    cargo build --release -p ebz-cli && pip install .
    python bench/python/overhead.py target/release/ebz

Both sides take the least processor time of many repeats, on one thread.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from fields import synthetic

import ebz


def least(work, repeats, clock=time.process_time):
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def rust(command, path, codec, bound):
    """The row of `ebz bench`, which uses the same memory again for every repeat."""
    (report,) = json.loads(subprocess.check_output(
        [command, "bench", path, "--abs", repr(bound), "--codec", codec, "--threads", "1",
         "--min-size", "1", "--repeats", "20", "--json"]))
    (row,) = report["rows"]
    return row


def main():
    command = sys.argv[1]
    field = synthetic()
    field = np.concatenate([field * (1 + 0.01 * i) for i in range(4)])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "field.npy")
        np.save(path, field)
        bound = 1e-3 * float(field.max() - field.min())
        print(f"{field.nbytes >> 20} MiB of {field.dtype}, abs {bound:.3g}; milliseconds\n"
              f"{'':10}{'':12}{'Rust':>8}{'Python':>8}   of it new memory for the result")
        for codec in ("fz", "ceaz", "interp"):
            row = rust(command, path, codec, bound)
            data = ebz.compress(field, abs=bound, codec=codec)
            out = np.empty_like(field)
            write = least(lambda: ebz.compress(field, abs=bound, codec=codec), 20)
            into = least(lambda: ebz.decompress_into(data, out), 20)
            new = least(lambda: ebz.decompress(data), 20) - into
            print(f"{codec:10}{'compress':12}{1e3 * row['compress']:8.2f}{1e3 * write:8.2f}")
            print(f"{'':10}{'decompress':12}{1e3 * row['decompress']:8.2f}{1e3 * into:8.2f}"
                  f"{1e3 * new:+8.2f}")
    tiny = np.ones((4, 4), np.float32)
    data = ebz.compress(tiny, abs=1e-3)
    for name, work in {"compress": lambda: ebz.compress(tiny, abs=1e-3),
                       "decompress": lambda: ebz.decompress(data)}.items():
        each = least(lambda: [work() for _ in range(100)], 100, time.perf_counter) / 100
        print(f"16 values: {name} {1e6 * each:.1f} µs")


main()
