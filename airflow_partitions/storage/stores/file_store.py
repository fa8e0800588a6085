"""Files that are partitions, each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_partitions.storage.layout.file_per_key import FilePerKey
from airflow_partitions.storage.metadata.partition_files import PartitionFiles

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.stores.store import Accept


class FileStore:
    """The files below a place, each a partition. They are only read.

    :ivar place: where they are.
    :ivar root: its path.
    :ivar find: what the file system's ``find`` is told, such as ``{"maxdepth": 1}``.
    """

    def __init__(self, place: Location, root: str, layout: FilePerKey, find: Mapping[str, Any]) -> None:
        self.place = place
        self.root = root
        self.layout = layout
        self.find = find

    def listed(self, accept: Accept | None = None) -> list[str]:
        """Paths of the files below the root, sorted."""
        return list(self.snapshot(accept=accept))

    def content(self, directory: str) -> PartitionFiles | None:
        """The one file *directory*, ``None`` if there is none."""
        return self.snapshot([directory]).get(directory)

    def snapshot(self, directories: list[str] | None = None, accept: Accept | None = None) -> dict[str, PartitionFiles]:
        """The files *directories*, or all that *accept* wants."""
        wanted = None if directories is None else set(directories)
        name = self.layout.definition.name
        return {
            path: PartitionFiles(self.root, {path: size})
            for path, size in self._found()
            if (wanted is None or path in wanted) and (accept is None or accept(name, self.layout.texts_of(path)[name]))
        }

    def _found(self) -> Iterator[tuple[str, int]]:
        from fsspec.core import url_to_fs

        place = self.place
        filesystem, base = url_to_fs(str(place)) if isinstance(place, Path) else (place.fs, place.path)
        start = len(base.rstrip("/")) + 1
        found = filesystem.find(base, **{**self.find, "detail": True})
        for path, info in sorted(found.items()):
            below = path[start:]
            hidden = any(level[:1] in ("_", ".") for level in below.split("/"))
            if info["type"] == "file" and not hidden and below.endswith(self.layout.suffix):
                yield below, info["size"]
