"""Check of how new the newest row is."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import attrs

from airflow_partitions.checks.check import Check
from airflow_partitions.checks.result import Observation
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.calendars.duration import duration
from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import ResultError
from airflow_partitions.core.partition import Partition
from airflow_partitions.storage.metadata.statistics import PartitionStatistics

if TYPE_CHECKING:
    import pyarrow as pa


@attrs.frozen
class Freshness(Check):
    """The newest row is not too old, at the end of the partition's interval; while that is open, and for partitions
    without time: now.

    :param column: of times or dates. Times without a zone are those of the definition's zone, dates are their midnight.
    :param within: how old it may be: a timedelta, or text such as ``"2h"``.
    """

    column: str
    within: timedelta = attrs.field(converter=duration, kw_only=True)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def name(self) -> str:
        return f"freshness of {self.column}"

    @property
    def expected(self) -> str:
        return f"a row of the last {self.within}"

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation | None:
        told = statistics.columns.get(self.column)
        return None if told is None or told.maximum is None else self._told_by(told.maximum, staged.partition)

    def by_rows(self, staged: StagedPartition, rows: pa.Table) -> Observation:
        import pyarrow.compute as pc

        return self._told_by(pc.max(rows[self.column]).as_py(), staged.partition)

    def _told_by(self, newest: Any, partition: Partition) -> Observation:
        if newest is None:
            return Observation(False, "no row has a time")
        moment, end = instant_of(newest, partition), datetime.now(UTC)
        if partition.end is not None:
            end = min(end, partition.end)
        return Observation(moment >= end - self.within, f"{newest}, {max(end - moment, timedelta())} before {end}")


def instant_of(value: Any, partition: Partition) -> datetime:
    """The instant that *value* of a column stands for: one without a zone is in that of the partition.

    :raises ResultError: if it is no time.
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise ResultError(f"{value!r} is no time; expected a column of times or dates")
    if value.tzinfo is not None:
        return value
    zone = partition.definition.time
    return value.replace(tzinfo=UTC if zone is None else ZoneInfo(zone.timezone))
