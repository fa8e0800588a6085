"""A round of upkeep, whatever others have left in the cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.event import listen, remove

from airflow_partitions import PartitionByInterval
from airflow_partitions.engine.graph.serialized_dags import fingerprint, read_serialized_dags
from airflow_partitions.engine.timetables.upstreams import _produced
from airflow_partitions.operate.upkeep import Upkeep, one_round
from airflow_partitions.operate.upkeep import round as round_of_upkeep
from airflow_partitions.operate.upkeep.pending_rows import delete_hopeless, postpone_early
from tests.metadata import LONG_AGO, Metadata

pytestmark = pytest.mark.airflow

HOURS = PartitionByInterval("@hourly", start="2013-01-01")
DAG_FILE = """
@asset(schedule="@hourly", partition=PartitionByInterval("@hourly", start="2013-01-01"))
def hours(partition): ...

@asset(schedule=hours, partition=PartitionByInterval("@daily", start="2013-01-01"))
def days(partition): ...
"""


def pause(metadata: Metadata, *, paused: bool) -> None:
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=paused))


def test_eb4_what_another_release_wrote_for_tasks_is_written_anew(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, files=DAG_FILE)
    pause(metadata, paused=False)
    metadata.emit("hours", "2013-01-01T00:00Z")
    assert one_round().problems == ()
    before = metadata.cells("hours")["ledger"]
    metadata.put("hours", "ledger", before | {"version": 2})
    metadata.emit("hours", "2013-01-01T01:00Z")
    outcome = one_round()
    assert (outcome.records, outcome.problems) == (1, ())
    assert metadata.cells("hours")["ledger"]["version"] == before["version"]


def test_ea2_one_bad_cell_is_told_and_keeps_nothing_from_being_done(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, files=DAG_FILE)
    pause(metadata, paused=False)
    hours = [str(key) for key in HOURS.keys("2013-01-01", "2013-01-02")]
    metadata.emit("hours", *hours)
    one_round()
    days = map(str, PartitionByInterval("@daily").keys("2013-01-02", "2014-01-01"))
    for cell in ("ledger", "page/"):
        for form in ("x", 7, [], {}, {"version": 1}, {"version": "1"}, [[[[]]]], None):
            metadata.put("hours", min(metadata.cells("hours", cell)), form)
            metadata.emit("hours", hours[0])
            metadata.emit("days", next(days))
            outcome = one_round()
            assert outcome.records == 2
            reported = [problem for problem in outcome.problems if "can't be read, and counts as not there" in problem]
            assert len(reported) == (cell != "page/" and form is not None)
            assert one_round().problems == ()
            assert metadata.pages("hours") == {"201301": hours}


def test_ea2_what_fails_for_one_asset_or_dag_keeps_not_the_others(
    metadata: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata.parse(tmp_path, files=DAG_FILE)
    pause(metadata, paused=False)
    metadata.emit("days", "2013-01-02")
    update: Any = round_of_upkeep.update_ledger

    def broken(asset: str, *rest: Any, **more: Any) -> Any:
        if asset == "hours":
            raise TypeError("something else")
        return update(asset, *rest, **more)

    def also_broken(*_: Any, **__: Any) -> Any:
        raise TypeError("something else")

    monkeypatch.setattr(round_of_upkeep, "update_ledger", broken)
    monkeypatch.setattr(round_of_upkeep, "catch_up", also_broken)
    outcome = one_round()
    assert outcome.records == 1
    assert [problem.partition(":")[0] for problem in outcome.problems] == ["asset 'hours'", "Dag 'days'"]
    assert all("TypeError: something else" in problem for problem in outcome.problems)


MANY = """
for number in range(100):
    hours = Asset(f"hours_{number}")
    with DAG(f"hours_{number}", schedule=Partitioned("@hourly", PartitionByInterval("@hourly"), asset=hours)):
        EmptyOperator(task_id="make", outlets=[hours])
    days = Asset(f"days_{number}")
    upstream = Asset.ref(name=f"hours_{number}")
    with DAG(f"days_{number}", schedule=Partitioned(upstream, PartitionByInterval("@daily"), asset=days)):
        EmptyOperator(task_id="make", outlets=[days])
