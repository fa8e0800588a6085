"""The small Parquet files of one partition, written as few large ones."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from airflow_partitions.core.errors import ConflictError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.backend import Compacted
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.maintenance.merge_files import Merge, groups
from airflow_partitions.storage.metadata.buckets import by_bucket
from airflow_partitions.storage.metadata.column_index import renamed
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.scan.scan_plan import get
from airflow_partitions.storage.scan.stored_partition import StoredPartition

_log = logging.getLogger(__name__)


def merge_small_files(dataset: Dataset, partition: StoredPartition, target: int, *, dry_run: bool) -> Compacted | None:
    """Write the small files of *partition* as few, with the same rows; ``None`` if they are as few as can be."""
    batches = _groups(partition, dataset.members, target)
    if not batches:
        return None
    into = len(partition.files) - sum(map(len, batches)) + len(batches)
    size = sum(partition.files[name] for batch in batches for name in batch)
    done = not dry_run and _rewrite(dataset, partition.key, target)
    return Compacted(str(partition.key), len(partition.files), into, size, done)


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
