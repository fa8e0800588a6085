"""What the demo makes: the quarters of a day, and what is to come by itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from itertools import groupby

from airflow_partitions.storage.io.spark_packages import iceberg_package
from demo.landing import hours_of
from demo.plan import AIRPORTS, Target

FLIGHTS, AIRPORT, CITY = "departures", "airport_delays", "city_delays"
ASSETS = (FLIGHTS, AIRPORT, CITY)
NAMESPACE = "flights"  # of the tables, which are called like the assets
PACKAGE = iceberg_package("4.1")


def of_day(day: date) -> tuple[Target, Target, Target]:
    """The quarters of *day*, its airports, and the city."""
    starts = [hours[0] for hours in _quarters(day)]
    return (
        Target(FLIGHTS, tuple(start.isoformat(timespec="minutes") for start in starts), (starts[0], starts[-1])),
        Target(AIRPORT, tuple(f"{day}|{airport}" for airport in AIRPORTS)),
        Target(CITY, (str(day),)),
    )


def hours_in(key: str) -> list[datetime]:
    """The hours of a key: of a quarter, or of a day with or without its airport."""
    text, _, _ = key.partition("|")
    if "T" not in text:
        return hours_of(date.fromisoformat(text))
    start = datetime.fromisoformat(text)
    return next(hours for hours in _quarters(start.date()) if hours[0] == start)


def quarter_with(hour: datetime) -> str:
    """The key of the quarter that *hour* is in."""
    quarter = next(hours for hours in _quarters(hour.date()) if hour in hours)
    return quarter[0].isoformat(timespec="minutes")


def _quarters(day: date) -> Iterator[list[datetime]]:
    """The hours of each quarter of *day*, by the clock."""
    for _, hours in groupby(hours_of(day), lambda hour: hour.hour // 6):
        yield list(hours)
