"""The timetable of Dags whose task adds partitions while it runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow.timetables.base import DagRunInfo, DataInterval, Timetable
from pendulum import instance

from airflow_partitions.calendars.instants import instant, utc
from airflow_partitions.calendars.zones import zone
from airflow_partitions.definitions import PartitionAtRuntime, from_json
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.timetables.ticks import ticks_of

if TYPE_CHECKING:
    from airflow.timetables.base import TimeRestriction
    from pendulum import DateTime


class AddsPartitions(Timetable):
    """One run per tick, without a partition of its own; its task adds keys of *partition*.

    :param schedule: a preset or cron, read in UTC; a timedelta; another timetable; or ``None`` for manual runs only.
    :param partition: what the keys are.
    """

    partitioned_at_runtime = True
    periodic = False  # there is no range of dates whose partitions could be made

    def __init__(self, schedule: Any, partition: PartitionAtRuntime) -> None:
        self.adds = partition
        self._ticks = ticks_of(schedule, zone("UTC"))
        self.can_be_scheduled = schedule is not None
        self.description = f"adds {partition!r}, at {self._ticks.summary}"

    @property
    def summary(self) -> str:
        return f"{self._ticks.summary}, adds {self.adds.name}"

    def next_dagrun_info_v2(
        self, *, last_dagrun_info: DagRunInfo | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        now = instant(datetime.now(UTC))
        newest = self._ticks.floor(now)
        earliest = None if restriction.earliest is None else instant(restriction.earliest)
        if last_dagrun_info is not None:
            last = instant(last_dagrun_info.run_after)
            tick = newest if newest is not None and newest > last else self._ticks.after(last)
        elif newest is not None and earliest is not None and earliest <= newest:
            tick = newest
        else:
            tick = self._ticks.after(max(now, now if earliest is None else earliest - 1))
        if tick is None or (restriction.latest is not None and tick > instant(restriction.latest)):
            return None
        return DagRunInfo.exact(instance(utc(tick)))

    def next_dagrun_info(
        self, *, last_automated_data_interval: DataInterval | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        """The run after the one of that interval."""
        last = None if last_automated_data_interval is None else DagRunInfo.exact(last_automated_data_interval.end)
        return self.next_dagrun_info_v2(last_dagrun_info=last, restriction=restriction)

    def infer_manual_data_interval(self, *, run_after: DateTime) -> DataInterval:
        """The moment of the run."""
        return DataInterval.exact(run_after)

    def serialize(self) -> dict[str, Any]:
        return {"schedule": self._ticks.to_json(), "partition": self.adds.to_json()}

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> Timetable:
        definition = from_json(data["partition"])
        if not isinstance(definition, PartitionAtRuntime):
            raise InvalidDefinitionError(f"{definition!r} is known before a task runs; expected PartitionAtRuntime")
        return cls(data["schedule"], definition)
