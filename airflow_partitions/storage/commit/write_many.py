"""Writing many partitions at once: every row goes to the partition that its own values name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError, ResultError
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.registry import is_written, writer_for
from airflow_partitions.storage.io.shape import Shape
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.buckets import bucket_index
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.scan.recorded_schema import with_schema


def write_many(
    frame: Any,
    dataset: Dataset,
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

    :param frame: a frame of Spark, pandas, polars or Arrow. It has all partition columns of the *dataset*, with their
        text or a value of their type; they are not stored. For a table it has the columns that hold the keys.
    :param mode: ``"create"`` fails if one of the partitions is stored, ``"append"`` adds to those that are,
        ``"overwrite"`` replaces them. A partition of which there is no row stays as it is.
    :param attempt: who writes; see :class:`.Commit`.
    :param user: what to keep with each of the partitions.
    :param evolve: let the schema change.
    :return: what each partition says about itself, by the text of its key.
    :raises InvalidDefinitionError: if the *dataset* has tables.
    :raises ForeignRowsError: if a row names no partition of the *dataset*.
    :raises LayoutError: if nothing keeps the rows of two keys of a table in files of their own.
    :raises ResultError: if *frame* lacks a partition column, or is no frame that ends.
    :raises StoredError: if a partition to be created is stored.
    :raises SchemaError: if the rows have another schema than the dataset.
    :raises WriterError: if the format can't hold them, or they can't be written in the shape that is asked for.
    :raises ConflictError: if another writer wrote one of the partitions meanwhile.

    The other parameters are those of :class:`Shape`. Frames without Spark know of *shuffle* only, and a table says
    itself how its files are sorted and divided.
    """
    shape = Shape(
        shuffle=shuffle, bucket_by=bucket_by, buckets=buckets, sort_by=sort_by, target_file_size=target_file_size
    )
    if dataset.members:
        raise InvalidDefinitionError(f"storage {dataset.path!r} has tables; expected save({{key: {{table: frame}}}})")
    if not is_written(type(frame)):
        raise ResultError(
            f"{dataset.path!r}: got {type(frame).__name__}; expected a frame of pandas, polars, Arrow or Spark"
        )
    with Commit(dataset, attempt, evolve=evolve) as commit:
        request = WriteRequest(dataset=with_schema(dataset), folder=commit.folder, evolve=evolve)
        staged = writer_for(type(frame), dataset).write_many(frame, request, shape)
        commit.put_many({key: _with_buckets(each, shape) for key, each in staged.items()}, mode=mode, user=user)
    return commit.metadata


def _with_buckets(staged: StagedFiles, shape: Shape) -> StagedFiles:
    """*staged*, with word of which files belong to a bucket."""
    if not shape.bucket_by:
        return staged
    return attrs.evolve(staged, index={**staged.index, **bucket_index(staged.files, shape.bucket_by, shape.buckets)})
