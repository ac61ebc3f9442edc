"""Bounds that are suggested, and the codec that is chosen."""

import io

import numpy as np
import pytest

import ebz


def smooth(shape):
    grid = np.meshgrid(*(np.linspace(0, 3, n) for n in shape), indexing="ij")
    return np.sin(sum(grid)).astype(np.float32)


def test_criteria_hold_at_the_bound_that_is_suggested():
    a = smooth((20, 40, 60))
    found = ebz.suggest(a, keep={"psnr": 70})
    back = ebz.decompress(ebz.compress(a, range=found["range"], codec=found["codec"]))
    assert ebz.compare(a, back)["error_stat:psnr"] >= 70
    assert all(name in found["steps"][0] for name in ("range", "codec", "trials", "criteria"))
    assert repr(found).startswith(f"range={found['range']:g}, codec='{found['codec']}'\n")
    assert ebz.suggest(a, keep={"psnr": 100})["range"] < found["range"]
    with pytest.raises(ebz.InvalidArgument, match="taste"):
        ebz.suggest(a, keep={"taste": 1})


@pytest.mark.parametrize("favor", ["speed", "balanced", "ratio"])
def test_auto_keeps_the_bound_and_is_one_of_the_codecs(favor):
    a = smooth((20, 40, 60))
    data = ebz.compress(a, abs=1e-3, codec="auto", favor=favor)
    assert abs(ebz.decompress(data) - a).max() <= 1e-3
    named = [ebz.compress(a, abs=1e-3, codec=row["name"]) for row in ebz.codecs() if "abs" in row["bounds"]]
    assert data in named
    if favor == "ratio":
        assert len(data) <= 1.03 * min(map(len, named))


def test_the_choice_and_its_reason_are_told():
    a = smooth((20, 40, 60))
    for favor in ("speed", "balanced", "ratio"):
        found = ebz.choose(a, abs=1e-3, favor=favor)
        data = ebz.compress(a, abs=1e-3, codec="auto", favor=favor)
        assert data == ebz.compress(a, abs=1e-3, codec=found["codec"])
        assert ebz.open(io.BytesIO(data)).codec == found["codec"]
        assert found["ratio"] > 1 and found["sampled"] == 1 and found["next"][0] != found["codec"]
        assert repr(found).startswith(f"{found['codec']} for {favor}: ratio ")
    assert ebz.choose(np.zeros((0, 3)), abs=1)["codec"] == "fz"


def test_auto_is_refused_where_it_makes_no_sense():
    with pytest.raises(ebz.InvalidArgument, match="speed, balanced or ratio"):
        ebz.compress(np.ones(9), abs=1, codec="auto", favor="taste")
    with pytest.raises(ebz.InvalidArgument, match="name it"):
        ebz.compress(np.ones(9), abs=1, codec="auto", params={"mode": "isotropic"})
    with pytest.raises(ebz.UnsupportedError, match="precision"):
        ebz.compress(np.ones(9), precision=9, codec="auto")
