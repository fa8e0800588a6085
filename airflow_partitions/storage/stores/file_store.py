"""Layout of datasets in which every file is a partition, named by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_partitions.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.errors import InvalidKeyError, LayoutError
from airflow_partitions.keys import Key, Segment
from airflow_partitions.storage.layout.column import Column
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.metadata.partition_files import PartitionFiles

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.stores.folders import Accept


class FilePerKey(Layout):
    """The key of a file is its path below the root, without the suffix.

    :param definition: keys that become known when files do.
    :param suffix: other files are no partitions.
    :raises LayoutError: for another definition.
    """

    def __init__(self, definition: PartitionDefinition, suffix: str) -> None:
        if not isinstance(definition, PartitionAtRuntime):
            raise LayoutError(
                f"files named by their paths are partitions of PartitionAtRuntime(…), not of {definition!r}; for the"
                " latter expected folders: leave out suffix="
            )
        self.suffix = suffix
        super().__init__(definition, {definition.name: Column(f"{{{definition.name}}}")})

    in_frames = False

    def directory_of(self, key: Key) -> str:
        """The path of the file of *key* below the root.

        :raises LayoutError: if it would lead out of the root, or is hidden.
        """
        value = key.value if isinstance(key, Segment) else None
        levels = value.split("/") if isinstance(value, str) else [""]
        if any(level in ("", ".", "..") or level[0] in "_." for level in levels):
            raise LayoutError(
                f"{str(key)!r} is not the path of a file below the root; expected one such as 'part/foo', with no level"
                " that begins with '.' or '_'"
            )
        return f"{value}{self.suffix}"

    def key_of(self, directory: str) -> Key:
        text = directory.removesuffix(self.suffix) if self.suffix else directory
        try:
            return self.definition.key(text)
        except InvalidKeyError as error:
            raise LayoutError(f"file {directory!r} has no name that can be a key: {error}") from None

    def texts_of(self, directory: str) -> Mapping[str, str]:
        return {self.definition.name: str(self.key_of(directory))}


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
