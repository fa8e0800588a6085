"""What the partition of a run says of its upstreams, where no API server has to be asked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from airflow.sdk import Asset

from airflow_partitions import (
    LatestPartition,
    Lookback,
    Partition,
    PartitionAtRuntime,
    PartitionByInterval,
    Partitioned,
    RunPartition,
    Selection,
)
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.runtime_timetables import RuntimePartitionTimetable

NEW_YORK = "America/New_York"
DAYS = PartitionByInterval("@daily", timezone=NEW_YORK, start="2013-01-01")
HOURS = PartitionByInterval("@hourly", timezone=NEW_YORK, start="2013-01-01")
FLIGHTS, PRICES, LEVIES = Asset("flights"), Asset("prices"), Asset("levies")
NOON, EVENING = datetime(2013, 11, 5, 12, tzinfo=UTC), datetime(2013, 11, 5, 20, tzinfo=UTC)


@pytest.fixture
def partition() -> RunPartition:
    timetable = Partitioned(
        FLIGHTS & PRICES & LEVIES,
        DAYS,
        upstreams={"flights": HOURS, "prices": DAYS, "levies": HOURS},
        rules={"prices": Lookback(1), "levies": LatestPartition()},
    )
    return RunPartition(timetable, "2013-11-03", NOON, EVENING)


def test_a10_upstream_is_what_the_partition_depends_on_by_the_dags_own_rules(partition: RunPartition) -> None:
    assert len(partition.upstream("flights")) == 25
    assert partition.upstream(FLIGHTS) == Selection.between(HOURS, partition.start, partition.end)
    assert [str(day) for day in partition.upstream(Asset.ref(name="prices"))] == ["2013-11-02", "2013-11-03"]
    assert [str(hour) for hour in partition.upstream("levies")] == ["2013-11-05T06:00-05:00"]  # at noon in UTC


def test_a10_an_asset_that_the_dag_is_not_scheduled_on_has_no_upstream_partitions(partition: RunPartition) -> None:
    with pytest.raises(InvalidDefinitionError, match="not scheduled on an asset 'taxes', but on: flights, prices, le"):
        partition.upstream("taxes")
    by_time = RunPartition(Partitioned("@daily", DAYS), "2013-11-03", NOON, EVENING)
    with pytest.raises(InvalidDefinitionError, match="not scheduled on an asset 'flights', but on: none"):
        by_time.upstream("flights")


def test_the_partition_of_a_run_equals_others_with_its_key(partition: RunPartition) -> None:
    assert partition == Partition(DAYS, "2013-11-03")
    assert len({partition, Partition(DAYS, "2013-11-03")}) == 1
    adding = RuntimePartitionTimetable("@daily", PartitionAtRuntime(name="x"))
    with pytest.raises(InvalidDefinitionError, match="have no partition; their tasks add some"):
        RunPartition(adding, "x", NOON, EVENING)
