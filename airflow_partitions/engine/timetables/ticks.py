"""The ticks of a time schedule: the instants at which it looks for partitions to make."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol
from zoneinfo import ZoneInfo

from airflow.timetables.base import TimeRestriction

from airflow_partitions.core.calendars import Calendar, ElapsedCalendar, cron_calendar
from airflow_partitions.core.calendars.instants import DAY, HOUR, instant, microseconds, utc
from airflow_partitions.core.calendars.zones import zone
from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.core.errors import InvalidDefinitionError

if TYPE_CHECKING:
    from airflow.timetables.base import Timetable
    from pendulum import DateTime

_LOOK_BACK = (HOUR, DAY, 35 * DAY, 400 * DAY)


class Ticks(Protocol):
    """Ticks as instants in microseconds since the epoch."""

    summary: str

    def floor(self, at: int) -> int | None:
        """The last tick at or before *at*."""

    def after(self, at: int) -> int | None:
        """The first tick after *at*."""

    def to_json(self) -> Any:
        """JSON form, read back by :func:`ticks_of`."""


class CalendarTicks:
    """A preset or cron read in a zone, or a timedelta."""

    def __init__(self, schedule: str | timedelta, zone: ZoneInfo) -> None:
        self._schedule = schedule
        self._calendar: Calendar
        if isinstance(schedule, timedelta):
            self._schedule = PartitionByInterval(schedule).schedule  # checks that it is positive
            self._calendar = ElapsedCalendar(microseconds(schedule), 0)
            self.summary = f"every {self._schedule}"
        else:
            self._calendar = cron_calendar(schedule, zone)
            self.summary = schedule

    def floor(self, at: int) -> int | None:
        return self._calendar.floor(at)

    def after(self, at: int) -> int | None:
        return self._calendar.after(at)

    def to_json(self) -> Any:
        if isinstance(self._schedule, timedelta):
            return {"microseconds": microseconds(self._schedule)}
        return self._schedule


class TimetableTicks:
    """The run times of another Airflow timetable, which keeps its own zone."""

    def __init__(self, timetable: Timetable) -> None:
        self._timetable = timetable
        self.summary = timetable.summary

    def floor(self, at: int) -> int | None:
        return self._around(at)[0]

    def after(self, at: int) -> int | None:
        return self._around(at)[1]

    def _around(self, at: int) -> tuple[int | None, int | None]:
        """The last tick at or before *at*, and the first after it.

        Timetables only look forward, and some start with a whole interval: begin in front of *at* and walk.
        """
        before, tick = None, None
        for distance in _LOOK_BACK:
            for tick in self._walk(at - distance):
                if tick > at:
                    break
                before = tick
            if before is not None:
                return before, tick if tick is not None and tick > at else None
        return None, tick

    def _walk(self, earliest: int) -> Iterator[int]:
        restriction, info = TimeRestriction(earliest=_pendulum(earliest), latest=None, catchup=True), None
        while (info := self._timetable.next_dagrun_info_v2(last_dagrun_info=info, restriction=restriction)) is not None:
            yield instant(info.run_after)

    def to_json(self) -> Any:
        from airflow.serialization.encoders import encode_timetable

        return {"timetable": encode_timetable(self._timetable)}


class NoTicks:
    """A schedule of ``None``: runs are made by hand and by backfills only."""

    summary = "None"

    def floor(self, at: int) -> int | None:
        return None

    def after(self, at: int) -> int | None:
        return None

    def to_json(self) -> Any:
        return None


def ticks_of(schedule: Any, timezone: ZoneInfo) -> Ticks:
    """The ticks of a *schedule*: a preset or cron read in *timezone*, a timedelta, a timetable, ``None``, or the
    JSON form of ticks.

    :raises InvalidDefinitionError: for anything else.
    """
    if schedule is None:
        return NoTicks()
    if isinstance(schedule, str | timedelta):
        return CalendarTicks(schedule, timezone)
    if isinstance(schedule, dict):
        if "microseconds" in schedule:
            return CalendarTicks(timedelta(**schedule), timezone)
        from airflow.serialization.decoders import decode_timetable

        return TimetableTicks(decode_timetable(schedule["timetable"]))
    from airflow.serialization.encoders import coerce_to_core_timetable

    timetable = coerce_to_core_timetable(schedule) if hasattr(schedule, "can_be_scheduled") else None
    if timetable is None or not hasattr(timetable, "next_dagrun_info_v2") or timetable.asset_condition:
        raise InvalidDefinitionError(
            f"schedule {schedule!r} is not a time schedule; expected a preset such as '@daily', a cron expression,"
            " a timedelta, an Airflow timetable or None"
        )
    if timetable.partitioned:
        raise InvalidDefinitionError(
            f"schedule {schedule!r} makes partitions of its own; expected a plain time schedule such as '@daily'"
        )
    return TimetableTicks(timetable)


def ticks_for(definition: PartitionDefinition, schedule: Any) -> Ticks:
    """The ticks of a *schedule* or its JSON form, presets and crons read in the zone of the *definition*."""
    return ticks_of(schedule, zone("UTC" if definition.time is None else definition.time.timezone))


def _pendulum(at: int) -> DateTime:
    from pendulum import instance

    return instance(utc(at))
