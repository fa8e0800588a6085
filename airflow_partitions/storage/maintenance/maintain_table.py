"""Keeping a table small: snapshots, manifests and files that nobody needs any more."""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.filesystem import remove
from airflow_partitions.storage.stores.open import open_writable
from airflow_partitions.storage.table_dataset import Maintenance, TableDataset


@attrs.frozen
class Maintained:
    """What was done to a table, or would be.

    :ivar snapshots: numbers of the snapshots that were forgotten.
    :ivar manifests: how many manifests of data files there were.
    :ivar into: how many there are now.
    :ivar files: paths of the files that were removed: no snapshot names them.
    """

    snapshots: tuple[int, ...]
    manifests: int
    into: int
    files: tuple[str, ...]


def maintain_table(
    dataset: Dataset,
    *,
    keep_snapshots: timedelta | None = None,
    keep_files: timedelta | None = None,
    now: datetime | None = None,
    dry_run: bool = False,
) -> Maintained:
    """Forget old snapshots of a table, name its files in manifests of a good size, and remove files that none names.

    Partitions stay as they are, with what they say about themselves; so does what a run has frozen, and what tags and
    branches name. Run it now and then: to publish takes as long as its manifests are large, and each commit writes the
    list of all snapshots.

    :param keep_snapshots: how long they are kept; by default what the dataset's :class:`Maintenance` says, or 7 days.
    :param keep_files: how long files that no snapshot names are left alone; by default likewise.
    :param dry_run: change nothing, only tell.
    :raises InvalidDefinitionError: if *dataset* is no table, or one of others.
    :raises StorageError: if it can't be reached.
    """
    if not isinstance(dataset, TableDataset):
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} is no table; expected Iceberg(…), or clean() and compact() for files"
        )
    from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
    from airflow_partitions.storage.iceberg.table.maintenance import expire_snapshots, orphans, rewrite_manifests
    from airflow_partitions.storage.iceberg.table.open import reference_to

    now, policy = now or datetime.now(UTC), dataset.maintenance or Maintenance()
    open_writable(dataset)
    reference = reference_to(dataset)
    keys = KeyFilter.of(dataset.layout, dataset.columns, reference.load().schema())
    snapshots = expire_snapshots(reference, keys, now - (keep_snapshots or policy.keep_snapshots), dry_run=dry_run)
    manifests, into = rewrite_manifests(reference, dry_run=dry_run)
    files = orphans(reference, now - (keep_files or policy.keep_files))
    for file in files if not dry_run else []:
        remove(file)
    return Maintained(tuple(snapshots), manifests, into, tuple(map(str, files)))
