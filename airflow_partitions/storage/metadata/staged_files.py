"""What a job wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.errors import ResultError
from airflow_partitions.storage.filesystem.filesystem import children
from airflow_partitions.storage.metadata.partition_metadata import Index

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


@attrs.frozen
class StagedFiles:
    """The files of one partition, as the job that wrote them saw them.

    :ivar rows: rows in all files; ``None`` if nobody counted.
    :ivar files: file name to size in bytes.
    :ivar schema: column to Spark type.
    :ivar index: which files have a value of an indexed column.
    """

    rows: int | None
    files: Mapping[str, int]
    schema: Mapping[str, str]
    index: Index = attrs.field(factory=dict)

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(self.files.values())

    def to_json(self) -> dict[str, Any]:
        """JSON form: ``StagedFiles(**form)`` reads it."""
        return {"rows": self.rows, "files": dict(self.files), "schema": dict(self.schema), "index": dict(self.index)}

    def check(self, folder: Location) -> None:
        """Make sure that *folder* holds exactly these files.

        :raises ResultError: if it does not.
        """
        found = readable_files(folder)
        if not self.files:
            raise ResultError(f"the job wrote no file to {folder}; expected at least one, be it without rows")
        if found != dict(self.files):
            missing, extra = sorted(set(self.files) - set(found)), sorted(set(found) - set(self.files))
            raise ResultError(
                f"the files in {folder} are not those the job wrote: missing {missing[:3]}, unexpected {extra[:3]},"
                f" of other size {[n for n in sorted(found) if n in self.files and found[n] != self.files[n]][:3]}"
            )


def readable_files(folder: Location) -> dict[str, int]:
    """Name and size of the files in *folder* that readers read: those not hidden by ``_`` or ``.``."""
    try:
        return {name: size for name, size in children(folder).items() if name[0] not in "_."}
    except FileNotFoundError:
        raise ResultError(f"the job left no folder {folder}; expected its files there") from None
