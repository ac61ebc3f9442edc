"""`ebz.mpi` on any number of ranks: scripts/test_mpi runs it. Argument: a folder."""

import pathlib
import sys

import ebz
import ebz.mpi
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
path = pathlib.Path(sys.argv[1]) / "python.ebz"
z, y, x = np.indices((7 * comm.size, 30, 40), "f8")
array = (np.sin(z / 5) * np.cos(y / 9) + x / 50).astype("f4")
own = array[7 * comm.rank : 7 * comm.rank + 7]

report = ebz.mpi.write(
    comm, path, own, start=(7 * comm.rank, 0, 0), shape=array.shape, abs=1e-3, chunk=(4, 30, 40)
)
assert report.raw_bytes == array.nbytes
if comm.rank == 0:
    # The same bytes as without MPI.
    assert path.read_bytes() == ebz.compress(array, abs=1e-3, chunk=(4, 30, 40))
    with ebz.open(path) as file:
        assert abs(file[...] - array).max() <= 1e-3
part = ebz.mpi.read(comm, path, start=(0, comm.rank, 0), shape=(len(array), 1, 40), dtype="f4")
assert abs(part - array[:, comm.rank : comm.rank + 1]).max() <= 1e-3

values = np.linspace(0, 1, 50_000 + comm.rank)
for mode in ["always", "never", "adaptive"]:
    parts = ebz.mpi.gather(comm, values, root=comm.size - 1, range=1e-4, mode=mode)
    assert (parts is not None) == (comm.rank == comm.size - 1)
    for parts in [parts or [], ebz.mpi.allgather(comm, values, abs=1e-4, mode=mode)]:
        for rank, part in enumerate(parts):
            assert abs(part - np.linspace(0, 1, 50_000 + rank)).max() <= 1e-4
    total = np.sin(np.arange(60_000) / 100 + comm.rank).reshape(300, 200)
    report = ebz.mpi.allreduce(comm, total, abs=1e-4, mode=mode)
    right = sum(np.sin(np.arange(60_000) / 100 + rank) for rank in range(comm.size))
    assert abs(total.ravel() - right).max() <= comm.size * 1e-4
    everywhere = comm.allgather(total.tobytes())
    assert all(bits == everywhere[0] for bits in everywhere)
    one = np.sin(np.arange(60_000) / 100 + comm.rank).reshape(300, 200)
    ebz.mpi.reduce(comm, one, root=comm.size - 1, abs=1e-4, mode=mode)
    assert comm.rank != comm.size - 1 or abs(one.ravel() - right).max() <= comm.size * 1e-4
    one = np.sin(np.arange(60_000) / 100 + comm.rank)
    _, part = ebz.mpi.reduce_scatter(comm, one, abs=1e-4, mode=mode)
    assert abs(one - right)[part].max(initial=0) <= comm.size * 1e-4
    assert sum(comm.allgather(part.stop - part.start)) == 60_000
    parts = [np.arange(1000.0 * rank).reshape(rank, 1000) for rank in range(comm.size)]
    mine = np.empty((comm.rank, 1000))
    ebz.mpi.scatter(comm, parts if comm.rank == 0 else None, mine, abs=0.25, mode=mode)
    assert abs(mine - parts[comm.rank]).max(initial=0) <= 0.25
    if comm.rank == 0 and comm.size > 1:
        ebz.mpi.send(comm, values[:50_000], comm.size - 1, abs=1e-4, mode=mode)
    if comm.rank == comm.size - 1 > 0:
        received = np.empty(50_000)
        ebz.mpi.recv(comm, received, 0, abs=1e-4, mode=mode)
        assert abs(received - np.linspace(0, 1, 50_000)).max() <= 1e-4
    shared = np.arange(1000.0) if comm.rank == 0 else np.empty(1000)
    ebz.mpi.bcast(comm, shared, abs=0.25, mode=mode)
    assert abs(shared - np.arange(1000)).max() <= 0.25

wrong_alone = [
    lambda: ebz.mpi.gather(comm, values),
    lambda: ebz.mpi.gather(comm, values, abs=1, range=1),
    lambda: ebz.mpi.gather(comm, np.arange(3), abs=1),
    lambda: ebz.mpi.gather(comm, values, abs=1, mode="perhaps"),
    lambda: ebz.mpi.gather(comm, values, abs=1, codec="nothing"),
    lambda: ebz.mpi.gather(comm, values, abs=1, mod="always"),
    lambda: ebz.mpi.gather(comm, np.arange(3) if comm.rank == 0 else values, abs=1),
    lambda: ebz.mpi.scatter(comm, [], np.empty(3), abs=1),
    lambda: ebz.mpi.send(comm, values, comm.rank, abs=1),
    lambda: ebz.mpi.allreduce(comm, total.T, abs=1),
    lambda: ebz.mpi.read(comm, path / "no", start=(0,), shape=(1,), dtype="f4"),
]
wrong_together = [
    lambda: ebz.mpi.gather(comm, values, abs=1e-3 if comm.rank else 1e-4),
    lambda: ebz.mpi.write(comm, path, own, start=(0, 0, 0), shape=array.shape, abs=1),
]
for wrong in wrong_alone + (wrong_together if comm.size > 1 else []):
    try:
        wrong()
    except ebz.Error:
        continue
    raise AssertionError("no error")
if comm.rank == 0:
    print(f"ebz.mpi on {comm.size} ranks: ok")
