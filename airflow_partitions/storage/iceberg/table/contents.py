"""Contents of a table: its files by the directories of their keys."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

import attrs
from pyiceberg.manifest import ManifestEntry
from pyiceberg.table import Table

from airflow_partitions.core.errors import LayoutError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.iceberg.table.file_keys import FileKeys
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.live_files import LiveFiles, live_files
from airflow_partitions.storage.iceberg.table.paths import below, common
from airflow_partitions.storage.iceberg.table.planned_files import PlannedFiles
from airflow_partitions.storage.iceberg.table.snapshots import Published, Snapshots, keeps_rows
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata

_log = logging.getLogger(__name__)
#: With more keys than these, all manifests are read.
FEW = 32


@attrs.frozen
class Contents:
    """What a table holds.

    :ivar table: the table.
    :ivar keys: how its keys are told.
    """

    table: Table
    keys: KeyFilter

    def read(
        self, directories: Sequence[str] | None = None, accepts: Callable[[str], bool] | None = None
    ) -> dict[str, PlannedFiles]:
        """What is in *directories*, or in all that it *accepts*, sorted."""
        metadata = self.table.metadata
        snapshots = Snapshots(metadata, self.table.io)
        keys = None if directories is None else self._keys(directories)
        where = None if keys is None or len(keys) > FEW else self.keys.conditions(keys.values()) if keys else None
        if keys is not None and not keys:
            return {}
        live = live_files(metadata, self.table.io, snapshots.head, where)
        groups, nameless = self._groups(live, keys, accepts)
        empty = {
            directory
            for directory in snapshots.empty()
            if (keys is None or directory in keys) and (accepts is None or accepts(directory))
        }
        published = snapshots.published(groups.keys() | empty if keys is not None or accepts is not None else None)
        contents: dict[str, PlannedFiles] = {}
        for directory in sorted(groups.keys() | empty):
            key, entries = groups.get(directory, (None, []))
            key = self._key(directory) if key is None else key
            if key is not None:
                said = unchanged(published.get(directory), self.keys.sql(key), entries, live, snapshots)
                if entries or said is not None:
                    contents[directory] = self._files(entries, said, live, nameless)
        return contents if directories is None else {each: contents[each] for each in directories if each in contents}

    def _keys(self, directories: Iterable[str]) -> dict[str, Key]:
        keys = {directory: self._key(directory) for directory in directories}
        return {directory: key for directory, key in keys.items() if key is not None}

    def _key(self, directory: str) -> Key | None:
        try:
            return self.keys.layout.key_of(directory)
        except LayoutError:
            return None

    def _groups(
        self, live: LiveFiles, keys: dict[str, Key] | None, accepts: Callable[[str], bool] | None
    ) -> tuple[dict[str, tuple[Key, list[ManifestEntry]]], list[ManifestEntry]]:
        """Directory to its key and the entries of its files; and the entries of files that tell no keys."""
        file_keys, layout = FileKeys.of(self.keys, self.table.metadata), self.keys.layout
        groups: dict[str, tuple[Key, list[ManifestEntry]]] = {}
        # Whether a file may have rows of one key is told sooner than all its keys.
        few = None if keys is None or len(keys) > FEW else [self.keys.values(key) for key in keys.values()]
        nameless: list[ManifestEntry] = []
        for entry in live.entries:
            if not entry.data_file.record_count:
                continue
            if few is not None and not any(file_keys.may_be_of(entry.data_file, values) for values in few):
                continue
            file = file_keys.keys_of(entry.data_file)
            if file is None:
                nameless.append(entry)
                continue
            for key in file:
                directory = layout.directory_of(key)
                if (keys is None or directory in keys) and (accepts is None or accepts(directory)):
                    groups.setdefault(directory, (key, []))[1].append(entry)
        if nameless:
            _log.warning(
                "%s files of table %s have no statistics that tell their keys, and are left out; rewrite them",
                len(nameless),
                ".".join(self.table.name()),
            )
        return groups, nameless

    def _files(
        self,
        entries: list[ManifestEntry],
        metadata: PartitionMetadata | None,
        live: LiveFiles,
        nameless: list[ManifestEntry],
    ) -> PlannedFiles:
        paths = [entry.data_file.file_path for entry in entries]
        base = common(self.table.location(), paths)
        files = {below(base, entry.data_file.file_path): entry.data_file.file_size_in_bytes for entry in entries}
        readable = (*entries, *nameless)  # no key is listed for the latter, but its rows may be there
        sizes = dict(sorted(files.items()))
        return PlannedFiles(base, sizes, metadata, table=self.table, live=live, entries=readable)


def unchanged(
    published: Published | None, sql: str, entries: Sequence[ManifestEntry], live: LiveFiles, snapshots: Snapshots
) -> PartitionMetadata | None:
    """What a partition says about itself, if it still holds the rows that were published.

    :param sql: the rows that its key means.
    :param entries: those of its files.
    """
    if published is None or published.metadata is None or published.sql != sql:
        return None
    metadata = published.metadata
    sizes = [entry.data_file.file_size_in_bytes for entry in entries]
    same = (len(sizes), sum(sizes)) == (metadata.files, metadata.bytes)
    for entry in entries:
        if (entry.sequence_number or 0) > metadata.commit:
            snapshot = snapshots.get(entry.snapshot_id)
            if not same if snapshot is None else not keeps_rows(snapshot):  # who added it may have expired
                return None
        if live.deleting(entry) > metadata.commit:
            return None
    if metadata.rows is not None and sum(entry.data_file.record_count for entry in entries) != metadata.rows:
        return None
    return metadata if same else attrs.evolve(metadata, files=len(sizes), bytes=sum(sizes), index={})  # compacted
