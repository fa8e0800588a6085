"""Several partitions by one frame: what they need together, and its rows as files of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import ForeignRowsError, ResultError
from airflow_partitions.core.keys import Key
from airflow_partitions.core.partition import Partition
from airflow_partitions.frames.input import Input
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.io.registry import is_written, writer_for
from airflow_partitions.storage.io.shape import Shape
from airflow_partitions.storage.io.write_partition import write_partition
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


def joined(needed: Iterable[Mapping[str, Input]]) -> dict[str, Input]:
    """The inputs of several partitions as one of each name, with the partitions that any of them needs."""
    inputs: dict[str, Input] = {}
    for each in needed:
        for name, source in each.items():
            other = inputs.get(name)
            if other is None or other.selection is None or source.selection is None:
                inputs[name] = source
            else:
                inputs[name] = attrs.evolve(source, selection=other.selection | source.selection)
    return inputs


@attrs.frozen
class Staged:
    """The files of one of several partitions.

    :ivar folder: where they are.
    :ivar is_empty: whether no row named it, so that it was written by itself.
    """

    files: StagedFiles
    folder: Location
    is_empty: bool = False

    def put(self, key: Key, commit: Commit, attempt: Attempt) -> None:
        """Let *commit* publish them for *attempt*."""
        if self.is_empty:
            commit.put_files(key, self.files, mode="overwrite", attempt=attempt)
        else:
            commit.put_many({key: self.files}, mode="overwrite", attempts={key: attempt})


def stage_many(frame: Any, partitions: Sequence[Partition], storage: Storage, commit: Commit) -> dict[Key, Staged]:
    """Write the rows of *frame* to the partitions that they name, of those that are asked for; one without rows is
    written without any.

    :raises ForeignRowsError: if a row names another partition.
    :raises ResultError: if it is no frame, or lacks the columns that name partitions.
    :raises SchemaError: if *storage* declares other columns.
    :raises WriterError: if its format can't hold them.
    """
    if not is_written(type(frame)):
        raise ResultError(
            f"the function returned {type(frame).__name__}; expected a frame of pandas, polars or Arrow whose rows name"
            f" their partition: {', '.join(storage.key_columns) or 'by the columns of the layout'}"
        )
    request = WriteRequest(dataset=with_schema(storage), folder=commit.folder, evolve=storage.schema is None)
    written = writer_for(type(frame), storage).write_many(frame, request, Shape())
    asked = {partition.wrapped for partition in partitions}
    if foreign := sorted(str(key) for key in written.keys() - asked):
        raise ForeignRowsError(
            f"rows name partition {foreign[0]!r}"
            + (f" and {len(foreign) - 1:,} others" if len(foreign) > 1 else "")
            + f"; expected those that are asked for: {partitions[0].text} to {partitions[-1].text}"
        )
    staged = {key: Staged(files, commit.written_to(key)) for key, files in written.items()}
    for key in [partition.wrapped for partition in partitions if partition.wrapped not in staged]:
        folder = commit.stage(key)
        nothing = frame.slice(0, 0) if hasattr(frame, "slice") else frame.head(0)
        files = write_partition(nothing, key, attrs.evolve(request, folder=folder))
        staged[key] = Staged(files, folder, is_empty=True)
    return staged
