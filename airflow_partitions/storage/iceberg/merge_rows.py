"""Merging the small files of one partition of a table."""

from __future__ import annotations

import logging
import secrets

from airflow_partitions.core.errors import ConflictError
from airflow_partitions.storage.iceberg.iceberg_dataset import Iceberg
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.stores.open import open_writable
from airflow_partitions.storage.stores.staging import STAGING

_log = logging.getLogger(__name__)


def merge_rows(
    dataset: Iceberg, partition: StoredPartition, target: int, *, dry_run: bool = False
) -> tuple[int, int, bool]:
    """Write the small files of *partition* as few, with the same rows, in one snapshot.

    :param target: size of a file in bytes that is large enough.
    :return: how many small files there were, 0 if there is nothing to do; how many there are instead, or would be if
        each partition of the table gets one; and whether it was done: not in a dry run, nor if another was quicker.
    """
    from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
    from airflow_partitions.storage.filesystem.filesystem import at, remove
    from airflow_partitions.storage.iceberg.table.compaction import SmallFiles
    from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
    from airflow_partitions.storage.iceberg.table.open import reference_to
    from airflow_partitions.storage.iceberg.table.planned_files import PlannedFiles

    planned = partition.content
    assert isinstance(planned, PlannedFiles)  # noqa: S101 - who looked for it has planned it
    store, reference = open_writable(dataset), reference_to(dataset)
    keys = KeyFilter.of(dataset.layout, dataset.columns, planned.table.schema())
    small = SmallFiles(reference, keys, partition.key, target)
    count, into = small.count(planned)
    if not count or dry_run:
        return count, into, False
    name = Attempt("", secrets.token_hex(8), 1).name
    folder = bookkeeping(at(str(store.root), reference.credentials)) / STAGING / name
    try:
        into = small.compact(folder, name)
    except ConflictError as error:
        _log.warning("left for the next time: %s", error)
        return count, into, False
    finally:
        remove(folder)
    return count, into, True
