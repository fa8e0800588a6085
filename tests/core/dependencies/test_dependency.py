"""Definitions that can never meet, and questions that have no answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from airflow_partitions import (
    AllPartitions,
    Dependency,
    LatestPartition,
    Lookback,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    SameKey,
    SegmentMap,
    Selection,
)
from airflow_partitions.core.definitions import PartitionDefinition, from_json
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError

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


def test_a6_a_time_that_only_downstream_has_comes_from_the_tick() -> None:
    hours = PartitionByProduct([PartitionByInterval("@hourly", name="hour"), AIRPORT])
    dependency = Dependency(downstream=hours, upstream=AIRPORT)
    assert dependency.needs_tick
    assert dependency.fan_out() is None
    day = datetime(2013, 1, 1, tzinfo=UTC), datetime(2013, 1, 2, tzinfo=UTC)
    selection = dependency.downstream("EWR", tick=day)
    assert len(selection) == 24
    assert [str(key) for key in selection][::23] == ["2013-01-01T00:00Z|EWR", "2013-01-01T23:00Z|EWR"]
    assert len(dependency.downstream(Selection(AIRPORT, (Box(None),)), tick=day)) == 48
    assert [str(key) for key in dependency.downstream("JFK", tick=(None, day[1]))] == ["2013-01-01T23:00Z|JFK"]
    assert not dependency.downstream("JFK", tick=(day[1], day[1]))
    assert [str(key) for key in dependency.upstream("2013-01-01T05:00Z|EWR")] == ["EWR"]
    with pytest.raises(InvalidDefinitionError, match=r"can't say which intervals of .* are meant; expected tick="):
        dependency.downstream("EWR")
    every = Dependency(downstream=DAILY, upstream=AIRPORT, rule=AllPartitions())
    assert not every.needs_tick
    assert [str(key) for key in every.upstream("2013-01-01", now=day[1])] == ["EWR", "JFK"]
    assert DAILY.parse("2013-01-01") in every.downstream("EWR", now=day[1])


def test_a_dependency_needs_two_definitions_and_a_rule() -> None:
    with pytest.raises(InvalidDefinitionError, match="upstream=None is no partition definition"):
        Dependency(downstream=DAILY, upstream=None)  # type: ignore[arg-type]
    with pytest.raises(InvalidDefinitionError, match="rule='lookback' is no rule"):
        Dependency(DAILY, DAILY, "lookback")  # type: ignore[arg-type]
    with pytest.raises(InvalidDefinitionError, match=r"a selection of PartitionBySequence.* expected keys of"):
        Dependency(DAILY, DAILY).upstream(Selection.of(AIRPORT, "EWR"))


def test_selections_of_different_definitions_do_not_mix() -> None:
    with pytest.raises(InvalidDefinitionError, match="have no keys in common; expected two of one definition"):
        Selection.of(AIRPORT, "EWR") | Selection.of(DAILY, "2013-01-01")
    assert Selection.of(AIRPORT, "EWR") != Selection.of(DAILY, "2013-01-01")


def test_centuries_of_minutes_are_no_list() -> None:
    minutes = PartitionByProduct([PartitionByInterval("* * * * *", timezone="America/New_York"), AIRPORT])
    start, end = datetime(1900, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    whole = Selection.between(minutes, start, end)
    size = 2 * (end - start) // timedelta(minutes=1)
    assert len(whole) == size
    one = Selection.of(minutes, "2013-02-08T05:00-05:00|EWR")
    rest = whole - one
    assert len(rest) == size - 1
    assert rest | one == whole
    assert rest & one == Selection(minutes)
    assert not whole - whole
    assert "2013-02-08T05:00-05:00|JFK" in rest
    assert "2013-02-08T05:00-05:00|EWR" not in rest
    chunks = list(rest.chunks(50_000_000))
    assert sum(map(len, chunks)) == size - 1
    assert len(chunks) == 5
    assert len(Dependency(minutes, minutes, Lookback(500_000)).downstream("2013-02-08T05:00-05:00|JFK")) == 500_001


@pytest.mark.parametrize(
    ("downstream", "upstream", "rule", "most"),
    [
        (PartitionByInterval("@hourly", timezone="America/New_York"),
         PartitionByInterval("@daily", timezone="America/New_York"), None, 25),
        (PartitionByInterval("@hourly"), DAILY, None, 24),
        (DAILY, PartitionByInterval("@hourly"), None, 1),
        (PartitionByInterval("@hourly"), PartitionByInterval("@yearly"), None, 8784),
        (PartitionByInterval("30 0 1 6 *"), PartitionByInterval("@hourly"), None, 2),
        (DAILY, DAILY, Lookback(40), 41),
        (PartitionByProduct([DAILY, AIRPORT]), DAILY, None, 2),
        (AIRPORT, DAILY, LatestPartition(), 2),
        (DAILY, DAILY, LatestPartition(), None),
        (AIRPORT, PartitionBySequence(["NYC"], name="city"), SegmentMap({"EWR": ["NYC"], "JFK": ["NYC"]}), 2),
        (AIRPORT, PartitionAtRuntime("airports"), SameKey(), 1),
    ],
)  # fmt: skip
def test_fan_out(downstream: Any, upstream: Any, rule: Any, most: int | None) -> None:
    assert Dependency(downstream, upstream, rule).fan_out() == most


@pytest.mark.parametrize(
    ("downstream", "upstream", "most"),
    [
        (PartitionByInterval("@hourly", start="2013-01-01"), DAILY, 24),
        (DAILY, PartitionByInterval("@daily", start="2013-01-01"), 1),
        (PartitionByInterval("@daily", start="2024-01-01"), PartitionByInterval("@monthly", start="1990-01-01"), 31),
        (PartitionByInterval("@hourly", timezone="America/New_York", start="2024-01-01"),
         PartitionByInterval("@daily", timezone="America/New_York", start="1990-01-01"), 25),
        (PartitionByProduct([
            PartitionByInterval("@daily", name="date", start="2013-01-01"),
            PartitionBySequence(range(500), name="x"), PartitionBySequence(range(500), name="y")]), DAILY, 250_000),
        (PartitionByInterval("@hourly", start="2013-01-01", end="2014-01-01"),
         PartitionByInterval("@daily", start="2020-01-01"), 0),
    ],
)  # fmt: skip
def test_eh1_fan_out_where_one_side_begins_later(downstream: Any, upstream: Any, most: int) -> None:
    assert Dependency(downstream=downstream, upstream=upstream).fan_out() == most


def test_the_same_key_under_another_definition() -> None:
    dependency = Dependency(AIRPORT, PartitionAtRuntime("airports"), SameKey())
    assert [key.value for key in dependency.upstream("EWR")] == ["EWR"]  # type: ignore[union-attr]
    assert [str(key) for key in dependency.downstream("JFK")] == ["JFK"]
    assert not dependency.downstream("ORD")
    here, there = (PartitionByInterval("@daily", timezone=zone) for zone in ("America/New_York", "Asia/Tokyo"))
    assert [str(key) for key in Dependency(here, there, SameKey()).upstream("2013-02-08")] == ["2013-02-08"]


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


def test_fan_out_of_an_upstream_that_ends_before_the_downstream_begins() -> None:
    days = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-03")
    hours = PartitionByInterval("@hourly", start="2013-01-03", end="2013-01-04")
    assert Dependency(hours, days, Lookback(2)).fan_out() == 24
