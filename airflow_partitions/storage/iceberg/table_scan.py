"""Scan of a table: its rows of the partitions that are asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import attrs

from airflow_partitions.storage.iceberg.iceberg_dataset import Iceberg
from airflow_partitions.storage.io.read_request import ReadRequest, check_columns

if TYPE_CHECKING:
    from pyiceberg.table import FileScanTask, Table

    from airflow_partitions.storage.iceberg.table.live_files import LiveFiles
    from airflow_partitions.storage.iceberg.table.planned_files import PlannedFiles
    from airflow_partitions.storage.iceberg.table.row_filter import RowFilter


@attrs.frozen
class TableScan:
    """What to read of a table.

    :ivar request: what was asked for.
    """

    request: ReadRequest

    @property
    def dataset(self) -> Iceberg:
        """The dataset: what has the format is one."""
        return cast("Iceberg", self.request.dataset)

    @cached_property
    def table(self) -> Table:
        """The table: as it was looked at for its partitions, else as it is now."""
        from airflow_partitions.storage.iceberg.table.open import open_table

        if self._planned:
            return self._planned[0].table
        return open_table(self.dataset)

    @cached_property
    def tasks(self) -> list[FileScanTask]:
        """What pyiceberg has to scan.

        :raises StorageError: if it does not know how.
        """
        from airflow_partitions.storage.iceberg.table.live_files import live_files
        from airflow_partitions.storage.iceberg.table.planned_files import scan_tasks

        if self._planned:
            return scan_tasks(self._planned[0].live, (entry for each in self._planned for entry in each.entries))
        where = None if self.rows is None else self.rows.expression
        live = live_files(self.table.metadata, self.table.io, self.table.current_snapshot(), where)
        return scan_tasks(live, live.entries)

    @property
    def live(self) -> LiveFiles | None:
        """The live files of the table, as far as the scan is planned."""
        return self._planned[0].live if self._planned else None

    @cached_property
    def _planned(self) -> list[PlannedFiles]:
        """The files of the partitions, as who looked for them has planned it; nothing if nobody has."""
        from airflow_partitions.storage.iceberg.table.planned_files import PlannedFiles

        contents = [partition.content for partition in self.request.partitions or ()]
        planned = [each for each in contents if isinstance(each, PlannedFiles)]
        return planned if len(planned) == len(contents) else []

    @cached_property
    def rows(self) -> RowFilter | None:
        """The rows of the partitions; ``None`` for all rows of a table without partitions."""
        from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
        from airflow_partitions.storage.iceberg.table.row_filter import RowFilter

        dataset, partitions = self.dataset, self.request.partitions
        if partitions is None:
            return None
        keys = KeyFilter.of(dataset.layout, dataset.columns, self.table.schema())
        return RowFilter.of(keys, [partition.key for partition in partitions])

    @property
    def residual_columns(self) -> set[str]:
        """The columns that are yet to be tested.

        :raises FilterError: if the table has no such column.
        """
        pruning = self.request.pruning
        if pruning is None or pruning.residual is None:
            return set()
        names = {condition.field for condition in pruning.residual.conditions()}
        check_columns(self.request, names, self.columns)
        return names

    @property
    def columns(self) -> list[str]:
        """All columns of the table."""
        return [field.name for field in self.table.schema().fields]
