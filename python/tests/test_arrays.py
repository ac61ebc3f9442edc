"""Whole arrays: every layout, every bound, and what is refused."""

import numpy as np
import pytest
from conftest import worst

import ebz

LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "transposed": lambda a: a.T,
    "strided": lambda a: a[::2, ::-1, 3:50:3],
    "backwards": lambda a: a[::-1, ::-1, ::-1],
    "broadcast": lambda a: np.broadcast_to(a[0], (3, *a.shape[1:])),
    "one": lambda a: a[4, 5, 6],
    "scalar array": lambda a: a[4, 5, 6, ...],
    "empty": lambda a: a[:, :0],
    "big-endian": lambda a: a.astype(">f4"),
    "double": lambda a: a.astype("f8"),
    "subarray of a record": lambda a: np.rec.fromarrays([a, np.ones(a.shape, "i1")])["f0"],
    "list": lambda a: a[0, 0, :6].tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(field, layout):
    original = LAYOUTS[layout](field)
    if isinstance(original, np.ndarray):
        original.flags.writeable = False
    decoded = ebz.decompress(ebz.compress(original, abs=1e-2))
    original = np.asarray(original)
    assert decoded.shape == original.shape
    assert decoded.dtype == original.dtype.newbyteorder("=")
    assert decoded.flags.c_contiguous
    assert worst(decoded, original) <= 1e-2
    exact = ebz.decompress(ebz.compress(original, lossless=True))
    assert np.array_equal(exact, original, equal_nan=True)


@pytest.mark.parametrize("codec", [row["name"] for row in ebz.codecs()])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_codec_keeps_its_bounds(field, codec, dtype):
    field = field.astype(dtype)
    bounds = next(row for row in ebz.codecs() if row["name"] == codec)["bounds"]
    assert "lossless" in bounds or "abs" in bounds
    finite = field[np.isfinite(field)].astype("f8")
    for bound in set(bounds) & {"abs", "range"}:
        limit = 1e-3 if bound == "abs" else 1e-3 * (finite.max() - finite.min())
        data = ebz.compress(field, codec=codec, **{bound: 1e-3})
        assert data == ebz.compress(field, codec=codec, threads=3, **{bound: 1e-3})
        assert worst(ebz.decompress(data, threads=2), field) <= limit


def test_other_bounds(field):
    field = np.nan_to_num(field, posinf=0)
    decoded = ebz.decompress(ebz.compress(field, psnr=60))
    assert ebz.compare(field, decoded)["error_stat:psnr"] >= 60
    assert field.nbytes / len(ebz.compress(field, ratio=8)) >= 8
    assert ebz.decompress(ebz.compress(field, precision=20, codec="zfp-v")).shape == field.shape


def test_lists_become_float64():
    for values in ([1, 2, 3], (1, 2.5), [[1], [2]], 7, []):
        decoded = ebz.decompress(ebz.compress(values, abs=0))
        assert decoded.dtype == np.float64 and np.array_equal(decoded, values)
    with pytest.raises(ebz.InvalidType, match="exact"):
        ebz.compress([2**53 + 1], abs=0)
    with pytest.raises(ebz.InvalidType):
        ebz.compress([True], abs=0)


FILLS = [9.96921e36, 1e20, 1e30, -999.0, -9999.0, -32768.0]


@pytest.mark.parametrize("bound", ["abs", "range"])
@pytest.mark.parametrize("fill", FILLS)
def test_fill_values_are_found(field, fill, bound):
    field = np.where(np.isfinite(field), field, np.float32(fill))
    rest = field[field != np.float32(fill)].astype("f8")
    decoded = ebz.decompress(ebz.compress(field, **{bound: 1e-3}))
    assert np.array_equal(decoded == np.float32(fill), field == np.float32(fill))
    assert worst(decoded, field) <= (1e-3 if bound == "abs" else 1e-3 * np.ptp(rest))


