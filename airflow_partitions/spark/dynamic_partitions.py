"""Writing many partitions at once: every row goes to the partition that its own values name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.keys import Key
from airflow_partitions.spark.value_index import index_of
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.io import Shape, WriteRequest, writer_for
from airflow_partitions.storage.io.staged_rows import staged_rows
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.buckets import bucket_index
from airflow_partitions.storage.metadata.partition_metadata import Index, PartitionMetadata
from airflow_partitions.storage.metadata.staged_files import StagedFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write_many(
    frame: DataFrame,
    files: Files,
    *,
    mode: str = "create",
    attempt: Attempt | None = None,
    shuffle: bool = True,
    bucket_by: Sequence[str] = (),
    buckets: int = 0,
    sort_by: Sequence[str] = (),
    target_file_size: int | None = None,
    index: Sequence[str] = (),
    user: Mapping[str, Any] | None = None,
    evolve: bool = False,
) -> dict[str, PartitionMetadata]:
    """Write the rows of *frame* to the partitions that their own values name: all of them, or none.

    .. code-block:: python

        write_many(flights, delays, mode="overwrite", sort_by=["delay"], index=["carrier"])

    :param frame: has all partition columns of *files*, with their text or a value of their type; they are not stored.
    :param mode: ``"create"`` fails if one of the partitions is stored, ``"append"`` adds to those that are,
        ``"overwrite"`` replaces them.
    :param attempt: who writes; see :class:`.Commit`.
    :param index: columns to remember the values of, by file: filters on them then read only the files with the value.
        It is made by reading these columns of what was written.
    :param user: what to keep with each of the partitions.
    :param evolve: let the schema change.
    :return: what each partition says about itself, by the text of its key.
    :raises InvalidDefinitionError: if *files* have tables.
    :raises ForeignRowsError: if a row names no partition of *files*.
    :raises ResultError: if *frame* lacks a partition column, or is no DataFrame that ends.
    :raises StoredError: if a partition to be created is stored.
    :raises SchemaError: if the rows have another schema than the dataset.
    :raises WriterError: if the format can't hold them.
    :raises ConflictError: if another writer wrote one of the partitions meanwhile.

    The other parameters are those of :class:`Shape`.
    """
    shape = Shape(
        shuffle=shuffle, bucket_by=bucket_by, buckets=buckets, sort_by=sort_by, target_file_size=target_file_size
    )
    if files.tables:
        raise InvalidDefinitionError(
            f"storage {files.path!r} has tables; expected Files.save({{key: {{table: frame}}}})"
        )
    with Commit(files, attempt, evolve=evolve) as commit:
        request = WriteRequest(dataset=files, folder=commit.folder, evolve=evolve)
        staged = writer_for("spark", files).write_many(frame, request, shape)
        values = _values(frame, request, staged, index) if index and staged else {}
        for key, partition in staged.items():
            indices: Index = {**values.get(key, {}), **_buckets(partition, shape)}
            commit.put(key, mode=mode, rows=partition.rows, schema=partition.schema, index=indices, user=user)
    return commit.metadata


def _values(
    frame: DataFrame, request: WriteRequest, staged: Mapping[Key, StagedFiles], columns: Sequence[str]
) -> dict[Key, Index]:
    """Which files have which values of *columns*, by partition."""
    directories = {request.dataset.layout.directory_of(key): key for key in staged}
    rows = staged_rows(frame.sparkSession, request, next(iter(staged.values())).schema)
    return {directories[name]: index for name, index in index_of(rows, directories, columns).items()}


def _buckets(partition: StagedFiles, shape: Shape) -> Index:
    """Which files of *partition* belong to a bucket."""
    return bucket_index(partition.files, shape.bucket_by, shape.buckets) if shape.bucket_by else {}
