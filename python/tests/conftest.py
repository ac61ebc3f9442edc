import numpy as np
import pytest


@pytest.fixture(scope="session")
def field():
    """A rough field of float32 with a hole."""
    values = np.random.default_rng(7).normal(size=(24, 40, 56)).cumsum(axis=2).cumsum(axis=1)
    values[3:5, 10:20, 7:9] = np.nan
    values[20, 3, 4] = np.inf
    return values.astype(np.float32)


def worst(decoded, original):
    """Largest error; infinite where special values differ."""
    special = ~np.isfinite(original)
    if not np.array_equal(decoded[special], original[special], equal_nan=True):
        return np.inf
    exact = decoded[~special].astype(np.longdouble) - original[~special].astype(np.longdouble)
    return np.abs(exact).max(initial=0)
