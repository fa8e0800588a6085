"""Tables of Iceberg: how they are kept for a run, handed over, tried, kept small, and told to SQL engines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import FilterError, ResultError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.backend import Backend, Compacted, Maintained
from airflow_partitions.storage.filesystem.filesystem import at, remove
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.filters.filter import Filter
from airflow_partitions.storage.iceberg.iceberg_dataset import Iceberg
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.metadata.statistics import PartitionStatistics
from airflow_partitions.storage.policy import Maintenance
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.scan.scan_plan import Where, list_
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.stores.open import open_staging, open_writable
from airflow_partitions.storage.stores.staging import Staging

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.iceberg.table.catalog import TableReference


@attrs.frozen
class IcebergBackend(Backend[Iceberg]):
    """What is done with a table of Iceberg. It is pinned to a copy of its metadata."""

    knows_schema: ClassVar[bool] = True

    @property
    def is_freezable(self) -> bool:
        return True

    @property
    def _reference(self) -> TableReference:
        """The table as it is now."""
        from airflow_partitions.storage.iceberg.table.open import reference_to

        return reference_to(self.dataset.pinned(None))

    def freeze(self, run: str, folder: str | None) -> str:
        from airflow_partitions.storage.iceberg.table.pin import freeze_table

        reference = self._reference
        with translate_errors(f"the listing of {self.dataset.path!r}", "kept"):
            place = None if folder is None else at(folder, reference.credentials)
            return freeze_table(reference, self._digest(run), place)

    def release(self) -> None:
        from airflow_partitions.storage.iceberg.table.pin import release_table

        if self.dataset.pin is not None:
            reference = self._reference
            with translate_errors(f"the listing of {self.dataset.path!r}", "released"):
                release_table(reference, at(self.dataset.pin, reference.credentials))

    def check_there(self) -> None:
        from airflow_partitions.storage.iceberg.table.open import open_table

        open_table(self.dataset)

    def handed_over(self, folder: Location) -> Iceberg:
        """The table as it is now, whose metadata is kept in *folder*."""
        from airflow_partitions.storage.iceberg.table.open import open_table
        from airflow_partitions.storage.iceberg.table.pin import pin

        if self.dataset.pin is not None:
            return self.dataset
        pin(open_table(self.dataset), folder)
        return self.dataset.pinned(str(folder))

    def connected(self, properties: Callable[[str], dict[str, Any]]) -> Iceberg:
        return attrs.evolve(self.dataset, credentials=properties(self.dataset.catalog))

    def scratch(self, folder: Path, attempt: Attempt, directory: str) -> tuple[Iceberg, Staging]:
        """A table of the same columns, in a catalog of its own."""
        catalog = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": str(folder / "warehouse")}
        table = attrs.evolve(with_schema(self.dataset), credentials=catalog, create=True)
        staging = open_staging(table, attempt, directory)
        # What may be written is said by the real one: without a schema columns may come and go.
        return attrs.evolve(table, schema=self.dataset.schema, create=False), staging

    def staged(self, folder: Location) -> Iceberg:
        """What a try writes to: a table by itself, in the form in which a pinned one is kept."""
        return self.dataset.pinned(str(folder))

    def left_in(self, folder: Location, key: Key) -> StagedFiles:
        # Whether its rows are of the key is told by their statistics when they are published.
        from airflow_partitions.storage.iceberg.table.announced import recall
        from airflow_partitions.storage.iceberg.table.columns import spark_columns
        from airflow_partitions.storage.iceberg.table.paths import plain
        from airflow_partitions.storage.iceberg.table.shadow import Shadow

        reference = self._reference
        shadow = Shadow.open(folder, reference.properties)
        recall(reference, folder.parent, shadow)
        files = shadow.files_by_name()
        if elsewhere := [name for name, file in files.items() if name == plain(file.file_path)]:
            raise ResultError(
                f"partition {str(key)!r}: {elsewhere[0]!r} was not written to {shadow.data!r}, as the table's property"
                " write.data.path says; expected an engine that obeys it: other files go when the try is cleared away"
            )
        if not files:
            raise ResultError(
                f"partition {str(key)!r}: nothing was appended to the table in {folder}; expected rows, be it in files"
                " without any"
            )
        sizes = {name: file.file_size_in_bytes for name, file in files.items()}
        rows = sum(file.record_count for file in files.values())
        return StagedFiles(rows, sizes, spark_columns(shadow.table.schema()))

    def announce(self, folder: Location) -> str:
        from airflow_partitions.storage.iceberg.table.announced import announce
        from airflow_partitions.storage.iceberg.table.shadow import Shadow

        reference = self._reference
        return announce(reference, folder.parent, Shadow.open(folder, reference.properties))

    def where(self, selection: Selection) -> Filter:
        from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
        from airflow_partitions.storage.iceberg.table.open import open_table
        from airflow_partitions.storage.iceberg.table.row_filter import RowFilter

        keys = KeyFilter.of(self.dataset.layout, self.dataset.columns, open_table(self.dataset).schema())
        return RowFilter.of(keys, selection).where

    def paths(self, partitions: Iterable[StoredPartition]) -> list[str]:
        raise FilterError(
            f"table {self.dataset.path!r} has files with rows of several partitions, and deletes; expected where(…),"
            " a condition on its columns, in place of paths(…)"
        )

    def places(self, folder: Location) -> tuple[str, ...]:
        """That of the metadata, and that of the files, which lie with those of the table."""
        from airflow_partitions.storage.iceberg.table.shadow import Shadow

        return str(folder), Shadow.open(folder, dict(self.dataset.credentials)).data

    def start_over(self, folder: Location) -> None:
        """Nothing is to be done: files that no snapshot names are none of the table in *folder*."""

    def statistics(self, names: Collection[str]) -> PartitionStatistics:
        from airflow_partitions.storage.iceberg.table_statistics import table_statistics

        return table_statistics(self.dataset, names)

    def compactable(self, where: Where) -> Iterable[StoredPartition]:
        # A listing keeps nothing of what it takes to read them.
        return snapshot(self.dataset, [partition.key for partition in list_(self.dataset, where)]).values()

    def merge(self, partition: StoredPartition, target: int, *, dry_run: bool) -> Compacted | None:
        from airflow_partitions.storage.iceberg.merge_rows import merge_rows

        files, into, done = merge_rows(self.dataset, partition, target, dry_run=dry_run)
        whole = len(partition.files)
        return Compacted(str(partition.key), whole, whole - files + into, partition.bytes, done) if files else None

    def maintain(
        self, keep_snapshots: timedelta | None, keep_files: timedelta | None, now: datetime, *, dry_run: bool
    ) -> Maintained:
        from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
        from airflow_partitions.storage.iceberg.table.maintenance import expire_snapshots, orphans, rewrite_manifests

        dataset, policy = self.dataset, self.dataset.maintenance or Maintenance()
        open_writable(dataset)
        reference = self._reference
        table = reference.find() if dataset.create else reference.load()
        if table is None:  # nothing was written yet
            return Maintained((), 0, 0, ())
        keys = KeyFilter.of(dataset.layout, dataset.columns, table.schema())
        snapshots = expire_snapshots(reference, keys, now - (keep_snapshots or policy.keep_snapshots), dry_run=dry_run)
        manifests, into = rewrite_manifests(reference, dry_run=dry_run)
        files = orphans(reference, now - (keep_files or policy.keep_files))
        for file in files if not dry_run else []:
            remove(file)
        return Maintained(tuple(snapshots), manifests, into, tuple(map(str, files)))

    def statements(self, table: str, engine: str) -> Iterator[str]:
        from airflow_partitions.storage.iceberg.iceberg_sql import iceberg_statements

        return iceberg_statements(self.dataset, table, engine)
