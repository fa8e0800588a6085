"""The inputs of a function that runs without Spark, read as the frames it takes."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

import attrs

from airflow_partitions.core.errors import MissingInputError, StorageError
from airflow_partitions.frames.input import Input
from airflow_partitions.frames.result import Reads
from airflow_partitions.storage.scan.stored_partition import StoredPartition

#: How often the inputs are read again when files are replaced while they are read.
_REPEATS = 3


class _Rows:
    """Counts the rows of a lazy frame as its queries take them from the files, after the filters pushed there."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = Lock()  # batches are handed out by several threads

    def of(self, frame: Any) -> Any:
        """The same lazy frame, its rows being counted. Whatever its queries need less is still not read."""
        return frame.map_batches(
            self._take,
            predicate_pushdown=True,
            projection_pushdown=True,
            slice_pushdown=True,
            validate_output_schema=False,  # that of a query has the columns that it needs
            streamable=True,
        )

    def _take(self, batch: Any) -> Any:
        with self._lock:
            self.count += batch.height
        return batch


@attrs.frozen
class Reading:
    """What was read.

    :ivar frames: the frame of each input.
    """

    frames: Mapping[str, Any]
    _stored: Mapping[str, Mapping[str, StoredPartition]]
    _lazy: Mapping[str, _Rows]

    @property
    def reads(self) -> dict[str, Reads]:
        """Counts of each input until now: its partitions, their files and bytes, and its rows: those in memory, or of
        a lazy frame what its queries have read; ``None`` of a frame that can't tell."""
        return {name: self._reads(name) for name in self.frames}

    def _reads(self, name: str) -> Reads:
        frame, partitions = self.frames[name], self._stored[name].values()
        if name in self._lazy:
            rows: int | None = self._lazy[name].count
        else:
            rows = len(frame) if hasattr(frame, "__len__") else None
        return Reads(
            selected=len(partitions),
            partitions=len(partitions),
            files=sum(len(partition.files) for partition in partitions),
            bytes=sum(partition.bytes for partition in partitions),
            rows=rows,
            scans=1,
        )


def read_inputs(inputs: Mapping[str, Input]) -> Reading:
    """Read *inputs*, each as it is between two commits.

    :raises MissingInputError: if a partition is not stored.
    :raises StorageError: if a file can't be read.
    """
    for repeat in range(_REPEATS + 1):
        stored = {name: source.stored() for name, source in inputs.items()}
        try:
            frames = {name: source.read(stored=stored[name]) for name, source in inputs.items()}
        except StorageError as error:
            # Whoever publishes a partition while it is read takes files away: then there are new ones to read.
            replaced = any(source.identities(stored[name]) != source.identities() for name, source in inputs.items())
            if isinstance(error, MissingInputError) or repeat == _REPEATS or not replaced:
                raise
        else:
            lazy = {name: _Rows() for name, source in inputs.items() if source.frame.kind == "polars.LazyFrame"}
            return Reading(frames | {name: rows.of(frames[name]) for name, rows in lazy.items()}, stored, lazy)
    raise AssertionError  # the last repeat returns or raises
