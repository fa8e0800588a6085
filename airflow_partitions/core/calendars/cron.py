"""The wall-clock times a cron expression matches, without any zone."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Any

from airflow_partitions.core.calendars.instants import DAY, HOUR, MINUTE
from airflow_partitions.core.errors import InvalidDefinitionError

PRESETS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 */3 *",
    "@yearly": "0 0 1 1 *",
}
_DAY_ZERO = date(1970, 1, 1).toordinal()
# croniter's R and H are another time in every process; "3-3" it takes for every value there is.
_SURPRISING = re.compile(r"\b[rh]\b|\b(\w+)-\1\b", re.IGNORECASE)
# As many months as there are are kept of a cron: who asks for all years would push out those of today.
_MONTHS = 131_072
_LEAP_CYCLE_YEARS = range(2000, 2028)  # every weekday meets every day of the year in 28 years


class Cron:
    """A cron expression as the set of wall-clock moments it matches, in microseconds since 1970-01-01T00:00.

    The expression is read by croniter; the questions asked here (floor, after, count) are answered by arithmetic.

    :param expression: five fields, or a preset such as ``@daily``.
    :raises InvalidDefinitionError: if croniter can't read it, or it never matches.
    """

    def __init__(self, expression: str) -> None:
        self.expression = PRESETS.get(expression, expression)
        fields, nth = _expand(expression, self.expression)
        minutes, hours, self._days, self._months, self._weekdays = fields
        self._nth = nth
        #: Whether the hour field takes every hour, so that there is a boundary each time the clock shows a match.
        self.every_hour = hours == ["*"]
        all_minutes = _numbers(minutes, range(60))
        self._times = [h * HOUR + m * MINUTE for h in _numbers(hours, range(24)) for m in all_minutes]
        #: Whether minute and hour are fixed at 0: such a calendar is written in dates.
        self.midnight = self._times == [0]
        self._daily = self._days == self._weekdays == self._months == ["*"] and not nth
        steps = {b - a for a, b in zip(self._times, [*self._times[1:], self._times[0] + DAY], strict=True)}
        self._step = steps.pop() if self._daily and len(steps) == 1 else None
        self._month_days = lru_cache(maxsize=_MONTHS)(self._matching_days)
        if not self._daily and not any(self._month_days(y, m) for y in _LEAP_CYCLE_YEARS for m in range(1, 13)):
            raise InvalidDefinitionError(f"cron {expression!r} never matches; expected one that names days that exist")

    def __reduce__(self) -> tuple[Any, ...]:
        return Cron, (self.expression,)

    def floor(self, wall: int) -> int | None:
        """The last match at or before *wall*, ``None`` before year 1."""
        if self._step:
            return wall - (wall - self._times[0]) % self._step
        day, time = divmod(wall, DAY)
        i = bisect_right(self._times, time)
        if i and self._matches(day):
            return day * DAY + self._times[i - 1]
        earlier = self._day_before(day)
        return None if earlier is None else earlier * DAY + self._times[-1]

    def after(self, wall: int) -> int | None:
        """The first match after *wall*, ``None`` beyond year 9999."""
        if self._step:
            return wall - (wall - self._times[0]) % self._step + self._step
        day, time = divmod(wall, DAY)
        i = bisect_right(self._times, time)
        if i < len(self._times) and self._matches(day):
            return day * DAY + self._times[i]
        later = self._day_after(day)
        return None if later is None else later * DAY + self._times[0]

    def count(self, start: int, end: int) -> int:
        """Number of matches in ``[start, end)``."""
        if start >= end:
            return 0
        if self._step:
            return (end - 1 - self._times[0]) // self._step - (start - 1 - self._times[0]) // self._step
        return self._rank(end) - self._rank(start) + len(self._times) * self._whole_days(start // DAY, end // DAY)

    def matches(self, start: int, end: int) -> Iterator[int]:
        """The matches in ``[start, end)``, in order."""
        first = self.after(start - 1)
        if first is None or first >= end:
            return
        if self._step:
            yield from range(first, end, self._step)
            return
        day: int | None = first // DAY
        while day is not None and day * DAY < end:
            for time in self._times:
                if start <= (match := day * DAY + time) < end:
                    yield match
            day = day + 1 if self._daily else self._day_after(day)

    def _rank(self, wall: int) -> int:
        day, time = divmod(wall, DAY)
        return bisect_left(self._times, time) if self._matches(day) else 0

    def _whole_days(self, first: int, last: int) -> int:
        """Number of matching days in ``[first, last)``."""
        if self._daily:
            return last - first
        total, (year, month) = 0, _year_month(first)
        end_year, end_month = _year_month(last)
        while (year, month) < (end_year, end_month):
            total += len(self._month_days(year, month))
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        return (
            total
            - bisect_left(self._month_days(*_year_month(first)), first)
            + bisect_left(self._month_days(end_year, end_month), last)
        )

    def _matches(self, day: int) -> bool:
        if self._daily:
            return True
        days = self._month_days(*_year_month(day))
        i = bisect_left(days, day)
        return i < len(days) and days[i] == day

    def _day_after(self, day: int) -> int | None:
        if self._daily:
            return day + 1
        year, month = _year_month(day)
        days = self._month_days(year, month)
        while (i := bisect_right(days, day)) == len(days):
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)
            if year > 9999:
                return None
            days = self._month_days(year, month)
        return days[i]

    def _day_before(self, day: int) -> int | None:
        if self._daily:
            return day - 1
        year, month = _year_month(day)
        days = self._month_days(year, month)
        while (i := bisect_left(days, day)) == 0:
            year, month = (year, month - 1) if month > 1 else (year - 1, 12)
            if year < 1:
                return None
            days = self._month_days(year, month)
        return days[i - 1]

    def _matching_days(self, year: int, month: int) -> tuple[int, ...]:
        """The matching days of a month, counted from 1970-01-01."""
        if self._months != ["*"] and month not in self._months:
            return ()
        first_weekday, length = monthrange(year, month)
        start = date(year, month, 1).toordinal() - _DAY_ZERO
        chosen = []
        for number in range(1, length + 1):
            weekday = (first_weekday + number) % 7  # cron counts from Sunday
            by_day = number in self._days or (number == length and "l" in self._days)
            by_weekday = weekday in self._weekdays and (not self._nth or self._is_nth(weekday, number, length))
            if self._days == ["*"]:
                matched = self._weekdays == ["*"] or by_weekday
            elif self._weekdays == ["*"]:
                matched = by_day
            else:
                matched = by_day or by_weekday  # both restricted: either is enough, as in classic cron
            if matched:
                chosen.append(start + number - 1)
        return tuple(chosen)

    def _is_nth(self, weekday: int, number: int, length: int) -> bool:
        numbers = self._nth.get(weekday, set())
        return (number - 1) // 7 + 1 in numbers or ("l" in numbers and number + 7 > length)


def _year_month(day: int) -> tuple[int, int]:
    whole = date.fromordinal(min(max(day + _DAY_ZERO, 1), date.max.toordinal()))
    return whole.year, whole.month


def _numbers(field: list[int | str], every: range) -> list[int]:
    return list(every) if field == ["*"] else sorted(int(value) for value in field)


def _expand(schedule: str, expression: str) -> tuple[list[list[Any]], dict[Any, set[Any]]]:
    from croniter import CroniterError, croniter

    expected = f"expected five fields like '30 2 * * 1-5', or one of {', '.join(PRESETS)}"
    parts = expression.split()
    if len(parts) != 5 or _SURPRISING.search(expression) or "w" in parts[2].lower():
        raise InvalidDefinitionError(f"{schedule!r} is not a cron this package can read; {expected}")
    try:
        fields, nth = croniter.expand(expression)
    except (CroniterError, ValueError, KeyError, AttributeError) as error:
        raise InvalidDefinitionError(f"{schedule!r} is not a cron: {error}; {expected}") from error
    if nth and fields[2] != ["*"]:  # croniter has no sense for these: neither both, nor either
        raise InvalidDefinitionError(f"cron {schedule!r} mixes days of the month and numbered weekdays; {expected}")
    return list(fields), dict(nth)


@lru_cache(maxsize=1024)
def read_cron(schedule: str) -> Cron:
    """The preset or cron expression *schedule*, read once: it never changes, and Airflow reads Dags very often."""
    return Cron(schedule)
