"""Sequences: order, plain values, and what bad input is told."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.core.definitions import MAX_KEY_LENGTH
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError


def test_a5_a_sequence_of_texts() -> None:
    definition = PartitionBySequence(["eu", "us", "jp"], name="region")
    keys = list(definition.keys())
    assert [str(key) for key in keys] == ["eu", "us", "jp"]
    assert definition.count() == 3
    assert definition.previous("us") == keys[0]
    assert definition.next("us") == keys[2]
    assert definition.contains("us")
    assert not definition.contains("fr")
    assert definition.time is None
    assert list(definition.dimensions_of(keys[0])) == ["region"]
    assert eval(repr(definition)) == definition
    assert definition != PartitionBySequence(["us", "eu", "jp"], name="region")


def test_a9_plain_values_are_wrapped_but_types_count() -> None:
    definition = PartitionBySequence([1, 2, 3])
    assert definition.key(2) == definition.parse("2")
    with pytest.raises(InvalidKeyError, match="'2' is not 2; they only look alike"):
        definition.key("2")


@pytest.mark.parametrize("values", [["a", "b", "a"], [1, "1"], [("a", "b"), "a,b"]])
def test_equal_texts_are_refused(values: list[Any]) -> None:
    with pytest.raises(
        InvalidDefinitionError, match=r"have the same text '.*'; expected values with different texts"
    ) as error:
        PartitionBySequence(values)
    assert repr(values[0]) in str(error.value)
    assert repr(values[-1]) in str(error.value)


@pytest.mark.parametrize("values", ["abc", b"abc", {"a", "b"}, {"a": 1}, 5, None, iter("ab")])
def test_what_is_no_list_is_refused(values: Any) -> None:
    with pytest.raises(
        InvalidDefinitionError, match=r"PartitionBySequence got .*; expected a list such as \['eu', 'us'\]"
    ):
        PartitionBySequence(values)


def test_no_values_are_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="got no values; expected at least one"):
        PartitionBySequence([])


@pytest.mark.parametrize("value", [None, "", 1.5j, datetime(2013, 1, 1), ["a"]])  # noqa: DTZ001
def test_a_value_that_can_not_be_a_key_is_refused(value: Any) -> None:
    with pytest.raises(InvalidKeyError, match=re.escape(repr(value))):
        PartitionBySequence(["eu", value])


def test_too_long_a_key_is_refused() -> None:
    assert PartitionBySequence(["x" * MAX_KEY_LENGTH]).count() == 1
    with pytest.raises(
        InvalidDefinitionError, match=r"key 'x{40}'… has 251 characters; expected at most 250, the length Airflow"
    ):
        PartitionBySequence(["x" * (MAX_KEY_LENGTH + 1)])


def test_a16_eu9_an_unknown_text_names_the_nearest() -> None:
    definition = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
    with pytest.raises(InvalidKeyError, match="'JKF' is not one of the 3 values of 'airport'; nearest: JFK") as error:
        definition.parse("JKF")
    assert error.value.nearest == ("JFK",)
    with pytest.raises(InvalidKeyError, match=r"'jfk' is not one of the 3 values of 'airport'; nearest: JFK$"):
        definition.parse("jfk")
    with pytest.raises(InvalidKeyError, match=r"'42' is not one of .*; nearest: EWR, JFK, LGA"):
        definition.parse("42")
    with pytest.raises(InvalidKeyError, match="5 is not one of"):
        definition.parse(5)  # type: ignore[arg-type]
