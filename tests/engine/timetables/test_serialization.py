"""What Airflow's database holds of timetables: it is read by newer versions of the package, and compared by Airflow."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from airflow.sdk import Asset
from airflow.timetables.base import Timetable, compute_rollup_fingerprint

from airflow_partitions import (
    AllPartitions,
    AtLeast,
    ByDimension,
    KeyFormat,
    LatestPartition,
    Lookback,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Partitioned,
    SameKey,
    SegmentMap,
    Window,
    Within,
)
from airflow_partitions.core.errors import UnknownVersionError
from airflow_partitions.engine.timetables.runtime_timetables import RuntimePartitionTimetable

GOLDEN = Path(__file__).parent / "golden"
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
DAYS = PartitionByInterval("@daily", timezone="America/New_York", name="day")
AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")
BOTH = PartitionByProduct([DAYS, AIRPORTS])
CASES: dict[str, Callable[[], Timetable]] = {
    "ticks": lambda: Partitioned("@daily", BOTH, refresh=2, allow_open=True),
    "elapsed": lambda: Partitioned(timedelta(hours=6), PartitionByInterval(timedelta(minutes=90), end="2030-01-01")),
    "manual": lambda: Partitioned(None, AIRPORTS),
    "assets": lambda: Partitioned(
        Asset("flights") & (Asset("weather") | Asset("radar", uri="s3://radar")),
        BOTH,
        upstreams={
            "flights": HOURS,
            "weather": KeyFormat(HOURS, "%Y-%m-%dT%H:%M:%S", timezone="UTC"),
            "radar": PartitionByProduct([HOURS, PartitionBySequence(["north", "south"], name="region")]),
        },
        rules={
            "flights": Lookback(2),
            "weather": Window(timedelta(hours=3), timedelta(hours=1)),
            "radar": ByDimension({"day": AllPartitions(), "airport": SegmentMap({"EWR": ["north"], "JFK": ["south"]})}),
        },
        wait=AtLeast(20),
        rerun=Within("7d", settle="30min"),
        max_wait="12h",
    ),
    "at": lambda: Partitioned(Asset.ref(name="flights"), DAYS, at="06:00"),
    "named": lambda: Partitioned(Asset.ref(name="flights"), DAYS, rules={"flights": LatestPartition()}, rerun="never"),
    "same": lambda: Partitioned(
        Asset("scores"), AIRPORTS, upstreams={"scores": PartitionAtRuntime(name="places")}, rules={"scores": SameKey()}
    ),
    "runtime": lambda: RuntimePartitionTimetable("@hourly", PartitionAtRuntime(name="active", allowed="[a-z]+")),
}


@pytest.mark.parametrize("name", CASES)
def test_what_was_stored_is_read_and_stays_the_same(name: str) -> None:
    timetable = CASES[name]()
    golden = json.loads((GOLDEN / f"{name}.json").read_text())
    assert json.loads(json.dumps(timetable.serialize())) == golden
    copy = type(timetable).deserialize(golden)
    assert json.loads(json.dumps(copy.serialize())) == golden
    assert list(json.loads(json.dumps(copy.serialize()))) == list(golden)


@pytest.mark.parametrize("name", ["assets", "named", "same"])
def test_airflow_sees_no_change_where_there_is_none(name: str) -> None:
    timetable = CASES[name]()
    copy = type(timetable).deserialize(timetable.serialize())
    first, second = (json.dumps(compute_rollup_fingerprint(one)) for one in (timetable, copy))
    assert first == second


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("version", [None, 0, 2])
def test_a_form_of_another_release_is_refused(name: str, version: int | None) -> None:
    timetable = CASES[name]()
    with pytest.raises(UnknownVersionError, match=rf"serialized {type(timetable).__name__} has version {version}; exp"):
        type(timetable).deserialize(timetable.serialize() | {"version": version})
