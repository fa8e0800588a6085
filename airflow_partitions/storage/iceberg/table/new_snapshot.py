"""New snapshots of a table: their manifests, and what to ask of the catalog."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import attrs
from pyiceberg.manifest import (
    DataFile,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType
from pyiceberg.table.snapshots import Operation, Snapshot, SnapshotSummaryCollector, Summary, update_snapshot_summaries
from pyiceberg.table.update import (
    AddSchemaUpdate,
    AddSnapshotUpdate,
    AssertCurrentSchemaId,
    AssertRefSnapshotId,
    AssertTableUUID,
    RemovePropertiesUpdate,
    SetCurrentSchemaUpdate,
    SetPropertiesUpdate,
    SetSnapshotRefUpdate,
    TableRequirement,
    TableUpdate,
)

from airflow_partitions.storage.iceberg.table.live_files import LiveFiles

_COMPRESSION, _COMPRESSION_DEFAULT = "write.avro.compression-codec", "gzip"
_PARTITION_LIMIT = "write.summary.partition-limit"


@attrs.frozen
class TableChange:
    """A change of a table, whose files are written, and that nobody sees before :meth:`commit`.

    :ivar table: the table, as it was.
    :ivar updates: what to change in the catalog, all at once.
    :ivar requirements: what must not have changed there.
    :ivar paths: files that were written for it.
    """

    table: Table
    updates: tuple[TableUpdate, ...]
    requirements: tuple[TableRequirement, ...]
    paths: tuple[str, ...]

    def commit(self) -> None:
        """Make it, if the table is as it was.

        :raises CommitFailedException: if it is not.
        """
        self.table.catalog.commit_table(self.table, self.requirements, self.updates)

    def discard(self) -> None:
        """Remove what was written for it. Only if it was surely not made."""
        for path in self.paths:
            with suppress(OSError):
                self.table.io.delete(path)


def new_snapshot(
    table: Table,
    live: LiveFiles,
    *,
    added: Iterable[DataFile],
    removed: Collection[ManifestEntry],
    properties: Mapping[str, str],
    schema: Schema | None = None,
    set_properties: Mapping[str, str] | None = None,
    remove_properties: Collection[str] = (),
    same_rows: bool = False,
) -> TableChange:
    """A snapshot on the main branch of *table*, with one set of files in the place of another.

    :param live: the live files, looked into as far as those *removed* are concerned.
    :param added: data files; their partitions may be those of any spec of the table.
    :param properties: for its summary.
    :param schema: new columns of the table, if they change.
    :param same_rows: the files *added* hold the rows of those *removed*: compaction.
    """
    operation = Operation.REPLACE if same_rows else None
    return _Writer(table, live, properties, operation).written(
        list(added), removed, schema, set_properties or {}, remove_properties
    )


def same_files(table: Table, live: LiveFiles, groups: Iterable[tuple[int, Sequence[ManifestEntry]]]) -> TableChange:
    """A snapshot with the same files in other manifests.

    :param live: the live files, all looked into.
    :param groups: partition spec and entries of each new manifest of data files.
    """
    return _Writer(table, live, {}, Operation.REPLACE).regrouped(groups)


def unmoved(table: Table) -> tuple[TableRequirement, ...]:
    """That *table* is still itself, with the same newest snapshot."""
    current = table.metadata.current_snapshot_id
    return (
        AssertTableUUID(uuid=table.metadata.table_uuid),
        AssertRefSnapshotId(ref=MAIN_BRANCH, snapshot_id=current),
    )


class _Writer:
    """Writes the manifests of one snapshot."""

    def __init__(
        self, table: Table, live: LiveFiles, properties: Mapping[str, str], operation: Operation | None
    ) -> None:
        self.table = table
        self.operation = operation
        self.live = live
        self.properties = properties
        self.metadata = table.metadata
        self.number = table.metadata.new_snapshot_id()
        self.name = uuid.uuid4()
        self.schema = table.metadata.schema()
        self.specs = table.metadata.specs()
        self.compression: Any = table.metadata.properties.get(_COMPRESSION, _COMPRESSION_DEFAULT)
        self.paths: list[str] = []

    def regrouped(self, groups: Iterable[tuple[int, Sequence[ManifestEntry]]]) -> TableChange:
        """The same files, in other manifests."""
        manifests = [self._manifest(spec, [self._later(entry, set()) for entry in entries]) for spec, entries in groups]
        deletes = [manifest for manifest in self.live.manifests if manifest not in self.live.data]
        return self._change(self._snapshot([*manifests, *deletes], self._summary([], [])))

    def written(
        self,
        added: list[DataFile],
        removed: Collection[ManifestEntry],
        schema: Schema | None,
        set_properties: Mapping[str, str],
        remove_properties: Collection[str],
    ) -> TableChange:
        manifests = [*self._added(added), *self._kept(removed)]
        snapshot = self._snapshot(manifests, self._summary(added, removed))
        before: list[TableUpdate] = []
        requirements: list[TableRequirement] = []
        if schema is not None:
            before = [AddSchemaUpdate(schema_=schema), SetCurrentSchemaUpdate()]
            requirements.append(AssertCurrentSchemaId(current_schema_id=self.metadata.current_schema_id))
        after: list[TableUpdate] = []
        if set_properties:
            after.append(SetPropertiesUpdate(updates=dict(set_properties)))
        if remove_properties:
            after.append(RemovePropertiesUpdate(removals=list(remove_properties)))
        return self._change(snapshot, before, after, requirements)

    def _change(
        self,
        snapshot: Snapshot,
        before: Sequence[TableUpdate] = (),
        after: Sequence[TableUpdate] = (),
        more: Sequence[TableRequirement] = (),
    ) -> TableChange:
        updates = (*before, AddSnapshotUpdate(snapshot=snapshot), self._head(snapshot), *after)
        return TableChange(self.table, updates, (*unmoved(self.table), *more), tuple(self.paths))

    def _head(self, snapshot: Snapshot) -> SetSnapshotRefUpdate:
        ref = self.metadata.refs.get(MAIN_BRANCH)
        kept = {} if ref is None else ref.model_dump(exclude={"snapshot_id", "snapshot_ref_type"}, exclude_none=True)
        return SetSnapshotRefUpdate(
            ref_name=MAIN_BRANCH, type=SnapshotRefType.BRANCH, snapshot_id=snapshot.snapshot_id, **kept
        )

    def _added(self, files: list[DataFile]) -> Iterator[ManifestFile]:
        """A manifest for each partition spec of *files*."""
        for spec, own in groupby(sorted(files, key=lambda file: file.spec_id), key=lambda file: file.spec_id):
            entries = [
                ManifestEntry.from_args(
                    status=ManifestEntryStatus.ADDED,
                    snapshot_id=self.number,
                    sequence_number=None,
                    file_sequence_number=None,
                    data_file=file,
                )
                for file in own
            ]
            yield self._manifest(spec, entries)

    def _kept(self, removed: Collection[ManifestEntry]) -> Iterator[ManifestFile]:
        """The manifests of what was there; without what is *removed*."""
        gone = {entry.data_file.file_path for entry in removed}
        for manifest in self.live.manifests:
            entries = self.live.data.get(manifest, ())
            if any(entry.data_file.file_path in gone for entry in entries):
                yield self._manifest(manifest.partition_spec_id, [self._later(entry, gone) for entry in entries])
            else:
                yield manifest

    def _later(self, entry: ManifestEntry, gone: set[str]) -> ManifestEntry:
        """What *entry* of an earlier snapshot says in the new one."""
        removed = entry.data_file.file_path in gone
        return ManifestEntry.from_args(
            status=ManifestEntryStatus.DELETED if removed else ManifestEntryStatus.EXISTING,
            snapshot_id=self.number if removed else entry.snapshot_id,
            sequence_number=entry.sequence_number,
            file_sequence_number=entry.file_sequence_number,
            data_file=entry.data_file,
        )

    def _manifest(self, spec: int, entries: Iterable[ManifestEntry]) -> ManifestFile:
        path = self._path(f"{self.name}-m{len(self.paths)}.avro")
        with write_manifest(
            self.metadata.format_version,
            self.specs[spec],
            self.schema,
            self.table.io.new_output(path),
            self.number,
            self.compression,
        ) as writer:
            for entry in entries:
                writer.add_entry(entry)
        return writer.to_manifest_file()

    def _snapshot(self, manifests: list[ManifestFile], summary: Summary) -> Snapshot:
        path = self._path(f"snap-{self.number}-0-{self.name}.avro")
        parent, sequence = self.metadata.current_snapshot_id, self.metadata.next_sequence_number()
        with write_manifest_list(
            self.metadata.format_version,
            self.table.io.new_output(path),
            self.number,
            parent,
            sequence,
            self.compression,
        ) as writer:
            writer.add_manifests(manifests)
        return Snapshot(
            snapshot_id=self.number,
            parent_snapshot_id=parent,
            sequence_number=sequence,
            manifest_list=path,
            summary=summary,
            schema_id=self.metadata.current_schema_id,
        )

    def _summary(self, added: list[DataFile], removed: Collection[ManifestEntry]) -> Summary:
        counts = SnapshotSummaryCollector(int(self.metadata.properties.get(_PARTITION_LIMIT, 0)))
        for file in added:
            counts.add_file(file, self.schema, self.specs[file.spec_id])
        for entry in removed:
            counts.remove_file(entry.data_file, self.schema, self.specs[entry.data_file.spec_id])
        current = self.metadata.current_snapshot()
        operation = Operation.APPEND if current is None else Operation.OVERWRITE
        summary = Summary(operation, **counts.build(), **self.properties)
        totals = update_snapshot_summaries(summary, None if current is None else current.summary)
        return totals if self.operation is None else Summary(self.operation, **totals.additional_properties)

    def _path(self, name: str) -> str:
        path = self.table.location_provider().new_metadata_location(name)
        self.paths.append(path)
        return path
