"""Keeping a table small: snapshots, manifests and files that nobody needs any more."""

from __future__ import annotations

from datetime import datetime

from airflow_partitions.core.calendars.duration import Length, duration
from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.storage.backend import Maintained, open_backend
from airflow_partitions.storage.dataset import Dataset


def maintain_table(
    dataset: Dataset,
    *,
    keep_snapshots: Length | None = None,
    keep_files: Length | None = None,
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
    snapshots = None if keep_snapshots is None else duration(keep_snapshots)
    files = None if keep_files is None else duration(keep_files)
    return open_backend(dataset).maintain(snapshots, files, now or datetime.now(UTC), dry_run=dry_run)
