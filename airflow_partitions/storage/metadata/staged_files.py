"""Files that a job has staged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import ResultError
from airflow_partitions.storage.filesystem.filesystem import children
from airflow_partitions.storage.metadata.column_index import Index, to_index

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


@attrs.frozen
class StagedFiles:
    """The files of one partition, as the job that wrote them saw them.

    :ivar rows: rows in all files; ``None`` if nobody counted.
    :ivar files: file name to size in bytes.
    :ivar schema: column to Spark type.
    :ivar index: which files have which values, of those indexed columns that the writer has looked at.
    """

    rows: int | None
    files: Mapping[str, int]
    schema: Mapping[str, str]
    index: Index = attrs.field(factory=dict, converter=to_index)

    @classmethod
    def of_members(cls, staged: Mapping[str, StagedFiles]) -> StagedFiles:
        """The files of all members of a partition: names of files and columns begin with that of theirs."""
        counts = [each.rows for each in staged.values()]
        return cls(
            rows=None if None in counts else sum(filter(None, counts)),
            files={f"{member}/{name}": size for member, each in staged.items() for name, size in each.files.items()},
            schema={f"{member}/{name}": kind for member, each in staged.items() for name, kind in each.schema.items()},
            index={
                f"{member}/{column}": one.renamed({name: f"{member}/{name}" for name in each.files})
                for member, each in staged.items()
                for column, one in each.index.items()
            },
        )

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(self.files.values())

    def to_json(self) -> dict[str, Any]:
        """JSON form: ``StagedFiles(**form)`` reads it."""
        return attrs.asdict(self)

    def check(self, present: Mapping[str, int], folder: Location) -> None:
        """Make sure that exactly these files are *present* in *folder*.

        :raises ResultError: if they are not.
        """
        if dict(present) != dict(self.files):
            missing, extra = sorted(set(self.files) - set(present)), sorted(set(present) - set(self.files))
            raise ResultError(
                f"the files in {folder} are not those the job wrote: missing {missing[:3]}, unexpected {extra[:3]},"
                f" of other size {[n for n in sorted(present) if n in self.files and present[n] != self.files[n]][:3]}"
            )


def readable_files(folder: Location, members: Sequence[str] = ("",)) -> dict[str, int]:
    """Name and size of the files that readers read: those not hidden by ``_`` or ``.``.

    :param members: the folders in *folder* that they lie in, as far as these are there; names begin with them.
    :raises ResultError: if there is no *folder*.
    """
    files: dict[str, int] = {}
    for member in members:
        place = folder / member if member else folder
        try:
            readable = {name: size for name, size in children(place).items() if name[0] not in "_."}
        except FileNotFoundError:
            if member:
                continue
            raise ResultError(f"the job left no folder {place}; expected its files there") from None
        files |= {f"{member}/{name}" if member else name: size for name, size in readable.items()}
    return files
