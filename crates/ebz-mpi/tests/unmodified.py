"""A program without any knowledge of compression. The bound is in BOUND; argument: a file to write."""

import os
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
bound = float(os.environ["BOUND"])
n = 100_000


def field(rank):
    i = np.arange(n)
    return np.sin(0.01 * i + rank) + 1e-3 * np.sin(17 * i)


own = field(comm.rank)
everything = np.empty((comm.size, n)) if comm.rank == 0 else None
comm.Gather(own, everything, root=0)
if comm.rank == 0:
    right = np.array([field(rank) for rank in range(comm.size)])
    error = abs(everything - right).max()
    assert error <= bound and (error > 0) == (bound > 0), error
total = np.empty(n)
comm.Allreduce(own, total)
right = sum(field(rank) for rank in range(comm.size))
assert abs(total - right).max() <= comm.size * (bound + 1e-12)
file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Write_at_all(own.nbytes * comm.rank, own)
file.Write_at(own.nbytes * (comm.size + comm.rank), own)
file.Close()
