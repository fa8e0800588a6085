"""Partitions on an object store that someone else made: every prefix with files is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.storage.filesystem.filesystem import sizes
from airflow_partitions.storage.layout.escape import unescape
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.stores.folders import accepts
from airflow_partitions.storage.stores.foreign_folders import by_canonical_name, name_there
from airflow_partitions.storage.stores.store import ReadOnlyStore

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.stores.store import Accept


@attrs.frozen
class ListedStore(ReadOnlyStore):
    """The partitions below a place, as they are found. They are only read.

    :ivar place: where they are.
    :ivar root: its path.
    :ivar columns: names of the partition columns, in the order of the levels.
    """

    place: Location
    root: str
    columns: tuple[str, ...]

    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> dict[str, PartitionFiles]:
        files: dict[str, dict[str, int]] = {}
        for directory in [""] if directories is None else directories:
            for below, size in self._below(directory).items():
                levels = below.split("/")
                folder, name = "/".join(levels[: len(self.columns)]), "/".join(levels[len(self.columns) :])
                if name and not any(part[0] in "_." for part in name.split("/")) and self._accepts(folder, accept):
                    files.setdefault(folder, {})[below] = size
        named = by_canonical_name(self.root, files)
        return {name: PartitionFiles(self.root, files[folder]) for name, folder in named.items()}

    def _below(self, directory: str) -> dict[str, int]:
        """Path below the root to size, of the files in *directory*, or of all."""
        if not directory:
            return sizes(self.place)
        files = sizes(self.place / directory)
        if not files and (there := name_there(self.place, directory)) != directory:
            directory, files = there, sizes(self.place / there)
        return {f"{directory}/{name}": size for name, size in files.items()}

    def _accepts(self, directory: str, accept: Accept | None) -> bool:
        if [unescape(level.partition("=")[0]) for level in directory.split("/")] != [*self.columns]:
            return False
        return accept is None or accepts(directory, accept)
