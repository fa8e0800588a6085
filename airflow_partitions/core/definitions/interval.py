"""Partitions of time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import cached_property, partial
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from airflow_partitions.core.calendars import Calendar, Clock, ElapsedCalendar, cron_calendar, read_cron
from airflow_partitions.core.calendars.instants import DAY, SECOND, from_iso, instant, microseconds, plain, wall_of
from airflow_partitions.core.calendars.timeline import FIRST, LAST, timeline
from airflow_partitions.core.calendars.zones import zone
from airflow_partitions.core.definitions.definition import Moment, PartitionDefinition, check_name
from airflow_partitions.core.definitions.wall_time import wall_time
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Interval
from airflow_partitions.core.keys.keyed import key_of

_DAY_ZERO = date(1970, 1, 1)
_LONGEST = timedelta(days=9_000 * 365)


class PartitionByInterval(PartitionDefinition):
    """One partition per interval of a calendar.

    .. code-block:: python

        hours = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
        [str(key) for key in hours.keys("2013-11-03", "2013-11-04")]  # 25 texts, 01:00 with -04:00 and with -05:00

    :param schedule: where intervals begin and end: a preset (``"@hourly"``, ``"@daily"``, …), a cron expression, or a
        timedelta of real elapsed time, counted from *start*, else from 1970-01-01 midnight in the zone.
    :param timezone: IANA name of the zone in which presets, crons and plain dates are read.
    :param start: only intervals wholly at or after it exist; without it the calendar is open to the past. An aware
        datetime, a date (midnight in the zone) or ISO text of either.
    :param end: only intervals wholly before or at it exist.
    :param name: name of the dimension, in products, templates and storage columns.
    :raises InvalidDefinitionError: for an unknown schedule or zone, a naive bound, or *end* not after *start*.
    """

    kind = "interval"
    #: A preset, a cron expression or a timedelta.
    schedule: str | timedelta
    #: IANA name of the zone.
    timezone: str
    calendar: Calendar
    clock: Clock
    _zone: ZoneInfo
    _start: int | None
    _end: int | None

    def __init__(
        self,
        schedule: str | timedelta,
        *,
        timezone: str = "UTC",
        start: Moment | None = None,
        end: Moment | None = None,
        name: str = "time",
    ) -> None:
        own = vars(self)
        own.update(timezone=timezone, name=check_name(name), _zone=zone(timezone))
        low, high = (
            None if bound is None else self.moment(bound, what) for bound, what in ((start, "start"), (end, "end"))
        )
        if low is not None and high is not None and high <= low:
            raise InvalidDefinitionError(f"end {end!r} is not after start {start!r}")
        calendar: Calendar
        if isinstance(schedule, timedelta):
            schedule = plain(schedule)
            if not timedelta(0) < schedule <= _LONGEST:
                length = "is too long" if schedule > _LONGEST else "has no length"
                raise InvalidDefinitionError(f"an interval of {schedule!r} {length}; expected a positive timedelta")
            anchor = low if low is not None else self.moment(date(1970, 1, 1), "anchor")
            calendar, clock = ElapsedCalendar(microseconds(schedule), anchor), Clock(self._zone)
        elif isinstance(schedule, str):
            cron = read_cron(schedule)
            calendar, clock = cron_calendar(schedule, self._zone), Clock(self._zone, dates=cron.midnight)
        else:
            raise InvalidDefinitionError(f"schedule {schedule!r} is not a preset, a cron expression or a timedelta")
        own.update(schedule=schedule, calendar=calendar, clock=clock, _start=low, _end=high)

    @property
    def time(self) -> PartitionByInterval:
        return self

    @property
    def longest_text(self) -> int:
        """Length of the longest text that a key can have."""
        return len("2013-01-01") if self.clock.dates else len("2013-11-03T01:00:00.000000-04:00:00")

    @property
    def start(self) -> datetime | None:
        """The definition's own lower bound, aware, in its zone."""
        return None if self._start is None else self.clock.datetime(self._start)

    @property
    def end(self) -> datetime | None:
        """The definition's own upper bound, aware, in its zone."""
        return None if self._end is None else self.clock.datetime(self._end)

    def keys(self, start: Moment | None = None, end: Moment | None = None) -> Iterator[Interval]:
        low, high = self.starting(start, end)
        between, clock = Interval.between, self.clock
        for begin, finish in pairwise(self.calendar.boundaries(low, self._through(low, high))):
            yield between(begin, finish, clock)

    def count(self, start: Moment | None = None, end: Moment | None = None) -> int:
        low, high = self.starting(start, end)
        return self.calendar.count(low, high)

    def first(self) -> Interval | None:
        """The first interval, ``None`` if the calendar is open to the past."""
        return None if self._start is None else self._from(self._start)

    def last(self, closed_by: datetime | None = None) -> Interval | None:
        """The last interval that is over at *closed_by*; ``None`` if there is none, or no bound at all."""
        bounds = [
            b for b in (self._end, None if closed_by is None else self.moment(closed_by, "closed_by")) if b is not None
        ]
        if not bounds or (end := self.calendar.floor(min(bounds))) is None:
            return None
        return self._interval(self.calendar.floor(end - 1), end)

    def key_at(self, moment: datetime) -> Interval:
        """The interval that holds the aware *moment*.

        :raises InvalidDefinitionError: if it is naive.
        :raises InvalidKeyError: if it is outside ``start`` and ``end``.
        """
        return self.interval_at(self.moment(moment, "moment"))

    def interval_at(self, at: int) -> Interval:
        """The interval that holds the instant *at*, in microseconds since the epoch."""
        start = self.calendar.floor(at)
        interval = None if start is None else self._interval(start, self.calendar.after(start))
        if interval is None:
            raise self._no_key(self.clock.text(at), at)
        return interval

    def starts_at(self, at: int) -> bool:
        """Whether an interval starts at the instant *at*, in microseconds since the epoch."""
        return self.calendar.floor(at) == at and self._interval(at, self.calendar.after(at)) is not None

    def key(self, value: Any) -> Interval:
        value = key_of(value)
        if isinstance(value, str):
            return self.parse(value)
        if isinstance(value, Interval):
            if value.shown_by(self.clock):
                return value
            start, end = value.time_range
            if self.calendar.floor(start) == start and self.calendar.after(start) == end:
                interval = self._interval(start, end)
                if interval is not None:
                    return interval
            raise self._no_key(repr(value), start)
        raise InvalidKeyError(f"{value!r} is not an Interval; expected one such as {self._example()}", given=value)

    def parse(self, text: str) -> Interval:
        at = self._instant_of(text)
        interval = None
        if self.calendar.floor(at) == at:
            interval = self._interval(at, self.calendar.after(at))
        if interval is None:
            raise self._no_key(repr(text), at)
        return interval

    def previous(self, key: Any) -> Interval | None:
        start, _ = self.key(key).time_range
        return self._interval(self.calendar.floor(start - 1), start)

    def next(self, key: Any) -> Interval | None:
        _, end = self.key(key).time_range
        return self._interval(end, self.calendar.after(end))

    def overlapping(self, low: int, high: int) -> tuple[int, int]:
        """Starts of the first and after the last existing interval that overlap instants ``[low, high)``."""
        if low >= high:
            return low, low
        first = self.calendar.floor(low)
        low = FIRST if first is None else first
        if self._start is not None and low < self._start:
            low = self._bound_after(self._start)
        if self._end is not None:
            high = min(high, self._last_end(self._end))
        return (low, high) if low < high else (low, low)

    def moment(self, value: Moment, what: str = "bound") -> int:
        """Instant of an aware datetime, a date (midnight in the zone) or ISO text of either.

        :raises InvalidDefinitionError: for a naive time of day or a text that is no ISO date or time.
        """
        if isinstance(value, str):
            try:
                value = date.fromisoformat(value) if len(value) == 10 else from_iso(value)
            except ValueError:
                raise InvalidDefinitionError(
                    f"{what}={value!r} is not a time; expected ISO text such as '2013-01-01'"
                    " or '2013-01-01T05:00-05:00'"
                ) from None
        if isinstance(value, datetime):
            if value.utcoffset() is None:
                aware = value.replace(tzinfo=self._zone).isoformat()
                raise InvalidDefinitionError(
                    f"{what}={value.isoformat()!r} has no UTC offset; expected for example {aware!r}, or a plain date"
                )
            return _representable(instant(value), f"{what}={value.isoformat()!r}")
        if not isinstance(value, date):
            raise InvalidDefinitionError(f"{what}={value!r} is not a date, an aware datetime or ISO text")
        wall = _representable((value - _DAY_ZERO).days * DAY, f"{what}={value.isoformat()!r}")
        line = timeline(self._zone)
        shown = line.instants(wall)
        return shown[0] if shown else line.after_gap(wall)

    def to_json(self) -> dict[str, Any]:
        schedule = self.schedule
        form = {
            "kind": self.kind,
            "schedule": schedule if isinstance(schedule, str) else {"microseconds": microseconds(schedule)},
            "timezone": self.timezone,
            **self._bounds,
            "name": self.name,
        }
        return {field: value for field, value in form.items() if value is not None}

    def __repr__(self) -> str:
        shown = [repr(self.schedule), f"timezone={self.timezone!r}"]
        shown += [f"{name}={bound!r}" for name, bound in self._bounds.items() if bound is not None]
        return f"PartitionByInterval({', '.join(shown)})"

    @cached_property
    def _bounds(self) -> dict[str, str | None]:
        """Texts of start and end: where a day begins, its date, which means the same in other time zone data."""
        bounds = {"start": self._start, "end": self._end}
        return {name: None if bound is None else self.bound_text(bound) for name, bound in bounds.items()}

    def bound_text(self, at: int) -> str:
        """ISO text of an instant: where a day begins, its date, which means the same in other time zone data."""
        bound = self.clock.datetime(at)
        return bound.date().isoformat() if self.moment(bound.date()) == at else bound.isoformat()

    def _interval(self, start: int | None, end: int | None) -> Interval | None:
        """The interval, if it lies wholly inside the definition's bounds."""
        if start is None or end is None or start < FIRST or end > LAST:
            return None
        if (self._start is not None and start < self._start) or (self._end is not None and end > self._end):
            return None
        return Interval.between(start, end, self.clock)

    def _from(self, at: int) -> Interval | None:
        start = self._bound_after(at)
        return self._interval(start, self.calendar.after(start))

    def _bound_after(self, at: int) -> int:
        """The first boundary at or after *at*."""
        boundary = self.calendar.after(at - 1)
        return LAST if boundary is None else boundary

    def _last_end(self, at: int) -> int:
        boundary = self.calendar.floor(at)
        return FIRST if boundary is None else boundary

    def starting(self, start: Moment | None, end: Moment | None) -> tuple[int, int]:
        """Range of instants in which the intervals start that :meth:`keys` gives.

        :raises InvalidDefinitionError: as :meth:`keys` does.
        """
        low = self._start if start is None else self.moment(start, "start")
        if low is None:
            raise InvalidDefinitionError(f"{self!r} is open to the past; give start= to list its keys")
        if self._start is not None:
            low = max(low, self._start)
        if self._end is None:
            if end is None:
                raise InvalidDefinitionError(f"{self!r} is open to the future; give end= to list its keys")
            return low, self.moment(end, "end")
        last = self._last_end(self._end)
        return low, last if end is None else min(self.moment(end, "end"), last)

    def _through(self, low: int, high: int) -> int:
        """An instant just after the end of the last interval that starts in ``[low, high)``."""
        last = None if low >= high else self.calendar.floor(high - 1)
        end = None if last is None else self.calendar.after(last)
        return low if end is None else end + 1

    def _instant_of(self, text: str) -> int:
        if not isinstance(text, str):
            raise InvalidKeyError(f"{text!r} is not text; expected a key such as {self._example()}", given=text)
        try:
            return self._instant_of_iso(text)
        except ValueError as error:
            nearest = self._meant_by(text)
            hint = f"nearest: {', '.join(nearest)}" if nearest else f"expected a key such as {self._example()}"
            reason = "it is no ISO date or time" if str(error).startswith("Invalid isoformat") else str(error)
            raise InvalidKeyError(
                f"{text!r} is not a partition of {self!r}: {reason}; {hint}", given=text, nearest=nearest
            ) from None

    def _instant_of_iso(self, text: str) -> int:
        if len(text) != 10:
            moment = from_iso(text)
            if moment.utcoffset() is None:
                raise ValueError("it has no UTC offset")
            return self.moment(moment)
        day = date.fromisoformat(text)
        if not self.clock.dates:
            raise ValueError("a date alone does not say which interval of the day")
        at = self.moment(day)
        if self.clock.datetime(at).date() != day:
            raise ValueError(f"there is no such day in {self.timezone}")
        return at

    def _example(self) -> str:
        interval = self.first() or self._interval(self.calendar.floor(1_700_000_000 * SECOND), LAST)
        return repr(str(interval)) if interval else "'2013-01-01T05:00-05:00'"

    def _meant_by(self, text: str) -> tuple[str, ...]:
        """Texts of the keys that *text* may mean, where it has no offset by the clocks of the zone."""
        moment = wall_time(text)
        if moment is None or not 2 < moment.year < 9998:  # nor what is near the ends of Python's calendar
            return ()
        line, wall = timeline(self._zone), wall_of(moment)
        shown = (instant(moment),) if moment.utcoffset() is not None else line.instants(wall) or (line.after_gap(wall),)
        keys = dict.fromkeys(self._text_at(at) for at in shown)
        return tuple(key for key in keys if key is not None) or self._nearest(shown[0])

    def _text_at(self, at: int) -> str | None:
        """Text of the key of the interval that holds the instant *at*, if there is one."""
        start = self.calendar.floor(at)
        interval = None if start is None else self._interval(start, self.calendar.after(start))
        return None if interval is None else str(interval)

    def _no_key(self, text: str, at: int) -> InvalidKeyError:
        return InvalidKeyError(f"{text} is not a partition of {self!r}", given=text, nearest=partial(self._nearest, at))

    def _nearest(self, at: int) -> tuple[str, ...]:
        """Texts of the two keys that begin nearest to the instant *at*."""
        before, after = self.calendar.floor(at), self.calendar.after(at)
        candidates = [
            self._interval(before, None if before is None else self.calendar.after(before)),
            self._interval(after, None if after is None else self.calendar.after(after)),
            self.first(),
            self.last(),
        ]
        by_distance = sorted((c for c in candidates if c is not None), key=lambda c: abs(c.time_range[0] - at))
        return tuple(dict.fromkeys(map(str, by_distance)))[:2]


def _representable(at: int, description: str) -> int:
    """*at*, if it and the days around it can be shown as datetimes in every zone."""
    if not FIRST + 2 * DAY <= at < LAST - 2 * DAY:
        raise InvalidDefinitionError(f"{description} is too close to the end of Python's calendar, years 1 to 9999")
    return at
