"""The time by which a partition is to be there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any

import attrs

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Interval

_EXPECTED = "expected a time of day such as '06:00', or a timedelta after the end of the interval"


def _by(by: Any) -> str | timedelta:
    if isinstance(by, timedelta) and by >= timedelta(0):
        return by
    if isinstance(by, str):
        try:
            clock = time.fromisoformat(by)
        except ValueError:
            clock = None
        if clock is not None and clock.tzinfo is None:
            return f"{clock:%H:%M}" if (clock.second, clock.microsecond) == (0, 0) else clock.isoformat()
    raise InvalidDefinitionError(f"by={by!r} is no time by which a partition can be due; {_EXPECTED}")


def _days(days: Any) -> int:
    if type(days) is int and days >= 0:
        return days
    raise InvalidDefinitionError(f"days={days!r}; expected a number of days, 0 or more")


@attrs.frozen
class DueTime:
    """When a partition is due: so long after the end of its interval, or at the first such time of day from there on.

    :ivar by: a timedelta, or a time of day in the zone of the definition.
    :ivar days: so many days later.
    """

    by: str | timedelta = attrs.field(converter=_by)
    days: int = attrs.field(default=0, converter=_days)

    def of(self, interval: Interval) -> datetime:
        """When the partition of an *interval* is due; aware, in the zone of the interval.

        Where the clock jumps over the time of day, it is that much later; where it comes twice, the first one.
        """
        end = interval.end
        if isinstance(self.by, timedelta):
            due = end.astimezone(UTC) + self.by + timedelta(days=self.days)
            return due.astimezone(end.tzinfo)
        clock = time.fromisoformat(self.by)
        day = end.date()
        due = datetime.combine(day, clock, end.tzinfo)
        if due.astimezone(UTC) < end.astimezone(UTC):
            day += timedelta(days=1)
        return datetime.combine(day + timedelta(days=self.days), clock, end.tzinfo)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"by": self.by.total_seconds() if isinstance(self.by, timedelta) else self.by, "days": self.days}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> DueTime:
        """The inverse of :meth:`to_json`."""
        by = form["by"]
        return cls(by if isinstance(by, str) else timedelta(seconds=by), form["days"])

    def __str__(self) -> str:
        later = "" if not self.days else f", {self.days} day{'s' * (self.days > 1)} later"
        return f"{self.by} after the end{later}" if isinstance(self.by, timedelta) else f"{self.by}{later}"
