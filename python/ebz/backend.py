"""The xarray engine `ebz`: `xarray.open_dataset("field.ebz")`.

Every frame of a file is a variable. Its `name`, `dims` and `attrs` come from the frame's metadata, as
`ebz.xarray.save` writes it; a frame without a name is named after the file and its number. A 1-D frame
named after its dimension is a coordinate. Values are read lazily, chunk by chunk.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from typing import Any

import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from .file import File

__all__ = ["EbzBackend"]


class EbzBackend(BackendEntrypoint):
    """Opens `.ebz` files as datasets."""

    description = "Open .ebz files"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "threads")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        threads: int = 1,
    ) -> xarray.Dataset:
        """Open all frames as a dataset."""
        dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        first = File(filename_or_obj, threads=threads)
        variables: dict[str, xarray.Variable] = {}
        for number in range(first.frames):
            file = first.frame(number)
            name, variable = _variable(file)
            if name in variables:
                name = f"{name}_{number}"
            if name not in dropped:
                variables[name] = variable
        dataset = xarray.Dataset(variables)
        dataset.set_close(first.close)
        return dataset

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the name ends in `.ebz`."""
        is_name = isinstance(filename_or_obj, (str, os.PathLike))
        return is_name and str(filename_or_obj).endswith(".ebz")


def _variable(file: File) -> tuple[str, xarray.Variable]:
    told = file.metadata if isinstance(file.metadata, dict) else {}
    name = told.get("name") or (_stem(file) if file.frames == 1 else f"{_stem(file)}_{file.number}")
    dims = told.get("dims")
    if not isinstance(dims, list) or len(dims) != len(file.shape):
        dims = [f"{name}_{axis}" for axis in range(len(file.shape))]
    attrs = told.get("attrs") if "name" in told or "dims" in told else told
    encoding = {"preferred_chunks": dict(zip(dims, file.chunks)), "source": str(file.path)}
    data = indexing.LazilyIndexedArray(_Values(file))
    return str(name), xarray.Variable(dims, data, attrs if isinstance(attrs, dict) else {}, encoding)


def _stem(file: File) -> str:
    return pathlib.PurePath(file.path).stem.split(".")[0] if isinstance(file.path, str) else "values"


class _Values(BackendArray):
    """The values of a frame."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.shape = file.shape
        self.dtype = file.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, support, self.file.__getitem__)
