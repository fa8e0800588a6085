"""Test for whether a partition that others write is complete."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

from airflow_partitions.core.calendars.duration import duration
from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.versions import check_version
from airflow_partitions.storage.filesystem.filesystem import ages, at, read
from airflow_partitions.storage.scan.stored_partition import StoredPartition

_VERSION = 1


@attrs.frozen
class Ready:
    """How to tell that nobody writes to a partition any more. By default a partition is complete with its first file.

    :ivar success_file: name of the file that its writer leaves at the end, such as ``_SUCCESS``: in the partition's
        folder, or in one above it, but below the root. A partition that has it may be empty.
    :ivar settled: none of its files has changed for so long, by the clock of their file system.
    """

    success_file: str | None = None
    settled: timedelta | None = attrs.field(default=None, converter=attrs.converters.optional(duration))

    def __attrs_post_init__(self) -> None:
        if self.success_file is not None and (not self.success_file or "/" in self.success_file):
            raise InvalidDefinitionError(
                f"success_file {self.success_file!r} is no file name; expected one such as '_SUCCESS'"
            )
        if self.settled is not None and self.settled <= timedelta(0):
            raise InvalidDefinitionError(f"settled={self.settled} waits for nothing; expected a positive duration")

    def holds(
        self, partition: StoredPartition, credentials: Mapping[str, Any] | None = None, now: datetime | None = None
    ) -> bool:
        """Whether *partition* is complete.

        :param credentials: what its file system is made with.
        """
        if self.success_file is not None and not self._has_success_file(partition, self.success_file, credentials):
            return False
        if self.settled is not None:
            newest = max(ages(at(_folder(partition), credentials)).values(), default=None)
            if newest is None or newest > (now or datetime.now(UTC)) - self.settled:
                return False
        return self.success_file is not None or bool(partition.files)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "version": _VERSION,
            "success_file": self.success_file,
            "settled": None if self.settled is None else self.settled.total_seconds(),
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Ready:
        """The condition whose :meth:`to_json` is *form*.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "the form of Ready")
        return cls(form["success_file"], None if form["settled"] is None else timedelta(seconds=form["settled"]))

    def _has_success_file(
        self, partition: StoredPartition, success_file: str, credentials: Mapping[str, Any] | None
    ) -> bool:
        folder, levels = _folder(partition), partition.directory.count("/") + 1
        above = [folder.rsplit("/", depth)[0] if depth else folder for depth in range(levels)]
        return any(read(at(f"{place}/{success_file}", credentials)) is not None for place in above)


def _folder(partition: StoredPartition) -> str:
    """Where *partition* is: others may call the folder otherwise."""
    if partition.folder is not None:
        return partition.folder
    name = next(iter(partition.files), "")
    levels = name.split("/")[: partition.directory.count("/") + 1]
    return "/".join([partition.root, *levels]) if f"{partition.root}/{name}" in partition.paths else partition.path
