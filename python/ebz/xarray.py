"""xarray datasets: the `encoding` for `to_zarr` and `to_netcdf`, netCDF files, and `.ebz` files.

    >>> ds.to_zarr("ds.zarr", encoding=ebz.xarray.encoding(ds, range=1e-3))     # doctest: +SKIP
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import file
from .arrays import is_compressed
from .errors import InvalidArgument, InvalidType, UnsupportedError
from .settings import BOUNDS, Settings

if TYPE_CHECKING:
    import xarray
    from typing_extensions import Unpack

__all__ = ["encoding", "save", "to_netcdf"]

#: Encoding of a variable that must be repeated in ours, because xarray replaces it.
KEPT = ("_FillValue", "missing_value", "dtype", "coordinates", "grid_mapping")

#: Maximum size of the chunks of netCDF variables, in bytes.
MAX_CHUNK_BYTES = 4 << 20

Variables = Mapping[str, "Settings | None"]


def encoding(
    dataset: xarray.Dataset,
    *,
    zarr_format: Literal[2, 3] | None = None,
    engine: str | None = None,
    variables: Variables | None = None,
    **settings: Unpack[Settings],
) -> dict[Hashable, dict[str, Any]]:
    """The `encoding` of a dataset for `to_zarr`, or for `to_netcdf` if an `engine` is given.

    The settings are those of `ebz.compress`, and apply to every floating-point variable;
    `variables={"rain": {"abs": 0.1}, "mask": None}` overrides the settings of some variables, or
    skips them. Coordinates and their bounds, variables without axes, integers, and variables stored
    as integers are skipped too, unless they are named.

    Fill values in a variable's encoding or attributes (`_FillValue`, `missing_value`) are stored
    exactly and excluded from the range. The dtype and fill value of its encoding are kept; packing
    (`scale_factor`) is not, because the bound refers to the values themselves.

    Pass the `zarr_format` of `to_zarr` if it is given there. The result is a dictionary to which
    entries such as `chunks` (for Zarr) or `chunksizes` (for netCDF) can be added.
    """
    if engine is not None and zarr_format is not None:
        raise InvalidArgument("pass an engine of to_netcdf or the format of to_zarr, but not both")
    if engine == "netcdf4":
        raise UnsupportedError(
            "xarray's engine netcdf4 does not support filters in an encoding: write the same file with "
            "engine='h5netcdf', or with ebz.xarray.to_netcdf(ds, path, engine='netcdf4', range=1e-3)"
        )
    if engine not in (None, "h5netcdf"):
        raise InvalidArgument(f"engine={engine!r}: use h5netcdf or netcdf4")
    result: dict[Hashable, dict[str, Any]] = {}
    for name, variable, chosen in _chosen(dataset, variables, settings):
        if engine is None:
            codec = _zarr_codec(zarr_format, chosen)
        else:
            codec = {**_filter(chosen), "chunksizes": _chunks(variable)}
        result[name] = {**_kept(variable), **codec}
    return result


def to_netcdf(
    dataset: xarray.Dataset,
    path: str | os.PathLike[str],
    *,
    engine: Literal["h5netcdf", "netcdf4"] = "h5netcdf",
    variables: Variables | None = None,
    **settings: Unpack[Settings],
) -> None:
    """Write a dataset to a new netCDF file with either engine.

    `variables` and the settings are those of `encoding`. With `engine="netcdf4"` the variables are
    created first, because that engine does not support filters.
    """
    if engine != "netcdf4":
        made = encoding(dataset, engine=engine, variables=variables, **settings)
        dataset.to_netcdf(path, engine=engine, encoding=made)
        return
    import netCDF4

    from .hdf5 import compress_variable

    kept: dict[Hashable, dict[str, Any]] = {}
    with netCDF4.Dataset(path, "w") as file:
        for name, variable, chosen in _chosen(dataset, variables, settings):
            kept[name] = _kept(variable)
            dimensions = [str(dimension) for dimension in variable.dims]
            for dimension, extent in zip(dimensions, variable.shape):
                if dimension not in file.dimensions:
                    file.createDimension(dimension, extent)
            empty = file.createVariable(
                name,
                _stored_type(variable),
                dimensions,
                chunksizes=_chunks(variable),
                fill_value=_fill_attribute(variable),
            )
            compress_variable(empty, **_filter_settings(chosen))
    dataset.to_netcdf(path, mode="a", engine="netcdf4", encoding=kept)


def save(
    dataset: xarray.Dataset,
    path: str | os.PathLike[str],
    *,
    variables: Variables | None = None,
    **settings: Unpack[Settings],
) -> None:
    """Write a dataset to an `.ebz` file, one frame for each variable, which `xarray.open_dataset` reads.

    `variables` and the settings are those of `encoding`; coordinates and other floating-point variables that it
    leaves alone are stored without loss. Integers, times and texts have no place in such a file, and are an error:
    drop them, or write to Zarr or netCDF.
    """
    chosen = {name: settings for name, _, settings in _chosen(dataset, variables, settings)}
    other = [name for name, variable in dataset.variables.items() if not is_compressed(variable.dtype)]
    if other:
        raise InvalidType(
            f"{', '.join(map(repr, other))}: an .ebz file holds floating-point values only: drop these variables, "
            "or write to Zarr or netCDF"
        )
    for number, (name, variable) in enumerate(dataset.variables.items()):
        metadata = {"name": str(name), "dims": [str(dim) for dim in variable.dims], "attrs": variable.attrs}
        own: Any = chosen.get(str(name), {"lossless": True})
        file.save(path, variable.values, append=number > 0, **{**own, "metadata": metadata})


def _chosen(
    dataset: xarray.Dataset, variables: Variables | None, settings: Settings
) -> Iterator[tuple[str, xarray.Variable, dict[str, Any]]]:
    """The variables to compress, each with its settings."""
    named = dict(variables or {})
    unknown = set(named) - set(dataset.variables)
    if unknown:
        raise InvalidArgument(f"no variable {', '.join(map(repr, sorted(unknown)))}")
    auxiliary = _auxiliary(dataset)
    for name, variable in dataset.variables.items():
        own = named.get(str(name), {})
        if own is None or (name not in named and (name in dataset.coords or name in auxiliary)):
            continue
        if not _is_taken(variable):
            if name in named:
                raise InvalidType(
                    f"variable {name!r} has {variable.dtype} of shape {variable.shape}: only "
                    "non-empty float16, bfloat16, float32 and float64 arrays are supported"
                )
            continue
        if _is_packed(variable) and name not in named:
            continue
        yield str(name), variable, _with_fill(variable, _merged(settings, own))


def _auxiliary(dataset: xarray.Dataset) -> set[str]:
    """Variables that belong to coordinates without being coordinates of the dataset."""
    names: set[str] = set()
    for variable in dataset.variables.values():
        for source in (variable.attrs, variable.encoding):
            for key in ("bounds", "climatology", "coordinates"):
                if isinstance(text := source.get(key), str):
                    names.update(text.split())
    return names


def _is_taken(variable: xarray.Variable) -> bool:
    return bool(is_compressed(variable.dtype) and variable.shape and 0 not in variable.shape)


def _is_packed(variable: xarray.Variable) -> bool:
    """Whether the values are stored as integers."""
    return not is_compressed(np.dtype(variable.encoding.get("dtype", variable.dtype)))


def _stored_type(variable: xarray.Variable) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(variable.encoding.get("dtype", variable.dtype))
    return dtype if is_compressed(dtype) else np.dtype(variable.dtype)


def _merged(settings: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A variable's own bound replaces the common one."""
    shared = settings
    if any(own.get(bound) not in (None, False) for bound in BOUNDS):
        shared = {name: value for name, value in settings.items() if name not in BOUNDS}
    return {**shared, **own}


