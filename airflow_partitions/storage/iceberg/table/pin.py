"""A table as it is at one moment, kept in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyiceberg.table import StaticTable, Table

from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.iceberg.table.static_metadata import create_static, form_of, read_static, version_of

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


def pin(table: Table, folder: Location) -> None:
    """Keep what *table* holds now in *folder*, which Spark and pyiceberg read by its path, without a catalog.

    What is kept there already stays.

    Only the metadata is copied: the data files stay where they are, for as long as a snapshot of the table, or a tag,
    names them.
    """
    create_static(folder, form_of(table.metadata))


def pinned(folder: Location, properties: Mapping[str, str] | None = None) -> StaticTable:
    """The table that :func:`pin` has kept in *folder*.

    :param properties: what its files are reached with.
    :raises StorageError: if there is none any more.
    """
    if version_of(folder) is None:
        raise StorageError(f"{str(folder)!r} holds no table: it was released; expected it to be pinned again")
    return read_static(folder, properties or {})
