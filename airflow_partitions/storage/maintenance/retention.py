"""Keeping a dataset small and quick: few files, no partitions beyond their time, nothing left over.

Everything can be tried with ``dry_run=True``, which tells what would be done and changes nothing. Datasets that belong
to someone else are refused.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

import attrs

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import ConflictError, InvalidDefinitionError
from airflow_partitions.core.keys import Interval, Key
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.maintenance.merge_files import Merge, groups
from airflow_partitions.storage.maintenance.merge_rows import merge_rows
from airflow_partitions.storage.metadata.buckets import by_bucket
from airflow_partitions.storage.metadata.column_index import renamed
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.scan.plan import Where, get, list_
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.table_dataset import TableDataset

_log = logging.getLogger(__name__)
_OURS = (Ownership.OWNED, Ownership.ADOPTED)


@attrs.frozen
class Compacted:
    """What became of the files of one partition.

    :ivar key: text of its key.
    :ivar files: how many there were.
    :ivar into: how many there are now, or would be.
    :ivar bytes: size of those that were written anew, or would be.
    :ivar done: whether it was done; not in a dry run, nor if another writer was there first.
    """

    key: str
    files: int
    into: int
    bytes: int
    done: bool


def compact(
    dataset: Dataset,
    where: Where = None,
    *,
    target: int = 128 * 2**20,
    settled: timedelta = timedelta(hours=24),
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
    if dataset.format != "parquet" and not isinstance(dataset, TableDataset):
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} holds {dataset.format}; expected Parquet files to compact"
        )
    before = (now or datetime.now(UTC)) - settled
    compacted = []
    partitions: Iterable[StoredPartition] = list_(dataset, where)
    if isinstance(dataset, TableDataset):  # with what it takes to read them, of which a listing keeps nothing
        partitions = snapshot(dataset, [partition.key for partition in partitions]).values()
    for partition in partitions:
        published = partition.metadata.get("published")
        if published is not None and datetime.fromisoformat(published) > before:
            continue
        if isinstance(dataset, TableDataset):
            files, into, done = merge_rows(dataset, partition, target, dry_run=dry_run)
            if files:
                whole = len(partition.files)
                left = whole - files + into
                compacted.append(Compacted(str(partition.key), whole, left, partition.bytes, done))
        elif batches := _groups(partition, dataset.members, target):
            into = len(partition.files) - sum(map(len, batches)) + len(batches)
            size = sum(partition.files[name] for batch in batches for name in batch)
            done = not dry_run and _rewrite(dataset, partition.key, target)
            compacted.append(Compacted(str(partition.key), len(partition.files), into, size, done))
    return compacted


def _groups(partition: StoredPartition, members: Sequence[str], target: int) -> list[tuple[str, ...]]:
    """Files that become one each; never those of different members or buckets."""
    contents = partition.content.by_member(partition.directory, members).values()
    return [group for content in contents for group in _small(content, target)]


def _small(content: PartitionFiles, target: int) -> list[tuple[str, ...]]:
    parts = by_bucket(content.files, {} if content.metadata is None else content.metadata.index)
    return [group for part in parts for group in groups(part, target)]


def _rewrite(dataset: Dataset, key: Key, target: int) -> bool:
    """Write the small files of the partition *key* anew; whether no other writer was quicker."""
    try:
        with Commit(dataset, evolve=True) as commit:  # from here on another writer is noticed
            partition = get(dataset, key)
            if partition is None:
                return False
            names: dict[str, str] = {}
            with translate_errors(about(dataset.path, [str(key)]), "compacted", damaged=(ValueError,)):
                for member, content in partition.content.by_member(partition.directory, dataset.members).items():
                    small = _small(content, target)
                    merged = {name for group in small for name in group}
                    kept = [name for name in content.files if name not in merged]
                    merge = Merge(content.base, small, kept, dict(dataset.credentials))
                    new = merge.write(commit.stage(key, member))
                    names |= {old: f"{member}/{name}" if member else name for old, name in new.items()}
            metadata = partition.content.metadata
            index = {} if metadata is None else renamed(metadata.index, names)
            staged = StagedFiles(partition.rows, {}, {} if metadata is None else metadata.schema, index)
            commit.put_files(key, staged, mode="overwrite", user=None if metadata is None else metadata.user)
            _check_unchanged(dataset, partition)
    except ConflictError as error:
        _log.warning("left for the next time: %s", error)
        return False
    return True


def _check_unchanged(dataset: Dataset, partition: StoredPartition) -> None:
    """Notice a writer that leaves no metadata."""
    now = get(dataset, partition.key)
    if now is None or now.files != partition.files:
        raise ConflictError(f"the files of {partition.path!r} were changed while they were compacted")


def drop_older(
    dataset: Dataset,
    than: timedelta,
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
    if keep < 0 or than < timedelta(0):
        raise InvalidDefinitionError(f"keep={keep}, than={than}; expected nothing below zero")
    limit = (now or datetime.now(UTC)).astimezone(UTC) - than  # times of one zone are compared by their wall clock
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
