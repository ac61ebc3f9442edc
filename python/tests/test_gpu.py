"""Codec fz on a GPU: needs a package built with the feature gpu, and a Vulkan driver."""

import numpy as np
import pytest

import ebz


@pytest.mark.parametrize("params", [{}, {"layout": "flags"}])
def test_same_bytes_and_values(field, params):
    settings = dict(abs=1e-2, codec="fz", params=params)
    stream = ebz.compress(field, **settings)
    assert ebz.compress(field, **settings, device="gpu") == stream
    again = ebz.decompress(stream, device="gpu:llvmpipe")
    np.testing.assert_array_equal(again, ebz.decompress(stream))


def test_what_the_gpu_does_not_support_runs_on_the_cpu(field):
    for values, settings in [
        (field.astype("f8"), dict(abs=1e-2)),
        (field, dict(lossless=True)),
        (field, dict(abs=1e-2, codec="interp")),
    ]:
        stream = ebz.compress(values, **settings)
        assert ebz.compress(values, **settings, device="gpu") == stream
        np.testing.assert_array_equal(ebz.decompress(stream, device="gpu"), ebz.decompress(stream))


def test_unknown_devices(field):
    with pytest.raises(ebz.Error, match="no such"):
        ebz.compress(field, abs=1e-2, device="gpu:no such")
    with pytest.raises(ValueError, match="use cpu, gpu or gpu:NAME"):
        ebz.compress(field, abs=1e-2, device="tpu")
