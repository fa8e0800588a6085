"""Keeping a dataset small and quick: few files, no partitions beyond their time, nothing left over.

Everything can be tried with ``dry_run=True``, which tells what would be done and changes nothing. Datasets that belong
to someone else are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from airflow_partitions.core.calendars.duration import Length, duration
from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Interval, Key
from airflow_partitions.storage.backend import Compacted, open_backend
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.scan.scan_plan import Where, list_

_OURS = (Ownership.OWNED, Ownership.ADOPTED)


def compact(
    dataset: Dataset,
    where: Where = None,
    *,
    target: int = 128 * 2**20,
    settled: Length = timedelta(hours=24),
    dry_run: bool = False,
    now: datetime | None = None,
) -> list[Compacted]:
    """Write the small Parquet files of each partition as few large ones, with the same rows, in folders also in the
    same order. Files of a table are merged within their key only.

    Only files of one bucket are merged. Every partition is published like any other write: readers see the old files or
    the new ones, and a writer that was quicker wins; its partition is left for the next time.

    :param where: which partitions, as for :meth:`.Storage.list`.
    :param target: size of a file in bytes; those of more than half of it are left alone.
    :param settled: partitions published less than this ago are left alone: the rows that a run appended can't be told
        from others afterwards, so a later try of that run would append them again.
    :raises InvalidDefinitionError: if the dataset belongs to someone else, or is not of Parquet files.
    """
    _check_ours(dataset)
    before = (now or datetime.now(UTC)) - duration(settled)
    backend, compacted = open_backend(dataset), []
    for partition in backend.compactable(where):
        published = partition.metadata.get("published")
        if published is not None and datetime.fromisoformat(published) > before:
            continue
        if (merged := backend.merge(partition, target, dry_run=dry_run)) is not None:
            compacted.append(merged)
    return compacted


def drop_older(
    dataset: Dataset,
    than: Length,
    *,
    keep: int = 1,
    dry_run: bool = False,
    now: datetime | None = None,
) -> list[str]:
    """Drop the partitions whose interval ended longer ago, all in one step.

    :param than: how long ago.
    :param keep: the newest intervals stay, so many of them, however old they are.
    :return: texts of the dropped keys, oldest first.
    :raises InvalidDefinitionError: if the dataset belongs to someone else, or its partitions have no time.
    """
    _check_ours(dataset)
    definition = dataset.layout.definition
    if definition.time is None:
        raise InvalidDefinitionError(f"{definition!r} has no time dimension; nothing of it is older than the rest")
    if keep < 0:
        raise InvalidDefinitionError(f"keep={keep}; expected nothing below zero")
    # Times of one zone are compared by their wall clock.
    limit = (now or datetime.now(UTC)).astimezone(UTC) - duration(than)
    timed = sorted(_timed(dataset), key=lambda pair: pair[0])
    newest = sorted({interval for interval, _ in timed}, reverse=True)[:keep]
    old = [key for interval, key in timed if interval.end <= limit and interval not in newest]
    if old and not dry_run:
        with Commit(dataset) as commit:
            for key in old:
                commit.drop(key)
    return [str(key) for key in old]


def _timed(dataset: Dataset) -> Iterator[tuple[Interval, Key]]:
    for partition in list_(dataset):
        interval = dataset.layout.definition.interval_of(partition.key)
        if interval is not None:
            yield interval, partition.key


def _check_ours(dataset: Dataset) -> None:
    if dataset.ownership not in _OURS:
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} has ownership={dataset.ownership.value!r}: it belongs to someone else, who looks"
            " after it"
        )
