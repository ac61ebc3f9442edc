"""Measures the peers on raw fields: `measure_peers.py OUT.csv BOUND,BOUND REPEATS FILE...`.

The bound is absolute, from the range of the values that are no fill values, as ebz resolves it. What a peer does not
keep is in the column `error_over_bound`.
"""

import csv
import pathlib
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import numpy as np
from peers import PEERS, best, size_of

#: Values beyond this mark missing data in the fields that are measured.
FILL = 1e30


def load(path):
    shape = [int(extent) for extent in path.stem.rsplit("_", 1)[1].split("x")]
    return np.fromfile(path, "f4" if path.suffix == ".f32" else "f8").reshape(shape)


def main():
    out, bounds, repeats, *files = sys.argv[1:]
    with open(out, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["field", "peer", "bound", "ratio", "compress_gb_s", "decompress_gb_s", "error_over_bound"])
        for path in map(pathlib.Path, files):
            for name in PEERS:
                # What is lossless is the same for every bound.
                wanted = bounds.split(",")[: 1 if "lossless" in name else None]
                # A process for each: SPERR crashes on huge fill values.
                with ProcessPoolExecutor(1, get_context("fork")) as pool:
                    for bound in wanted:
                        try:
                            row = pool.submit(measure, path, name, float(bound), int(repeats)).result()
                        except BrokenProcessPool:
                            print(f"NOT MEASURED: {name} on {path.name}: it crashed", file=sys.stderr)
                            break
                        except (ImportError, RuntimeError, ValueError, TypeError) as error:
                            print(f"NOT MEASURED: {name} on {path.name}: {error}", file=sys.stderr)
                            continue
                        kind = "lossless" if "lossless" in name else f"range {bound}"
                        writer.writerow([path.stem, name, kind, *row])
            file.flush()


def measure(path, name, bound, repeats):
    a = load(path)
    there = np.isfinite(a) & (np.abs(a) < FILL)
    bound *= float(np.ptp(a[there].astype("f8")))
    encode, decode = PEERS[name](bound)
    # SZ3 takes up to four axes, and none that is short.
    view = a.reshape(-1, *a.shape[-2:]) if a.ndim > 3 else a
    write, data = best(lambda: encode(view), repeats)
    read, decoded = best(lambda: decode(data), repeats)
    error = np.abs(decoded.reshape(a.shape)[there].astype("f8") - a[there].astype("f8")).max()
    speed = [a.nbytes / max(seconds, 1e-9) / 1e9 for seconds in (write, read)]
    return [a.nbytes / size_of(data), *speed, error / bound]


main()
