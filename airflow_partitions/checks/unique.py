"""Check of keys that are there once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from airflow_partitions.checks.check import Check, check_columns, column_names
from airflow_partitions.checks.result import SHOWN, Observation
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.storage.metadata.counts import count
from airflow_partitions.storage.metadata.statistics import PartitionStatistics

if TYPE_CHECKING:
    import pyarrow as pa

_COUNT = "count_all"


@attrs.frozen
class Unique(Check):
    """No two rows have the same values. Nulls are equal to each other.

    :param columns: one column, or several that are unique together.
    """

    _columns: tuple[str, ...] = attrs.field(converter=column_names, validator=check_columns)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def name(self) -> str:
        return f"unique {', '.join(self._columns)}"

    @property
    def expected(self) -> str:
        return "each once"

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation | None:
        return Observation(True, count(staged.rows, "row")) if staged.rows < 2 else None

    def by_rows(self, staged: StagedPartition, rows: pa.Table) -> Observation:
        import pyarrow as pa
        import pyarrow.compute as pc

        for number, name in enumerate(rows.column_names):
            if pa.types.is_floating(rows.schema.field(name).type):
                rows = rows.set_column(number, name, pc.add(rows[name], 0.0))  # -0.0 is 0.0
        groups = rows.group_by(list(self._columns)).aggregate([([], _COUNT)])
        repeated = groups.filter(pc.field(_COUNT) > 1)
        if not repeated.num_rows:
            return Observation(True, f"{groups.num_rows:,} in {count(rows.num_rows, 'row')}")
        examples = repeated.sort_by([(_COUNT, "descending")]).slice(0, SHOWN).rename_columns([*self._columns, "rows"])
        observed = f"{repeated.num_rows:,} of {groups.num_rows:,} are there several times, in {rows.num_rows:,} rows"
        return Observation(False, observed, examples.to_pylist())
