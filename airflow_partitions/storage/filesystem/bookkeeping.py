"""Folder beside a dataset for all that is not data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airflow_partitions.core.errors import StorageError

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


def bookkeeping(root: Location) -> Location:
    """The folder of what is kept about the dataset at *root*: ``/lake/_delays`` for ``/lake/delays``.

    It lies beside the dataset: DuckDB and polars read whatever is below a folder, also names with ``_`` or ``.``.

    :raises StorageError: if *root* is the topmost folder, which has nothing beside it.
    """
    place = root.resolve() if isinstance(root, Path) else root  # one for all the names of a folder
    if not place.name:
        raise StorageError(
            f"storage {str(root)!r} is the topmost folder, and its bookkeeping lies beside the data; expected a folder"
            " below it"
        )
    return place.with_name(f"_{place.name}")