def _with_fill(variable: xarray.Variable, settings: dict[str, Any]) -> dict[str, Any]:
    if "fill" in settings:
        return settings
    told: list[float] = []
    for source in (variable.attrs, {} if _is_packed(variable) else variable.encoding):
        for key in ("_FillValue", "missing_value"):
            for value in np.ravel(source.get(key, ())):
                if isinstance(value, (np.floating, np.integer)) and np.isfinite(value):
                    told.append(float(value))
    # In order, without duplicates.
    return {**settings, "fill": ["auto", *dict.fromkeys(told)]} if told else settings


def _kept(variable: xarray.Variable) -> dict[str, Any]:
    kept = {key: variable.encoding[key] for key in KEPT if key in variable.encoding}
    if _is_packed(variable):  # The fill value refers to the stored integers.
        for key in ("_FillValue", "missing_value", "dtype"):
            kept.pop(key, None)
    return kept


def _fill_attribute(variable: xarray.Variable) -> Any:
    """What xarray writes as `_FillValue`: NaN by default."""
    kept = _kept(variable)
    told = variable.attrs.get("_FillValue", kept.get("_FillValue", np.nan))
    return None if told is None else _stored_type(variable).type(told)


def _zarr_codec(zarr_format: Literal[2, 3] | None, settings: dict[str, Any]) -> dict[str, Any]:
    if zarr_format is None:
        import zarr

        zarr_format = zarr.config.get("default_zarr_format")
    if zarr_format == 2:
        from .numcodecs import Ebz as Compressor

        return {"compressors": Compressor(**settings), "filters": None}
    from .zarr import Ebz as Serializer

    return {"serializer": Serializer(**settings), "compressors": None, "filters": None}


def _filter(settings: dict[str, Any]) -> Mapping[str, Any]:
    from .hdf5 import Ebz as Filter

    return Filter(**_filter_settings(settings))


def _filter_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Drops threads and chunks, which HDF5 controls itself."""
    return {name: value for name, value in settings.items() if name not in ("threads", "chunk")}


def _chunks(variable: xarray.Variable) -> tuple[int, ...]:
    """Chunks of a netCDF variable: those of Dask, or the whole variable, split along the slow axes."""
    extents = [max(of_axis) for of_axis in variable.chunks] if variable.chunks else [*variable.shape]
    itemsize = _stored_type(variable).itemsize
    for axis in range(len(extents)):
        inner = math.prod(extents[axis + 1 :]) * itemsize
        if extents[axis] * inner <= MAX_CHUNK_BYTES:
            break
        pieces = -(-extents[axis] * inner // MAX_CHUNK_BYTES)
        extents[axis] = max(1, -(-extents[axis] // pieces))
    return tuple(extents)
