"""What the demo makes: which partitions it asks for, and which are to come by themselves."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import attrs

from demo.landing import NEW_YORK, hours_of

AIRPORTS = ("EWR", "JFK", "LGA")
CLOCK_CHANGES = (date(2013, 3, 10), date(2013, 11, 3))  # a day of 23 hours and one of 25
HOURLY = "hourly_departures"
FOLLOWERS = ("daily_departures", "airport_departures", "three_day_departures")  # scheduled on assets
AGAIN = "2013-11-03T01:00-05:00"  # the second hour of that name


@attrs.frozen
class Target:
    """Partitions of one asset that are to be there.

    :ivar bounds: first and last start to ask a backfill for; ``None`` for what comes without one.
    """

    asset: str
    keys: tuple[str, ...]
    bounds: tuple[datetime, datetime] | None = None


def first(day: date) -> tuple[Target, ...]:
    """An hour and a day of one airport, to begin with."""
    hour = datetime(day.year, day.month, day.day, 17, tzinfo=NEW_YORK)
    return Target("hourly_flights", _texts([hour])), Target("airport_days", (f"{day}|JFK",))


def one_day(day: date) -> tuple[Target, ...]:
    """The hours of *day*, and the day of each airport."""
    hours = hours_of(day)
    return (
        Target("hourly_flights", _texts(hours), (hours[0], hours[-1])),
        Target("airport_days", _airports([day]), (hours[0], hours[0])),
    )


def everything(day: date) -> tuple[Target, ...]:
    """The partitions of *day*, and those around both clock changes."""
    return one_day(day) + tuple(target for change in CLOCK_CHANGES for target in three_days(change))


def three_days(day: date) -> tuple[Target, ...]:
    """The hours of *day* and of the days beside it, and what follows from them: the last day is the only one with both
    days before it."""
    days = [day + timedelta(days=n) for n in (-1, 0, 1)]
    hours = [hour for each in days for hour in hours_of(each)]
    return (
        Target(HOURLY, _texts(hours), (hours[0], hours[-1])),
        Target("daily_departures", tuple(map(str, days))),
        Target("airport_departures", _airports(days)),
        Target("three_day_departures", (str(days[-1]),)),
    )


def after_again() -> tuple[Target, ...]:
    """What follows from a re-run of the hour :data:`AGAIN`, once its three days are there."""
    day = datetime.fromisoformat(AGAIN).date()
    return (
        Target("daily_departures", (str(day),)),
        Target("airport_departures", _airports([day])),
        Target("three_day_departures", (str(day + timedelta(days=1)),)),
    )


def _texts(hours: list[datetime]) -> tuple[str, ...]:
    return tuple(hour.isoformat(timespec="minutes") for hour in hours)


def _airports(days: list[date]) -> tuple[str, ...]:
    return tuple(f"{day}|{airport}" for day in days for airport in AIRPORTS)
