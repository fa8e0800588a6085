"""Tables that are read as they were at one moment, whoever expires their snapshots meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, remove
from airflow_partitions.storage.iceberg.table.catalog import TableReference, translated_errors
from airflow_partitions.storage.iceberg.table.paths import plain
from airflow_partitions.storage.iceberg.table.pin import pin, pinned
from airflow_partitions.storage.iceberg.table.tags import tag, untag

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

#: How the tags of what is frozen begin.
_TAG = "airflow-"
#: Folder of what is frozen, in the bookkeeping of a table.
_FROZEN = "listings"


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
