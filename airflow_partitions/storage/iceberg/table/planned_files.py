"""Files of partitions of a table, planned to be read."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
from pyiceberg.manifest import DataFileContent, ManifestEntry
from pyiceberg.table import FileScanTask, Table
from pyiceberg.table.delete_file_index import DeleteFileIndex

from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.iceberg.table.live_files import LiveFiles, may_be_of
from airflow_partitions.storage.metadata.partition_files import PartitionFiles


@attrs.frozen
class PlannedFiles(PartitionFiles):
    """What is in a partition of a table, with what a scan takes: who looks whether it is there has planned to read it.

    :ivar table: the table, as it was looked at.
    :ivar live: its live files, as far as they were looked into.
    :ivar entries: those that may have rows of the partition.
    """

    table: Table = attrs.field(kw_only=True, eq=False, repr=False)
    live: LiveFiles = attrs.field(kw_only=True, eq=False, repr=False)
    entries: tuple[ManifestEntry, ...] = attrs.field(kw_only=True, eq=False, repr=False)

    @property
    def unplanned(self) -> PartitionFiles:
        """What is in the partition, for who keeps it: no more than names and sizes."""
        return PartitionFiles(self.base, self.files, self.metadata, in_folder=self.in_folder)


def scan_tasks(live: LiveFiles, entries: Iterable[ManifestEntry]) -> list[FileScanTask]:
    """What pyiceberg scans to read the data files of *entries*, each once: with the files that delete rows of theirs.

    :raises StorageError: if rows are deleted in a way that pyiceberg does not know.
    """
    files = {entry.data_file.file_path: entry for entry in entries}
    deletes = DeleteFileIndex()
    for delete in live.deletes:
        if delete.data_file.content is DataFileContent.POSITION_DELETES:
            deletes.add_delete_file(delete, partition_key=delete.data_file.partition)
        elif any(_may_delete(delete, entry) for entry in files.values()):
            raise StorageError(
                f"{delete.data_file.file_path!r} deletes rows by their values, which pyiceberg does not read; expected"
                " as_='spark', or the table to be compacted by whoever deletes so"
            )
    return [
        FileScanTask(
            entry.data_file,
            deletes.for_data_file(entry.sequence_number or 0, entry.data_file, partition_key=entry.data_file.partition),
        )
        for entry in files.values()
    ]


def _may_delete(delete: ManifestEntry, entry: ManifestEntry) -> bool:
    later = (delete.sequence_number or 0) > (entry.sequence_number or 0)
    return later and may_be_of(delete.data_file, entry.data_file)
