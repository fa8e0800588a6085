"""Layout of datasets in which every file is a partition, named by its path."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_partitions.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.errors import InvalidKeyError, LayoutError
from airflow_partitions.keys import Key, Segment
from airflow_partitions.storage.layout.column import Column
from airflow_partitions.storage.layout.layout import Layout


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
