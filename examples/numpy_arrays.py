"""NumPy arrays to bytes and files, and parts of them back."""

import pathlib
import tempfile

import numpy as np

import ebz

# A field: smooth, with a hole where nothing was measured.
z, y, x = np.meshgrid(*[np.linspace(0, 6, n) for n in (60, 180, 360)], indexing="ij")
temperature = (290 + 20 * np.sin(x + z) * np.cos(y)).astype(np.float32)
temperature[:, 40:60, 100:140] = np.nan

# Every value within 0.01 of itself; NaN comes back as NaN.
data = ebz.compress(temperature, abs=0.01)
back = ebz.decompress(data)
assert np.nanmax(np.abs(back - temperature)) <= 0.01
assert np.array_equal(np.isnan(back), np.isnan(temperature))
print(f"abs 0.01: {temperature.nbytes / len(data):.1f} times smaller")

# How good is it?
report = ebz.compare(temperature, back)
print(f"PSNR {report['error_stat:psnr']:.1f} dB, SSIM {report['ssim:ssim']:.5f}")

# Into memory that is there already; the other codec is slower and smaller.
ebz.decompress_into(ebz.compress(temperature, range=1e-3, codec="interp"), back)

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "temperature.ebz")
    ebz.save(path, temperature, range=1e-4, chunk=(10, 90, 90), metadata={"units": "K"})
    ebz.save(path, temperature + 1, range=1e-4, append=True)

    # Only the chunks that are needed are read.
    with ebz.open(path) as file:
        print(file)
        corner = file[10:20, :, 5]
        assert corner.shape == (10, 180)
        assert file.metadata == {"units": "K"}
        assert file.frame(1)[-1, 0, 0] - file[-1, 0, 0] > 0.9
