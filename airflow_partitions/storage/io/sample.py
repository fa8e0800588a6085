"""Some rows of a partition, and how many there are."""

from __future__ import annotations

from typing import Any

import attrs

from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.io.arrow_reader import ArrowReader, source_of
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.registry import reader_for
from airflow_partitions.storage.io.statistics import statistics_of


def sample(request: ReadRequest, condition: Any, limit: int) -> list[dict[str, Any]]:
    """The first rows of *request* for which the Arrow expression *condition* holds, column to value.

    :raises StorageError: if they can't be read.
    """
    reader = reader_for("arrow", request.dataset)
    if isinstance(reader, ArrowReader):  # no more is read than it takes to find them
        with translate_errors(repr(request.dataset.path), f"read as {request.dataset.format}"):
            rows = source_of(request).head(limit, filter=condition)
    else:
        rows = reader.read(request).filter(condition).slice(0, limit)
    return list(rows.to_pylist())


def row_count(request: ReadRequest) -> int:
    """How many rows *request* has: as its partitions say, else as their files do, else by reading them.

    :raises StorageError: if they can't be read.
    """
    recorded = 0
    if request.partitions is not None:
        recorded = sum(partition.rows or 0 for partition in request.partitions)
        others = tuple(partition for partition in request.partitions if partition.rows is None)
        if not others:
            return recorded
        request = attrs.evolve(request, partitions=others)
    if (rows := statistics_of(request, ()).rows) is not None:
        return recorded + rows
    reader = reader_for("arrow", request.dataset)
    if isinstance(reader, ArrowReader):
        with translate_errors(repr(request.dataset.path), f"read as {request.dataset.format}"):
            return recorded + int(source_of(request).count_rows())
    return recorded + len(reader.read(request))
