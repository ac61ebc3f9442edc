#!/usr/bin/env python3
"""ebz next to the compressors that Python users know, on one array and one thread.

Prints the ratio, the speed both ways, also as parts of the speed of a copy between two arrays that
exist, and the largest error as a part of the bound. Speeds are the best of several repeats, by
processor time; everything runs in this process, one after the other. ebz decodes into an array that
exists; the others offer only new ones, which takes zfp and SZ3 little longer. What cannot be imported is said
so, and how to install it. PFPL and CEAZ exist as programs only, not as packages: they are not here.

    pip install . zfpy pysz blosc2 numcodecs pcodec
    python bench/python/compare.py [FILE -t float32 -s 100x500x500] [--range 1e-3]
    python bench/python/compare.py --only fz,ceaz,interp,SZ3
"""

import numpy as np
from fields import arguments, load
from peers import INSTALL, PEERS as OTHERS, best, size_of

import ebz


def ours(codec):
    def make(bound):
        out = {}

        def encode(a):
            out.setdefault("array", np.empty_like(a))
            return ebz.compress(a, abs=bound, codec=codec)

        def decode(data):
            ebz.decompress_into(data, out["array"])
            return out["array"]

        return encode, decode

    return make


PEERS = {
    **{f"ebz {row['name']}": ours(row["name"]) for row in ebz.codecs() if "abs" in row["bounds"]},
    **OTHERS,
}


def main():
    parser = arguments(__doc__.splitlines()[0], 64)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", metavar="NAME,NAME",
                        help="only compressors whose names contain one of these")
    options = parser.parse_args()
    chosen = {name: make for name, make in PEERS.items()
              if any(part in name for part in options.only.split(","))}
    if not chosen:
        parser.error(f"--only {options.only}: there are {', '.join(PEERS)}")
    array = load(options)
    finite = array[np.isfinite(array)]
    bound = options.range * float(finite.max() - finite.min())
    twin = array.copy()
    copy, _ = best(lambda: np.copyto(twin, array), options.repeats)
    print(f"{array.dtype} {array.shape}, {array.nbytes / 1e6:.0f} MB, range {options.range:g} "
          f"(abs {bound:.3g}); a copy takes {array.nbytes / copy / 1e6:.0f} MB/s\n")
    print(f"{'':24}{'ratio':>8}{'write MB/s':>12}{'/ copy':>8}{'read MB/s':>12}{'/ copy':>8}"
          f"{'error/bound':>13}")
    missing = []
    for name, make in chosen.items():
        try:
            encode, decode = make(bound)
        except ImportError as error:
            missing.append(f"{name}: {error}; try: pip install "
                           f"{INSTALL.get(error.name, error.name)}")
            continue
        write, data = best(lambda: encode(array), options.repeats)
        read, decoded = best(lambda: decode(data), options.repeats)
        size = size_of(data)
        difference = np.abs(decoded.astype("f8") - array.astype("f8"))
        error = float(np.max(difference, initial=0, where=np.isfinite(array)))
        print(f"{name:24}{array.nbytes / size:8.2f}{array.nbytes / write / 1e6:12.0f}"
              f"{copy / write:8.3f}{array.nbytes / read / 1e6:12.0f}{copy / read:8.3f}"
              f"{error / bound:13.4f}", flush=True)
    for line in missing:
        print(f"NOT MEASURED: {line}")


main()
