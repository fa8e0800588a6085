"""Schedules in words."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

from cron_descriptor import ExpressionDescriptor, FormatException, MissingFieldException

from airflow_partitions.engine.timetables.base import PartitionTimetable


def schedule_words(timetable: Any) -> str:
    """When the runs of a Dag begin, in words, such as ``daily, in Europe/Berlin`` or ``at 04:30``.

    :param timetable: of the Dag, whosever it is.
    """
    if timetable.asset_condition:
        upstreams = getattr(timetable, "upstreams", None)
        at = None if upstreams is None else upstreams.run_policy.at
        return f"when what it needs is there{'' if at is None else f', not before {at}'}"
    if not timetable.can_be_scheduled:
        return "by hand, and by requests"
    if not isinstance(timetable, PartitionTimetable):
        return str(timetable.description or timetable.summary)
    ticks, time = timetable.produces.ticks, timetable.produces.definition.time
    if isinstance(ticks, dict):
        return f"every {timedelta(**ticks)}" if "microseconds" in ticks else f"as {timetable.summary}"
    zone = "UTC" if time is None else time.timezone
    return f"{_cron_words(ticks)}, in {zone}"


def _cron_words(schedule: str) -> str:
    """A preset or cron *schedule* in words; itself where there are none."""
    if schedule.startswith("@"):
        return schedule.removeprefix("@")
    with suppress(FormatException, MissingFieldException):
        words = str(ExpressionDescriptor(schedule, use_24hour_time_format=True).get_description())
        return words[:1].lower() + words[1:]
    return schedule
