"""Layout of datasets in which every file is a partition, named by its path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.core.errors import InvalidKeyError, LayoutError
from airflow_partitions.core.keys import Key, Segment
from airflow_partitions.storage.layout.column import Column
from airflow_partitions.storage.layout.layout import Layout


def _pairs(value: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    return tuple(value.items() if isinstance(value, Mapping) else value)


@attrs.frozen
class FilePerKey:
    """Every file is a partition, named by its path below the dataset's; there are no folders with partition columns.

    .. code-block:: python

        Csv("s3://bucket/days", partition_on=FilePerKey(".csv"))  # s3://bucket/days/2013/02/08.csv: "2013/02/08"

    :param suffix: what the names of the files end with; it is not part of their keys. Other files are no partitions.
    :param find: arguments of the file system's ``find``, such as ``{"maxdepth": 1}``; they are in the JSON form and in
        ``repr``, so secrets are refused.
    :raises LayoutError: for credentials in *find*.
    """

    suffix: str = ""
    find: tuple[tuple[str, Any], ...] = attrs.field(default=(), converter=_pairs, kw_only=True)

    @find.validator
    def _refuse_secrets(self, _: Any, find: tuple[tuple[str, Any], ...]) -> None:
        if "credentials" in dict(find):
            raise LayoutError(
                "find={'credentials': …}: what a file system's find is told can be seen by all; expected the dataset's"
                " own credentials=, which its file system has"
            )


class FilePerKeyLayout(Layout):
    """The key of a file is its path below the root, without the suffix.

    :param definition: keys that become known when files do.
    :param suffix: other files are no partitions.
    :raises LayoutError: for another definition.
    """

    def __init__(self, definition: PartitionDefinition, suffix: str) -> None:
        if not isinstance(definition, PartitionAtRuntime):
            raise LayoutError(
                f"files named by their paths are partitions of PartitionAtRuntime(…), not of {definition!r}; for the"
                " latter expected folders: leave out FilePerKey"
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
