"""Arrays, chunks, shards and indices as Zarr's own property tests draw them."""

import numpy as np
import zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from zarr.testing import strategies

from ebz.numcodecs import Ebz as EbzV2
from ebz.zarr import Ebz

RARELY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
TYPES = st.sampled_from(["<f4", "<f8", ">f4", ">f8"])


@st.composite
def array_and_chunks(draw):
    values = draw(strategies.numpy_arrays(dtype=np.dtype(draw(TYPES))))
    return values, draw(strategies.chunk_shapes(shape=values.shape))


def same(a, b):
    """Bit for bit, but for the bits of NaN."""
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(
        np.signbit(a) | np.isnan(a), np.signbit(b) | np.isnan(b))


@RARELY
@given(drawn=array_and_chunks(), data=st.data())
def test_format_3(drawn, data):
    values, chunks = drawn
    shards = None
    if values.size and data.draw(st.booleans()):
        shards = data.draw(strategies.shard_shapes(shape=values.shape, chunk_shape=chunks))
    array = zarr.create_array(
        {}, shape=values.shape, chunks=chunks, shards=shards, dtype=values.dtype,
        serializer=Ebz(lossless=True), compressors=None, filters=None)
    array[...] = values
    assert same(array[...], values)
    if values.size:
        key = data.draw(strategies.basic_indices(shape=values.shape))
        assert same(np.asarray(array[key]), np.asarray(values[key]))
        key, numpy_key = data.draw(strategies.orthogonal_indices(shape=values.shape))
        assert same(array.oindex[key], values[numpy_key])


@RARELY
@given(drawn=array_and_chunks(), order=st.sampled_from("CF"))
def test_format_2(drawn, order):
    values, chunks = drawn
    array = zarr.create_array(
        {}, shape=values.shape, chunks=chunks, dtype=values.dtype, zarr_format=2, order=order,
        compressors=EbzV2(lossless=True), filters=None)
    array[...] = values
    assert same(array[...], values)


@RARELY
@given(drawn=array_and_chunks(), bound=st.sampled_from([1e-3, 1.0, 1e30]))
def test_bound(drawn, bound):
    values, chunks = drawn
    array = zarr.create_array(
        {}, shape=values.shape, chunks=chunks, dtype=values.dtype,
        serializer=Ebz(abs=bound), compressors=None, filters=None)
    array[...] = values
    decoded = array[...]
    finite = np.isfinite(values)
    assert same(decoded[~finite], values[~finite])
    error = decoded[finite].astype(np.longdouble) - values[finite].astype(np.longdouble)
    assert np.abs(error).max(initial=0) <= bound
