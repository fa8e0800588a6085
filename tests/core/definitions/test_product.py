"""Products: order, escaping, and what bad input is told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError

DAY = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", end="2013-01-03", name="date")
AIRPORT = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
SIZE = PartitionBySequence([1, 2], name="size")


def test_a6_keys_run_through_time_first() -> None:
    for dimensions in ([DAY, AIRPORT], [AIRPORT, DAY]):
        definition = PartitionByProduct(dimensions)
        keys = list(definition.keys())
        assert [(str(key["date"]), key["airport"]) for key in keys] == [
            (day, airport) for day in ("2013-01-01", "2013-01-02") for airport in ("EWR", "JFK", "LGA")
        ]
        assert str(keys[0]) == "|".join({"date": "2013-01-01", "airport": "EWR"}[d.name] for d in dimensions)
        assert definition.count() == 6


def test_a6_any_number_of_segment_dimensions() -> None:
    definition = PartitionByProduct([DAY, AIRPORT, SIZE])
    assert definition.count() == 12
    assert str(definition.first()) == "2013-01-01|EWR|1"
    assert str(definition.last()) == "2013-01-02|LGA|2"
    assert str(definition.last(closed_by=datetime(2013, 1, 2, 12, tzinfo=UTC))) == "2013-01-01|LGA|2"
    assert str(definition.next("2013-01-01|EWR|2")) == "2013-01-02|EWR|2"
    assert definition.next("2013-01-02|EWR|2") is None
    assert str(definition.key_at(datetime(2013, 1, 2, 12, tzinfo=UTC), airport="JFK", size=2)) == "2013-01-02|JFK|2"


def test_a6_without_time_keys_follow_the_declared_order() -> None:
    definition = PartitionByProduct([AIRPORT, SIZE])
    keys = list(definition.keys())
    assert [str(key) for key in keys] == ["EWR|1", "EWR|2", "JFK|1", "JFK|2", "LGA|1", "LGA|2"]
    assert [definition.next(key) for key in keys] == [*keys[1:], None]
    assert [definition.previous(key) for key in keys] == [None, *keys[:-1]]
    assert definition.time is None


def test_a6_bars_and_backslashes_are_escaped() -> None:
    definition = PartitionByProduct(
        [PartitionBySequence(["a|b", "a\\", "a"], name="x"), PartitionBySequence(["|", "b|"], name="y")]
    )
    texts = [str(key) for key in list(definition.keys())]
    assert texts == ["a\\|b|\\|", "a\\|b|b\\|", "a\\\\|\\|", "a\\\\|b\\|", "a|\\|", "a|b\\|"]
    assert [str(definition.parse(text)) for text in texts] == texts


@pytest.mark.parametrize("dimensions", [[], [DAY], None, 5, {DAY: 1}])
def test_fewer_than_two_dimensions_are_refused(dimensions: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match=r"PartitionByProduct got .*; expected a list of two or more"):
        PartitionByProduct(dimensions)


def test_a6_two_time_dimensions_are_refused() -> None:
    for other in ("date", "hour"):
        with pytest.raises(
            InvalidDefinitionError, match=r"2 time dimensions \(.*@daily.*@hourly.*\); expected at most one"
        ):
            PartitionByProduct([DAY, PartitionByInterval("@hourly", name=other)])


def test_a6_two_dimensions_of_one_name_are_refused() -> None:
    with pytest.raises(
        InvalidDefinitionError, match="dimensions airport, airport share a name; give one of them another"
    ):
        PartitionByProduct([AIRPORT, PartitionBySequence(["a"], name="airport")])


@pytest.mark.parametrize("inside", [PartitionAtRuntime("users"), PartitionByProduct([DAY, AIRPORT]), "@daily", None])
def test_a6_only_time_and_sequences_fit_inside(inside: Any) -> None:
    with pytest.raises(
        InvalidDefinitionError, match=r"can't hold .*; expected PartitionByInterval or PartitionBySequence"
    ) as error:
        PartitionByProduct([AIRPORT, inside])
    assert repr(inside) in str(error.value)


def test_a6_too_long_a_key_is_refused() -> None:
    half = PartitionBySequence(["x" * 124], name="half")
    assert PartitionByProduct([half, PartitionBySequence(["y" * 125])]).count() == 1
    for other in ("y" * 126, "|" * 63):
        with pytest.raises(
            InvalidDefinitionError, match=r"has 251 characters; expected at most 250, the length Airflow stores"
        ):
            PartitionByProduct([half, PartitionBySequence([other])])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2013-01-01", r"'2013-01-01' has 1 parts; expected 2 joined by '\|': date\|airport"),
        ("2013-01-01|EWR|1", "has 3 parts; expected 2"),
        ("2013-01-01\\|EWR", "has 1 parts; expected 2"),
        ("2013-01-01|EW", "'EW' is not one of the 3 values of 'airport'; nearest: 2013-01-01.EWR"),
        ("2013-01-05|EWR", "'2013-01-05' is not a partition of"),
        ("2013-01-01|\\EWR", r"'\\\\EWR' is not one of"),
        ("2013-01-01|EWR\\", r"'EWR\\\\' is not one of"),
        (5, "5 has 0 parts"),
    ],
)
def test_a16_texts_that_name_no_key(text: Any, problem: str) -> None:
    definition = PartitionByProduct([DAY, AIRPORT])
    with pytest.raises(InvalidKeyError, match=problem):
        definition.parse(text)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("2013-01-01 | JFK", ["2013-01-01|JFK"]), ("JFK|2013-01-01", ["2013-01-01|JFK"]),
        ("2013-01-01", ["2013-01-01|EWR", "2013-01-01|JFK", "2013-01-01|LGA"]),
        ("2013-01-01T05:00|LGA", ["2013-01-01|LGA"]), ("2013-01-02|LGA|2", ["2013-01-02|LGA"]),
    ],
)  # fmt: skip
def test_eu9_a_wrong_key_of_a_product_is_answered_with_whole_ones(text: str, nearest: list[str]) -> None:
    definition = PartitionByProduct([DAY, PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")])
    with pytest.raises(InvalidKeyError) as error:
        definition.parse(text)
    assert error.value.nearest == tuple(nearest)
    assert ", ".join(nearest) in str(error.value)


def test_a16_values_that_name_no_key() -> None:
    definition = PartitionByProduct([DAY, AIRPORT])
    assert definition.key({"airport": "EWR", "date": "2013-01-01"}) == definition.parse("2013-01-01|EWR")
    for value in ({"date": "2013-01-01"}, {"date": "2013-01-01", "airport": "EWR", "size": 1}, 5, None):
        with pytest.raises(InvalidKeyError, match=r"is no key; expected a value for each of \['date', 'airport'\]"):
            definition.key(value)
    with pytest.raises(InvalidKeyError, match="has no time dimension"):
        PartitionByProduct([AIRPORT, SIZE]).key_at(datetime(2013, 1, 1, tzinfo=UTC))


def test_ek11_a_day_takes_ten_characters_of_a_key() -> None:
    definition = PartitionByProduct([PartitionByInterval("@daily", name="date"), PartitionBySequence(["x" * 215])])
    assert len(str(definition.parse(f"2013-01-01|{'x' * 215}"))) == 226
