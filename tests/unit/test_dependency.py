"""Definitions that can never meet, and questions that have no answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from airflow_partitions import (
    Dependency,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Selection,
)
from airflow_partitions.definitions import PartitionDefinition, from_json
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError

DAILY = PartitionByInterval("@daily", name="date")
AIRPORT = PartitionBySequence(["EWR", "JFK"], name="airport")


@pytest.mark.parametrize(
    ("downstream", "upstream", "problem"),
    [
        (AIRPORT, PartitionBySequence(["ORD"], name="airport"), "can never meet: they share no value"),
        (AIRPORT, PartitionBySequence(["ORD"], name="other"), "can never meet: they share no value"),
        (PartitionBySequence([1]), PartitionBySequence(["1"]), "can never meet: they share no value"),
        (AIRPORT, PartitionAtRuntime("users"), "can never meet: keys known only at runtime belong together"),
        (PartitionAtRuntime("users"), PartitionAtRuntime("others"), "can never meet: keys known only at runtime"),
        (AIRPORT, DAILY,
         "would need every interval of .*, which is open to the past; give the upstream definition a start="),
        (AIRPORT, PartitionByProduct([PartitionBySequence(["EWR"], name="a"), PartitionBySequence(["EWR"], name="b")]),
         "dimension 'airport' shares values with a, b; give the two that belong together one name"),
        (PartitionByProduct([PartitionBySequence(["EWR"], name="a"), PartitionBySequence(["EWR"], name="b")]), AIRPORT,
         "dimension 'airport' shares values with a, b; give the two that belong together one name"),
    ],
)  # fmt: skip
def test_definitions_that_do_not_fit(
    downstream: PartitionDefinition, upstream: PartitionDefinition, problem: str
) -> None:
    with pytest.raises(InvalidDefinitionError, match=problem):
        Dependency(downstream=downstream, upstream=upstream)


def test_a7_runtime_keys_belong_to_themselves() -> None:
    users = PartitionAtRuntime("users")
    dependency = Dependency(downstream=users, upstream=users)
    assert [str(key) for key in dependency.upstream("acme")] == ["acme"]
    assert len(dependency.downstream(5)) == 1
    assert "acme" in dependency.upstream("acme")
    assert "other" not in dependency.upstream("acme")


def test_leftover_dimensions_meet_by_the_values_they_share() -> None:
    origins = PartitionByProduct([DAILY, PartitionBySequence(["JFK", "ORD"], name="origin")])
    dependency = Dependency(downstream=PartitionByProduct([DAILY, AIRPORT]), upstream=origins)
    assert [str(key) for key in dependency.upstream("2013-01-01|JFK")] == ["2013-01-01|JFK"]
    assert not dependency.upstream("2013-01-01|EWR")
    assert [str(key) for key in dependency.downstream("2013-01-01|JFK")] == ["2013-01-01|JFK"]
    assert list(dependency.downstream("2013-01-01|ORD")) == []


def test_a_time_that_only_upstream_has_is_all_of_it() -> None:
    bounded = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-04")
    dependency = Dependency(downstream=AIRPORT, upstream=bounded)
    assert [str(key) for key in dependency.upstream("EWR")] == ["2013-01-01", "2013-01-02", "2013-01-03"]
    assert list(dependency.downstream("2013-01-02")) == list(AIRPORT.keys())
    endless = Dependency(downstream=AIRPORT, upstream=PartitionByInterval("@daily", start="2013-01-01"))
    with pytest.raises(
        InvalidDefinitionError, match=r"has no time, so it means every interval of .*; give it start= and end="
    ):
        endless.upstream("EWR")


@pytest.mark.parametrize("key", ["2013-01-01T05:00Z", "soon", 5, None])
def test_a_key_of_neither_side_is_refused(key: Any) -> None:
    dependency = Dependency(downstream=DAILY, upstream=PartitionByInterval("@hourly"))
    with pytest.raises(InvalidKeyError):
        dependency.upstream(key)


def test_selections_are_cut_by_time_only_where_there_is_time() -> None:
    start, end = datetime(2013, 1, 1, tzinfo=UTC), datetime(2013, 1, 3, tzinfo=UTC)
    assert [str(key) for key in Selection.between(DAILY, start, end)] == ["2013-01-01", "2013-01-02"]
    assert not Selection.between(DAILY, end, start)
    assert not Selection.between(DAILY, start, start)
    with pytest.raises(InvalidDefinitionError, match="has no time dimension; it can't be cut by time"):
        Selection.between(AIRPORT, start, end)
    with pytest.raises(InvalidDefinitionError, match="start='2013-01-01T00:00:00' has no UTC offset"):
        Selection.between(DAILY, start.replace(tzinfo=None), end)
    with pytest.raises(InvalidDefinitionError, match="has no time dimension"):
        list(Selection.of(AIRPORT, "EWR").intervals()) or Selection.of(AIRPORT, "EWR")._time()


def test_a_selection_is_as_small_in_json_for_ten_years_as_for_a_day() -> None:
    start, end = datetime(2013, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC)
    selection = Selection.between(PartitionByInterval("@hourly", timezone="America/New_York"), start, end)
    assert len(selection) == 87_648
    assert len(str(selection.to_json())) < 250


@pytest.mark.parametrize(
    "data", [{}, {"kind": "interval"}, {"kind": "other", "name": "x"}, [], None, "x", {"kind": "product"}]
)
def test_json_that_is_no_definition(data: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="is not the JSON form of a partition definition"):
        from_json(data)
