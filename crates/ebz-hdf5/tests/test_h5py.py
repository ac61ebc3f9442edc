"""The filter in h5py, and its error handling."""

import os
import pathlib
import pickle
import subprocess
import sys

import h5py
import numpy
import pytest

import ebz
import ebz.hdf5

CHUNKS = (8, 32, 70)


@pytest.mark.parametrize("codec", [c["name"] for c in ebz.codecs() if "range" in c["bounds"]])
@pytest.mark.parametrize("dtype", ["<f2", ">f2", "<f4", "<f8", ">f4", ">f8"])
def test_bound_holds(tmp_path, field, bound, codec, dtype):
    a = field.astype(dtype)
    a[3, 4, 5] = numpy.nan
    a[0, 0, :3] = numpy.inf, -numpy.inf, -0.0
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("a", data=a, chunks=CHUNKS, **ebz.hdf5.Ebz(range=1e-3, codec=codec))
    with h5py.File(tmp_path / "a.h5") as f:
        b = f["a"][...]
        assert f["a"].dtype == a.dtype == b.dtype
    finite = numpy.isfinite(a)
    assert (abs(a[finite].astype("f8") - b[finite]) <= bound).all()
    assert a[~finite].tobytes() == b[~finite].tobytes()


@pytest.mark.parametrize("axes", [1, 2, 4, 5, 20])
def test_any_number_of_axes(tmp_path, axes):
    shape = (3, 4, 5, 6, 7)[-min(axes, 5):]
    shape = (1,) * (axes - len(shape)) + shape
    a = numpy.random.default_rng(0).normal(size=shape)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        d = f.create_dataset("a", data=a, chunks=shape, **ebz.hdf5.Ebz(lossless=True))
        f.flush()
        assert (d[...] == a).all()


def test_padding_does_not_widen_the_range(tmp_path, field, bound):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("a", data=field, chunks=(16, 50, 60), **ebz.hdf5.Ebz(range=1e-3))
    with h5py.File(tmp_path / "a.h5") as f:
        assert abs(f["a"][...].astype("f8") - field).max() <= bound


def test_fill_values_are_exact(tmp_path, field, bound):
    field[5:9, 10:20] = 1e20
    with h5py.File(tmp_path / "a.h5", "w") as f:
        settings = ebz.hdf5.Ebz(range=1e-3, fill=1e20)
        f.create_dataset("a", data=field, chunks=CHUNKS, **settings)
    with h5py.File(tmp_path / "a.h5") as f:
        b = f["a"][...]
    land = field == numpy.float32(1e20)
    assert (b[land] == field[land]).all()
    assert abs(b.astype("f8") - field)[~land].max() <= bound


def test_write_parallel_gives_the_same_chunks(tmp_path, field):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        settings = dict(shape=field.shape, dtype="f4", chunks=CHUNKS, **ebz.hdf5.Ebz(range=1e-3))
        a, b = (f.create_dataset(name, **settings) for name in "ab")
        a[...] = field
        ebz.hdf5.write_parallel(b, field, threads=3)
        f.flush()
        corners = [a.id.get_chunk_info(i).chunk_offset for i in range(a.id.get_num_chunks())]
        assert len(corners) == 6
        for corner in corners:
            assert a.id.read_direct_chunk(corner) == b.id.read_direct_chunk(corner)
        plain = f.create_dataset("plain", shape=field.shape, dtype="f4", chunks=CHUNKS)
        with pytest.raises(ebz.InvalidArgument, match="only filter"):
            ebz.hdf5.write_parallel(plain, field)
        with pytest.raises(ebz.InvalidArgument, match="shape"):
            ebz.hdf5.write_parallel(b, field[1:])


@pytest.mark.parametrize(
    ("dtype", "words"),
    [("i4", "no floating-point"), ("S5", "no floating")])
def test_other_types_are_rejected(tmp_path, dtype, words):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        with pytest.raises((ValueError, OSError), match=f"ebz: .*{words}"):
            f.create_dataset("a", shape=(64, 64), dtype=dtype, chunks=(8, 8),
                             **ebz.hdf5.Ebz(abs=0.1))


