"""The partition as a task sees it."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import islice
from typing import Any

import pytest

from airflow_partitions import (
    Interval,
    Partition,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
)
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import InvalidKeyError, UnknownVersionError

DAY = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
AIRPORT = PartitionBySequence(["EWR", "JFK"], name="airport")


def test_a10_a_partition_of_a_product() -> None:
    partition = Partition(PartitionByProduct([DAY, AIRPORT]), "2013-01-03|JFK")
    assert str(partition) == partition.text == "2013-01-03|JFK"
    assert partition["airport"] == "JFK"
    assert partition.start is not None
    assert partition.end is not None
    assert (partition.start.isoformat(), partition.end.isoformat()) == (
        "2013-01-03T00:00:00-05:00",
        "2013-01-04T00:00:00-05:00",
    )
    assert list(partition.dimensions) == ["date", "airport"]
    assert isinstance(partition["date"], Interval)
    assert [str(past) for past in partition.iter_past_partitions()] == ["2013-01-02|JFK", "2013-01-01|JFK"]
    with pytest.raises(KeyError, match="no dimension 'hour'; there are: date, airport"):
        partition["hour"]


def test_a10_a_partition_of_a_segment() -> None:
    partition = Partition(PartitionBySequence([1, 2]), 2)
    assert partition.key == 2
    assert partition.interval is partition.start is partition.end is None
    assert partition.previous == Partition(partition.definition, "1")
    assert hash(partition.previous) == hash(Partition(partition.definition, 1))
    assert partition != "2"
    assert partition.previous.previous is None


def test_a10_the_past_of_an_open_calendar_has_no_end() -> None:
    partition = Partition(PartitionByInterval("@daily"), "2013-01-01")
    assert [past.text for past in islice(partition.iter_past_partitions(), 2)] == ["2012-12-31", "2012-12-30"]


def test_a_partition_needs_a_key_of_its_definition() -> None:
    with pytest.raises(InvalidKeyError, match="'2012-12-31' is not a partition of"):
        Partition(DAY, "2012-12-31")


def test_er8_the_key_of_a_product_has_plain_values() -> None:
    partition = Partition(PartitionByProduct([DAY, AIRPORT]), "2013-01-03|JFK")
    assert partition.key["airport"] == "JFK"
    assert {"JFK": "Kennedy"}[partition.key["airport"]] == "Kennedy"
    assert partition.key["date"] == partition["date"]
    assert dict(partition.key) == partition.dimensions


HOURS = PartitionByInterval("@hourly", timezone="America/New_York")
PARTITIONS = [
    (DAY, "2013-11-03"),
    (HOURS, "2013-11-03T01:00-05:00"),
    (PartitionByInterval(timedelta(seconds=90)), "2013-02-08T00:01:30Z"),
    (PartitionBySequence([1, 2]), "2"),
    (PartitionBySequence([(1, date(2013, 1, 1)), datetime(2013, 1, 1, tzinfo=UTC)]), "1,2013-01-01"),
    (PartitionByProduct([DAY, AIRPORT]), "2013-01-03|JFK"),
    (PartitionAtRuntime(name="customers"), "int:7"),
]


@pytest.mark.parametrize(("definition", "text"), PARTITIONS)
def test_er11_partitions_and_keys_travel_through_xcom(definition: PartitionDefinition, text: str) -> None:
    from airflow.sdk.serde import deserialize, serialize

    import airflow_partitions.plugin  # noqa: F401 - as every task does

    partition = Partition(definition, text)
    values: Any = {"partition": partition, "wrapped": [partition.wrapped], "key": partition.key}
    copy: Any = deserialize(json.loads(json.dumps(serialize(values))))
    assert copy == values
    assert [str(copy["partition"]), str(copy["wrapped"][0]), str(copy["key"])] == [text, text, str(partition.key)]
    assert copy["partition"].start == partition.start
    assert type(copy["key"]) is type(partition.key)


def test_er11_an_interval_of_no_named_zone_travels_too() -> None:
    from airflow.sdk.serde import deserialize, serialize

    import airflow_partitions.plugin  # noqa: F401

    zone = timezone(timedelta(hours=2))
    interval = Interval(datetime(2013, 1, 1, tzinfo=zone), datetime(2013, 1, 2, tzinfo=zone))
    copy: Any = deserialize(json.loads(json.dumps(serialize(interval))))
    assert (copy, str(copy), repr(copy)) == (interval, str(interval), repr(interval))


def test_what_another_release_put_into_an_xcom_is_refused() -> None:
    with pytest.raises(UnknownVersionError, match="a partition has version 2; expected 1"):
        Partition.deserialize({}, 2)


@pytest.mark.parametrize(("definition", "text"), PARTITIONS)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_er4_a_partition_is_pickled_as_its_json_form(definition: PartitionDefinition, text: str, protocol: int) -> None:
    partition = Partition(definition, text)
    copy = pickle.loads(pickle.dumps(partition, protocol))
    assert copy == partition
    assert (str(copy), repr(copy), copy.start) == (text, repr(partition), partition.start)


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        (DAY, "2013-02-08"),
        (PartitionBySequence([1, 2]), "2"),
        (PartitionByProduct([DAY, AIRPORT]), "2013-02-08|JFK"),
        (PartitionAtRuntime(name="customer"), "acme"),
    ],
)
def test_eu8_a_partition_stands_wherever_a_key_may(definition: PartitionDefinition, text: str) -> None:
    partition = Partition(definition, text)
    assert definition.key(partition) == partition.wrapped
    assert definition.contains(partition)
    assert Partition(definition, partition) == partition
    if not isinstance(definition, PartitionAtRuntime):
        assert definition.previous(partition) == definition.previous(partition.wrapped)
        assert partition in Selection.of(definition, partition)


def test_eu8_a_partition_of_other_intervals_is_no_key() -> None:
    hours = PartitionByInterval("@hourly", timezone="America/New_York")
    with pytest.raises(InvalidKeyError, match="nearest: 2013-11-03"):
        PartitionByInterval("@daily", timezone="America/New_York").key(Partition(hours, "2013-11-03T01:00-04:00"))


def test_er4_a_partition_arrives_in_an_environment_without_airflow() -> None:
    partition = Partition(PartitionByProduct([DAY, AIRPORT]), "2013-11-03|JFK")
    program = """
import pickle, sys
sys.modules["airflow"] = None
partition = pickle.loads(bytes.fromhex(sys.argv[1]))
print(partition, partition.end, partition.key["airport"])
"""
    argument = pickle.dumps(partition).hex()
    answer = subprocess.run([sys.executable, "-c", program, argument], capture_output=True, text=True, check=True)
    assert answer.stdout == "2013-11-03|JFK 2013-11-04 00:00:00-05:00 JFK\n"
