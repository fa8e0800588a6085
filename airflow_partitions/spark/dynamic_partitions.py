"""Writing many partitions at once: every row goes to the partition that its own values name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.io import Shape, WriteRequest, writer_for
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.buckets import bucket_index
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.scan.recorded_schema import with_schema

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
    user: Mapping[str, Any] | None = None,
    evolve: bool = False,
) -> dict[str, PartitionMetadata]:
    """Write the rows of *frame* to the partitions that their own values name: all of them, or none.

    .. code-block:: python

        write_many(flights, delays, mode="overwrite", sort_by=["delay"])

    :param frame: has all partition columns of *files*, with their text or a value of their type; they are not stored.
    :param mode: ``"create"`` fails if one of the partitions is stored, ``"append"`` adds to those that are,
        ``"overwrite"`` replaces them.
    :param attempt: who writes; see :class:`.Commit`.
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
        request = WriteRequest(dataset=with_schema(files), folder=commit.folder, evolve=evolve)
        for key, staged in writer_for("spark", files).write_many(frame, request, shape).items():
            commit.put_files(key, _with_buckets(staged, shape), mode=mode, user=user)
    return commit.metadata


def _with_buckets(staged: StagedFiles, shape: Shape) -> StagedFiles:
    """*staged*, with word of which files belong to a bucket."""
    if not shape.bucket_by:
        return staged
    return attrs.evolve(staged, index={**staged.index, **bucket_index(staged.files, shape.bucket_by, shape.buckets)})
