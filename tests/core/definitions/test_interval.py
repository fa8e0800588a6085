"""Definitions of time: examples that can be checked by hand, and what bad input is told."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pendulum
import pytest

from airflow_partitions import Dependency, Interval, PartitionByInterval, Window
from airflow_partitions.core.definitions import from_json
from airflow_partitions.core.dependencies import rule_from_json
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError

NEW_YORK = ZoneInfo("America/New_York")


def texts(schedule: str | timedelta, zone: str, start: str, end: str) -> list[str]:
    return [str(key) for key in PartitionByInterval(schedule, timezone=zone).keys(start, end)]


def test_a2_presets_crons_and_timedeltas() -> None:
    assert texts("@daily", "UTC", "2013-02-27", "2013-03-02") == ["2013-02-27", "2013-02-28", "2013-03-01"]
    assert texts("@weekly", "UTC", "2013-01-01", "2013-01-15") == ["2013-01-06", "2013-01-13"]
    assert texts("@monthly", "UTC", "2013-01-01", "2013-03-01") == ["2013-01-01", "2013-02-01"]
    assert texts("@quarterly", "UTC", "2013-01-01", "2014-01-01") == [
        "2013-01-01",
        "2013-04-01",
        "2013-07-01",
        "2013-10-01",
    ]
    assert texts("@yearly", "UTC", "2013-01-01", "2015-01-01") == ["2013-01-01", "2014-01-01"]
    assert texts("30 6 * * 1-5", "UTC", "2013-01-04", "2013-01-08") == ["2013-01-04T06:30Z", "2013-01-07T06:30Z"]
    assert texts(timedelta(hours=7), "UTC", "1970-01-01", "1970-01-02") == [
        f"1970-01-01T{hour:02}:00Z" for hour in (0, 7, 14, 21)
    ]
    assert texts(timedelta(seconds=0.5), "UTC", "2013-01-01T00:00Z", "2013-01-01T00:00:01Z") == [
        "2013-01-01T00:00Z",
        "2013-01-01T00:00:00.500000Z",
    ]


def test_a2_a_timedelta_starts_at_midnight_of_1970_in_the_zone() -> None:
    assert texts(timedelta(days=1), "Asia/Kathmandu", "1970-01-01", "1970-01-03") == [
        "1970-01-01T00:00+05:30",
        "1970-01-02T00:00+05:30",
    ]
    started = PartitionByInterval(timedelta(hours=5), start="2013-01-01T03:00Z", end="2013-01-01T13:59Z")
    assert [str(key) for key in list(started.keys())] == ["2013-01-01T03:00Z", "2013-01-01T08:00Z"]


def test_a13_the_hours_of_a_clock_change_in_new_york() -> None:
    spring = texts("@hourly", "America/New_York", "2013-03-10", "2013-03-11")
    autumn = texts("@hourly", "America/New_York", "2013-11-03", "2013-11-04")
    assert (len(spring), len(autumn)) == (23, 25)
    assert spring[1:3] == ["2013-03-10T01:00-05:00", "2013-03-10T03:00-04:00"]
    assert autumn[1:3] == ["2013-11-03T01:00-04:00", "2013-11-03T01:00-05:00"]


@pytest.mark.parametrize(
    ("schedule", "zone", "start", "end", "expected"),
    [
        # The time that is jumped over is the first moment after the jump; 02:00 and 03:00 are one boundary.
        ("30 2 * * *", "America/New_York", "2013-03-09", "2013-03-12",
         ["2013-03-09T02:30-05:00", "2013-03-10T03:00-04:00", "2013-03-11T02:30-04:00"]),
        ("0 2,3 * * *", "Europe/Berlin", "2013-03-31", "2013-04-01", ["2013-03-31T03:00+02:00"]),
        # What the clock shows twice counts once, the first time, unless every hour counts.
        ("30 1 * * *", "America/New_York", "2013-11-03", "2013-11-04", ["2013-11-03T01:30-04:00"]),
        ("30 * * * *", "America/New_York", "2013-11-03T01:00-04:00", "2013-11-03T02:00-05:00",
         ["2013-11-03T01:30-04:00", "2013-11-03T01:30-05:00"]),
        ("30 0-23/1 * * *", "America/New_York", "2013-11-03T01:00-04:00", "2013-11-03T02:00-05:00",
         ["2013-11-03T01:30-04:00", "2013-11-03T01:30-05:00"]),
        # Half an hour of summer time; a zone that moved by 15 minutes.
        ("@hourly", "Australia/Lord_Howe", "2013-04-06T14:00Z", "2013-04-06T17:00Z",
         ["2013-04-07T01:00+11:00", "2013-04-07T02:00+10:30", "2013-04-07T03:00+10:30"]),
        ("*/10 * * * *", "Asia/Kathmandu", "1985-12-31T18:15Z", "1985-12-31T18:51Z",
         ["1985-12-31T23:50+05:30", "1986-01-01T00:20+05:45", "1986-01-01T00:30+05:45"]),
        # A day that does not exist, and days without a midnight.
        ("@daily", "Pacific/Apia", "2011-12-29", "2012-01-01", ["2011-12-29", "2011-12-31"]),
        ("@daily", "America/Sao_Paulo", "2017-10-14", "2017-10-17", ["2017-10-14", "2017-10-15", "2017-10-16"]),
        ("@daily", "Asia/Beirut", "2023-03-30", "2023-04-01", ["2023-03-30", "2023-03-31"]),
        ("@hourly", "America/Havana", "2013-03-10T04:00Z", "2013-03-10T07:00Z",
         ["2013-03-09T23:00-05:00", "2013-03-10T01:00-04:00", "2013-03-10T02:00-04:00"]),
    ],
)  # fmt: skip
def test_a2_clock_changes(schedule: str, zone: str, start: str, end: str, expected: list[str]) -> None:
    assert texts(schedule, zone, start, end) == expected


def test_a2_days_without_midnight_start_at_their_first_instant() -> None:
    day = PartitionByInterval("@daily", timezone="America/Sao_Paulo").parse("2017-10-15")
    assert day.start.isoformat() == "2017-10-15T01:00:00-02:00"
    assert day.end.astimezone(UTC) - day.start.astimezone(UTC) == timedelta(hours=23)


def test_a2_bounds_may_be_given_in_many_ways() -> None:
    same = [
        PartitionByInterval("@daily", timezone="America/New_York", start=start)
        for start in ("2013-01-01", date(2013, 1, 1), datetime(2013, 1, 1, tzinfo=NEW_YORK), "2013-01-01T05:00Z")
    ]
    assert len(set(same)) == 1
    assert same[0].start == datetime(2013, 1, 1, tzinfo=NEW_YORK)
    assert same[0].end is None
    assert PartitionByInterval("@daily", start="1970-01-01").start == datetime(1970, 1, 1, tzinfo=UTC)


def test_a2_the_first_and_last_of_a_bounded_definition() -> None:
    definition = PartitionByInterval("@daily", start="2013-01-01T01:00Z", end="2013-01-05T23:00Z")
    assert (str(definition.first()), str(definition.last())) == ("2013-01-02", "2013-01-04")
    assert str(definition.last(closed_by=datetime(2013, 1, 4, 12, tzinfo=UTC))) == "2013-01-03"
    assert definition.last(closed_by=datetime(2013, 1, 2, 23, tzinfo=UTC)) is None
    assert PartitionByInterval("@daily").first() is PartitionByInterval("@daily").last() is None


def test_a9_keys_of_other_clocks_are_recognised() -> None:
    definition = PartitionByInterval("@daily", timezone="America/New_York")
    interval = Interval(datetime(2013, 1, 1, 5, tzinfo=UTC), datetime(2013, 1, 2, 5, tzinfo=UTC))
    assert str(interval) == "2013-01-01T05:00Z"
    assert str(definition.key(interval)) == "2013-01-01"
    for text in (
        "2013-01-01",
        "2013-01-01T05:00Z",
        "2013-01-01T00:00-05:00",
        "2013-01-01 00:00:00-05:00",
        "20130101T0500Z",
    ):
        assert definition.parse(text) == interval


def test_ek7_durations_of_pendulum_are_timedeltas() -> None:
    definition = PartitionByInterval(pendulum.duration(hours=6), start="2013-01-01")
    assert definition == PartitionByInterval(timedelta(hours=6), start="2013-01-01")
    assert type(definition.schedule) is timedelta
    window = Window(before=pendulum.duration(days=1))
    assert rule_from_json(window.to_json()) == window == Window(before=timedelta(days=1))
    assert len(Dependency(definition, definition, window).upstream("2013-01-05T00:00Z")) == 5


def test_ek11_a_timedelta_comes_back_to_the_microsecond() -> None:
    definition = PartitionByInterval(timedelta(days=99_999, microseconds=333_333))
    assert from_json(definition.to_json()).to_json() == definition.to_json()
    assert from_json(definition.to_json()).time.schedule == definition.schedule  # type: ignore[union-attr]
    refused("is too long; expected a positive timedelta", timedelta.max)


def test_ek11_the_zone_of_the_machine_is_no_zone() -> None:
    for name in ("localtime", "posixrules"):
        refused(f"unknown timezone '{name}'", "@daily", timezone=name)


def test_equal_definitions_are_equal() -> None:
    one, other = (PartitionByInterval("@daily", start="2013-01-01", name=name) for name in ("time", "day"))
    assert one == PartitionByInterval("@daily", start=datetime(2013, 1, 1, tzinfo=UTC))
    assert one != other
    assert one != "PartitionByInterval"
    assert eval(repr(one)) == one
    assert one.time is one
    assert list(one.dimensions) == ["time"]


# Bad input


def refused(problem: str, *args: Any, **kwargs: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match=problem) as error:
        PartitionByInterval(*args, **kwargs)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("bound", ["start", "end"])
def test_a_naive_bound_is_refused(bound: str) -> None:
    expected = rf"{bound}='2013-01-01T05:00:00' has no UTC offset; expected for example '2013-01-01T05:00:00-05:00'"
    for value in (datetime(2013, 1, 1, 5), "2013-01-01T05:00"):  # noqa: DTZ001
        refused(expected, "@daily", timezone="America/New_York", **{bound: value})


@pytest.mark.parametrize("end", ["2013-01-01", "2012-12-31"])
def test_an_end_not_after_start_is_refused(end: str) -> None:
    refused(f"end '{end}' is not after start '2013-01-01'", "@daily", start="2013-01-01", end=end)


@pytest.mark.parametrize(("bound", "shown"), [("soon", "'soon'"), ("2013-13-01", "'2013-13-01'"), (5, "5")])
def test_a_bound_that_is_no_time_is_refused(bound: Any, shown: str) -> None:
    refused(
        f"start={shown} is not a (time; expected ISO text such as '2013-01-01'|date, an aware)", "@daily", start=bound
    )


@pytest.mark.parametrize("bound", ["0001-01-01", "9999-12-31", datetime(9999, 12, 31, tzinfo=UTC)])
def test_a_bound_where_the_calendar_of_python_ends_is_refused(bound: Any) -> None:
    refused("too close to the end of Python's calendar, years 1 to 9999", "@daily", start=bound)


@pytest.mark.parametrize(
    ("zone", "nearest"),
    [("Europe/Berln", "Europe/Berlin"), ("america/new_york", "America/New_York"), ("New_York", "America/New_York")],
)
def test_an_unknown_zone_is_refused_and_the_nearest_named(zone: str, nearest: str) -> None:
    refused(
        rf"unknown timezone '{zone}'; expected an IANA name like 'Europe/Berlin'; nearest: .*{nearest}",
        "@daily",
        timezone=zone,
    )


@pytest.mark.parametrize("zone", ["", "America", "../etc/passwd", None, 5, ["UTC"], "+01:00"])
def test_what_is_no_zone_is_refused(zone: Any) -> None:
    refused(f"unknown timezone {re.escape(repr(zone))}; expected an IANA name", "@daily", timezone=zone)


@pytest.mark.parametrize("step", [timedelta(0), timedelta(hours=-1)])
def test_an_interval_without_length_is_refused(step: timedelta) -> None:
    refused(re.escape(f"an interval of {step!r} has no length; expected a positive timedelta"), step)


@pytest.mark.parametrize("schedule", [None, 5, ["@daily"], b"@daily"])
def test_what_is_no_schedule_is_refused(schedule: Any) -> None:
    refused(re.escape(f"schedule {schedule!r} is not a preset, a cron expression or a timedelta"), schedule)


@pytest.mark.parametrize("name", ["", "a b", "1st", "_x", "a|b", None, 5])
def test_a_name_that_is_no_identifier_is_refused(name: Any) -> None:
    refused(
        re.escape(f"dimension name {name!r} is not usable; expected an identifier such as 'region'"),
        "@daily",
        name=name,
    )


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("2013-01-01T05:30-05:00", ("2013-01-01T05:00-05:00", "2013-01-01T06:00-05:00")),
        ("2013-03-10T02:30-05:00", ("2013-03-10T03:00-04:00", "2013-03-10T04:00-04:00")),
        ("2012-12-31T23:00-05:00", ("2013-01-01T00:00-05:00", "2013-12-31T23:00-05:00")),
        ("2014-01-01T00:00-05:00", ("2013-12-31T23:00-05:00", "2013-01-01T00:00-05:00")),
    ],
)
def test_a16_a_text_that_names_no_interval(text: str, nearest: tuple[str, ...]) -> None:
    definition = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01", end="2014-01-01")
    with pytest.raises(InvalidKeyError) as error:
        definition.parse(text)
    assert error.value.nearest == nearest
    assert repr(text) in str(error.value)
    assert f"nearest: {', '.join(nearest)}" in str(error.value)
    assert not definition.contains(text)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("2013-01-01", "a date alone does not say which interval of the day", "nearest: 2013-01-01T00:00Z"),
        ("2013-01-01T05:00", "it has no UTC offset", "nearest: 2013-01-01T05:00Z"),
        ("yesterday", "it is no ISO date or time", "expected a key such as '2013-01-01T00:00Z'"),
        ("", "it is no ISO date or time", "expected a key such as '2013-01-01T00:00Z'"),
        ("2013-02-30T00:00Z", "day", "expected a key such as '2013-01-01T00:00Z'"),
        ("9999-12-31T23:00Z", "too close to the end", "expected a key such as '2013-01-01T00:00Z'"),
        (5, "is not text", "expected a key such as '2013-01-01T00:00Z'"),
        (None, "is not text", "expected a key such as '2013-01-01T00:00Z'"),
    ],
)
def test_a16_malformed_texts(text: Any, problem: str, hint: str) -> None:
    definition = PartitionByInterval("@hourly", start="2013-01-01")
    with pytest.raises(InvalidKeyError, match=problem) as error:
        definition.parse(text)
    assert repr(text) in str(error.value)
    assert hint in str(error.value)
    assert error.value.given == text


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("2013-06-01T10:00", ("2013-06-01T10:00-04:00",)),
        ("2013-06-01T10:42", ("2013-06-01T10:00-04:00",)),
        ("2013-06-01, 10:00 -04:00", ("2013-06-01T00:00-04:00",)),
        ("2013-6-1 9", ("2013-06-01T09:00-04:00",)),
        ("2013-06-01", ("2013-06-01T00:00-04:00",)),
        (" 2013-06-01T14:00Z ", ("2013-06-01T10:00-04:00",)),
        ("2013-11-03T01:00", ("2013-11-03T01:00-04:00", "2013-11-03T01:00-05:00")),
        ("2013-03-10T02:30", ("2013-03-10T03:00-04:00",)),
        ("2012-06-01T10:00", ("2013-01-01T00:00-05:00",)),
        ("2013-13-01T10:00", ()), ("nonsense", ()),
    ],
)  # fmt: skip
def test_eu9_a_time_without_offset_is_answered_with_the_key_that_the_clocks_show(
    text: str, nearest: tuple[str, ...]
) -> None:
    definition = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
    with pytest.raises(InvalidKeyError) as error:
        definition.parse(text)
    assert error.value.nearest == nearest
    assert ", ".join(nearest) in str(error.value)


def test_eu9_a_day_is_meant_by_a_time_in_it() -> None:
    with pytest.raises(InvalidKeyError, match="nearest: 2013-06-01") as error:
        PartitionByInterval("@daily", timezone="America/New_York").parse("2013-06-01T10:00")
    assert error.value.nearest == ("2013-06-01",)


def test_a16_a_day_that_does_not_exist_is_no_key() -> None:
    definition = PartitionByInterval("@daily", timezone="Pacific/Apia")
    with pytest.raises(
        InvalidKeyError, match=r"'2011-12-30' is not a partition of .*: there is no such day in Pacific/Apia"
    ):
        definition.parse("2011-12-30")


def test_a16_an_interval_of_another_calendar_is_no_key() -> None:
    definition = PartitionByInterval("@daily")
    hour = PartitionByInterval("@hourly").parse("2013-01-01T00:00Z")
    with pytest.raises(InvalidKeyError, match=r"Interval\(2013-01-01T00:00:00\+00:00, .*01:00.* is not a partition of"):
        definition.key(hour)
    with pytest.raises(InvalidKeyError, match="5 is not an Interval; expected one such as '2023-11-14'"):
        definition.key(5)


def test_questions_an_open_calendar_can_not_answer() -> None:
    definition = PartitionByInterval("@daily")
    with pytest.raises(InvalidDefinitionError, match="is open to the past; give start= to list its keys"):
        next(definition.keys())
    with pytest.raises(InvalidDefinitionError, match="is open to the future; give end= to list its keys"):
        next(definition.keys(start="2013-01-01"))
    with pytest.raises(InvalidDefinitionError, match="moment='2013-01-01T00:00:00' has no UTC offset"):
        definition.key_at(datetime(2013, 1, 1))  # noqa: DTZ001
    with pytest.raises(InvalidDefinitionError, match="closed_by='2013-01-01T00:00:00' has no UTC offset"):
        definition.last(closed_by=datetime(2013, 1, 1))  # noqa: DTZ001


def test_a_duration_is_elapsed_time() -> None:
    day = PartitionByInterval("@daily", timezone="America/New_York").parse("2013-11-03")
    assert day.duration == timedelta(hours=25)
    assert day.end - day.start == timedelta(hours=24)  # what the clocks show


def test_a_moment_outside_start_and_end_has_no_key() -> None:
    definition = PartitionByInterval("@daily", start="2013-01-01", end="2014-01-01")
    with pytest.raises(InvalidKeyError, match=r"2014-01-01 is not a partition of .*; nearest: 2013-12-31, 2013-01-01"):
        definition.key_at(datetime(2014, 1, 1, tzinfo=UTC))