def test_byte_order_does_not_affect_values(tmp_path, field):
    field[5:9, 10:20] = -999
    with h5py.File(tmp_path / "a.h5", "w") as f:
        for dtype in ("<f4", ">f4"):
            f.create_dataset(dtype, data=field.astype(dtype), chunks=(16, 50, 60), fillvalue=-999,
                             compression=ebz.hdf5.Ebz(range=1e-3))
        parallel = f.create_dataset("parallel", shape=field.shape, dtype=">f4", fillvalue=-999,
                                    chunks=(16, 50, 60), compression=ebz.hdf5.Ebz(range=1e-3))
        ebz.hdf5.write_parallel(parallel, field)
    with h5py.File(tmp_path / "a.h5") as f:
        assert (f["<f4"][...] == f[">f4"][...]).all()
        assert (f["parallel"][...] == f[">f4"][...]).all()
        assert ((f[">f4"][...] == -999) == (field == -999)).all()


def test_compression_argument_as_in_hdf5plugin(tmp_path, field, bound):
    filter = ebz.hdf5.Ebz(range=1e-3)
    assert hash(filter) == hash(ebz.hdf5.Ebz(range=0.001)) and filter == ebz.hdf5.Ebz(range=0.001)
    assert filter != ebz.hdf5.Ebz(range=1e-4) and eval(repr(filter)) == filter
    assert pickle.loads(pickle.dumps(filter)) == filter
    with h5py.File(tmp_path / "a.h5", "w") as f:
        a = f.create_dataset("a", data=field, chunks=CHUNKS, compression=filter)
        b = f.create_dataset("b", data=field, chunks=CHUNKS, **filter)
        assert a._filters == b._filters and str(ebz.hdf5.FILTER_ID) in a._filters
        assert abs(a[...].astype("f8") - field).max() <= bound


def test_codec_settings(tmp_path, field):
    given = {"range": 1e-3, "codec": "ceaz", "fill": ["auto", -1.0]}
    with h5py.File(tmp_path / "a.h5", "w") as f:
        a = f.create_dataset("a", data=field, chunks=CHUNKS, compression=ebz.hdf5.Ebz(**given))
        plain = f.create_dataset("b", data=field, chunks=CHUNKS, compression="gzip")
        assert ebz.hdf5.codec_settings(a) == given
        assert ebz.hdf5.codec_settings(plain) is None
    for settings in ({"lossless": True}, {"precision": 12, "codec": "zfp-v"}, {"abs": 1, "fill": None},
                     {"abs": 1, "fill": [1, 2]}, {"pointwise": 0.1, "codec": "fre",
                                                  "params": {"rounding": "truncate"}}):
        words = ebz.hdf5.Ebz(**settings).words
        with h5py.File(tmp_path / "a.h5", "w") as f:
            a = f.create_dataset("a", data=field, chunks=CHUNKS, compression=ebz.hdf5.Ebz(**settings))
            assert ebz.hdf5.Ebz(**ebz.hdf5.codec_settings(a)).words == words


def test_limits_and_zeros(tmp_path):
    wave = numpy.sin(numpy.linspace(0, 60, 4000)).reshape(40, 100)
    values = numpy.maximum(wave, 0).astype("f4")

    def stored(**settings):
        codec = ebz.hdf5.Ebz(abs=0.1, codec="interp", params={"mode": "isotropic"}, **settings)
        with h5py.File(tmp_path / "a.h5", "w") as file:
            made = file.create_dataset("t", data=values, chunks=(20, 100), fillvalue=-1, **codec)
            assert ebz.hdf5.Ebz(**ebz.hdf5.codec_settings(made)).words == codec.words
        with h5py.File(tmp_path / "a.h5") as file:
            return file["t"][...]

    assert stored().min() < 0
    assert stored(clip="0..").min() == 0 and stored(clip="data").min() == 0
    assert numpy.all(stored(keep_zeros=True)[values == 0] == 0)
    with pytest.raises(ebz.InvalidArgument, match="1..0"):
        ebz.hdf5.Ebz(abs=0.1, clip="1..0")


def test_shuffle_before_the_filter_is_rejected(tmp_path, field):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        with pytest.raises((ValueError, OSError), match="first filter"):
            f.create_dataset("a", data=field, chunks=CHUNKS, shuffle=True, **ebz.hdf5.Ebz(abs=0.1))


@pytest.mark.parametrize("words", [(), (9, 9), (1, 2), (1, 65538, 0, 0xfff00000, 0, 0, 0, 0)])
def test_invalid_parameters_are_rejected(tmp_path, field, words):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        with pytest.raises((ValueError, OSError), match="ebz: "):
            f.create_dataset("a", data=field, chunks=CHUNKS, compression=ebz.hdf5.FILTER_ID,
                             compression_opts=words)


