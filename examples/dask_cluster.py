"""An array that is made, compressed, and read again by several processes: the way to scale out."""

import pathlib
import tempfile

import dask.array as da
import numpy as np
import zarr
from dask.distributed import Client, LocalCluster

import ebz
from ebz.zarr import Ebz


def wave(block_info=None):
    """One block of a field; a simulation would be here."""
    place = block_info[None]["array-location"]
    z, y, x = np.meshgrid(*[np.arange(a, b) for a, b in place], indexing="ij")
    return np.sin(0.05 * x + 0.02 * z) * np.cos(0.03 * y)


def main():
    field = da.map_blocks(wave, chunks=((32,) * 4, (64, 64), (64, 64)), dtype=np.float64)
    with tempfile.TemporaryDirectory() as folder, LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, Client(cluster):
        # Every worker compresses the chunks that it makes.
        store = zarr.create_array(
            pathlib.Path(folder, "field.zarr"), shape=field.shape, chunks=field.chunksize,
            dtype=field.dtype, serializer=Ebz(abs=1e-6), compressors=None,
        )
        field.store(store, lock=False)

        # ... and decompresses the chunks that it needs.
        back = da.from_zarr(store)
        worst = float(abs(back - field).max().compute())
        assert worst <= 1e-6
        print(f"largest error {worst:.2e}, {field.nbytes / store.nbytes_stored():.1f} times smaller")

        # A single .ebz file is read by all of them too.
        path = pathlib.Path(folder, "field.ebz")
        ebz.save(path, field.compute(), abs=1e-6, chunk=field.chunksize)
        file = ebz.open(path)
        mean = da.from_array(file, chunks=file.chunks).mean().compute()
        assert abs(mean - field.mean().compute()) <= 1e-6


if __name__ == "__main__":
    main()
