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
from airflow_partitions.storage.filesystem.filesystem import relocate, remove
from airflow_partitions.storage.io.registry import is_written, writer_for
from airflow_partitions.storage.io.shape import Shape
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


#: The parameter of a function that makes several partitions at once.
SEVERAL = "partitions"
#: Folder of what is written of several tables, until the files of each partition lie together.
_APART = "_tables"


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
    elif not storage.key_columns:
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

    def withhold(self, key: Key, commit: Commit) -> None:
        """Let *commit* leave one of them out."""
        if key in self.files:
            commit.withhold(self.files[key])

    def put(self, key: Key, commit: Commit, attempt: Attempt) -> None:
        """Let *commit* publish one of them for *attempt*."""
        if key in self.files:
            commit.put_many({key: self.files[key]}, mode="overwrite", attempts={key: attempt})
        else:
            commit.put_files(key, self.empty[key], mode="overwrite", attempt=attempt)


def write_several(frame: Any, partitions: Sequence[Partition], storage: Storage, folder: Location) -> Several:
    """Write the rows of *frame* to the partitions that they name, of those that are asked for; one without rows is
    written without any.

    :param frame: a frame, or a mapping of table to frame if *storage* has tables.
    :param folder: of a commit.
    :raises ForeignRowsError: if a row names another partition.
    :raises ResultError: if it is no frame, or lacks the columns that name partitions, or a table is missing.
    :raises SchemaError: if *storage* declares other columns.
    :raises WriterError: if its format can't hold them.
    """
    request = WriteRequest(dataset=with_schema(storage), folder=folder, evolve=storage.schema is None)
    if storage.members:
        return Several(_write_tables(frame, partitions, request))
    written = _write(frame, partitions, request)
    others = [partition.wrapped for partition in partitions if partition.wrapped not in written]
    return Several(dict(written), {key: _write_empty(frame, key, _place(key, request)) for key in others})


def _write_tables(frames: Any, partitions: Sequence[Partition], request: WriteRequest) -> dict[Key, StagedFiles]:
    """Write a frame for each table, so that the files of each partition lie together."""
    dataset = request.dataset
    if not isinstance(frames, Mapping) or set(frames) != set(dataset.members):
        received = f"frames for {', '.join(map(str, frames))}" if isinstance(frames, Mapping) else type(frames).__name__
        raise ResultError(
            f"the function returned {received}; expected a frame for each of the tables {', '.join(dataset.members)},"
            " whose rows name their partition"
        )
    staged: dict[Key, dict[str, StagedFiles]] = {partition.wrapped: {} for partition in partitions}
    apart = request.folder / _APART  # writers make a folder for each partition, and a table's lie in those
    for member in dataset.members:
        own = attrs.evolve(request, dataset=dataset.table(member), folder=apart / member)
        written = _write(frames[member], partitions, own)
        for key, tables in staged.items():
            place = _place(key, request, member)
            if key not in written:
                tables[member] = _write_empty(frames[member], key, attrs.evolve(place, dataset=own.dataset))
                continue
            tables[member] = written[key]
            directory = own.folder / dataset.layout.directory_of(key)
            for name in written[key].files:
                relocate(directory / name, place.folder / name)
    remove(apart)
    return {key: StagedFiles.of_members(tables) for key, tables in staged.items()}


def _write(frame: Any, partitions: Sequence[Partition], request: WriteRequest) -> Mapping[Key, StagedFiles]:
    """Write the rows of *frame* to the partitions that they name."""
    dataset = request.dataset
    what = "the function returned" if dataset.member is None else f"table {dataset.member!r} got"
    if not is_written(type(frame)):
        raise ResultError(
            f"{what} {type(frame).__name__}; expected a frame whose rows name their partition:"
            f" {', '.join(dataset.key_columns)}"
        )
    written = writer_for(type(frame), dataset).write_many(frame, request, Shape())
    asked = {partition.wrapped for partition in partitions}
    if foreign := sorted(str(key) for key in written.keys() - asked):
        raise ForeignRowsError(
            f"rows name partition {foreign[0]!r}"
            + (f" and {len(foreign) - 1:,} others" if len(foreign) > 1 else "")
            + f"; expected those that are asked for: {partitions[0].text} to {partitions[-1].text}"
        )
    return written


def _place(key: Key, request: WriteRequest, member: str = "") -> WriteRequest:
    """The request to write *key*, or one table of it, to its own folder."""
    folder = request.folder / request.dataset.layout.directory_of(key)
    return attrs.evolve(request, folder=folder / member if member else folder)


def _write_empty(frame: Any, key: Key, request: WriteRequest) -> StagedFiles:
    """Write the columns of *frame* as a partition without rows."""
    if isinstance(request.folder, Path):
        request.folder.mkdir(parents=True, exist_ok=True)
    return writer_for(type(frame), request.dataset).write(_without_rows(frame), key, request)


def _without_rows(frame: Any) -> Any:
    """The columns of *frame* alone."""
    if hasattr(frame, "sparkSession"):
        return frame.limit(0)
    return frame.slice(0, 0) if hasattr(frame, "slice") else frame.head(0)
