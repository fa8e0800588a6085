"""Single keys: intervals, the values of segments, products."""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from airflow_partitions import Interval, Partition, PartitionKey
from airflow_partitions.core.definitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, PartitionError
from airflow_partitions.core.keys import ProductKey, Segment
from airflow_partitions.core.keys.value import from_json

NEW_YORK = ZoneInfo("America/New_York")


class Position(PartitionKey):
    x: float
    y: float
    z: float


# Intervals


def test_a9_an_interval_is_shown_by_its_start() -> None:
    interval = Interval(datetime(2013, 11, 3, 1, tzinfo=NEW_YORK), datetime(2013, 11, 3, 1, fold=1, tzinfo=NEW_YORK))
    assert str(interval) == "2013-11-03T01:00-04:00"
    assert (interval.start.isoformat(), interval.end.isoformat()) == (
        "2013-11-03T01:00:00-04:00",
        "2013-11-03T01:00:00-05:00",
    )
    assert datetime(2013, 11, 3, 1, 59, tzinfo=NEW_YORK) in interval
    assert interval.end not in interval


def test_a9_intervals_compare_by_their_instants() -> None:
    here = Interval(datetime(2013, 1, 1, tzinfo=NEW_YORK), datetime(2013, 1, 2, tzinfo=NEW_YORK))
    there = Interval(datetime(2013, 1, 1, 5, tzinfo=ZoneInfo("UTC")), datetime(2013, 1, 2, 5, tzinfo=ZoneInfo("UTC")))
    later = Interval(there.end, there.end + timedelta(days=1))
    assert here == there
    assert hash(here) == hash(there)
    assert here < later
    assert sorted([later, here]) == [here, later]
    assert here.overlaps(there)
    assert not here.overlaps(later)
    assert here != "2013-01-01"


@pytest.mark.parametrize("bound", ["start", "end"])
def test_an_interval_refuses_a_naive_bound(bound: str) -> None:
    bounds: dict[str, Any] = {
        "start": datetime(2013, 1, 1, tzinfo=NEW_YORK),
        "end": datetime(2013, 1, 2, tzinfo=NEW_YORK),
    }
    bounds[bound] = bounds[bound].replace(tzinfo=None)
    with pytest.raises(
        InvalidDefinitionError, match=rf"Interval {bound}=datetime.datetime\(2013.* no UTC offset; .*tzinfo="
    ):
        Interval(**bounds)


def test_an_interval_ends_after_its_start() -> None:
    moment = datetime(2013, 1, 2, tzinfo=NEW_YORK)
    with pytest.raises(InvalidDefinitionError, match="end 2013-01-02T00:00:00-05:00 is not after its start 2013-01-02"):
        Interval(moment, moment)


# Values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("eu", "eu"), (1, "1"), (-7, "-7"), (1.0, "1.0"), (1e300, "1e+300"), (date(2013, 1, 1), "2013-01-01"),
        (datetime(2013, 1, 1, tzinfo=timezone(timedelta(hours=-5))), "2013-01-01T00:00:00-05:00"),
        (("eu", 1), "eu,1"), (("a,b", "c"), "a\\,b,c"), (Position(1, 2, 3), "x=1.0,y=2.0,z=3.0"),
    ],
)  # fmt: skip
def test_a5_the_text_of_a_value(value: Any, text: str) -> None:
    assert str(Segment.of(value)) == text


class Region(enum.StrEnum):
    EU = "eu"


def test_a5_the_two_hours_of_a_clock_change_have_different_texts() -> None:
    one, other = (datetime(2013, 11, 3, 1, tzinfo=NEW_YORK, fold=fold) for fold in (0, 1))
    assert str(Segment.of(one)) == "2013-11-03T01:00:00-04:00"
    assert str(Segment.of(other)) == "2013-11-03T01:00:00-05:00"
    assert Segment.of(one) != Segment.of(other)


class Bad:
    pass


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "printable text"), (" eu", "printable text without space at its ends"), ("a\nb", "printable text"),
        (True, "reads like an int"), (float("nan"), "finite float"), (float("inf"), "inf can't be a .* a finite float"),
        (datetime(2013, 1, 1), "aware datetime"), (None, "expected int, float, str"), ([1], "expected int, float, str"),  # noqa: DTZ001
        ({"a": 1}, "expected int"), ((), "expected int"), (("a", [1]), "expected int"), (Bad(), "Bad can't be a key"),
        (type("Own", (str,), {})("eu"), "Own can't be a key; expected .*, no subclass of them"),
        (time(5, tzinfo=UTC), "expected a naive time"), (Decimal("NaN"), "finite float or Decimal"),
        (Decimal("1E+99999"), "more than 300 digits"),
        (timedelta(1), "timedelta can't be a key"),
    ],
)  # fmt: skip
def test_a5_what_can_not_be_a_value(value: Any, problem: str) -> None:
    with pytest.raises(InvalidKeyError, match=problem) as error:
        Segment.of(value)
    assert isinstance(error.value, ValueError)
    assert isinstance(error.value, PartitionError)
    assert repr(value if not isinstance(value, tuple) or not value else value[1])[:40] in str(error.value)


def test_a9_segments_of_different_types_differ() -> None:
    assert Segment.of(1) != Segment.of("1")
    assert Segment.of(1) == Segment.of(1)
    assert Segment.of(1) != "1"
    with pytest.raises(AttributeError, match="frozen"):
        Segment.of(1).value = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    "data", [None, 5, [], ["int", "1"], ["date", "soon"], ["datetime", ""], ["key", "K", []], {"a": 1}]
)
def test_json_that_is_no_key(data: Any) -> None:
    with pytest.raises(InvalidKeyError, match="is not the JSON of a key"):
        from_json(data)


def test_a_product_key_is_a_mapping() -> None:
    key = ProductKey(("day", "side"), (Segment.of("a|b"), Segment.of("c\\d")))
    assert dict(key) == {"day": "a|b", "side": "c\\d"}
    assert key.wrapped == {"day": Segment.of("a|b"), "side": Segment.of("c\\d")}
    assert str(key) == "a\\|b|c\\\\d"
    assert len(key) == 2
    with pytest.raises(KeyError, match="no dimension 'night'; there are: day, side"):
        key["night"]


def test_er8_the_values_of_a_product_key_are_plain() -> None:
    definition = PartitionByProduct([PartitionByInterval("@daily"), PartitionBySequence([1, 2], name="shop")])
    key = definition.parse("2013-02-08|1")
    assert key["shop"] == 1
    assert {1: "one"}[key["shop"]] == "one"
    assert key["time"].start.day == 8
    assert definition.key(dict(key)) == definition.key(key) == key


def test_eh5_keys_are_padded_in_texts() -> None:
    day = PartitionByInterval("@daily", name="date")
    product = PartitionByProduct([day, PartitionBySequence(["JFK"], name="airport")])
    partition = Partition(product, "2013-01-01|JFK")
    for key in (day.parse("2013-01-01"), product.parse("2013-01-01|JFK"), Segment.of("JFK"), partition):
        assert f"{key}" == str(key)
        assert f"{key:>20}" == str(key).rjust(20)
