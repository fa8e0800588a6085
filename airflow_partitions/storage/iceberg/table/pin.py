"""Tables as they were at one moment, kept in a folder: they are read so whoever expires their snapshots meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyiceberg.table import StaticTable, Table

from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, remove
from airflow_partitions.storage.iceberg.table.catalog import TableReference, translated_errors
from airflow_partitions.storage.iceberg.table.paths import plain
from airflow_partitions.storage.iceberg.table.static_metadata import create_static, form_of, read_static, version_of
from airflow_partitions.storage.iceberg.table.tags import tag, untag

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

#: How the tags of what is frozen begin.
_TAG = "airflow-"
#: Folder of what is frozen, in the bookkeeping of a table.
_FROZEN = "listings"


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


def freeze_table(reference: TableReference, name: str, folder: Location | None) -> str:
    """Keep what the table holds now, unless that was done under this *name* before.

    :param folder: where to keep it; ``None`` for beside the table.
    :return: path of the folder that :func:`.pinned` reads.
    """
    with translated_errors(f"table {reference.name!r}", "kept"):
        table = reference.load()
        beside = bookkeeping(at(plain(table.location()).rstrip("/"), reference.credentials)) / _FROZEN
        kept = (beside if folder is None else folder) / name
        pin(table, kept)
        number = pinned(kept, reference.properties).metadata.current_snapshot_id
    if number is not None and reference.is_writable:
        tag(reference, _TAG + kept.name, number)
    return str(kept)


def release_table(reference: TableReference, kept: Location) -> None:
    """Remove what was *kept*, and let the snapshot expire."""
    if reference.is_writable:
        untag(reference, _TAG + kept.name)
    remove(kept)
