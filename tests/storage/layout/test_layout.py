from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError, LayoutError
from airflow_partitions.storage import Column, Layout
from airflow_partitions.storage.layout.escape import escape, unescape
from airflow_partitions.storage.layout.file_per_key import FilePerKeyLayout

HOURLY = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
DAILY = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
PRODUCT = PartitionByProduct([DAILY, AIRPORTS])


def columns(**formats: str | Column) -> dict[str, Column]:
    return {name: f if isinstance(f, Column) else Column(f) for name, f in formats.items()}


def test_default_is_one_text_column_per_dimension() -> None:
    key = PRODUCT.parse("2013-02-08|JFK")
    assert Layout(PRODUCT).directory_of(key) == "date=2013-02-08/airport=JFK"


def test_one_time_may_fill_several_columns() -> None:
    layout = Layout(DAILY, columns(year="%Y", month="%m", day="%d"))
    assert layout.directory_of(DAILY.parse("2013-02-08")) == "year=2013/month=02/day=08"
    assert layout.key_of("year=2013/month=02/day=08") == DAILY.parse("2013-02-08")


def test_columns_come_in_the_order_given() -> None:
    layout = Layout(PRODUCT, columns(airport="{airport}", ds="%Y%m%d"))
    assert layout.directory_of(PRODUCT.parse("2013-02-08|LGA")) == "airport=LGA/ds=20130208"


def test_both_hours_of_a_clock_change_have_their_own_directory() -> None:
    layout = Layout(HOURLY, columns(hour="%Y-%m-%dT%H:%M%z"))
    hours = list(HOURLY.keys("2013-11-03", "2013-11-04"))
    directories = [layout.directory_of(hour) for hour in hours]
    assert len(set(directories)) == len(hours) == 25
    assert [layout.key_of(d) for d in directories] == hours


@pytest.mark.parametrize(
    ("formats", "first", "second"),
    [
        ({"hour": "%Y-%m-%dT%H"}, "2013-11-03T01:00-04:00", "2013-11-03T01:00-05:00"),
        ({"day": "%Y-%m-%d"}, "2013-01-01T00:00-05:00", "2013-01-01T01:00-05:00"),
        ({"h": "%m-%dT%H%z"}, "2013-01-01T00:00-05:00", "2014-01-01T00:00-05:00"),
        ({"h": "%y-%m-%dT%H%z"}, "2013-01-01T00:00-05:00", "2113-01-01T00:00-05:00"),
    ],
)
def test_two_keys_in_one_directory_are_refused_by_name(formats: dict[str, str], first: str, second: str) -> None:
    with pytest.raises(LayoutError) as error:
        Layout(HOURLY, columns(**formats))
    assert first in str(error.value)
    assert second in str(error.value)


def test_an_uncovered_dimension_is_refused() -> None:
    with pytest.raises(LayoutError, match=r"'EWR' and 'JFK' of 'airport' would share no column"):
        Layout(PRODUCT, columns(date="%Y-%m-%d"))


@pytest.mark.parametrize(
    ("definition", "formats", "words"),
    [
        (DAILY, {"d": "day"}, "the same for every key"),
        (DAILY, {"d": "{dat}"}, "nearest: 'date'"),
        (DAILY, {"d": "{date}x"}, "the same for every key"),
        (AIRPORTS, {"d": "%Y"}, "has no time"),
        (DAILY, {"d": "%Y-%m-%d", "D": "%d"}, "the same to Spark"),
        (HOURLY, {"d": Column("{time}", "date")}, "is not a date"),
        (AIRPORTS, {"a": Column("{airport}", "int")}, "is not a int"),
        (PartitionBySequence(["01", "1"]), {"n": Column("{segment}", "int")}, "'01' and '1'"),
        (PartitionBySequence(["__HIVE_DEFAULT_PARTITION__"]), {"n": "{segment}"}, "read back as null"),
        (PartitionBySequence(["%" * 90]), {"n": "{segment}"}, "272 bytes"),
    ],
)
def test_a_layout_that_cannot_work_is_refused(definition: Any, formats: dict[str, Any], words: str) -> None:
    with pytest.raises(LayoutError, match=words):
        Layout(definition, columns(**formats))


def test_an_unknown_column_type_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="'timestamp' is not supported; expected one of: string, int"):
        Column("%Y", "timestamp")


def test_runtime_keys_are_stored_under_their_text() -> None:
    customers = PartitionAtRuntime("customers")
    layout = Layout(customers)
    for value in ("a/b", 7, "7"):
        key = customers.key(value)
        assert layout.key_of(layout.directory_of(key)) == key


@pytest.mark.parametrize(
    "directory", ["", "date=2013-02-08", "date=2013-02-08/airport=XXX", "airport=JFK/date=2013-02-08"]
)
def test_a_foreign_directory_is_no_key(directory: str) -> None:
    with pytest.raises(LayoutError, match="expected one of the form 'date=\\{date\\}/airport=\\{airport\\}'"):
        Layout(PRODUCT).key_of(directory)


