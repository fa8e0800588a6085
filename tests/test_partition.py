"""The partition as a task sees it."""

from __future__ import annotations

from itertools import islice

import pytest

from airflow_partitions import Interval, Partition, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.errors import InvalidKeyError

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
