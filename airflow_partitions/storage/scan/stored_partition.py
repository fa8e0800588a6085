"""What a dataset holds: its partitions, with their files and what is known about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import attrs

from airflow_partitions.keys import Key
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.stores.directory_store import DirectoryStore
from airflow_partitions.storage.stores.open import open_store

#: Told a partition column and its text: whether partitions with it are wanted.
Accept = Callable[[str, str], bool]


@attrs.frozen
class StoredPartition:
    """One partition that is stored. Its key and its content are looked up when they are asked for.

    :ivar directory: its folder below the root of the dataset, such as ``date=2013-02-08/airport=EWR``.
    :ivar root: path of the dataset.
    """

    directory: str
    root: str
    layout: Layout = attrs.field(repr=False, eq=False)
    _find: Callable[[], PartitionFiles | None] = attrs.field(repr=False, eq=False)
    _known: DirectoryStore | None = attrs.field(default=None, repr=False, eq=False)

    @cached_property
    def key(self) -> Key:
        """Its key.

        :raises LayoutError: if the dataset's definition has no such key.
        """
        return self.layout.key_of(self.directory)

    @cached_property
    def values(self) -> Mapping[str, str]:
        """Text of its partition columns."""
        return self.layout.texts_of(self.directory)

    @cached_property
    def content(self) -> PartitionFiles:
        """Files and marker, as they are at the first look; no files if it has gone since it was listed."""
        with translate_errors(about(self.root, [self.directory]), "listed"):
            return self._find() or PartitionFiles(self.path, {})

    @property
    def path(self) -> str:
        """Path of its folder. Where a manifest tells its files they may lie elsewhere: see :attr:`paths`."""
        return f"{self.root}/{self.directory}"

    @property
    def folder(self) -> str | None:
        """Path of a folder that holds its files and no others; ``None`` if there is none, since a manifest tells."""
        return None if self._known is None else self.content.base

    @property
    def files(self) -> Mapping[str, int]:
        """File name to size in bytes; see :attr:`paths` for where they are."""
        return self.content.files

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of its files.

        Spark finds the partition columns in them with the options ``basePath`` (the root) and
        ``ignoreInvalidPartitionPaths`` (there are folders between the two).
        """
        return tuple(f"{self.content.base}/{name}" for name in self.files)

    def only(self, names: Collection[str]) -> StoredPartition:
        """This partition with no other files than those of *names*."""
        kept = {name: size for name, size in self.files.items() if name in names}
        return attrs.evolve(self, find=partial(_same, attrs.evolve(self.content, files=kept)), known=None)

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(self.files.values())

    @property
    def rows(self) -> int | None:
        """Rows in all files, if known."""
        return None if self.content.marker is None else self.content.marker.rows

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What its writer said about it: ``attempt``, ``published``, ``rows``, ``schema``, ``index``, ``user``, …"""
        return {} if self.content.marker is None else self.content.marker.to_json()


def inventory(files: Files, accept: Accept | None = None) -> Iterator[StoredPartition]:
    """The partitions of *files*, in the order of their folders' names.

    :param accept: asked for every column on the way down; what it refuses is not listed, so it costs nothing.
    """
    with translate_errors(repr(files.path), "listed"):
        known = open_store(files)
        directories = known.listed(accept) if isinstance(known, DirectoryStore) else None
    if directories is None or not isinstance(known, DirectoryStore):
        yield from snapshot(files, accept=accept).values()
    else:
        for directory in directories:
            yield StoredPartition(directory, files.path, files.layout, partial(known.content, directory), known)


def snapshot(
    files: Files, keys: Iterable[Key] | None = None, accept: Accept | None = None
) -> Mapping[str, StoredPartition]:
    """The partitions of *files* with their files, by directory, as they are at one moment between two commits.

    :param keys: only these, as far as they are stored.
    :param accept: as for :func:`inventory`.
    """
    wanted = None if keys is None else [files.layout.directory_of(key) for key in keys]
    with translate_errors(repr(files.path) if wanted is None else about(files.path, wanted), "listed"):
        known = open_store(files)
        found, folders = known.snapshot(wanted, accept), known if isinstance(known, DirectoryStore) else None
    return {
        directory: StoredPartition(directory, files.path, files.layout, partial(_same, content), folders)
        for directory, content in found.items()
    }


def stored(files: Files, key: Key) -> StoredPartition | None:
    """The partition *key* of *files*, ``None`` if there is none."""
    directory, known = files.layout.directory_of(key), open_store(files)
    if not isinstance(known, DirectoryStore):
        return snapshot(files, [key]).get(directory)
    return (
        StoredPartition(directory, files.path, files.layout, partial(known.content, directory), known)
        if known.has(directory)
        else None
    )


def _same(content: PartitionFiles) -> PartitionFiles:
    return content
