"""Which values of a column are of which key."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest
from pyiceberg.expressions import And, EqualTo, GreaterThanOrEqual, LessThan
from pyiceberg.expressions.visitors import bind
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.iceberg.table.key_column import Values
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.layout.layout import Layout

SCHEMA = Schema(
    NestedField(1, "instant", TimestamptzType()),
    NestedField(2, "wall", TimestampType()),
    NestedField(3, "day", DateType()),
    NestedField(4, "text", StringType()),
    NestedField(5, "number", LongType()),
    NestedField(6, "price", DecimalType(9, 2)),
    NestedField(7, "flag", BooleanType()),
    NestedField(8, "weight", DoubleType()),
)
NEW_YORK = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01", name="date")


def filter_of(definition: PartitionDefinition, column: str) -> KeyFilter:
    return KeyFilter.of(Layout(definition), {definition.name: column}, SCHEMA)


def test_a_day_is_a_range_of_instants_of_wall_times_or_one_date() -> None:
    key = NEW_YORK.parse("2013-03-10")  # of 23 hours
    assert filter_of(NEW_YORK, "instant").condition(key) == And(
        GreaterThanOrEqual("instant", datetime.fromisoformat("2013-03-10T05:00:00+00:00")),
        LessThan("instant", datetime.fromisoformat("2013-03-11T04:00:00+00:00")),
    )
    assert filter_of(NEW_YORK, "wall").condition(key) == And(
        GreaterThanOrEqual("wall", datetime.fromisoformat("2013-03-10T00:00:00")),
        LessThan("wall", datetime.fromisoformat("2013-03-11T00:00:00")),
    )
    assert filter_of(NEW_YORK, "day").condition(key) == And(
        GreaterThanOrEqual("day", date(2013, 3, 10)), LessThan("day", date(2013, 3, 11))
    )
    assert filter_of(NEW_YORK, "text").condition(key) == EqualTo("text", "2013-03-10")
    assert filter_of(NEW_YORK, "wall").sql(key) == (
        "wall >= TIMESTAMP_NTZ '2013-03-10 00:00:00' AND wall < TIMESTAMP_NTZ '2013-03-11 00:00:00'"
    )
    assert filter_of(NEW_YORK, "day").sql(key) == "day >= DATE '2013-03-10' AND day < DATE '2013-03-11'"


@pytest.mark.parametrize("column", ["instant", "wall", "day"])
@pytest.mark.parametrize("zone", ["America/New_York", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Apia", "UTC"])
def test_values_lead_to_the_keys_that_have_them(column: str, zone: str) -> None:
    days = PartitionByInterval("@daily", timezone=zone, start="2011-12-01", end="2013-12-01", name="date")
    keys = filter_of(days, column)
    for key in list(days.keys()):
        values = keys.values(key)["date"]
        assert list(keys.keys({"date": values}) or ()) == [key]
        for one in (values.low, values.high):
            assert list(keys.keys({"date": Values(one, one)}) or ()) == [key]
        after = keys.keys({"date": Values(values.low, values.high + 1)})
        assert after is not None
        assert list(after)[:1] == [key]


def test_hours_have_no_wall_times_of_their_own_where_clocks_are_set_back() -> None:
    with pytest.raises(InvalidDefinitionError, match="shows some twice"):
        filter_of(HOURS, "wall")
    with pytest.raises(InvalidDefinitionError, match="holds dates"):
        filter_of(HOURS, "day")
    utc = PartitionByInterval("@hourly", start="2013-01-01", name="date")
    assert filter_of(utc, "wall").values(utc.parse("2013-01-01T01:00Z"))["date"].low == 1356998400000000 + 3_600_000_000


def test_segments_are_values_of_their_type() -> None:
    numbers = PartitionBySequence([3, 5], name="n")
    assert filter_of(numbers, "number").condition(numbers.parse("5")) == EqualTo("number", 5)
    assert filter_of(numbers, "number").sql(numbers.parse("5")) == "number = 5"
    assert list(filter_of(numbers, "number").keys({"n": Values(4, 9)}) or ()) == [numbers.parse("5")]
    dates = PartitionAtRuntime("d")
    key = dates.key(date(2013, 1, 1))
    assert filter_of(dates, "day").condition(key) == EqualTo("day", date(2013, 1, 1))
    assert list(filter_of(dates, "day").keys({"d": filter_of(dates, "day").values(key)["d"]}) or ()) == [key]
    assert filter_of(dates, "day").keys({"d": Values(1, 2)}) is None
    prices = PartitionBySequence([Decimal("1.5")], name="p")
    assert filter_of(prices, "price").condition(prices.parse("1.5")) == EqualTo("price", Decimal("1.5"))
    quoted = PartitionBySequence(["it's"], name="q")
    assert filter_of(quoted, "text").sql(quoted.parse("it's")) == r"text = 'it\'s'"


def test_columns_that_can_not_hold_keys_are_told() -> None:
    with pytest.raises(InvalidDefinitionError, match="no column 'instants'; nearest: 'instant'"):
        filter_of(NEW_YORK, "instants")
    with pytest.raises(InvalidDefinitionError, match="of type boolean, which can't hold 'date'"):
        filter_of(NEW_YORK, "flag")
    words = PartitionBySequence(["a"], name="w")
    with pytest.raises(InvalidDefinitionError, match="of type double, which can't hold 'w'"):
        filter_of(words, "weight")
    with pytest.raises(InvalidDefinitionError, match="'a' of 'w' is a str, which is no value of the column 'number'"):
        filter_of(words, "number").condition(words.parse("a"))
    both = PartitionByProduct([NEW_YORK, words])
    with pytest.raises(InvalidDefinitionError, match="expected a column for each of the dimensions date, w"):
        KeyFilter.of(Layout(both), {"date": "instant"}, SCHEMA)


def test_a_product_is_told_by_all_its_columns() -> None:
    both = PartitionByProduct([NEW_YORK, PartitionBySequence(["a", "b"], name="w")])
    keys = KeyFilter.of(Layout(both), {"date": "day", "w": "text"}, SCHEMA)
    key = both.parse("2013-01-02|b")
    assert keys.sql(key) == "day >= DATE '2013-01-02' AND day < DATE '2013-01-03' AND text = 'b'"
    assert list(keys.keys(keys.values(key)) or ()) == [key]
    wide = {**keys.values(key), "w": Values("a", "b")}
    assert [str(each) for each in keys.keys(wide) or ()] == ["2013-01-02|a", "2013-01-02|b"]
    some = PartitionByProduct([*both.dimensions.values()], only={"2013-01-03..": ["a"], "..": ["b"]})
    keys = KeyFilter.of(Layout(some), {"date": "day", "w": "text"}, SCHEMA)
    assert [str(each) for each in keys.keys(wide) or ()] == ["2013-01-02|b"]


def test_et3c_a_decimal_key_has_the_digits_of_the_column() -> None:
    prices = PartitionBySequence([Decimal("1.50"), Decimal(7), Decimal("1.25"), Decimal(-30), Decimal("1e7")], name="p")
    keys = filter_of(prices, "price")
    for text in ("1.5", "7", "1.25", "-30"):
        key = prices.parse(text)
        assert bind(SCHEMA, keys.condition(key), case_sensitive=True) is not None
        assert keys.sql(key) == f"price = {Decimal(text):.2f}"
        assert list(keys.keys(keys.values(key)) or ()) == [key]
    with pytest.raises(InvalidDefinitionError, match="expected at most 2 digits behind the point and 7 before it"):
        keys.condition(prices.parse("10000000"))
    fine = PartitionBySequence([Decimal("0.125")], name="p")
    with pytest.raises(InvalidDefinitionError, match=r"key '0.125' of 'p' is no value of the column 'price'"):
        filter_of(fine, "price").condition(fine.parse("0.125"))
