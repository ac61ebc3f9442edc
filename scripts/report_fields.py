#!/usr/bin/env python3
"""Writes the arrays that reports are tested with: a plane with missing values, a long one, and a line."""

import array
import math
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
plane = array.array("f", (
    1e20 if (x - 60) ** 2 + (y - 50) ** 2 < 900 else max(0.0, math.sin(x / 15) * math.cos(y / 11))
    for y in range(120) for x in range(200)))
(folder / "masked_120x200.f32").write_bytes(plane.tobytes())
tall = array.array("f", (math.sin(y / 100 + x) for y in range(2000) for x in range(20)))
(folder / "tall_2000x20.f32").write_bytes(tall.tobytes())
line = array.array("d", (math.sin(i / 40) * math.exp(-i / 3000) for i in range(5000)))
(folder / "line_5000.f64").write_bytes(line.tobytes())
