"""Writing one partition: a frame, or one for each of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from airflow_partitions.core.errors import ResultError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.registry import is_written, writer_for
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.io.writer import Writer
from airflow_partitions.storage.metadata.staged_files import StagedFiles


def write_partition(frame: Any, key: Key, request: WriteRequest) -> StagedFiles:
    """Write *frame* as the rows of the partition *key*.

    :param frame: a frame, or a mapping of table to frame if the dataset has tables.
    :raises ResultError: if it is no frame, a table is missing, or there is none of the name; and as
        :meth:`.Writer.write`.
    """
    dataset = request.dataset
    if not dataset.members:
        return _write(frame, key, request)
    if not isinstance(frame, Mapping) or set(frame) != set(dataset.members):
        received = f"frames for {list(frame)}" if isinstance(frame, Mapping) else type(frame).__name__
        raise ResultError(
            f"partition {str(key)!r}: got {received}; expected a frame for each of the tables"
            f" {', '.join(dataset.members)}"
        )
    staged = {}
    for member in dataset.members:
        own = attrs.evolve(request, dataset=dataset.table(member), folder=request.folder / member)
        staged[member] = _write(frame[member], key, own)
    return StagedFiles.of_members(staged)


def _write(frame: Any, key: Key, request: WriteRequest) -> StagedFiles:
    writer = _writer(frame, key, request.dataset)
    if isinstance(request.folder, Path):
        request.folder.mkdir(parents=True, exist_ok=True)
    return writer.write(frame, key, request)


def _writer(frame: Any, key: Key, dataset: Dataset) -> Writer:
    if not is_written(type(frame)):
        hint = ": return the frame instead of writing it" if frame is None else ""
        if hasattr(frame, "to_frame"):
            hint = ", such as its to_frame()"
        raise ResultError(
            f"partition {str(key)!r}: got {type(frame).__name__}; expected a frame of pandas, polars, Arrow or"
            f" Spark{hint}"
        )
    return writer_for(type(frame), dataset)
