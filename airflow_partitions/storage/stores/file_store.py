"""Files that are partitions, each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from airflow_partitions.core.errors import InvalidDefinitionError, LayoutError
from airflow_partitions.storage.layout.file_per_key import FilePerKeyLayout
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.stores.foreign_folders import leave_out
from airflow_partitions.storage.stores.store import ReadOnlyStore

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.stores.store import Accept


class FileStore(ReadOnlyStore):
    """The files below a place, each a partition. They are only read.

    :ivar place: where they are.
    :ivar root: its path.
    :ivar find: what the file system's ``find`` is told, such as ``{"maxdepth": 1}``.
    """

    root: str

    def __init__(self, place: Location, root: str, layout: FilePerKeyLayout, find: Mapping[str, Any]) -> None:
        self.place = place
        self.root = root
        self.layout = layout
        self.find = find

    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> dict[str, PartitionFiles]:
        paths = None if directories is None else set(directories)
        name = self.layout.definition.name
        return {
            path: PartitionFiles(self.root, {path: size})
            for path, size in self._paths()
            if (paths is None or path in paths) and (accept is None or accept(name, self.layout.texts_of(path)[name]))
        }

    def check_writable(self) -> NoReturn:
        raise InvalidDefinitionError(
            f"storage {self.root!r} is only read, for every file there is a partition; expected folders: leave out"
            " FilePerKey"
        )

    def _paths(self) -> Iterator[tuple[str, int]]:
        from fsspec.core import url_to_fs

        place = self.place
        filesystem, base = url_to_fs(str(place)) if isinstance(place, Path) else (place.fs, place.path)
        start = len(base.rstrip("/")) + 1
        nameless = []
        files = filesystem.find(base, **{**self.find, "detail": True})
        for path, info in sorted(files.items()):
            below = path[start:]
            hidden = any(level[:1] in ("_", ".") for level in below.split("/"))
            if info["type"] == "file" and not hidden and below.endswith(self.layout.suffix):
                if self._is_key(below):
                    yield below, info["size"]
                else:
                    nameless.append(below)
        leave_out(self.root, nameless, "their names can't be keys")

    def _is_key(self, path: str) -> bool:
        try:
            self.layout.key_of(path)
        except LayoutError:
            return False
        return True
