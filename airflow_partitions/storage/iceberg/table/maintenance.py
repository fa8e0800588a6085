"""Keeping a table small: no snapshots, manifests or files that nobody needs.

All of it can be tried with ``dry_run=True``, which tells what would be done and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from pyiceberg.manifest import ManifestEntry, ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.update import RemoveSnapshotsUpdate, SetPropertiesUpdate

from airflow_partitions.storage.filesystem.filesystem import ages, at, is_folder_marker
from airflow_partitions.storage.iceberg.table.catalog import TableReference, translated_errors
from airflow_partitions.storage.iceberg.table.contents import Contents
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.live_files import LiveFiles, all_manifests_of, entries_of, live_files
from airflow_partitions.storage.iceberg.table.new_snapshot import TableChange, same_files, unmoved
from airflow_partitions.storage.iceberg.table.paths import plain
from airflow_partitions.storage.iceberg.table.records import RECORDS, write_records
from airflow_partitions.storage.iceberg.table.shadow import DATA
from airflow_partitions.storage.iceberg.table.snapshots import Published, Snapshots
from airflow_partitions.storage.iceberg.table.swap import compare_and_swap

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

#: Files of a manifest: what one publish writes anew when it replaces one of them.
MANIFEST_FILES = 500
_METADATA = "metadata"


def expire_snapshots(
    reference: TableReference, keys: KeyFilter, before: datetime, *, dry_run: bool = False
) -> list[int]:
    """Forget the snapshots that were made *before*; their numbers.

    What tags and branches name stays, and so does what partitions say about themselves. Files that nobody names any
    more stay until they are removed as :func:`orphans`. Who began to write before the last snapshot that was forgotten
    has to write again: *before* lies further back than the longest job.

    :param keys: how keys are told.
    """
    expired: list[int] = []

    def prepare(table: Table) -> TableChange | None:
        metadata = table.metadata
        named = {ref.snapshot_id for ref in metadata.refs.values()}
        old = (each for each in metadata.snapshots if each.timestamp_ms < before.timestamp() * 1000)
        expired[:] = [snapshot.snapshot_id for snapshot in old if snapshot.snapshot_id not in named]
        if dry_run or not expired:
            return None
        path = write_records(table, _records(table, keys))
        updates = (
            SetPropertiesUpdate(updates={RECORDS: path}),
            RemoveSnapshotsUpdate(snapshot_ids=list(expired)),
        )
        return TableChange(table, updates, unmoved(table), (path,))

    compare_and_swap(reference, prepare)
    return expired


def _records(table: Table, keys: KeyFilter) -> dict[str, str]:
    """What the partitions of *table* say about themselves."""
    contents = Contents(table, keys).read()
    published = Snapshots(table.metadata, table.io).published(contents)
    return {
        directory: Published(published[directory].sql, content.metadata).text
        for directory, content in contents.items()
        if content.metadata is not None
    }


def rewrite_manifests(reference: TableReference, *, dry_run: bool = False) -> tuple[int, int]:
    """Name the files of a table in manifests of a good size, sorted by their partitions.

    To publish takes as long as it takes to read the list of manifests, and to write anew those that name a file that
    is replaced.

    :return: how many manifests of data files there were, and how many there are, or would be.
    """
    counts = 0, 0

    def prepare(table: Table) -> TableChange | None:
        nonlocal counts
        snapshot = table.metadata.current_snapshot()
        live = live_files(table.metadata, table.io, snapshot)
        groups = list(_groups(live))
        counts = len(live.data), len(groups)
        return None if dry_run or len(groups) >= len(live.data) else same_files(table, live, groups)

    compare_and_swap(reference, prepare)
    return counts


def _groups(live: LiveFiles) -> Iterator[tuple[int, Sequence[ManifestEntry]]]:
    def spec_of(entry: ManifestEntry) -> int:
        return entry.data_file.spec_id

    def place(entry: ManifestEntry) -> tuple[int, list[tuple[bool, str]], int]:
        file = entry.data_file
        # Values of one field are of one type or null; as texts of one length numbers and dates sort well enough.
        values = [(file.partition[i] is None, f"{file.partition[i]!s:>20}") for i in range(len(file.partition))]
        return file.spec_id, values, entry.sequence_number or 0

    for spec, own in groupby(sorted(live.entries, key=place), key=spec_of):
        entries = list(own)
        yield from ((spec, entries[i : i + MANIFEST_FILES]) for i in range(0, len(entries), MANIFEST_FILES))


def orphans(reference: TableReference, before: datetime, tries: Collection[str] | None = None) -> list[Location]:
    """Files below a table that no snapshot names, and that were last changed *before*.

    They are what killed and failed writers left, and what belonged to snapshots that have expired. *before* lies
    further back than the longest job: what is being written is not named yet.

    :param tries: look only for data files of these tries: the manifests of all snapshots are read if there are any.
    """
    with translated_errors(f"table {reference.name!r}", "listed"):
        folders = [DATA, _METADATA] if tries is None else [f"{DATA}/{name}" for name in sorted(tries)]
        location = at(plain(reference.load().location()), reference.credentials)
        files = {f"{folder}/{name}": changed for folder in folders for name, changed in ages(location / folder).items()}
        old = [name for name, changed in files.items() if changed < before and not is_folder_marker(name)]
        # Looked at after the files: what was made meanwhile is named by now, or too young.
        named = set(_named(reference.load())) if old else set()
        return [location / name for name in old if f"{str(location).rstrip('/')}/{name}" not in named]


def _named(table: Table) -> Iterator[str]:
    """Paths of all files that *table* names."""
    metadata = table.metadata
    yield plain(table.metadata_location)
    yield from (plain(entry.metadata_file) for entry in metadata.metadata_log)
    yield from (plain(file.statistics_path) for file in (*metadata.statistics, *metadata.partition_statistics))
    if (records := metadata.properties.get(RECORDS)) is not None:
        yield plain(records)
    manifests: dict[str, ManifestFile] = {}
    for snapshot in metadata.snapshots:
        yield plain(snapshot.manifest_list)
        manifests |= {manifest.manifest_path: manifest for manifest in all_manifests_of(snapshot, table.io)}
    for path, manifest in manifests.items():
        yield plain(path)
        yield from (plain(entry.data_file.file_path) for entry in entries_of(manifest, table.io))
