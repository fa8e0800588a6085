"""Upstreams without partitions, beside those that have some: over Airflow's tables, as the scheduler evaluates them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import Asset

from airflow_partitions import (
    Dependency,
    KeyFormat,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Partitioned,
    Selection,
    Unpartitioned,
)
from airflow_partitions.core.definitions import WholeAsset
from airflow_partitions.core.dependencies import rule_from_json
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.graph.partitioned_assets import asset_dags, read_assets
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, write_extra
from airflow_partitions.operate.upkeep import Upkeep, one_round
from tests.metadata import Metadata, engine, metadata

__all__ = ["engine", "metadata"]

DAYS = PartitionByInterval("@daily", start="2013-01-01")
NOW = datetime(2013, 3, 5, 12, tzinfo=UTC)
DAG_FILE = """
DAYS = PartitionByInterval("@daily", start="2013-01-01")

@asset(schedule="@daily", partition=DAYS)
def sales(partition): ...

@asset(schedule=sales & Asset("rates"), partition=DAYS, rules={"rates": Unpartitioned({makes})})
def revenue(partition): ...

with DAG("makes_rates", schedule=None):
    EmptyOperator(task_id="x", outlets=[Asset("rates")])
"""


def days(count: int) -> list[str]:
    today = datetime.now(UTC).date()
    return [str(today - timedelta(days=n)) for n in range(1, count + 1)]


def evaluate(key: str) -> Any:
    from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags
    from airflow_partitions.engine.timetables.evaluation import refresh_history

    refresh_history()
    return read_serialized_dags().consumers["revenue"].evaluate(key)


def pending(metadata: Metadata) -> list[tuple[str, str]]:
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log
    from sqlalchemy import select

    query = select(Row.partition_key, Log.source_partition_key).join(Log, Log.asset_partition_dag_run_id == Row.id)
    with metadata.engine.connect() as at:
        return sorted((key, source) for key, source in at.execute(query))


def unpause(metadata: Metadata) -> None:
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))


def run(metadata: Metadata, key: str, at: datetime) -> None:
    from airflow.models.base import Base
    from sqlalchemy import insert

    with metadata.engine.begin() as db:
        db.execute(
            insert(Base.metadata.tables["dag_run"]).values(
                dag_id="revenue", run_id=f"run {key} {at}", run_type="manual", state="success", run_after=at,
                queued_at=at, start_date=at, partition_key=key,
            )
        )  # fmt: skip


@pytest.mark.airflow
def test_one_event_of_it_counts_for_every_partition(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, files=DAG_FILE.replace("{makes}", ""))
    unpause(metadata)
    metadata.emit("sales", "2013-02-08", "2013-02-09")
    metadata.emit("rates", "2013-02-08")  # with a key: no such event counts
    assert not evaluate("2013-02-08").fires
    metadata.emit("rates", None)
    assert evaluate("2013-02-08").fires
    assert evaluate("2013-02-09").fires
    assert not evaluate("2013-02-10").fires


@pytest.mark.airflow
def test_its_event_counts_when_airflow_has_purged_it(metadata: Metadata, tmp_path: Path) -> None:
    from airflow_partitions.engine.timetables.evaluation import _history

    metadata.parse(tmp_path, files=DAG_FILE.replace("{makes}", ""))
    unpause(metadata)
    metadata.emit("rates", None)
    one_round()
    metadata.purge()
    _history.cache_clear()
    metadata.emit("sales", "2013-02-08")
    assert evaluate("2013-02-08").fires


@pytest.mark.airflow
@pytest.mark.parametrize("whole", [True, False])
def test_a_new_event_of_it_makes_the_newest_partition_again(metadata: Metadata, tmp_path: Path, whole: bool) -> None:
    metadata.parse(tmp_path, files=DAG_FILE.replace("{makes}", ""))
    unpause(metadata)
    now = datetime.now(UTC)
    metadata.emit("sales", *days(3), at=now - timedelta(hours=3))
    metadata.emit("rates", None, at=now - timedelta(hours=3))
    upkeep = Upkeep(wait=True)
    upkeep.round()
    for day in days(3):
        run(metadata, day, now - timedelta(hours=2))
    assert upkeep.round().caught_up == 0
    metadata.emit("rates", None, at=now - timedelta(minutes=20))
    assert (one_round() if whole else upkeep.round()).caught_up == 1
    assert pending(metadata) == [(days(1)[0], "")]
    assert evaluate(days(1)[0]).fires


@pytest.mark.airflow
def test_a_new_event_of_it_makes_nothing_if_so_said(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, files=DAG_FILE.replace("{makes}", "makes='nothing'"))
    unpause(metadata)
    now = datetime.now(UTC)
    metadata.emit("sales", *days(3), at=now - timedelta(hours=3))
    metadata.emit("rates", None, at=now - timedelta(hours=3))
    upkeep = Upkeep(wait=True)
    upkeep.round()
    for day in days(3):
        run(metadata, day, now - timedelta(hours=2))
    metadata.emit("rates", None, at=now - timedelta(minutes=20))
    assert upkeep.round().caught_up == 0
    assert not any(evaluate(day).may_fire for day in days(3))
    assert pending(metadata) == []


@pytest.mark.airflow
def test_partitions_that_wait_for_its_first_event_keep_their_rows(metadata: Metadata, tmp_path: Path) -> None:
    from airflow_partitions.operate.upkeep.pending_rows import delete_hopeless

    metadata.parse(tmp_path, files=DAG_FILE.replace("{makes}", ""))
    unpause(metadata)
    upkeep = Upkeep(wait=True)
    upkeep.round()
    evaluation = evaluate("2013-02-08")
    assert not evaluation.may_fire
    from airflow.models.asset import AssetPartitionDagRun as Row
    from sqlalchemy import insert

    metadata.emit("sales", *(str(day) for day in DAYS.keys("2013-01-01", "2013-01-05")))
    with metadata.engine.begin() as at:
        rows = [
            {"target_dag_id": "revenue", "partition_key": str(day), "created_at": datetime(2020, 1, 1, tzinfo=UTC)}
            for day in DAYS.keys("2013-01-01", "2013-01-05")
        ]
        at.execute(insert(Row), rows)
    from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags

    assert delete_hopeless(read_serialized_dags().consumers, harmless=1) == 0
    metadata.emit("rates", None)
    assert evaluate("2013-01-03").fires


@pytest.mark.airflow
def test_states_count_its_event_and_a_newer_one_makes_nothing_stale(metadata: Metadata, tmp_path: Path) -> None:
    from airflow_partitions.operate.states import State, explain, states_of

    metadata.parse(tmp_path, files=DAG_FILE.replace("{makes}", ""))
    now = datetime.now(UTC)
    metadata.emit("sales", "2013-02-08", at=now - timedelta(hours=3))

    def state() -> Any:
        page = states_of("revenue", Selection.of(DAYS, "2013-02-08"))
        return [stretch.state for stretch in page.stretches]

    assert state() == [State.WAITING]
    assert "'rates', which has no partitions, has had no event yet" in explain("revenue", "2013-02-08").reasons
    metadata.emit("rates", None, at=now - timedelta(hours=2))
    metadata.emit("revenue", "2013-02-08", at=now - timedelta(hours=1))
    assert state() == [State.MATERIALIZED]
    metadata.emit("rates", None, at=now - timedelta(minutes=1))
    assert state() == [State.MATERIALIZED]


@pytest.mark.airflow
def test_it_is_none_of_the_assets_with_partitions(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, files=DAG_FILE.replace("{makes}", ""))
    assert [asset.name for asset in read_assets(list(asset_dags().values()))] == ["revenue", "sales"]


def test_it_survives_serialization() -> None:
    schedule = Asset("sales") & Asset.ref(name="rates")
    timetable = Partitioned(schedule, DAYS, upstreams={"sales": DAYS}, rules={"rates": Unpartitioned("nothing")})
    again = Partitioned.deserialize(timetable.serialize())
    assert again.serialize() == timetable.serialize()
    assert again.upstreams is not None
    assert again.upstreams.member("rates").definition == WholeAsset()
    assert rule_from_json(Unpartitioned().to_json()) == Unpartitioned()


@pytest.mark.parametrize(
    ("partition", "count"),
    [
        (DAYS, 1),
        (PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK"])]), 2),
        (PartitionBySequence(["EWR", "JFK", "LGA"]), 3),
    ],
)
def test_the_newest_partition_has_all_segments(partition: Any, count: int) -> None:
    timetable = Partitioned(Asset("rates"), partition, rules={"rates": Unpartitioned()})
    assert len(timetable.get_partition_mapper(name="rates").to_downstream("")) == count
    nothing = Partitioned(Asset("rates"), partition, rules={"rates": Unpartitioned("nothing")})
    assert nothing.get_partition_mapper(name="rates").to_downstream("") == []


def test_both_directions_agree() -> None:
    dependency = Dependency(downstream=DAYS, upstream=WholeAsset(), rule=Unpartitioned())
    (key,) = dependency.upstream("2013-02-08", now=NOW)
    assert "2013-02-08" in {str(day) for day, _ in zip(dependency.downstream(key, now=NOW), range(100), strict=False)}


def test_what_makes_no_sense_is_refused() -> None:
    produced = Asset("prices")
    write_extra(produced, ProducedPartitions(DAYS))
    with pytest.raises(InvalidDefinitionError, match="expected 'newest' or 'nothing'"):
        Unpartitioned("all")
    with pytest.raises(InvalidDefinitionError, match=r"but asset 'prices' has partitions.*LatestPartition"):
        Partitioned(produced, DAYS, rules={"prices": Unpartitioned()})
    for meaning in (DAYS, KeyFormat(DAYS)):
        with pytest.raises(InvalidDefinitionError, match="but asset 'rates' has partitions"):
            Partitioned(Asset("rates"), DAYS, rules={"rates": Unpartitioned()}, upstreams={"rates": meaning})
    with pytest.raises(InvalidDefinitionError, match=r"expected Unpartitioned\(makes='nothing'\)"):
        Partitioned(
            Asset("rates") & Asset("keys"),
            PartitionAtRuntime(name="x"),
            rules={"rates": Unpartitioned()},
            upstreams={"keys": PartitionAtRuntime(name="x")},
        )
    with pytest.raises(InvalidDefinitionError, match=r"rules=\{'rates': Unpartitioned\(\)\}"):
        Partitioned(Asset("rates"), DAYS)
