"""Rows that are of the partition, by one of their columns."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest

from airflow_partitions import Partition, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.checks import OfPartition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage import Parquet
from tests.checks.staging import parquet, result, spoil

#: The first and the last moment of 2013-02-08 in New York, and the first after it.
FIRST, LAST = datetime(2013, 2, 8, 5, tzinfo=UTC), datetime(2013, 2, 9, 4, 59, 59, tzinfo=UTC)
AFTER = datetime(2013, 2, 9, 5, tzinfo=UTC)


def times(*values: Any, kind: Any = None) -> pa.Table:
    return pa.table({"t": pa.array(values, kind or pa.timestamp("us", tz="UTC"))})


def test_times_of_the_interval_are_told_by_the_footer(tmp_path: Path) -> None:
    partition = parquet(tmp_path, times(FIRST), times(LAST))
    spoil(partition, "t")
    assert result(OfPartition("t"), partition).passed


@pytest.mark.parametrize(
    ("values", "kind", "observed"),
    [
        ((FIRST, AFTER), None, "2013-02-09 05:00:00+00:00"),
        ((FIRST, None), None, "None"),
        ((datetime(2013, 2, 8), datetime(2013, 2, 9)), pa.timestamp("us"), "2013-02-09 00:00:00"),  # noqa: DTZ001
        ((date(2013, 2, 7), date(2013, 2, 8)), pa.date32(), "2013-02-07"),
    ],
)
def test_strays_are_shown(tmp_path: Path, values: tuple[Any, ...], kind: Any, observed: str) -> None:
    outcome = result(OfPartition("t"), parquet(tmp_path, times(*values, kind=kind)))
    assert (outcome.passed, outcome.observed) == (False, observed)
    assert outcome.name == "rows of the partition by t"


def test_values_of_another_dimension(tmp_path: Path) -> None:
    days = PartitionByInterval("@daily", name="day")
    keys = PartitionByProduct([days, PartitionBySequence(["EWR", "JFK"], name="airport")])
    storage = Parquet(str(tmp_path / "lake"), partition=keys)
    rows = attrs.evolve(parquet(tmp_path, pa.table({"origin": ["JFK"] * 3})), storage=storage)
    of_airport = OfPartition("origin", dimension="airport")
    assert result(of_airport, attrs.evolve(rows, partition=Partition(keys, "2013-02-08|JFK"))).passed
    assert result(of_airport, attrs.evolve(rows, partition=Partition(keys, "2013-02-08|EWR"))).observed == "JFK"
    with pytest.raises(InvalidDefinitionError, match="there is no dimension 'airports'; nearest: airport"):
        OfPartition("origin", dimension="airports").check_storage(storage)
    alone = Parquet("/lake/x", partition=PartitionBySequence(["EWR"], name="airport"))
    with pytest.raises(InvalidDefinitionError, match="no time dimension; expected dimension= as one of airport"):
        OfPartition("origin").check_storage(alone)
