"""The array that is measured: a file, or a synthetic field."""

import argparse
import pathlib

import numpy as np


def arguments(description, megabytes):
    """The options that say which array, and how far it may change."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("file", nargs="?", type=pathlib.Path,
                        help=".npy, or raw values with -t and -s; a synthetic field if absent")
    parser.add_argument("-t", "--type", default="float32", help="of raw values")
    parser.add_argument("-s", "--shape", help="of raw values, slowest axis first, as 100x500x500")
    parser.add_argument("--range", type=float, default=1e-3, help="bound, relative to max - min")
    parser.add_argument("--megabytes", type=int, default=megabytes,
                        help="least size: the field is repeated")
    return parser


def load(options):
    """The array, repeated along its first axis until it is large enough."""
    if options.file is None:
        field = synthetic()
    elif options.file.suffix == ".npy":
        field = np.load(options.file)
    else:
        field = np.fromfile(options.file, options.type)
        if options.shape:
            field = field.reshape([int(extent) for extent in options.shape.split("x")])
    times = -(-options.megabytes * 1_000_000 // field.nbytes)
    # Not the same bytes again and again: some codecs would find that out.
    scale = 1 + 0.01 * np.arange(times).reshape((times,) + (1,) * field.ndim)
    repeated = (field * scale.astype(field.dtype)).astype(field.dtype)
    return repeated.reshape((-1,) + field.shape[1:])


def synthetic():
    """Waves of many lengths with a little noise, 16 MiB of float32."""
    rng = np.random.default_rng(3)
    z, y, x = np.meshgrid(*[np.linspace(0, 1, n, dtype=np.float32) for n in (64, 256, 256)],
                          indexing="ij")
    field = np.zeros_like(x)
    for k in range(1, 12):
        a, b, c, phase = rng.normal(size=4) * k * 3
        field += np.sin(a * x + b * y + c * z + phase) / k**1.7
    return field + 1e-4 * rng.normal(size=x.shape).astype(np.float32)