"""


@contextmanager
def counted(metadata: Metadata) -> Iterator[list[str]]:
    """The statements that the database gets."""
    statements: list[str] = []

    def remember(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    listen(metadata.engine, "before_cursor_execute", remember)
    try:
        yield statements
    finally:
        remove(metadata.engine, "before_cursor_execute", remember)


def test_ea9_an_idle_round_asks_for_all_assets_at_once(
    metadata: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata.parse(tmp_path, many=MANY)
    pause(metadata, paused=False)
    for number in range(0, 100, 10):
        metadata.emit(f"hours_{number}", "2013-01-01T00:00Z")
    work = Upkeep()
    assert work.round().records == 10
    _produced.cache_clear()
    with counted(metadata) as statements:
        assert work.round().idle
    assert len(statements) < 23, statements
    _produced.cache_clear()
    with counted(metadata) as statements:
        assert one_round().idle  # by cron
    assert len(statements) < 23, statements
    reads = []
    update: Any = round_of_upkeep.update_ledger

    def reading(*arguments: Any, **more: Any) -> Any:
        outcome = update(*arguments, **more)
        reads.append((outcome.asset, outcome.events))
        return outcome

    monkeypatch.setattr(round_of_upkeep, "update_ledger", reading)
    for hour in range(5):
        metadata.emit("hours_3", f"2013-01-02T{hour:02}:00Z", at=datetime.now(UTC))
        assert work.round().records == 1
    assert reads == [("hours_3", 1)] * 5  # not all that is young, again and again


def test_er2_events_of_a_pause_are_caught_up_by_the_first_round_there_ever_is(
    metadata: Metadata, tmp_path: Path
) -> None:
    from airflow.models.asset import AssetPartitionDagRun as Row
    from sqlalchemy import insert, select

    metadata.parse(tmp_path, files=DAG_FILE)
    pause(metadata, paused=False)
    hours = [str(key) for key in HOURS.keys("2013-01-01", "2013-01-02")]
    prints = fingerprint(read_serialized_dags().consumers["days"])
    with metadata.engine.begin() as at:  # it has worked before
        row = {"target_dag_id": "days", "partition_key": "2012-12-31", "created_at": LONG_AGO}
        at.execute(insert(Row).values(**row, rollup_fingerprint=prints))
    metadata.emit("hours", *hours, at=LONG_AGO + timedelta(minutes=1))
    for expected in (1, 0):
        assert one_round().caught_up == expected
    with metadata.engine.connect() as at:
        assert "2013-01-01" in at.scalars(select(Row.partition_key)).all()


def test_ea5_a_row_is_not_deleted_while_an_event_is_put_on_it(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.asset import AssetModel, PartitionedAssetKeyLog
    from airflow.models.asset import AssetPartitionDagRun as Row
    from sqlalchemy import insert, select

    if metadata.engine.dialect.name == "sqlite":
        pytest.skip("SQLite lets one transaction write at a time")
    metadata.parse(tmp_path, files=DAG_FILE)
    pause(metadata, paused=False)
    consumers = read_serialized_dags().consumers
    with metadata.engine.begin() as at:
        row = {"target_dag_id": "days", "partition_key": "2013-01-01", "created_at": LONG_AGO}
        number = at.execute(insert(Row).values(**row)).inserted_primary_key[0]  # type: ignore[index]
    with metadata.engine.begin() as at:  # as Airflow registers an event
        asset = at.scalar(select(AssetModel.id).where(AssetModel.name == "hours").with_for_update(key_share=True))
        log = {"asset_id": asset, "asset_event_id": 7, "source_partition_key": "2013-01-01T00:00Z"}
        log |= {"target_dag_id": "days", "target_partition_key": "2013-01-01"}
        at.execute(insert(PartitionedAssetKeyLog).values(**log, asset_partition_dag_run_id=number))
        assert delete_hopeless(consumers, harmless=0) == 0
    problems: list[str] = []
    assert delete_hopeless(consumers, 0, problems.append) == 1, problems
    with metadata.engine.connect() as at:
        assert at.scalars(select(PartitionedAssetKeyLog.id)).all() == []


def test_rows_of_dags_that_are_gone_crowd_no_others(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.dag import DagModel
    from sqlalchemy import insert, update

    metadata.parse(tmp_path, files=DAG_FILE)
    metadata.parse(tmp_path, other=DAG_FILE.replace("hours", "others").replace("days", "gone"))
    pause(metadata, paused=False)
    consumers = {"days": read_serialized_dags().consumers["days"]}
    with metadata.engine.begin() as at:
        rows = [("days", "2013-01-01"), ("gone", "2013-01-01"), ("gone", "2013-01-02"), ("nobody", "2013-01-01")]
        values = [{"target_dag_id": dag_id, "partition_key": key, "created_at": LONG_AGO} for dag_id, key in rows]
        at.execute(insert(Row), values)
        at.execute(update(DagModel).where(DagModel.dag_id == "gone").values(is_stale=True))
    assert delete_hopeless(consumers, harmless=1) == 0
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_stale=False))
    assert delete_hopeless(consumers, harmless=1) == 1


def test_ea5_logs_of_rows_that_are_no_more_are_deleted(metadata: Metadata) -> None:
    from airflow.models.asset import PartitionedAssetKeyLog
    from sqlalchemy import insert, select

    metadata.emit("hours", "2013-01-01T00:00Z")
    with metadata.engine.begin() as at:
        log = {"asset_id": metadata.asset("hours"), "asset_event_id": 7, "source_partition_key": "x"}
        log |= {"target_dag_id": "days", "target_partition_key": "y", "asset_partition_dag_run_id": 5}
        for age in (timedelta(days=2), timedelta(minutes=5)):
            at.execute(insert(PartitionedAssetKeyLog).values(**log, created_at=datetime.now(UTC) - age))
    one_round()
    with metadata.engine.connect() as at:
        assert len(at.scalars(select(PartitionedAssetKeyLog.id)).all()) == 1


EARLY_FILE = """
from datetime import timedelta
from airflow_partitions import PartitionByInterval, asset

