"""Publishing partitions of a table: one snapshot on the main branch, by compare-and-swap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs
from pyiceberg.manifest import DataFile, ManifestEntry, ManifestEntryStatus
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from airflow_partitions.core.errors import (
    ConflictError,
    ForeignRowsError,
    LayoutError,
)
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.iceberg.table.catalog import TableReference
from airflow_partitions.storage.iceberg.table.columns import merged, spark_columns
from airflow_partitions.storage.iceberg.table.contents import FEW, unchanged
from airflow_partitions.storage.iceberg.table.file_keys import FileKeys
from airflow_partitions.storage.iceberg.table.key_column import Values
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.live_files import LiveFiles, all_manifests_of, entries_of, live_files
from airflow_partitions.storage.iceberg.table.new_snapshot import TableChange, new_snapshot
from airflow_partitions.storage.iceberg.table.paths import below
from airflow_partitions.storage.iceberg.table.snapshots import (
    EMPTY,
    Published,
    Snapshots,
    is_of,
    keeps_rows,
    partitions_of,
    summary_of,
)
from airflow_partitions.storage.iceberg.table.swap import compare_and_swap
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change, superseded
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule

#: Whether what deletes rows rewrites files, or says in others which rows are gone.
_DELETE_MODE = "write.delete.mode"


@attrs.frozen
class WrittenFiles:
    """What was written for one change.

    :ivar files: the data files.
    :ivar schema: the columns they were written with.
    """

    files: tuple[DataFile, ...] = ()
    schema: Schema | None = None


@attrs.frozen
class Publisher:
    """Who makes changes to a table.

    :ivar reference: the table.
    :ivar layout: of its keys.
    :ivar columns: dimension to column.
    :ivar attempt: who publishes.
    :ivar base: sequence number of the table when the writer began.
    :ivar rule: what columns may be written.
    """

    reference: TableReference
    layout: Layout
    columns: Mapping[str, str]
    attempt: Attempt
    base: int | None
    rule: SchemaRule | None = None

    def publish(self, changes: Sequence[Change], written: Mapping[str, WrittenFiles]) -> list[PartitionMetadata | None]:
        """Make all *changes* in one snapshot, or none.

        :param written: what was written, by directory.
        :return: what each partition says about itself now.
        :raises ForeignRowsError: if rows of another key were written.
        :raises ConflictError: if another writer was there first.
        :raises LayoutError: if a file of someone else holds rows of one of the keys and of another.
        :raises SchemaError: if the columns don't fit the table.
        :raises UnknownOutcomeError: if nobody can say whether the snapshot was made.
        """
        published: list[PartitionMetadata | None] = []

        def prepare(table: Table) -> TableChange | None:
            step = _Step(self, table, changes, written)
            if (made := step.made()) is not None:
                published[:] = made
                return None
            change, published[:] = step.prepared()
            return change

        compare_and_swap(self.reference, prepare)
        return published


class _Step:
    """One try, on the table as it is now."""

    def __init__(
        self, publisher: Publisher, table: Table, changes: Sequence[Change], written: Mapping[str, WrittenFiles]
    ) -> None:
        self.publisher = publisher
        self.attempt = publisher.attempt
        self.table = table
        self.name = publisher.reference.name
        self.metadata = table.metadata
        self.changes = {change.directory: change for change in changes}
        self.written = written
        self.snapshots = Snapshots(table.metadata, table.io)
        self.filter = KeyFilter.of(publisher.layout, publisher.columns, table.metadata.schema())
        self.file_keys = FileKeys.of(self.filter, table.metadata)
        self.keys: dict[str, Key] = {directory: publisher.layout.key_of(directory) for directory in self.changes}
        self.values: dict[str, Mapping[str, Values]] = {
            directory: self.filter.values(key) for directory, key in self.keys.items()
        }
        self.sql = {directory: self.filter.sql(key) for directory, key in self.keys.items()}

    def made(self) -> list[PartitionMetadata | None] | None:
        """What this attempt has published already, if it has: it was killed, or did not get the answer."""
        for snapshot in self.snapshots:
            if self.publisher.base is not None and (snapshot.sequence_number or 0) <= self.publisher.base:
                return None
            if is_of(snapshot, self.attempt):
                partitions = partitions_of(snapshot)
                if all(_is_same(change, partitions.get(directory)) for directory, change in self.changes.items()):
                    return [partitions[directory].metadata for directory in self.changes]
        return None

    def prepared(self) -> tuple[TableChange, list[PartitionMetadata | None]]:
        """The snapshot with all changes, not yet committed."""
        self._check_rows()
        self._check_others()
        where = self.filter.conditions(self.keys.values()) if len(self.keys) <= FEW else None
        live = live_files(self.metadata, self.table.io, self.snapshots.head, where)
        inside, across = self._places(live)
        before = self.snapshots.published(self.changes)
        schema = self._schema()
        number = self.metadata.next_sequence_number()
        partitions: dict[str, Published] = {}
        removed: list[ManifestEntry] = []
        empty: dict[str, str] = {}
        for directory, change in self.changes.items():
            own, previous = inside.get(directory, []), before.get(directory)
            if previous is not None and previous.sql != self.sql[directory]:
                previous = None
            is_empty = previous is not None and f"{EMPTY}{directory}" in self.metadata.properties
            stored = bool(own) or directory in across or is_empty
            current = None if previous is None else previous.metadata
            change.check(stored, current, self.attempt, self.publisher.base)
            appends = change.mode == "append" and change.metadata is not None
            if directory in across and not appends:
                raise self._straddle(change, across[directory])
            kept = self._kept(change, own) if appends else []
            removed += [entry for entry in own if entry not in kept]
            partitions[directory] = self._published(change, number, kept, own, live, previous)
            if change.metadata is not None and not kept and not self._files(directory) and directory not in across:
                empty[f"{EMPTY}{directory}"] = partitions[directory].text
        stale = {f"{EMPTY}{directory}" for directory in self.changes} & self.metadata.properties.keys() - empty.keys()
        snapshot = new_snapshot(
            self.table,
            live,
            added=[file for directory in self.changes for file in self._files(directory)],
            removed=removed,
            properties=summary_of(self.attempt, partitions, [change.key for change in self.changes.values()]),
            schema=schema,
            set_properties=empty,
            remove_properties=sorted(stale),
        )
        return snapshot, [published.metadata for published in partitions.values()]

    def _files(self, directory: str) -> tuple[DataFile, ...]:
        return self.written[directory].files if directory in self.written else ()

    def _check_rows(self) -> None:
        """Make sure that all rows that were written are of their key."""
        for directory, change in self.changes.items():
            strays = [file for file in self._files(directory) if not self._is_of(file, directory)]
            if strays:
                shown, files = self.file_keys.shown(strays[0]), len(self._files(directory))
                raise ForeignRowsError(
                    f"the job wrote rows of other partitions than {change.key!r} to table {self.name!r}:"
                    f" {shown} in {len(strays)} of {files} files; expected only rows with {self.sql[directory]}"
                )

    def _is_of(self, file: DataFile, directory: str) -> bool:
        if file.spec_id not in self.file_keys.specs:
            raise ConflictError(
                f"the partition spec {file.spec_id} of table {self.name!r} was removed meanwhile;"
                " nothing was changed: run it again"
            )
        return self.file_keys.is_of(file, self.values[directory])

    def _check_others(self) -> None:
        """Make sure that nobody else has changed rows of the keys since the writer began.

        What tries of ours have published is checked by each change itself.
        """
        watched = [directory for directory, change in self.changes.items() if change.mode != "append"]
        base = self.publisher.base
        if base is None or not watched:
            return
        since = self.snapshots.since(base)
        if since is None:
            raise ConflictError(
                f"table {self.name!r}: snapshots that were made after {self.attempt} had begun have"
                " expired, so that nobody can say what they changed; nothing was changed: run it again"
            )
        for snapshot in since:
            if keeps_rows(snapshot) or self._is_ours(snapshot):
                continue
            for file in self._touched(snapshot):
                for directory in watched:
                    if self.file_keys.may_be_of(file, self.values[directory]):
                        operation = "" if snapshot.summary is None else f" ({snapshot.summary.operation.value})"
                        raise ConflictError(
                            f"partition {self.changes[directory].key!r} of table {self.name!r} was"
                            f" changed by others in snapshot {snapshot.snapshot_id}{operation}, after {self.attempt}"
                            " had begun; nothing was changed: run it again on what is stored now"
                        )

    def _is_ours(self, snapshot: Snapshot) -> bool:
        """Whether *snapshot* published keys of this definition: others of them have other rows."""
        partitions = partitions_of(snapshot)
        return bool(partitions) and all(self._sql_of(each) == own.sql for each, own in partitions.items())

    def _sql_of(self, directory: str) -> str | None:
        try:
            return self.filter.sql(self.publisher.layout.key_of(directory))
        except LayoutError:
            return None

    def _touched(self, snapshot: Snapshot) -> Iterator[DataFile]:
        """The files that *snapshot* added or removed."""
        for manifest in all_manifests_of(snapshot, self.table.io):
            if manifest.added_snapshot_id == snapshot.snapshot_id:
                for entry in entries_of(manifest, self.table.io, discard_deleted=False):
                    if entry.status is not ManifestEntryStatus.EXISTING and entry.snapshot_id == snapshot.snapshot_id:
                        yield entry.data_file

    def _places(self, live: LiveFiles) -> tuple[dict[str, list[ManifestEntry]], dict[str, list[ManifestEntry]]]:
        """The files wholly inside of each of the keys, and those across the edge, by directory."""
        inside: dict[str, list[ManifestEntry]] = {}
        across: dict[str, list[ManifestEntry]] = {}
        for entry in live.entries:
            for directory in self._candidates(entry.data_file):
                if not entry.data_file.record_count:
                    continue
                if self.file_keys.is_of(entry.data_file, self.values[directory]):
                    inside.setdefault(directory, []).append(entry)
                elif self.file_keys.may_be_of(entry.data_file, self.values[directory]):
                    across.setdefault(directory, []).append(entry)
        return inside, across

    def _candidates(self, file: DataFile) -> list[str]:
        """Directories of the keys that rows of *file* may be of."""
        if len(self.keys) <= FEW or (keys := self.file_keys.keys_of(file)) is None:
            return list(self.keys)
        directories = (self.publisher.layout.directory_of(key) for key in keys)
        return [directory for directory in directories if directory in self.keys]

    def _kept(self, change: Change, entries: list[ManifestEntry]) -> list[ManifestEntry]:
        """What stays when something is appended: all but what earlier tries have appended."""
        names = [self._name(entry) for entry in entries]
        again = superseded(names, self.attempt, change.key)
        return [entry for name, entry in zip(names, entries, strict=True) if name not in again]

    def _name(self, entry: ManifestEntry) -> str:
        return below(self.table.location(), entry.data_file.file_path)

    def _published(
        self,
        change: Change,
        number: int,
        kept: list[ManifestEntry],
        own: list[ManifestEntry],
        live: LiveFiles,
        previous: Published | None,
    ) -> Published:
        sql = self.sql[change.directory]
        if change.metadata is None:
            return Published(sql, None)
        metadata = attrs.evolve(change.metadata, commit=number)
        if change.mode == "append":
            before = unchanged(previous, sql, own, live, self.snapshots)
            names = {self._name(entry): entry.data_file.file_size_in_bytes for entry in kept}
            metadata = metadata.joined(before, names, {**names, **change.files})
            if metadata.rows is None and change.metadata.rows is not None and not any(map(live.deleting, kept)):
                rows = sum(entry.data_file.record_count for entry in kept)
                metadata = attrs.evolve(metadata, rows=rows + change.metadata.rows)
        return Published(sql, metadata)

    def _straddle(self, change: Change, entries: Sequence[ManifestEntry]) -> LayoutError:
        remedy = f"`DELETE FROM {self.name} WHERE {self.sql[change.directory]}`"  # noqa: S608 - to be read
        if self.metadata.properties.get(_DELETE_MODE) == "merge-on-read":
            rewrites = f"ALTER TABLE {self.name} SET TBLPROPERTIES ('{_DELETE_MODE}' = 'copy-on-write')"
            remedy = f"`{rewrites}` and {remedy}"
        shown = self.file_keys.shown(entries[0].data_file)
        return LayoutError(
            f"{len(entries)} files of table {self.name!r} hold rows of {change.key!r} and of other partitions, such as"
            f" {self._name(entries[0])!r} ({shown}): others wrote or compacted them."
            f" Nothing was changed; expected each file to be of one partition: run {remedy} in Spark, which rewrites"
            " them, and then this again"
        )

    def _schema(self) -> Schema | None:
        """The columns that the table gets, if they change."""
        if self.publisher.rule is not None:
            self.publisher.rule.after(spark_columns(self.metadata.schema()), list(self.changes.values()))
        schemas = [each.schema for directory, each in self.written.items() if directory in self.changes]
        return merged(self.table, [schema for schema in schemas if schema is not None])


def _is_same(change: Change, published: Published | None) -> bool:
    """Whether *published* is what *change* was to make."""
    if published is None or change.metadata is None or published.metadata is None:
        return published is not None and change.metadata is published.metadata
    new, old = change.metadata, published.metadata
    return change.mode == "append" or (new.rows, new.files, new.bytes) == (old.rows, old.files, old.bytes)
