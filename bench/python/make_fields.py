"""Writes synthetic fields for those who have no data: `make_fields.py FOLDER`."""

import pathlib
import sys

import numpy as np
from fields import synthetic

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
waves = synthetic()
rng = np.random.default_rng(5)
fields = {
    "waves": waves,
    "waves_double": waves[:16].astype(np.float64),
    "slice": waves[7],
    "walk": rng.normal(size=500_000).cumsum().astype(np.float32),
    "fraction": np.maximum(waves[:32], 0) ** 2,
}
for name, values in fields.items():
    kind = "f32" if values.dtype == np.float32 else "f64"
    values.tofile(folder / f"{name}_{'x'.join(map(str, values.shape))}.{kind}")
