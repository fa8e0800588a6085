"""The index that a dataset declares, for what is stored already."""

from __future__ import annotations

import logging

import attrs

from airflow_partitions.core.errors import ConflictError, InvalidDefinitionError, PartitionError
from airflow_partitions.storage.column_type import check_index
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.commit.publish import metadata_of
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.value_index import index_of
from airflow_partitions.storage.metadata.buckets import buckets_of
from airflow_partitions.storage.metadata.column_index import Index, is_read_as
from airflow_partitions.storage.metadata.counts import count
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.scan.scan_plan import Where, get, list_
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.stores.open import open_writable

_log = logging.getLogger(__name__)


@attrs.frozen
class Indexed:
    """What became of the index of one partition.

    :ivar key: text of its key.
    :ivar columns: those whose values were read, or would be.
    :ivar dropped: those that are no longer declared.
    :ivar done: whether it was done; not in a dry run, nor if another writer was there first.
    """

    key: str
    columns: tuple[str, ...]
    dropped: tuple[str, ...]
    done: bool


def build_index(dataset: Dataset, where: Where = None, *, dry_run: bool = False) -> list[Indexed]:
    """Give the stored partitions that *where* asks for the index that *dataset* declares."""
    open_writable(dataset)
    partitions = list(list_(dataset, where))
    schema = dict(with_schema(dataset, partitions).schema or ())
    if dataset.index and not schema:
        raise InvalidDefinitionError(
            f"storage {dataset.path!r}: nobody says what types its columns have; expected schema={{…}} to be declared"
        )
    check_index(dataset.index, schema, dataset.path)
    changes = [(partition, *_changes(partition, dataset, schema)) for partition in partitions]
    changes = [change for change in changes if change[1] or change[2]]
    indexed, problems = [], []
    for number, (partition, columns, dropped) in enumerate(changes, 1):
        done = False
        try:
            done = not dry_run and _build(dataset, partition, columns, schema)
        except PartitionError as error:  # of this partition: the others can be read all the same
            problems.append(error)
        if done:
            files = count(len(partition.files), "file")
            _log.info("%r: indexed %s of %s (%s of %s)", dataset.path, files, partition.key, number, len(changes))
        indexed.append(Indexed(str(partition.key), columns, dropped, done))
    if problems:
        raise problems[0]
    return indexed


def _changes(
    partition: StoredPartition, dataset: Dataset, schema: dict[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns whose values are to be read, and those that are to be forgotten."""
    index = _index(partition)
    usable = {column for column, one in index.items() if column in schema and is_read_as(one.kind, schema[column])}
    kept = {*dataset.index, *buckets_of(index)}
    columns = tuple(column for column in dataset.index if column not in usable) if partition.files else ()
    return columns, tuple(column for column in index if column not in kept)


def _build(dataset: Dataset, partition: StoredPartition, columns: tuple[str, ...], schema: dict[str, str]) -> bool:
    """Read the *columns* of *partition* and let it say so; whether no other writer was quicker."""
    content, old = partition.content, _index(partition)
    try:
        read = index_of(dataset, partition, columns, schema)
        index = {column: one for column, one in {**old, **read}.items() if column in (*dataset.index, *buckets_of(old))}
        rows = None if content.metadata is None else content.metadata.rows
        files = StagedFiles(rows, content.files, {}, index)
        metadata = content.metadata or metadata_of(str(partition.key), Commit.anyone(), files)
        if (metadata.files, metadata.bytes) != (len(files.files), files.bytes):  # others have put files there
            metadata = attrs.evolve(metadata, rows=None, files=len(files.files), bytes=files.bytes, schema={})
        open_writable(dataset).describe(partition.directory, content, attrs.evolve(metadata, index=index))
    except PartitionError as error:
        if not isinstance(error, ConflictError) and _is_stored(dataset, partition):
            raise
        _log.warning("left for the next time: %s", error)
        return False
    return True


def _is_stored(dataset: Dataset, partition: StoredPartition) -> bool:
    """Whether *partition* is still what is stored."""
    now = get(dataset, partition.key)
    return now is not None and now.content.sizes == partition.content.sizes


def _index(partition: StoredPartition) -> Index:
    metadata = partition.content.metadata
    return {} if metadata is None else metadata.index
