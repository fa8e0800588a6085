"""Writing one partition: a frame, or one for each of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from airflow_partitions.errors import ResultError
from airflow_partitions.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.io.writer import Writer
from airflow_partitions.storage.metadata.staged_files import StagedFiles


def write_partition(
    frame: Any, key: Key, request: WriteRequest, writer_of: Callable[[Any, Dataset], Writer]
) -> StagedFiles:
    """Write *frame* as the rows of the partition *key*.

    :param frame: a frame, or a mapping of table to frame if the dataset has tables.
    :param writer_of: the writer of a frame.
    :raises ResultError: if a table is missing, or there is none of the name; and as :meth:`.Writer.write`.
    """
    dataset = request.dataset
    if not dataset.tables:
        return writer_of(frame, dataset).write(frame, key, request)
    if not isinstance(frame, Mapping) or set(frame) != set(dataset.tables):
        received = f"frames for {list(frame)}" if isinstance(frame, Mapping) else type(frame).__name__
        raise ResultError(
            f"partition {str(key)!r}: got {received}; expected a frame for each of the tables"
            f" {', '.join(dataset.tables)}"
        )
    staged = {}
    for table in dataset.tables:
        own = attrs.evolve(request, dataset=dataset.table(table), folder=request.folder / table)
        if isinstance(own.folder, Path):
            own.folder.mkdir(parents=True, exist_ok=True)
        staged[table] = writer_of(frame[table], own.dataset).write(frame[table], key, own)
    return StagedFiles.of_tables(staged)
