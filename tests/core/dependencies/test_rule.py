"""Rules: which intervals they mean, and what they refuse."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from airflow_partitions import (
    AllPartitions,
    ByDimension,
    Dependency,
    LatestPartition,
    Lookback,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Previous,
    SameKey,
    SegmentMap,
    Window,
)
from airflow_partitions.core.dependencies import Overlap, rule_from_json
from airflow_partitions.core.errors import InvalidDefinitionError

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01")
AIRPORT = PartitionBySequence(["EWR", "JFK"], name="airport")
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")


def test_a20_a_rolling_three_days_window_is_cut_at_the_calendars_start() -> None:
    rolling = Dependency(downstream=DAYS, upstream=DAYS, rule=Lookback(2))
    assert [str(key) for key in rolling.upstream("2013-03-10")] == ["2013-03-08", "2013-03-09", "2013-03-10"]
    assert [str(key) for key in rolling.upstream("2013-01-01")] == ["2013-01-01"]
    assert [str(key) for key in rolling.downstream("2013-03-10")] == ["2013-03-10", "2013-03-11", "2013-03-12"]


def test_a20_lookback_counts_upstream_intervals() -> None:
    hours = Dependency(downstream=DAYS, upstream=HOURS, rule=Lookback(1)).upstream("2013-03-10")
    assert [str(key) for key in hours][:2] == ["2013-03-09T23:00-05:00", "2013-03-10T00:00-05:00"]
    assert len(hours) == 24


def test_the_whole_day_before_has_23_24_or_25_hours() -> None:
    both = Dependency(downstream=DAYS, upstream=HOURS, rule=Lookback(1, of="downstream"))
    before = Dependency(downstream=DAYS, upstream=HOURS, rule=Previous())
    for day, own, hours in (
        ("2013-03-10", 23, 24),
        ("2013-03-11", 24, 23),
        ("2013-11-04", 24, 25),
        ("2013-01-01", 24, 0),
    ):
        assert len(both.upstream(day)) == own + hours
        assert len(before.upstream(day)) == hours
    assert [str(key) for key in before.downstream("2013-11-03T01:00-05:00")] == ["2013-11-04"]
    assert [str(key) for key in both.downstream("2013-11-03T01:00-05:00")] == ["2013-11-03", "2013-11-04"]
    assert (both.fan_out(), before.fan_out()) == (2, 1)


def test_the_one_before_may_lie_before_the_downstreams_start() -> None:
    late = PartitionByInterval("@daily", timezone="America/New_York", start="2013-02-01")
    before = Dependency(downstream=late, upstream=DAYS, rule=Previous(2))
    assert [str(key) for key in before.upstream("2013-02-01")] == ["2013-01-30", "2013-01-31"]
    assert [str(key) for key in before.downstream("2013-01-31")] == ["2013-02-01", "2013-02-02"]


def test_a20_a_window_is_elapsed_time() -> None:
    late = Dependency(downstream=DAYS, upstream=HOURS, rule=Window(after=timedelta(hours=2)))
    assert len(late.upstream("2013-11-03")) == 27
    assert [str(key) for key in late.downstream("2013-11-04T01:00-05:00")] == ["2013-11-03", "2013-11-04"]


@pytest.mark.parametrize(
    "rule",
    [Overlap(), Lookback(3), Lookback(1, "downstream"), Previous(2), Window(timedelta(hours=1), timedelta(minutes=5))],
)
def test_rules_come_back_from_json(rule: Any) -> None:
    assert rule_from_json(rule.to_json()) == rule


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Lookback(0), "Lookback(0)"),
        (lambda: Lookback(True), "Lookback(True)"),
        (lambda: Lookback(1, of="hours"), "expected 'upstream' or 'downstream'"),
        (lambda: Previous(0), "Previous(0)"),
        (lambda: Window(before=timedelta(-1)), "not negative"),
        (lambda: Window(after=5), "after=5"),  # type: ignore[arg-type]
        (lambda: Dependency(PartitionBySequence(["a"]), PartitionBySequence(["a"]), Lookback(1)), "time on both sides"),
        (lambda: rule_from_json({"rule": "never"}), "never"),
        (
            lambda: Dependency(DAYS, PartitionByInterval("@daily"), AllPartitions()),
            "give the upstream definition a start=",
        ),
        (lambda: Dependency(AIRPORT, AIRPORT, LatestPartition()), "LatestPartition() needs time in the upstream"),
        (lambda: Dependency(DAYS, DAYS, LatestPartition()).upstream("2013-02-08"), "expected now="),
        (lambda: SegmentMap({}), "expected downstream values, each with a list"),
        (lambda: SegmentMap({"east": "EWR"}), "expected downstream values, each with a list"),  # type: ignore[dict-item]
        (lambda: Dependency(AIRPORT, AIRPORT, SegmentMap({"EWR": ["LGA"]})), "'LGA' is not one of the 2 values"),
        (lambda: Dependency(DAYS, DAYS, SegmentMap({"EWR": ["LGA"]})), "fits no dimension"),
        (lambda: Dependency(DAYS, DAYS, ByDimension({"day": Lookback(1)})), "'day', which neither side has"),
        (lambda: Dependency(AIRPORT, AIRPORT, ByDimension({"airport": Lookback(1)})), "expected a rule about segments"),
        (
            lambda: Dependency(DAYS, HOURS, ByDimension({"time": SegmentMap({"a": ["b"]})})),
            "expected a rule about time",
        ),
        (lambda: ByDimension({"time": SameKey()}), "SameKey() is no rule for a dimension"),  # type: ignore[dict-item]
        (lambda: rule_from_json({"rule": "by_dimension", "rules": {"time": {"rule": "same_key"}}}), "about whole keys"),
    ],
)
def test_rules_that_make_no_sense_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidDefinitionError) as refused:
        make()
    assert message in str(refused.value)


def test_a20_rules_for_the_dimensions_of_a_product() -> None:
    cities = PartitionBySequence(["NYC"], name="city")
    rule = ByDimension({"time": Lookback(1), "city": SegmentMap({"NYC": ["EWR", "JFK"]})})
    dependency = Dependency(PartitionByProduct([DAYS, cities]), PartitionByProduct([DAYS, AIRPORT]), rule)
    needed = [f"2013-02-0{day}|{airport}" for day in (7, 8) for airport in ("EWR", "JFK")]
    assert [str(key) for key in dependency.upstream("2013-02-08|NYC")] == needed
    assert [str(key) for key in dependency.downstream("2013-02-08|EWR")] == ["2013-02-08|NYC", "2013-02-09|NYC"]


def test_a20_rules_that_move_with_the_time() -> None:
    now = datetime(2013, 1, 3, 12, tzinfo=UTC)
    airport_days = PartitionByProduct([DAYS, AIRPORT])
    everything = Dependency(AIRPORT, airport_days, AllPartitions())
    assert [str(key) for key in everything.upstream("JFK", now=now)] == ["2013-01-01|JFK", "2013-01-02|JFK"]
    assert [str(key) for key in everything.downstream("2013-01-02|JFK", now=now)] == ["JFK"]
    assert not everything.downstream("2013-01-03|JFK", now=now)
    latest = Dependency(HOURS, airport_days, LatestPartition())
    assert [str(key) for key in latest.upstream("2013-01-01T00:00-05:00", now=now)] == [
        "2013-01-02|EWR",
        "2013-01-02|JFK",
    ]
    assert HOURS.parse("2013-05-01T00:00-04:00") in latest.downstream("2013-01-02|EWR", now=now)
    assert not latest.downstream("2013-01-01|EWR", now=now)
