"""The timetables of Dags whose tasks add keys: which one a schedule gets, and what they keep when serialized."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from airflow.exceptions import InvalidPartitionKeyError
from airflow.sdk import Asset
from airflow.serialization.decoders import decode_timetable
from airflow.serialization.encoders import encode_timetable

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, write_extra
from airflow_partitions.engine.timetables.run_policy import AtLeast
from airflow_partitions.engine.timetables.runtime_timetables import (
    AssetTriggeredRuntimeTimetable,
    PartitionTriggeredRuntimeTimetable,
    RuntimePartitionTimetable,
    runtime_timetable,
)

CUSTOMERS = PartitionAtRuntime(name="customers")
CONTRACTS = PartitionAtRuntime(name="contracts")
DAYS = PartitionByInterval("@daily", start="2013-01-01")


def upstream(name: str, definition: Any = None) -> Asset:
    asset = Asset(name)
    if definition is not None:
        write_extra(asset, ProducedPartitions(definition))
    return asset


@pytest.mark.parametrize(
    ("schedule", "kind", "partition"),
    [
        ("@hourly", RuntimePartitionTimetable, None),
        (timedelta(hours=6), RuntimePartitionTimetable, None),
        (None, RuntimePartitionTimetable, None),
        (upstream("plain"), AssetTriggeredRuntimeTimetable, None),
        (upstream("one") | upstream("two"), AssetTriggeredRuntimeTimetable, None),
        (upstream("days", DAYS), PartitionTriggeredRuntimeTimetable, DAYS),
        ([upstream("days", DAYS), upstream("more", DAYS)], PartitionTriggeredRuntimeTimetable, DAYS),
        (upstream("contracts", CONTRACTS), PartitionTriggeredRuntimeTimetable, CONTRACTS),
        (Asset.ref(name="told"), PartitionTriggeredRuntimeTimetable, DAYS),
    ],
)
def test_a7_a_run_that_adds_keys_is_about_what_drives_it(schedule: Any, kind: type, partition: Any) -> None:
    definitions = {"told": DAYS} if getattr(schedule, "name", "") == "told" else {}
    timetable = runtime_timetable(schedule, CUSTOMERS, definitions)
    assert type(timetable) is kind
    again = decode_timetable(json.loads(json.dumps(encode_timetable(timetable))))
    for one in (timetable, again):
        assert type(one) is kind
        assert (one.adds, one.produces.definition) == (CUSTOMERS, CUSTOMERS)
        assert getattr(one, "partition", None) == partition
        assert one.partitioned is (partition is not None)
        assert one.batch_asset_events  # one run for all events that wait; Airflow 3.4 would begin one for each
        assert "adds customers" in one.summary
        assert one.serialize() == timetable.serialize()


@pytest.mark.parametrize(
    "schedule",
    [upstream("customers", CUSTOMERS), upstream("customers", CUSTOMERS) & upstream("days", DAYS), Asset.ref(name="x")],
)
def test_a7_a_run_is_given_a_key_if_an_upstream_has_the_same_keys_or_is_known_by_name_only(schedule: Any) -> None:
    assert runtime_timetable(schedule, CUSTOMERS, {}) is None


@pytest.mark.parametrize(
    ("schedule", "run_policy", "message"),
    [
        (upstream("days", DAYS) & upstream("plain"), {}, r"given: days: PartitionByInterval\(.*\), plain: None"),
        (upstream("days", DAYS) | upstream("regions", PartitionBySequence(["eu"])), {}, "upstream assets need one def"),
        ("@daily", {"wait": AtLeast(2)}, "go with upstream partitions; given: schedule='@daily'"),
        (upstream("plain"), {"rerun": "never"}, "go with upstream partitions; given: upstream assets without"),
    ],
)  # fmt: skip
def test_a7_what_has_nothing_to_run_by_is_refused(schedule: Any, run_policy: Any, message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        runtime_timetable(schedule, CUSTOMERS, {}, **run_policy)


@pytest.mark.parametrize("schedule", ["@daily", upstream("plain")])
def test_a16_a_run_that_adds_keys_takes_none(schedule: Any) -> None:
    timetable: Any = runtime_timetable(schedule, CUSTOMERS, {})
    assert timetable.resolve_partition_date(None) is None
    with pytest.raises(InvalidPartitionKeyError, match=r"trigger it without a partition_key. Given: 'ann'"):
        timetable.resolve_partition_date("ann")
