"""Threads, forks and processes."""

import multiprocessing
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import ebz


def crc(values, threads):
    data = ebz.compress(values, range=1e-3, threads=threads)
    ebz.decompress(data, threads=threads)
    return data


def test_threads(field):
    expected = crc(field, 1)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda i: crc(field, i % 3), range(64))) == {expected}


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(field, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    expected = crc(field, 0)  # Threads have run before the fork.
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert set(pool.map(crc, [field] * 4, [2] * 4)) == {expected}


def test_the_lock_is_released():
    """Another thread runs while this one compresses."""
    values = np.random.default_rng(0).normal(size=1 << 22)
    turns, done = [0], threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1

    counter = threading.Thread(target=count)
    counter.start()
    ebz.compress(values[:16], abs=1e-9)
    before = turns[0]
    data = ebz.compress(values, abs=1e-9)
    between = turns[0]
    ebz.decompress(data)
    after = turns[0]
    done.set()
    counter.join()
    # A switch or two happens at the ends of a call; in between there is time for very many turns.
    assert between - before > 100 and after - between > 100


def test_an_array_that_is_written_is_not_given_to_two():
    out = np.zeros(1 << 22)
    data = ebz.compress(np.random.default_rng(0).normal(size=out.shape), abs=1e-9)

    def attempt(_):
        try:
            ebz.decompress_into(data, out)
        except ebz.InvalidArgument as error:
            assert "of its own" in str(error)
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(attempt, range(16)))
    assert np.array_equal(out, ebz.decompress(data))


def test_exceptions_can_be_pickled():
    error = pickle.loads(pickle.dumps(ebz.CorruptError("why")))
    assert isinstance(error, ebz.CorruptError) and str(error) == "why"
