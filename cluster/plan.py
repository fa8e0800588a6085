"""What the cluster makes: which partitions cold, which warm, and which are to follow by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

import attrs

from demo.landing import hours_of
from demo.plan import AIRPORTS, HOURLY, Target

FEBRUARY = date(2013, 2, 1)
JANUARY = tuple(date(2013, 1, 1) + timedelta(days=number) for number in range(31))
MORNING = slice(6, 10)  # four hours


@attrs.frozen
class Part:
    """Partitions that are made in the same way, one after the other part.

    :ivar way: ``"cold"`` for a submit each, ``"warm"`` for a server that runs already.
    """

    name: str
    way: str
    targets: tuple[Target, ...]

    @property
    def size(self) -> int:
        """The number of its partitions."""
        return sum(len(each.keys) for each in self.targets)


@attrs.frozen
class Plan:
    """All that is to be made.

    :ivar hours: that the landing zone has to have.
    """

    hours: tuple[datetime, ...]
    parts: tuple[Part, ...]

    @property
    def keys(self) -> dict[str, list[str]]:
        """The keys of each asset."""
        keys: dict[str, list[str]] = {}
        for target in (target for part in self.parts for target in part.targets):
            keys.setdefault(target.asset, []).extend(target.keys)
        return keys


def plan(*, quick: bool = False) -> Plan:
    """Two days of February cold, January warm; or some hours and a day, if it is to be *quick*."""
    cold_hours = hours_of(FEBRUARY)[MORNING] if quick else _hours([FEBRUARY, FEBRUARY + timedelta(days=1)])
    days = JANUARY[:1] if quick else JANUARY
    hours = _hours(days)
    bounds = (hours[0], hours[-1])
    keys = _texts(hours)
    cold = (Target("hourly_flights", _texts(cold_hours), (cold_hours[0], cold_hours[-1])),)
    landed = (
        Target("hourly_flights", keys, bounds),
        Target("airport_days", _airports(days), (hours[0], hours_of(days[-1])[0])),
    )
    departures = (
        Target(HOURLY, keys, bounds),
        Target("daily_departures", tuple(map(str, days))),
        Target("airport_departures", _airports(days)),
        Target("three_day_departures", tuple(map(str, days))),  # the first two have what the year has before them
    )
    parts = (Part("cold", "cold", cold), Part("warm", "warm", landed), Part("departures", "warm", departures))
    return Plan((*hours, *cold_hours), parts)


def _hours(days: Sequence[date]) -> list[datetime]:
    return [hour for day in days for hour in hours_of(day)]


def _texts(hours: Sequence[datetime]) -> tuple[str, ...]:
    return tuple(hour.isoformat(timespec="minutes") for hour in hours)


def _airports(days: Sequence[date]) -> tuple[str, ...]:
    return tuple(f"{day}|{airport}" for day in days for airport in AIRPORTS)
