from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.authoring.arrival.arrivals import Arrivals
from airflow_partitions.core.errors import InvalidDefinitionError, UnknownVersionError
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consumers.consumer import Consumer
from airflow_partitions.storage.consumers.ready import Ready
from airflow_partitions.storage.scan.stored_partition import StoredPartition

DAYS = PartitionByInterval("@daily", name="date", start="2013-01-01")
MONTHS_AND_DAYS = {"month": "%Y-%m", "day": "%d"}


@pytest.fixture
def files(tmp_path: Path) -> Parquet:
    return Parquet(f"{tmp_path}/landing", partition=DAYS, partition_on=MONTHS_AND_DAYS, ownership="read-only")


def land(files: Parquet, *names: str, key: str = "2013-02-08") -> StoredPartition:
    folder = Path(files.path_of(DAYS.parse(key)))
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    partition = files.get(key)
    assert partition is not None
    return partition


def test_by_default_with_the_first_file(files: Parquet) -> None:
    assert not Ready().holds(land(files))
    assert not Ready().holds(land(files, "_temporary", ".part-0.crc"))
    assert Ready().holds(land(files, "part-0"))


def test_with_a_marker_in_the_folder_or_above_but_not_at_the_root(files: Parquet) -> None:
    ready = Ready(success_file="_SUCCESS")
    partition = land(files, "part-0")
    (Path(files.path) / "_SUCCESS").touch()
    assert not ready.holds(partition)
    (Path(files.path) / "month=2013-02" / "_SUCCESS").touch()
    assert ready.holds(partition)
    assert not ready.holds(land(files, "part-0", key="2013-03-01"))
    assert ready.holds(land(files, "_SUCCESS", key="2013-03-02"))  # empty, but said to be complete


def test_once_nothing_has_changed_for_a_while(files: Parquet) -> None:
    ready = Ready(settled=timedelta(minutes=5))
    now = datetime.now(UTC)
    assert not ready.holds(land(files), now=now + timedelta(hours=1))
    partition = land(files, "part-0")
    assert not ready.holds(partition, now=now + timedelta(minutes=4))
    assert ready.holds(partition, now=now + timedelta(minutes=6))


def test_a_consumer_waits_for_what_is_complete(files: Parquet, tmp_path: Path) -> None:
    land(files, "part-0", "_SUCCESS")
    land(files, "part-0", key="2013-02-09")
    consumer = Consumer(files, state=f"{tmp_path}/state", ready=Ready(success_file="_SUCCESS"))
    consumer.take().confirm()
    assert consumer.checkpoint.consumed == {"month=2013-02/day=08"}
    land(files, "_SUCCESS", key="2013-02-09")
    assert consumer.take().keys == ["2013-02-09"]


@pytest.mark.parametrize("ready", [Ready(), Ready("_SUCCESS"), Ready("done", timedelta(seconds=90))])
def test_json_round_trip(ready: Ready) -> None:
    assert Ready.from_json(ready.to_json()) == ready


def test_forms_of_another_release_are_refused(files: Parquet) -> None:
    with pytest.raises(UnknownVersionError, match="form of Ready has version 2; expected 1"):
        Ready.from_json(Ready().to_json() | {"version": 2})
    with pytest.raises(UnknownVersionError, match="watcher's form has version None; expected 1"):
        Arrivals.from_json(Arrivals(files, "watch").to_json() | {"version": None})


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="is no file name"):
        Ready(success_file="a/_SUCCESS")
    with pytest.raises(InvalidDefinitionError, match="waits for nothing"):
        Ready(settled=timedelta(0))
