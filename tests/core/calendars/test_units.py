"""Units of time as calendars have them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions.core.calendars.instants import DAY, instant, utc
from airflow_partitions.core.calendars.timeline import timeline
from airflow_partitions.core.calendars.units import UNITS, Unit

NEW_YORK, LORD_HOWE, KATHMANDU = map(ZoneInfo, ("America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"))
LOW, HIGH = datetime(1950, 1, 1), datetime(2100, 1, 1)  # noqa: DTZ001 - as the strategy wants them


def beginnings(unit: Unit, zone: ZoneInfo, low: str, high: str) -> list[str]:
    bounds = (instant(datetime.fromisoformat(text).replace(tzinfo=zone)) for text in (low, high))
    return [utc(at).astimezone(zone).isoformat(timespec="minutes") for at in unit.beginnings(*bounds, timeline(zone))]


def test_units_begin_where_the_clock_of_the_zone_says() -> None:
    assert beginnings(Unit("day"), NEW_YORK, "2013-11-02", "2013-11-05") == [
        "2013-11-03T00:00-04:00",
        "2013-11-04T00:00-05:00",
    ]
    assert beginnings(Unit("hour", 6), LORD_HOWE, "2013-10-05T18:00", "2013-10-06T13:00") == [
        "2013-10-06T00:00+10:30",
        "2013-10-06T06:00+11:00",
        "2013-10-06T12:00+11:00",
    ]
    assert beginnings(Unit("week"), KATHMANDU, "2013-10-05", "2013-10-15") == [
        "2013-10-07T00:00+05:45",
        "2013-10-14T00:00+05:45",
    ]
    assert beginnings(Unit("month", 3), NEW_YORK, "2012-12-31", "2013-08-01") == [
        "2013-01-01T00:00-05:00",
        "2013-04-01T00:00-04:00",
        "2013-07-01T00:00-04:00",
    ]
    assert beginnings(Unit("year", 10), NEW_YORK, "1999-01-01", "2021-01-01") == [
        "2000-01-01T00:00-05:00",
        "2010-01-01T00:00-05:00",
        "2020-01-01T00:00-05:00",
    ]


def test_a_unit_that_the_clock_shows_twice_begins_once() -> None:
    assert beginnings(Unit("hour"), NEW_YORK, "2013-11-03T00:30", "2013-11-03T03:30") == [
        "2013-11-03T01:00-04:00",
        "2013-11-03T02:00-05:00",
        "2013-11-03T03:00-05:00",
    ]


@given(
    st.sampled_from(UNITS[:-4]),
    st.datetimes(timezones=st.just(UTC), min_value=LOW, max_value=HIGH),
    st.sampled_from([NEW_YORK, LORD_HOWE, KATHMANDU]),
)
def test_no_unit_is_longer_than_it_says_and_none_is_skipped(unit: Unit, moment: datetime, zone: ZoneInfo) -> None:
    low = instant(moment)
    high = low + 3 * unit.longest
    inside = list(unit.beginnings(low, high, timeline(zone)))
    assert inside == sorted(inside)
    assert all(end - start <= unit.longest + DAY for start, end in pairwise([low, *inside, high]))


def test_units_are_named_by_number() -> None:
    assert (str(Unit("day")), str(Unit("hour", 6))) == ("day", "6 hours")
