"""Wall clocks: instants as a zone shows them."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from airflow_partitions.core.calendars.instants import DAY, SECOND, UTC, utc
from airflow_partitions.core.calendars.timeline import timeline

_DAY_ZERO = date(1970, 1, 1).toordinal()
_UTC_NAMES = frozenset({"UTC", "Etc/UTC", "Zulu", "Etc/Zulu", "UCT", "Etc/UCT", "Universal", "Etc/Universal"})


class Clock:
    """The wall clock of a zone. One object per definition, shared by its keys.

    :param zone: an IANA zone; another kind of tzinfo works too, more slowly.
    :param dates: write plain dates (``2013-01-01``) instead of minutes and offset.
    """

    __slots__ = ("_dates", "_last", "_period", "_timeline", "_utc", "zone")

    def __init__(self, zone: tzinfo, *, dates: bool = False) -> None:
        self.zone = zone
        self._dates = dates
        self._utc = zone is UTC or (isinstance(zone, ZoneInfo) and zone.key in _UTC_NAMES)
        self._timeline = timeline(zone)
        self._period = self._timeline.period(0)
        self._last = 0, datetime.fromtimestamp(0, zone)

    def __reduce__(self) -> tuple[Any, ...]:
        return _clock, (self.zone, self._dates)

    @property
    def dates(self) -> bool:
        """Whether texts are plain dates."""
        return self._dates

    def datetime(self, at: int) -> datetime:
        """The aware datetime in the zone of the instant *at*."""
        last = self._last  # the end of an interval is the start of the next
        if last[0] == at:
            return last[1]
        seconds, microseconds = divmod(at, SECOND)
        shown = datetime.fromtimestamp(seconds, self.zone)  # whole seconds: a float would round
        if microseconds:
            shown = shown.replace(microsecond=microseconds)
        self._last = at, shown
        return shown

    def text(self, at: int) -> str:
        """Canonical text of the instant *at*: a date, or minutes and offset; seconds only where they matter."""
        period = self._period
        if not period.start <= at < period.end:
            period = self._period = self._timeline.period(at)
        day, time = divmod(at + period.offset, DAY)
        return (
            _date_text(day) if self._dates else _date_text(day) + _time_text(time, None if self._utc else period.offset)
        )


def _clock(zone: tzinfo, dates: bool) -> Clock:
    return Clock(zone, dates=dates)


@lru_cache(maxsize=4096)
def _date_text(day: int) -> str:
    return date.fromordinal(day + _DAY_ZERO).isoformat()


@lru_cache(maxsize=4096)
def _time_text(time: int, offset: int | None) -> str:
    moment = utc(time).replace(tzinfo=None)
    timespec = "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
    text = moment.isoformat(timespec=timespec).removeprefix("1970-01-01")
    if offset is None:
        return text + "Z"
    hours_minutes = str(timedelta(microseconds=abs(offset)))
    sign, padded = "-" if offset < 0 else "+", hours_minutes.zfill(8)
    return f"{text}{sign}{padded if offset % (60 * SECOND) else padded[:5]}"
