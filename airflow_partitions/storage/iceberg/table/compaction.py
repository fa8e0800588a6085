"""Compaction of a table that never puts rows of two keys into one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import attrs
from pyiceberg.manifest import ManifestEntry
from pyiceberg.table import Table

from airflow_partitions.core.errors import ConflictError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.iceberg.table.catalog import TableReference, translated_errors
from airflow_partitions.storage.iceberg.table.file_keys import FileKeys
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.live_files import LiveFiles, live_files
from airflow_partitions.storage.iceberg.table.new_snapshot import TableChange, new_snapshot
from airflow_partitions.storage.iceberg.table.planned_files import PlannedFiles
from airflow_partitions.storage.iceberg.table.shadow import Shadow
from airflow_partitions.storage.iceberg.table.swap import compare_and_swap

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_partitions.storage.filesystem.filesystem import Location

#: Rows are gathered up to this size in memory before they are written.
_GATHERED = 128 * 2**20


@attrs.frozen
class SmallFiles:
    """The files of one key that are worth being written as fewer.

    :ivar reference: the table.
    :ivar keys: how its keys are told.
    :ivar key: the key.
    :ivar target: size in bytes of a file that is large enough.
    """

    reference: TableReference
    keys: KeyFilter
    key: Key
    target: int = 128 * 2**20

    def count(self, planned: PlannedFiles) -> tuple[int, int]:
        """How many there are, 0 if they are as few as can be; and how many partitions of the table they are in.

        :param planned: what is stored of the key.
        """
        groups = self._groups(planned.table, planned.live, planned.entries)
        return sum(map(len, groups)), len(groups)

    def compact(self, folder: Location, name: str) -> int:
        """Write them anew, with the same rows, in one snapshot; how many there are now.

        :param folder: a place for the table of this try.
        :param name: folder of the new files, in that of all data files.
        :raises ConflictError: if rows of the key were written or deleted meanwhile; nothing was changed.
        """
        table = self.reference.load()
        live = self._live(table)
        entries = [entry for group in self._groups(table, live, live.entries) for entry in group]
        shadow = Shadow.make(table, folder, name, key_columns=[column.name for column in self.keys.columns.values()])
        self._write(table, {entry.data_file.file_path for entry in entries}, shadow)
        files = shadow.files()
        before = self._state(entries, live)

        def prepare(now: Table) -> TableChange | None:
            there = self._live(now)
            paths = {entry.data_file.file_path for entry in entries}
            same = [entry for entry in there.entries if entry.data_file.file_path in paths]
            if self._state(same, there) != before:
                raise ConflictError(
                    f"partition {str(self.key)!r} of table {self.reference.name!r} was written meanwhile; nothing was"
                    " changed: compact it another time"
                )
            return new_snapshot(now, there, added=files, removed=same, properties={}, same_rows=True)

        compare_and_swap(self.reference, prepare)
        return len(files)

    def _live(self, table: Table) -> LiveFiles:
        metadata = table.metadata
        return live_files(metadata, table.io, metadata.current_snapshot(), self.keys.condition(self.key))

    def _groups(self, table: Table, live: LiveFiles, entries: Iterable[ManifestEntry]) -> list[list[ManifestEntry]]:
        """The small ones of *entries* wholly of the key, where there are several in one partition of the table."""
        file_keys, values = FileKeys.of(self.keys, table.metadata), self.keys.values(self.key)
        groups: dict[tuple[int, tuple[object, ...]], list[ManifestEntry]] = {}
        for entry in entries:
            file = entry.data_file
            small = file.file_size_in_bytes < self.target // 2 or live.deleting(entry)
            if small and file.record_count and file_keys.is_of(file, values):
                partition = tuple(file.partition[i] for i in range(len(file.partition)))
                groups.setdefault((file.spec_id, partition), []).append(entry)
        return [own for own in groups.values() if len(own) > 1 or live.deleting(own[0])]

    def _state(self, entries: Sequence[ManifestEntry], live: LiveFiles) -> set[tuple[str, int]]:
        """Which files there are, and what was deleted from them."""
        return {(entry.data_file.file_path, live.deleting(entry)) for entry in entries}

    def _write(self, table: Table, paths: set[str], shadow: Shadow) -> None:
        import pyarrow as pa
        from pyiceberg.io.pyarrow import ArrowScan

        scan = table.scan(row_filter=self.keys.condition(self.key))
        tasks = [task for task in scan.plan_files() if task.file.file_path in paths]
        with translated_errors(f"table {self.reference.name!r}", "compacted"):
            reader = ArrowScan(table.metadata, table.io, scan.projection(), self.keys.condition(self.key))
            for batches in gathered(reader.to_record_batches(tasks), _GATHERED):
                shadow.append(pa.Table.from_batches(batches))


def gathered(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[list[pa.RecordBatch]]:
    """*batches* in lists of *size* bytes or a little more."""
    portion: list[pa.RecordBatch] = []
    gap = size
    for batch in batches:
        portion.append(batch)
        gap -= batch.nbytes
        if gap <= 0:
            yield portion
            portion, gap = [], size
    if portion:
        yield portion