@pytest.mark.parametrize(
    "settings", [{}, {"abs": 1, "range": 1}, {"abs": -1}, {"abs": float("nan")}, {"psnr": 60},
                 {"abs": 1, "codec": "none"}, {"abs": 1, "params": {"nothing": 1}}])
def test_invalid_settings_are_rejected(settings):
    with pytest.raises(ebz.InvalidArgument):
        ebz.hdf5.Ebz(**settings)


def test_damaged_chunks_are_errors(tmp_path, field):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("a", data=field, chunks=CHUNKS, **ebz.hdf5.Ebz(range=1e-3))
    with h5py.File(path) as f:
        place = f["a"].id.get_chunk_info(0)
    whole = path.read_bytes()
    for at in range(0, place.size, 97):
        damaged = bytearray(whole)
        damaged[place.byte_offset + at] ^= 0x10
        path.write_bytes(damaged)
        with h5py.File(path) as f:
            with pytest.raises(OSError, match="ebz: "):
                f["a"][0, 0, 0]


def test_a_chunk_of_another_dataset_is_an_error(tmp_path, field):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        settings = ebz.hdf5.Ebz(abs=0.1)
        a = f.create_dataset("a", shape=(64,), dtype="f4", chunks=(64,), **settings)
        for wrong in (b"nonsense", ebz.compress(numpy.zeros(63, "f4"), abs=0.1),
                      ebz.compress(numpy.zeros(32, "f8"), abs=0.1)):
            a.id.write_direct_chunk((0,), wrong)
            with pytest.raises(OSError):
                a[...]
        a.id.write_direct_chunk((0,), ebz.compress(numpy.ones(64, "f4"), abs=0.1))
        assert abs(a[...] - 1).max() <= 0.1


def test_an_outdated_chunk_size_is_reported(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        a = f.create_dataset("a", shape=(64,), dtype="f4", chunks=(64,), **ebz.hdf5.Ebz(abs=0.1))
        a.id.write_direct_chunk((0,), ebz.compress(numpy.ones(64, "f4"), abs=0.1) + bytes(9))
        with pytest.raises(OSError, match="ebz: .*bytes after its end"):
            a[...]


def run(code, **environment):
    return subprocess.run([sys.executable, "-c", code], env=environment, text=True,
                          capture_output=True)


def test_without_the_filter(tmp_path, field):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("a", data=field, chunks=CHUNKS, **ebz.hdf5.Ebz(range=1e-3))
    read = run(f"import h5py; h5py.File({str(path)!r})['a'][...]")
    assert read.returncode == 1 and "OSError" in read.stderr
    missing = run("import ebz.hdf5", EBZ_PLUGIN_PATH=str(tmp_path))
    assert missing.returncode == 1 and "cargo build --release -p ebz-hdf5" in missing.stderr


@pytest.mark.parametrize("codec", ["fz", "ceaz"])
def test_rewriting_a_chunk_does_not_drift(tmp_path, codec):
    z, y, x = numpy.meshgrid(*(numpy.linspace(0, 3, n) for n in (12, 64, 64)), indexing="ij")
    field = (20 * numpy.sin(2 * z + y) * numpy.cos(3 * x - z)).astype("f4")
    for level, values in enumerate(field):
        # A new file handle each time: nothing is left in the chunk cache.
        with h5py.File(tmp_path / "a.h5", "a") as f:
            if level == 0:
                settings = ebz.hdf5.Ebz(abs=0.01, codec=codec)
                f.create_dataset("a", field.shape, "f4", chunks=field.shape, **settings)
            f["a"][level] = values
    with h5py.File(tmp_path / "a.h5") as f:
        assert abs(f["a"][...].astype("f8") - field).max() <= 0.01


def test_a_chunk_that_claims_gigabytes_does_not_abort(tmp_path):
    hostile = pathlib.Path(__file__).parents[3] / "fuzz/corpus-regress/hostile-slab2"
    shape = (2, 393216000)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        a = f.create_dataset("a", shape, "f4", chunks=shape, **ebz.hdf5.Ebz(lossless=True))
        a.id.write_direct_chunk((0, 0), hostile.read_bytes())
    code = f"""
import resource, h5py, ebz.hdf5
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
with h5py.File({str(tmp_path / "a.h5")!r}) as f:
    try:
        f["a"][0, 0]
    except OSError as error:
        print(error)
"""
    result = run(code, **os.environ)
    assert result.returncode == 0 and "ebz: " in result.stdout, result
