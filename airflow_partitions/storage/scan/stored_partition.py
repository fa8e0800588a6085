"""One stored partition, with its files and what is known about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

import attrs

from airflow_partitions.core.keys import Key
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.stores.store import Store


@attrs.frozen
class StoredPartition:
    """One partition that is stored. Its key and its content are looked up when they are asked for, unless they came
    with the listing.

    :ivar directory: its folder below the root of the dataset, such as ``date=2013-02-08/airport=EWR``.
    :ivar root: path of the dataset.
    """

    directory: str
    root: str
    layout: Layout = attrs.field(repr=False, eq=False)
    _store: Store = attrs.field(repr=False, eq=False)
    _listed: PartitionFiles | None = attrs.field(default=None, repr=False, eq=False)

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
        """Dataset and metadata, as they are at the first look; no files if it has gone since it was listed."""
        if self._listed is not None:
            return self._listed
        with translate_errors(about(self.root, [self.directory]), "listed"):
            return self._store.content(self.directory) or PartitionFiles(self.path, {})

    @property
    def path(self) -> str:
        """Path of its folder. Where a log names its files they may lie elsewhere: see :attr:`paths`."""
        return f"{self.root}/{self.directory}"

    @property
    def folder(self) -> str | None:
        """Path of a folder that holds its files and no others; ``None`` if there is none, since a log names them."""
        return self.content.base if self.content.in_folder else None

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
        return self.of(attrs.evolve(self.content, files=kept, in_folder=False))

    def of(self, content: PartitionFiles) -> StoredPartition:
        """This partition with that *content*."""
        return attrs.evolve(self, listed=content)

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(self.files.values())

    @property
    def rows(self) -> int | None:
        """Rows in all files, if known."""
        return None if self.content.metadata is None else self.content.metadata.rows

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What its writer said about it: ``attempt``, ``published``, ``rows``, ``schema``, ``index``, ``user``, …"""
        return {} if self.content.metadata is None else self.content.metadata.to_json()