def test_fill_values_that_are_given(field, tmp_path):
    field = np.nan_to_num(field, nan=12345, posinf=-777)
    special = np.isin(field, [12345, -777])
    for fill in ([12345, -777], ["auto", 12345, -777], np.array([12345, -777], "f4")):
        ebz.save(tmp_path / "a.ebz", field, range=1e-3, fill=fill)
        file = ebz.open(tmp_path / "a.ebz")
        assert file.fill == (12345, -777)
        assert np.array_equal(file[...][special], field[special])
        assert worst(file[...], field) <= 1e-3 * np.ptp(field[~special].astype("f8"))
    # With none at all, the range is that of all values.
    data = ebz.compress(field, range=1e-3, fill=None)
    assert data == ebz.compress(field, range=1e-3, fill="none")
    assert worst(ebz.decompress(data), field) > 1e-3 * np.ptp(field[~special].astype("f8"))
    report = ebz.compare(field, file[...], fill=[12345, -777])
    assert report["error_stat:value_range"] == pytest.approx(np.ptp(field[~special].astype("f8")))


def test_fill_values_come_back(field):
    field = np.nan_to_num(field, nan=1e20, posinf=0)
    decoded = ebz.decompress(ebz.compress(field, range=1e-3, fill=1e20))
    assert np.array_equal(decoded == np.float32(1e20), field == np.float32(1e20))
    rest = field[field < 1e19].astype("f8")
    assert worst(decoded, field) <= 1e-3 * (rest.max() - rest.min())


@pytest.mark.parametrize("order", ["C", "F"])
def test_decompress_into(field, order):
    data = ebz.compress(field, abs=1e-2)
    expected = ebz.decompress(data)
    out = np.zeros(field.shape, "f4", order=order)
    ebz.decompress_into(data, out, threads=2)
    assert np.array_equal(out, expected, equal_nan=True)
    wide = np.zeros((*field.shape, 2), ">f4", order=order)
    ebz.decompress_into(memoryview(data), wide[..., 1])
    assert np.array_equal(wide[..., 1], expected, equal_nan=True) and not wide[..., 0].any()


def test_decompress_into_what_does_not_fit(field):
    data = ebz.compress(field, abs=1e-2)
    frozen = np.zeros(field.shape, "f4")
    frozen.flags.writeable = False
    for out in (np.zeros(3, "f4"), np.zeros(field.shape), frozen, np.zeros(6, "f4")[::2],
                frozen[::2]):
        with pytest.raises(ValueError):
            ebz.decompress_into(data, out)
    for out in (np.zeros(field.shape, int), [0.0]):
        with pytest.raises((TypeError, ValueError)):
            ebz.decompress_into(data, out)


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        (np.array([1.0, None], object), "astype"),
        (np.array(["a"]), "float32"),
        (np.arange(3), "astype(numpy.float64)"),
        (np.arange(3, dtype="i2"), "without loss"),
        (np.array([True]), "astype"),
        (np.zeros(3, "g"), "astype(numpy.float64)"),
        (np.zeros(3, "c8"), "view(numpy.float32)"),
        (np.zeros(3, "M8[s]"), "float64"),
        (np.ma.masked_equal([1.0, 2.0], 2), "fill"),
        (None, "float64"),
    ],
)
def test_other_types_are_refused(values, advice):
    with pytest.raises(TypeError, match=".") as error:
        ebz.compress(values, abs=1)
    assert isinstance(error.value, ebz.Error) and advice in str(error.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"abs": 1, "range": 1}, {"abs": -1}, {"abs": np.nan}, {"ratio": 0.5},
        {"precision": 2.5}, {"abs": 1, "codec": "none"}, {"abs": 1, "params": {"no": 1}},
        {"abs": 1, "chunk": (1,)}, {"abs": 1, "chunk": (0, 1, 1)},
    ],
)
def test_bad_arguments(field, arguments):
    with pytest.raises(ValueError, match=".") as error:
        ebz.compress(field, **arguments)
    assert isinstance(error.value, ebz.InvalidArgument)


def test_too_many_axes():
    with pytest.raises(ebz.InvalidArgument, match="16"):
        ebz.compress(np.zeros((1,) * 17), abs=1)
    with pytest.raises(ebz.UnsupportedError):
        ebz.compress(np.zeros(3), precision=3, codec="fz")


