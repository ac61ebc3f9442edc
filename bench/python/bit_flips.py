#!/usr/bin/env python3
"""What compressors make of a flipped bit: an error, the right values, silently wrong values, or a crash.

Flips bits of the compressed sample field, one at a time, all of them or evenly spaced ones, and decodes in a process of
its own. Values are right if each is within the bound of its original; lossless compressors have a bound of 0.

    pip install . zfpy pysz blosc2 numcodecs pcodec fpzip
    python bench/python/bit_flips.py [--flips 2000]
"""

import argparse
import multiprocessing
import pathlib

import numpy as np
from peers import INSTALL, PEERS

BOUND = 1e-2
TIMEOUT = 5


def ours(codec):
    def make(bound):
        import ebz

        return lambda a: ebz.compress(a, abs=bound, codec=codec), ebz.decompress

    return make


def bits(data):
    """The compressed bytes, to be edited, and what a decoder takes."""
    if isinstance(data, tuple):
        return bytearray(data[2]), lambda edited: (data[0], data[1], bytes(edited))
    if isinstance(data, np.ndarray):
        return bytearray(data.tobytes()), lambda edited: np.frombuffer(bytes(edited), data.dtype)
    return bytearray(data), bytes


def work(make, array, bound, flips, pipe):
    """Sends an outcome for every flip."""
    np.seterr(all="ignore")
    encode, decode = make(BOUND)
    edited, packed = bits(encode(array))
    for bit in flips:
        edited[bit // 8] ^= 1 << bit % 8
        try:
            found = np.asarray(decode(packed(edited)))
            same = found.shape == array.shape and found.dtype == array.dtype
            right = same and bool(np.all(np.abs(found.astype("f8") - array.astype("f8")) <= bound))
            pipe.send("right" if right else "wrong")
        except Exception:
            pipe.send("error")
        edited[bit // 8] ^= 1 << bit % 8


def outcomes(make, array, bound, flips):
    """Counts of outcomes; a process that dies or hangs is a crash, and the next one goes on after it."""
    counts = dict.fromkeys(["error", "right", "wrong", "crash"], 0)
    at = 0
    while at < len(flips):
        here, there = multiprocessing.Pipe()
        process = multiprocessing.Process(target=work, args=(make, array, bound, flips[at:], there))
        process.start()
        there.close()
        try:
            while at < len(flips) and here.poll(TIMEOUT):
                counts[here.recv()] += 1
                at += 1
            ended = at == len(flips)
        except EOFError:
            ended = False
        process.kill()
        process.join()
        if not ended:
            counts["crash"] += 1
            at += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=2000, help="of each compressor")
    options = parser.parse_args()
    sample = pathlib.Path(__file__).parents[2] / "samples/wave_32x64x64.npy"
    array = np.ascontiguousarray(np.load(sample)[:8, :32, :32])
    ebz = {f"**{codec}**": ours(codec) for codec in ["fz", "ceaz", "interp", "de-zfp", "zfp-v"]}
    print(f"| {array.dtype} {array.shape}, abs {BOUND:g} | bits flipped | error | right values | silently wrong | crash |")
    print("|---|---|---|---|---|---|")
    for name, make in {**ebz, **PEERS}.items():
        try:
            encode, _ = make(BOUND)
        except ImportError as error:
            print(f"NOT MEASURED: {name}: {error}; try: pip install {INSTALL.get(error.name, error.name)}")
            continue
        count = 8 * len(bits(encode(array))[0])
        flips = np.linspace(0, count - 1, min(options.flips, count)).astype(int).tolist()
        bound = 0 if "lossless" in name else BOUND
        found = outcomes(make, array, bound, flips)
        shares = " | ".join(f"{100 * number / len(flips):.1f} %" for number in found.values())
        print(f"| {name} | {len(flips)} of {count} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
