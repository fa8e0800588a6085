"""Several partitions by one frame: what they need together, and its rows as files of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import ForeignRowsError, InvalidDefinitionError, ResultError
from airflow_partitions.core.keys import Key
from airflow_partitions.core.partition import Partition
from airflow_partitions.frames.input import PAST, Input
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


#: The parameter of a function that makes several partitions at once.
SEVERAL = "partitions"


def check_several(parameters: Collection[str], storage: Storage | None, asset: str) -> None:
    """Refuse a function that makes several partitions at once, and can't.

    :raises InvalidDefinitionError: with the way out.
    """
    problem = None
    if "partition" in parameters:
        problem = "also takes 'partition'; expected one of the two"
    elif PAST in parameters:
        problem = f"also takes {PAST!r}, which is of one partition; expected 'partition' instead"
    elif storage is None:
        problem = "has no storage; expected storage=, or 'partition' instead"
    elif storage.members or not storage.key_columns:
        problem = f"has storage {storage.path!r}, whose frames name no partition; expected 'partition' instead"
    if problem is not None:
        raise InvalidDefinitionError(f"asset {asset!r} takes {SEVERAL!r}, all of a batch at once, and {problem}")


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


def as_read(needed: Mapping[str, Input], sources: Mapping[str, Input]) -> dict[str, Input]:
    """What one partition has *needed*, from where the *sources* of all were read."""
    return {name: attrs.evolve(source, storage=sources[name].storage) for name, source in needed.items()}


@attrs.frozen
class Several:
    """The files of several partitions that one writer has written.

    :ivar files: of those that rows have named, by key.
    :ivar empty: of the others, each written by itself.
    """

    files: Mapping[Key, StagedFiles]
    empty: Mapping[Key, StagedFiles] = attrs.field(factory=dict)

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        return sum(files.rows or 0 for files in self.files.values())

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        parts = {"files": self.files, "empty": self.empty}
        return {name: {str(key): files.to_json() for key, files in part.items()} for name, part in parts.items()}

    @classmethod
    def from_json(cls, form: Mapping[str, Any], partitions: Iterable[Partition]) -> Several:
        """The inverse of :meth:`to_json`."""
        keys = {partition.text: partition.wrapped for partition in partitions}
        return cls(
            *({keys[text]: StagedFiles(**files) for text, files in form[name].items()} for name in ("files", "empty"))
        )

    def of(self, key: Key) -> StagedFiles:
        """The files of one of them."""
        return self.files[key] if key in self.files else self.empty[key]

    def folder(self, key: Key, commit: Commit) -> Location:
        """Where these are in the place of *commit*."""
        return commit.written_to(key) if key in self.files else commit.stage(key)

    def put(self, key: Key, commit: Commit, attempt: Attempt) -> None:
        """Let *commit* publish one of them for *attempt*."""
        if key in self.files:
            commit.put_many({key: self.files[key]}, mode="overwrite", attempts={key: attempt})
        else:
            commit.put_files(key, self.empty[key], mode="overwrite", attempt=attempt)


def write_several(frame: Any, partitions: Sequence[Partition], storage: Storage, folder: Location) -> Several:
    """Write the rows of *frame* to the partitions that they name, of those that are asked for; one without rows is
    written without any.

    :param folder: of a commit.
    :raises ForeignRowsError: if a row names another partition.
    :raises ResultError: if it is no frame, or lacks the columns that name partitions.
    :raises SchemaError: if *storage* declares other columns.
    :raises WriterError: if its format can't hold them.
    """
    if not is_written(type(frame)):
        raise ResultError(
            f"the function returned {type(frame).__name__}; expected a frame whose rows name their partition:"
            f" {', '.join(storage.key_columns)}"
        )
    request = WriteRequest(dataset=with_schema(storage), folder=folder, evolve=storage.schema is None)
    written = writer_for(type(frame), storage).write_many(frame, request, Shape())
    asked = {partition.wrapped for partition in partitions}
    if foreign := sorted(str(key) for key in written.keys() - asked):
        raise ForeignRowsError(
            f"rows name partition {foreign[0]!r}"
            + (f" and {len(foreign) - 1:,} others" if len(foreign) > 1 else "")
            + f"; expected those that are asked for: {partitions[0].text} to {partitions[-1].text}"
        )
    empty = {}
    for key in [partition.wrapped for partition in partitions if partition.wrapped not in written]:
        own = folder / storage.layout.directory_of(key)
        if isinstance(own, Path):
            own.mkdir(parents=True, exist_ok=True)
        empty[key] = write_partition(_without_rows(frame), key, attrs.evolve(request, folder=own))
    return Several(dict(written), empty)


def _without_rows(frame: Any) -> Any:
    """The columns of *frame* alone."""
    if hasattr(frame, "sparkSession"):
        return frame.limit(0)
    return frame.slice(0, 0) if hasattr(frame, "slice") else frame.head(0)