def test_a_directory_of_what_does_not_exist_is_no_key() -> None:
    only = PartitionByProduct([*PRODUCT.dimensions.values()], only={"2013-02-08..": ["JFK"], "2013-02-09..": ["EWR"]})
    layout = Layout(only)
    for key in only.keys("2013-02-08", "2013-02-11"):
        assert layout.key_of(layout.directory_of(key)) == key
    for directory in ("date=2013-02-07/airport=JFK", "date=2013-02-08/airport=EWR", "date=2013-02-10/airport=LGA"):
        assert str(Layout(PRODUCT).key_of(directory)) == directory.replace("date=", "").replace("/airport=", "|")
        with pytest.raises(LayoutError, match="is not the directory of a partition"):
            layout.key_of(directory)


ZONES = [
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/Havana",
    "Asia/Beirut",
]
SCHEDULES = [
    ("@hourly", "%Y-%m-%dT%H:%M%z"),
    ("@daily", "%Y-%m-%d"),
    ("@weekly", "%Y-%m-%d"),
    ("@monthly", "%Y-%m"),
    ("30 6 * * 1", "%G-W%V"),
    (timedelta(hours=7), "%Y%m%d%H%z"),
]


@given(
    st.sampled_from(ZONES),
    st.sampled_from(SCHEDULES),
    st.datetimes(datetime(2001, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_times_round_trip(zone: str, schedule: tuple[Any, str], moment: datetime) -> None:
    definition = PartitionByInterval(schedule[0], timezone=zone, start="2000-01-01")
    layout = Layout(definition, columns(t=schedule[1]))
    for key in islice(definition.keys(moment, moment + timedelta(days=400)), 30):
        assert layout.key_of(layout.directory_of(key)) == key


@pytest.mark.parametrize("zone", ZONES)
def test_hours_around_clock_changes_round_trip(zone: str) -> None:
    definition = PartitionByInterval("@hourly", timezone=zone)
    layout = Layout(definition, columns(t="%Y-%m-%dT%H:%M%z"))
    keys = list(definition.keys("2013-01-01", "2014-01-01"))
    directories = [layout.directory_of(key) for key in keys]
    assert len(set(directories)) == len(keys)
    assert [layout.key_of(d) for d in directories[::7]] == keys[::7]


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20),
        min_size=1,
        unique=True,
    )
)
def test_any_segment_round_trips(texts: list[str]) -> None:
    definition = PartitionBySequence(texts)
    layout = Layout(definition)
    keys = tuple(definition.keys())
    directories = [layout.directory_of(key) for key in keys]
    assert len(set(directories)) == len(texts)
    for key, directory in zip(keys, directories, strict=True):
        assert "/" not in directory
        assert layout.key_of(directory) == key


@given(st.text(st.characters(codec="utf-8")))
def test_escaping_round_trips(text: str) -> None:
    assume("\0" not in text)
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("kind", ["int", "bigint"])
def test_numbers_keep_their_text(kind: str) -> None:
    layout = Layout(DAILY, columns(month=Column("%Y%m", kind), day=Column("%d", kind)))
    assert layout.directory_of(DAILY.key_at(datetime(2013, 2, 8, 12, tzinfo=UTC))) == "month=201302/day=08"


def test_dates_are_declared() -> None:
    layout = Layout(DAILY, columns(date=Column("%Y-%m-%d", "date")))
    assert layout.columns["date"].type == "date"
    assert date.fromisoformat(layout.values_of(DAILY.parse("2013-02-08"))["date"]) == date(2013, 2, 8)


def test_columns_and_intervals_by_their_texts() -> None:
    layout = Layout(PRODUCT, columns(year="%Y", airport="{airport}", rest="%m-%d"))
    assert layout.columns_of("date") == ("year", "rest")
    assert layout.columns_of("airport") == ("airport",)
    assert layout.texts_of("year=2013/airport=JFK/rest=02-08") == {"year": "2013", "airport": "JFK", "rest": "02-08"}
    assert layout.interval_of({"year": "2013", "rest": "02-08"}) == DAILY.parse("2013-02-08")
    with pytest.raises(LayoutError, match="'year=2013/rest=02-30' is no time"):
        layout.interval_of({"year": "2013", "rest": "02-30"})


@pytest.mark.parametrize("name", ["a/b", "a", "x=1/é"])
def test_names_of_files_round_trip(name: str) -> None:
    layout = FilePerKeyLayout(PartitionAtRuntime("file"), ".csv")
    key = layout.key_of(f"{name}.csv")
    assert layout.directory_of(key) == f"{name}.csv"
    assert layout.texts_of(f"{name}.csv") == {"file": name}


def test_names_are_for_keys_that_become_known() -> None:
    with pytest.raises(LayoutError, match="leave out FilePerKey"):
        FilePerKeyLayout(DAILY, ".csv")
    with pytest.raises(LayoutError, match="has no name that can be a key"):
        FilePerKeyLayout(PartitionAtRuntime("file"), ".csv").key_of(".csv")
