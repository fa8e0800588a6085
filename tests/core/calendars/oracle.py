"""Boundaries by brute force, written from the section "Calendars" of the design and from nothing of the package.

croniter says which wall-clock minutes match; ``zoneinfo`` says what the wall clock shows; here the clock is watched as
time goes by, minute by minute wherever it changes.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from croniter import croniter

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
PRESETS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 1,4,7,10 *",
    "@yearly": "0 0 1 1 *",
}


@lru_cache(maxsize=512)
def wall_matches(expression: str, start: datetime, end: datetime) -> tuple[datetime, ...]:
    """The naive wall-clock minutes in ``[start, end)`` that match."""
    matches, walk = [], croniter(PRESETS.get(expression, expression), start - MINUTE, ret_type=datetime)
    while (match := walk.get_next()) < end:
        matches.append(match)
    return tuple(matches)


def takes_every_hour(expression: str) -> bool:
    return PRESETS.get(expression, expression).split()[1] in {"*", "*/1", "0-23"}


@lru_cache(maxsize=512)
def cron_boundaries(expression: str, zone: str, start: datetime, end: datetime) -> tuple[datetime, ...]:
    """The boundaries in ``[start, end)``, in UTC."""
    tz, every_hour = ZoneInfo(zone), takes_every_hour(expression)
    at = start.astimezone(UTC).replace(minute=0, second=0, microsecond=0) - 2 * DAY  # what was shown before counts too
    matches = wall_matches(
        expression, at.replace(tzinfo=None) - 2 * DAY, end.astimezone(UTC).replace(tzinfo=None) + 2 * DAY
    )
    boundaries: set[datetime] = set()
    shown: set[datetime] = set()
    expected = _wall(at, tz)
    while at < end:
        wall = _wall(at, tz)
        assert wall.second == 0, "the oracle walks whole minutes"
        step = HOUR if _wall(at + HOUR, tz) - wall == HOUR else MINUTE
        if not every_hour and _between(matches, expected, wall):  # the clock jumped over these
            boundaries.add(at)
        for match in _between(matches, wall, wall + step):
            if every_hour or match not in shown:
                boundaries.add(at + (match - wall))
            shown.add(match)
        at, expected = at + step, wall + step
    return tuple(sorted(b for b in boundaries if start <= b < end))


def elapsed_boundaries(
    step: timedelta, zone: str, anchor: datetime | None, start: datetime, end: datetime
) -> tuple[datetime, ...]:
    """The boundaries in ``[start, end)`` every *step* from *anchor*, else from 1970-01-01 midnight in *zone*."""
    at = (anchor or datetime(1970, 1, 1, tzinfo=ZoneInfo(zone))).astimezone(UTC)
    at += (start - at) // step * step
    boundaries = []
    while at < end:
        if at >= start:
            boundaries.append(at)
        at += step
    return tuple(boundaries)


def _wall(at: datetime, tz: ZoneInfo) -> datetime:
    return at.astimezone(tz).replace(tzinfo=None)


def _between(matches: tuple[datetime, ...], low: datetime, high: datetime) -> tuple[datetime, ...]:
    return matches[bisect_left(matches, low) : bisect_left(matches, high)] if low < high else ()
