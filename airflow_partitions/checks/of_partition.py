"""Check of whether rows are of their partition, by one of their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.checks.check import Check
from airflow_partitions.checks.freshness import instant_of
from airflow_partitions.checks.result import SHOWN, Observation
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Interval
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.core.partition import Partition
from airflow_partitions.storage.metadata.statistics import PartitionStatistics

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_partitions.core.keys import Segment
    from airflow_partitions.storage.storage import Storage


@attrs.frozen
class OfPartition(Check):
    """Every row is of the partition that is published, by the value of a column: what a job of another engine has
    filtered, or forgotten to.

    :param column: of times or dates, which are to be in the partition's interval; or of the values of a dimension.
        Times without a zone are those of the definition's zone, dates are their midnight. Nulls are of no partition.
    :param dimension: which dimension the column tells; by default that of time.
    """

    column: str
    dimension: str | None = attrs.field(default=None, kw_only=True)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def name(self) -> str:
        return f"rows of the partition by {self.column}"

    @property
    def expected(self) -> str:
        return "those of the partition only"

    def check_storage(self, storage: Storage) -> None:
        super().check_storage(storage)
        if storage.partition is None:
            return
        dimensions, time = storage.partition.dimensions, storage.partition.time
        if self.dimension is None and time is None:
            raise InvalidDefinitionError(
                f"check {self.name!r}: {storage.partition!r} has no time dimension; expected dimension= as one of"
                f" {', '.join(dimensions)}"
            )
        if self.dimension is not None and self.dimension not in dimensions:
            raise InvalidDefinitionError(
                f"check {self.name!r}: there is no dimension {self.dimension!r}; nearest:"
                f" {nearest_texts(self.dimension, dimensions)[0]}"
            )

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation | None:
        told = statistics.columns.get(self.column)
        if told is None or told.minimum is None or told.maximum is None or told.nulls:
            return None
        bounds = [told.minimum, told.maximum]
        # Between two that are in an interval are others that are; of segments there is to be one.
        return None if self._foreign(bounds, staged.partition) else Observation(True, _shown(bounds))

    def by_rows(self, staged: StagedPartition, rows: pa.Table) -> Observation:
        values = rows[self.column].unique().to_pylist()
        foreign = self._foreign(values, staged.partition)
        return Observation(not foreign, _shown(foreign) if foreign else f"{len(values):,} different values")

    def _foreign(self, values: list[Any], partition: Partition) -> list[Any]:
        """Those of *values* that are not of *partition*."""
        definition = partition.definition
        name = self.dimension or (definition.time.name if definition.time else "")
        part = definition.dimensions_of(partition.wrapped)[name]
        return [value for value in values if value is None or not _is_of(value, part, partition)]


def _is_of(value: Any, part: Interval | Segment, partition: Partition) -> bool:
    if isinstance(part, Interval):
        return part.start <= instant_of(value, partition) < part.end
    return bool(value == part.value or str(value) == str(part))


def _shown(values: list[Any]) -> str:
    more = f", … ({len(values):,} different values)" if len(values) > SHOWN else ""
    return ", ".join(map(str, values[:SHOWN])) + more