def test_damage_is_an_exception(field):
    data = ebz.compress(field, range=1e-3)
    original = ebz.decompress(data)
    for end in range(0, len(data), 97):
        with pytest.raises(ebz.CorruptError):
            ebz.decompress(data[:end])
    rng = np.random.default_rng(1)
    for _ in range(300):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] ^= 1 << rng.integers(8)
        try:
            assert np.array_equal(ebz.decompress(damaged), original, equal_nan=True)
        except (ebz.CorruptError, ebz.UnsupportedError):
            pass
    with pytest.raises(TypeError, match="compress"):
        ebz.decompress("text")
    with pytest.raises(ebz.TruncatedError):
        ebz.decompress(data[:-1])


def test_limit(field):
    data = ebz.compress(field, range=1e-3)
    with pytest.raises(ebz.LimitError, match=str(field.nbytes)):
        ebz.decompress(data, max_bytes=field.nbytes - 1)
    ebz.decompress(data, max_bytes=field.nbytes)
    with pytest.raises(ebz.LimitError, match="memory"):
        ebz.decompress(data, max_memory=field.nbytes - 1)
    ebz.decompress(data, max_memory=1 << 30)


def test_trailing_bytes(field):
    """As with an outdated chunk size: not reported as truncated."""
    data = ebz.compress(field, range=1e-3)
    with pytest.raises(ebz.CorruptError, match="after its end") as error:
        ebz.decompress(data + b"\0" * 7)
    assert not isinstance(error.value, ebz.TruncatedError)


def test_any_buffer(field):
    data = ebz.compress(field, range=1e-3)
    expected = ebz.decompress(data)
    spread = np.repeat(np.frombuffer(data, "u1"), 2)[::2]
    for buffer in (bytearray(data), memoryview(data), np.frombuffer(data, "u1"), spread):
        assert np.array_equal(ebz.decompress(buffer), expected, equal_nan=True)


def test_compare(field):
    decoded = ebz.decompress(ebz.compress(field, abs=1e-2))
    report = ebz.compare(field, decoded)
    assert report["error_stat:max_error"] == pytest.approx(float(worst(decoded, field)))
    assert report["ebz:lost_specials"] == 0
    assert "ssim:ssim" not in ebz.compare(field, decoded, ssim=False)
    assert ebz.compare(field, field)["error_stat:psnr"] == np.inf
    turned = ebz.compare(field.T, decoded.T)
    assert turned["error_stat:rmse"] == pytest.approx(report["error_stat:rmse"])
    with pytest.raises(ValueError, match="shape"):
        ebz.compare(field, decoded[1:])
    with pytest.raises(ValueError, match="convert"):
        ebz.compare(field, decoded.astype("f8"))


def test_help_is_there():
    assert "psnr" in ebz.compress.__doc__
    for name in ebz.__all__:
        assert name == "__version__" or getattr(ebz, name).__doc__
    assert ebz.codecs()[1]["name"] == "fz"


@pytest.mark.parametrize("settings", [{"range": 1e-2}, {"abs": 1e-2, "clip": "data"}, {"abs": 1e-2, "clip": "0..1"}])
def test_fractions_do_not_become_negative(settings):
    wave = np.sin(np.arange(60 * 70) / 9).reshape(60, 70).astype("f4")
    fractions = np.clip(wave, 0, 1)
    for codec in ("interp", "zfp-v", "fz"):
        again = ebz.decompress(ebz.compress(fractions, codec=codec, **settings))
        assert again.min() >= 0
        assert np.abs(again - fractions).max() <= 1.0001e-2
        kept = ebz.decompress(ebz.compress(fractions, codec=codec, keep_zeros=True, **settings))
        assert (kept[fractions == 0] == 0).all()
    with pytest.raises(ValueError):
        ebz.compress(fractions, abs=1e-2, clip="0..0.5")
    with pytest.raises(ValueError):
        ebz.compress(fractions, abs=1e-2, clip="low")


def test_a_ratio_is_met_about_in_one_pass(field):
    data = ebz.compress(field, ratio=8, one_pass=True)
    assert field.nbytes / len(data) == pytest.approx(8, rel=0.15)
    assert ebz.decompress(data).shape == field.shape
    with pytest.raises(ValueError, match="ratio"):
        ebz.compress(field, abs=1, one_pass=True)
    with pytest.raises(TypeError, match="one_pass"):
        ebz.compress(field, ratio=8, one_pass=1)
