"""What the cluster asks for is what the definitions of its Dags say."""

from __future__ import annotations

import pytest

from airflow_partitions import Dependency, Lookback, PartitionByInterval, PartitionByProduct, PartitionBySequence
from cluster.plan import plan
from demo.landing import partition_of
from demo.plan import AIRPORTS

YEAR = {"timezone": "America/New_York", "start": "2013-01-01", "end": "2014-01-01"}
HOURS = PartitionByInterval("@hourly", **YEAR)  # type: ignore[arg-type]
DAYS = PartitionByInterval("@daily", name="date", **YEAR)  # type: ignore[arg-type]
AIRPORT_DAYS = PartitionByProduct([DAYS, PartitionBySequence(AIRPORTS, name="airport")])


def test_two_days_cold_and_january_warm() -> None:
    cold, warm, departures = plan().parts
    assert (cold.way, warm.way, departures.way) == ("cold", "warm", "warm")
    assert {each.asset: len(each.keys) for each in cold.targets} == {"hourly_flights": 48}
    assert {each.asset: len(each.keys) for each in warm.targets} == {"hourly_flights": 744, "airport_days": 93}
    assert {each.asset: len(each.keys) for each in departures.targets} == {
        "hourly_departures": 744,
        "daily_departures": 31,
        "airport_departures": 93,
        "three_day_departures": 31,
    }


@pytest.mark.parametrize("quick", [True, False])
def test_no_partition_is_asked_for_twice_and_all_hours_have_landed(quick: bool) -> None:
    keys = plan(quick=quick).keys
    assert all(len(texts) == len(set(texts)) for texts in keys.values())
    assert {str(HOURS.parse(key)) for key in keys["hourly_flights"]} == set(keys["hourly_flights"])
    landed = {partition_of(hour) for hour in plan(quick=quick).hours}
    assert len(landed) == len(plan(quick=quick).hours) == len(keys["hourly_flights"])


def test_what_is_quick_is_part_of_the_whole() -> None:
    whole = plan().keys
    assert all(set(keys) < set(whole[asset]) for asset, keys in plan(quick=True).keys.items())


@pytest.mark.parametrize("quick", [True, False])
def test_what_follows_is_what_the_dependencies_say(quick: bool) -> None:
    keys = plan(quick=quick).keys
    followers = {
        "daily_departures": Dependency(DAYS, HOURS),
        "airport_departures": Dependency(AIRPORT_DAYS, HOURS),
        "three_day_departures": Dependency(DAYS, DAYS, Lookback(2)),
    }
    upstreams = {"three_day_departures": "daily_departures"}
    for asset, dependency in followers.items():
        there = set(keys[upstreams.get(asset, "hourly_departures")])
        candidates = {str(key) for text in there for key in dependency.downstream(text)}
        complete = {key for key in candidates if {str(each) for each in dependency.upstream(key)} <= there}
        assert set(keys[asset]) == complete