@asset(schedule="@hourly", partition=PartitionByInterval("@hourly"))
def readings(): ...

@asset(schedule=readings, partition=PartitionByInterval("@hourly"), at=timedelta(days=20_000))
def late(): ...
"""


def test_what_waits_for_its_time_stands_behind_all_others_once_many_wait(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.asset import AssetPartitionDagRun as Row
    from sqlalchemy import insert, select

    metadata.parse(tmp_path, files=EARLY_FILE)
    pause(metadata, paused=False)
    consumers = read_serialized_dags().consumers
    rows = [
        {"target_dag_id": "late", "partition_key": key, "created_at": LONG_AGO}
        for key in ("2013-01-01T00:00Z", "2013-01-01T05:00Z", "nonsense")
    ]
    with metadata.engine.begin() as at:
        at.execute(insert(Row), [*rows, rows[0] | {"target_dag_id": "readings"}])
    problems: list[str] = []
    assert postpone_early(consumers, 4) == 0
    assert postpone_early(consumers, 3, problems.append) == 2
    assert postpone_early(consumers, 3, problems.append) == 0
    assert len(problems) == 2
    assert "'late' keep their place" in problems[0]
    with metadata.engine.connect() as at:
        query = select(Row.target_dag_id, Row.partition_key, Row.created_at).order_by(Row.created_at, Row.id)
        *first, (_, _, fifth), (_, last, _) = at.execute(query).all()
    assert [(dag_id, key) for dag_id, key, _ in first] == [("late", "nonsense"), ("readings", "2013-01-01T00:00Z")]
    assert (fifth, last) == (datetime(2013, 1, 1, 1, tzinfo=UTC) + timedelta(days=20_000), "2013-01-01T05:00Z")
