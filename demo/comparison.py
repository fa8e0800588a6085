"""What was made, beside what pandas counts in the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from math import isnan
from typing import TYPE_CHECKING

import attrs

from demo.landing import NEW_YORK, YEAR, hours_of
from demo.report import Row

if TYPE_CHECKING:
    from pandas import DataFrame


@attrs.frozen
class Count:
    """One number and the bounds it has to be in: both the same, where there is one right answer.

    :ivar found: ``None`` if there is none.
    :ivar low: ``None`` if there should be none.
    """

    what: str
    found: float | None
    low: float | None
    high: float | None

    @classmethod
    def exact(cls, what: str, found: float | None, expected: float) -> Count:
        """A count with one right answer; the total of no values is none."""
        right = None if isnan(expected) else expected
        return cls(what, found, right, right)

    @property
    def right(self) -> bool:
        """Whether it is as pandas counts it."""
        if self.found is None or self.low is None or self.high is None:
            return self.found is self.low
        return self.low <= self.found <= self.high

    def __str__(self) -> str:
        expected = " to ".join(dict.fromkeys(map(_text, (self.low, self.high))))
        return f"{self.what}: {_text(self.found)}, pandas counts {expected}"


def counts(rows: Iterable[Row], source: dict[str, DataFrame]) -> Iterator[tuple[Row, Count]]:
    """Every number of every run that succeeded."""
    for row in rows:
        if row.state == "success":
            checks = {"hourly_flights": _flights, "airport_days": _carriers}.get(row.asset, _departures)
            yield from ((row, count) for count in checks(row, source))


def failures(rows: Iterable[Row]) -> list[str]:
    """Runs that did not succeed, so that there is nothing to compare."""
    return [f"{row.asset} {row.partition}: the run ended as {row.state}" for row in rows if row.state != "success"]


def differences(counted_rows: Iterable[tuple[Row, Count]]) -> list[str]:
    """The numbers that are not as pandas counts them."""
    return [f"{row.asset} {row.partition}: {count}" for row, count in counted_rows if not count.right]


def _flights(row: Row, source: dict[str, DataFrame]) -> Iterator[Count]:
    """Every flight of the hour comes out once, with the weather of its airport."""
    hours, _ = _covered(row)
    flights, weather = (len(within(source[name], hours)) for name in ("flights", "weather"))
    yield Count.exact("flights read", row.rows_in.get("flights"), flights)
    # Spark needn't read the weather of an hour in which nothing leaves.
    yield Count("weather read", row.rows_in.get("weather"), weather if flights else 0, weather)
    yield Count.exact("rows out", row.rows_out, flights)
    yield Count.exact("rows published", row.published.get("rows"), flights)


def _carriers(row: Row, source: dict[str, DataFrame]) -> Iterator[Count]:
    """One row per carrier that leaves from the airport on the day, with the number of its flights."""
    hours, airport = _covered(row)
    of_day = within(source["flights"], hours)
    flights = of_day[of_day["origin"] == airport]
    # Parquet skips files in which the airport can't occur.
    yield Count("flights read", row.rows_in.get("flights"), len(flights), len(of_day))
    yield Count.exact("rows out", row.rows_out, flights["carrier"].nunique())
    yield Count.exact("rows published", row.published.get("rows"), flights["carrier"].nunique())
    yield Count.exact("flights published", row.published.get("flights"), len(flights))


def _departures(row: Row, source: dict[str, DataFrame]) -> Iterator[Count]:
    """Flights and weather of the hours a partition covers, at one airport or at all."""
    hours, airport = _covered(row)
    flights, weather = (within(source[name], hours) for name in ("flights", "weather"))
    if airport:
        flights, weather = (table[table["origin"] == airport] for table in (flights, weather))
    rows = 3 if row.asset == "hourly_departures" else 1
    if row.asset == "hourly_departures":
        yield Count.exact("flights read", row.rows_in.get("flights"), len(flights))
        yield Count.exact("weather read", row.rows_in.get("weather"), len(weather))
    yield Count.exact("rows out", row.rows_out, rows)
    yield Count.exact("rows published", row.published.get("rows"), rows)
    yield Count.exact("flights published", row.published.get("flights"), len(flights))
    yield Count.exact("cancelled published", row.published.get("cancelled"), int(flights["dep_delay"].isna().sum()))
    yield Count.exact("delay published", row.published.get("delay"), flights["dep_delay"].sum(min_count=1))
    if row.asset in ("hourly_departures", "airport_departures"):
        yield Count.exact("wind_speed published", row.published.get("wind_speed"), weather["wind_speed"].max())
        yield Count.exact("visib published", row.published.get("visib"), weather["visib"].min())
    if row.asset != "hourly_departures":
        yield Count.exact("hours published", row.published.get("hours"), len(hours))
        days = len({hour.date() for hour in hours})
        parts, most = (days, days) if row.asset == "three_day_departures" else (len(hours), 3 * len(hours))
        yield Count.exact("files read", row.files_read, parts)
        # Parquet may skip rows of other airports.
        yield Count("rows read", sum(row.rows_in.values()), parts if airport else most, most)


def _covered(row: Row) -> tuple[Sequence[datetime], str]:
    """The hours a partition covers, and its airport if it has one."""
    text, _, airport = row.partition.partition("|")
    if "T" in text:
        return [datetime.fromisoformat(text).astimezone(NEW_YORK)], airport
    day = date.fromisoformat(text)
    first = max(day - timedelta(days=2 if row.asset == "three_day_departures" else 0), YEAR[0].date())
    return [hour for n in range((day - first).days + 1) for hour in hours_of(first + timedelta(days=n))], airport


def within(table: DataFrame, hours: Sequence[datetime]) -> DataFrame:
    """The rows of *hours*, which follow each other."""
    start, end = hours[0].astimezone(UTC), hours[-1].astimezone(UTC) + timedelta(hours=1)
    return table[(table["time_hour"] >= start) & (table["time_hour"] < end)]


def _text(number: float | None) -> str:
    return "none" if number is None else f"{number:g}"
