"""Sensors and watched assets in Dag files: what is made of them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from airflow_partitions import Partition, PartitionByInterval, PartitionBySequence, asset
from airflow_partitions.authoring.arrival import PartitionSensor, watched
from airflow_partitions.authoring.assets.dag_arguments import DagArguments, DagOptions
from airflow_partitions.core.dependencies import Lookback
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.engine.timetables.asset_extra import read_extra
from airflow_partitions.storage import Parquet

HOURS = PartitionByInterval("@hourly", name="hour", start="2013-01-01")
DAYS = PartitionByInterval("@daily", start="2013-01-01")
ON = {"hour": "%Y-%m-%dT%H"}


DAG_FILE = """
from airflow.sdk import DAG
from airflow_partitions import PartitionByInterval, Partitioned
from airflow_partitions.authoring.arrival import watched
from airflow_partitions.storage import Parquet
HOURS = PartitionByInterval("@hourly", name="hour", start="2013-01-01")
landed = watched("landed", Parquet("/lake/landing", partition=HOURS), state="/lake/state", tags=["landing"])
days = DAG("days", schedule=Partitioned(landed, PartitionByInterval("@daily", start="2013-01-01")))
"""


def test_en3_the_time_between_two_looks_may_be_seconds(tmp_path: Path) -> None:
    landing = Parquet("/lake/landing", partition=HOURS)
    (one, other) = (watched("one", landing, state="/s", poke_interval=10), watched("two", landing, state="/s"))
    assert {one.name, other.name} == {"one", "two"}
    with pytest.raises(InvalidDefinitionError, match="None is not a length of time"):
        watched("three", landing, state="/s", poke_interval=None)  # type: ignore[arg-type]


@pytest.fixture
def files(tmp_path: Path) -> Parquet:
    return Parquet(f"{tmp_path}/landing", partition=HOURS, partition_on=ON)


def sensor(files: Parquet, **more: Any) -> PartitionSensor:
    return PartitionSensor(task_id="wait", files=files, **more)


def test_it_waits_for_what_the_partition_of_its_run_needs(files: Parquet) -> None:
    context = {"partition": Partition(DAYS, "2013-02-08")}
    assert len(sensor(files).selection(context)) == 24
    last = sensor(files, rule=Lookback(3)).selection({"partition": Partition(HOURS, "2013-02-08T05:00Z")})
    assert "2013-02-08T04:00Z" in map(str, last)


def test_it_waits_for_named_keys(files: Parquet) -> None:
    keys = ["2013-02-08T05:00Z", "2013-02-09T07:00Z"]
    assert [str(key) for key in sensor(files, keys=keys).selection({})] == keys
    assert len(sensor(files, keys=keys[0]).selection({})) == 1
    with pytest.raises(InvalidKeyError):
        sensor(files, keys="soon").selection({})


def test_a_sensor_that_can_not_know_what_to_wait_for(files: Parquet) -> None:
    with pytest.raises(InvalidDefinitionError, match="in a Dag without partitions; give keys="):
        sensor(files).selection({})
    with pytest.raises(InvalidDefinitionError, match="has no partitions to wait for"):
        sensor(Parquet(files.path))
    secret = Parquet(files.path, partition=HOURS, credentials={"key": "x"})
    with pytest.raises(InvalidDefinitionError, match="deferrable=False"):
        sensor(secret)
    assert sensor(secret, deferrable=False)


def test_a_watched_asset_says_what_partitions_it_has_and_its_dag_reports_them(tmp_path: Path) -> None:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.serialization.serialized_objects import DagSerialization

    (tmp_path / "case.py").write_text(DAG_FILE)
    bag = DagBag(str(tmp_path))
    assert bag.import_errors == {}
    dag = bag.dags["landed"]
    assert [task.task_id for task in dag.topological_sort()] == ["report", "confirm"]
    (asset,) = dag.task_dict["report"].outlets
    partitions = read_extra(asset.extra)
    assert (asset.name, partitions and partitions.definition, dag.tags) == ("landed", HOURS, {"landing"})
    form = json.dumps(DagSerialization.to_dict(dag))
    assert "ArrivalTrigger" in form
    assert len(bag.dags["days"].timetable.get_partition_mapper(name="landed").to_upstream("2013-02-08")) == 24


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"ownership": "read-only"}, "give state="),
        ({"credentials": {"key": "x"}}, "which the triggerer does not get"),
    ],
)
def test_what_can_not_be_watched_is_refused(files: Parquet, more: Any, words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=words):
        watched("refused", Parquet(files.path, partition=HOURS, **more))
    with pytest.raises(InvalidDefinitionError, match="has no partitions to watch"):
        watched("refused", Parquet(files.path))


def test_a_watched_asset_may_have_segments(tmp_path: Path) -> None:
    files = Parquet(f"{tmp_path}/landing", partition=PartitionBySequence(["EWR", "JFK"], name="airport"))
    assert watched("landed_airports", files)


def test_a_dag_takes_the_arguments_that_an_asset_takes(files: Parquet) -> None:
    assert {field.name for field in attrs.fields(DagArguments)} == set(DagOptions.__annotations__)
    with pytest.raises(InvalidDefinitionError, match="'tag' is no argument here; nearest: tags"):
        watched("refused", files, tag=["landing"])  # type: ignore[call-arg]
    with pytest.raises(InvalidDefinitionError, match="'tag' is no argument here; nearest: tags"):
        asset(schedule=None, partition=None, tag=["landing"])  # type: ignore[call-arg]
