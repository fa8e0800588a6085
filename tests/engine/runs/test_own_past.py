"""Partitions that need those before them, over Airflow's tables: schedule, evaluation, and what a run waits for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset
from airflow.sdk.exceptions import AirflowFailException, AirflowRescheduleException
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
from sqlalchemy import insert, update

from airflow_partitions import (
    Partition,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionBySequence,
    Partitioned,
    asset,
)
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.runs.own_past import wait_for_past
from tests.metadata import Metadata, engine, metadata
from tests.supervisor import Supervisor, supervisor

__all__ = ["engine", "metadata", "supervisor"]

DAYS = PartitionByInterval("@daily", start="2013-02-01")
BALANCE = Asset("balance")


class World:
    """A Dag that makes balances, its runs and their claims."""

    def __init__(self, metadata: Metadata, past: int = 1) -> None:
        self.metadata = metadata
        self.metadata.asset("balance")
        self.timetable = Partitioned("@daily", DAYS, asset=BALANCE, past=past)
        task = SimpleNamespace(outlets=[BALANCE], upstream_task_ids=set())
        self.dag = SimpleNamespace(timetable=self.timetable, tasks=[task], max_active_runs=3)
        self.task = task

    def run(self, day: str, state: str) -> None:
        """A run of that day that has claimed it, in a *state*."""
        from airflow.models.base import Base

        runs = Base.metadata.tables["dag_run"]
        at = datetime(2013, 3, 1, tzinfo=UTC)
        with self.metadata.engine.begin() as db:
            if not db.execute(update(runs).where(runs.c.run_id == f"run-{day}").values(state=state)).rowcount:
                db.execute(
                    insert(runs).values(
                        dag_id="balance", run_id=f"run-{day}", run_type="scheduled", state=state, run_after=at,
                        queued_at=at, start_date=at, partition_key=day,
                    )
                )  # fmt: skip
        note = {"version": 1, "dag_id": "balance", "run_id": f"run-{day}", "at": at.isoformat()}
        self.metadata.put("balance", f"claim|{day}", note)

    def wait(self, day: str, kind: str = "scheduled") -> None:
        run = SimpleNamespace(dag_id="balance", run_id=f"run-{day}", run_type=kind)
        wait_for_past(
            {
                "dag": self.dag,
                "task": self.task,
                "dag_run": run,
                "partition": Partition(DAYS, day),
                "ti": RuntimeTaskInstance,
            }
        )


@contextmanager
def waits(text: str, caplog: Any) -> Iterator[None]:
    caplog.clear()
    with caplog.at_level("INFO", "airflow_partitions.engine.runs.own_past"), pytest.raises(AirflowRescheduleException):
        yield
    assert text in caplog.text


@pytest.mark.airflow
def test_a_run_waits_until_the_partition_before_it_is_there(
    metadata: Metadata, supervisor: Supervisor, caplog: Any
) -> None:
    world = World(metadata)
    world.wait("2013-02-01")  # the first one needs none
    with waits("partition 2013-02-03 of balance waits for 2013-02-02; looking again later", caplog):
        world.wait("2013-02-03")
    metadata.emit("balance", "2013-02-02")
    world.wait("2013-02-03")
    world.run("2013-02-02", "running")  # it is being made again
    with waits("waits for 2013-02-02", caplog):
        world.wait("2013-02-03")


@pytest.mark.airflow
def test_a_run_waits_for_as_many_as_it_says(metadata: Metadata, supervisor: Supervisor, caplog: Any) -> None:
    world = World(metadata, past=2)
    metadata.emit("balance", "2013-02-04")
    with waits("waits for 2013-02-03", caplog):
        world.wait("2013-02-05")
    metadata.emit("balance", "2013-02-03")
    world.wait("2013-02-05")
    metadata.emit("balance", "2013-02-01")
    world.wait("2013-02-02")  # there is only one before it


@pytest.mark.airflow
def test_a_failed_partition_holds_the_later_ones_and_is_named(
    metadata: Metadata, supervisor: Supervisor, caplog: Any
) -> None:
    world = World(metadata)
    metadata.emit("balance", "2013-02-02")
    world.run("2013-02-03", "failed")
    world.run("2013-02-04", "running")
    told = "run run-2013-02-03 of balance, which was to make 2013-02-03, has failed; clear it"
    with waits(f"2013-02-04 of balance waits for 2013-02-03: {told}", caplog):
        world.wait("2013-02-04")
    world.run("2013-02-05", "running")
    with waits(f"2013-02-05 of balance waits for 2013-02-04: {told}", caplog):
        world.wait("2013-02-05")


@pytest.mark.airflow
def test_those_that_wait_leave_a_place_for_the_failed_one(
    metadata: Metadata, supervisor: Supervisor, caplog: Any
) -> None:
    world = World(metadata)
    metadata.emit("balance", "2013-02-02")
    world.run("2013-02-03", "failed")
    for day in ("2013-02-04", "2013-02-05", "2013-02-06"):
        world.run(day, "running")
    for day in ("2013-02-04", "2013-02-05"):
        with waits("has failed", caplog):
            world.wait(day)
    with pytest.raises(AirflowFailException, match=r"make 2013-02-03, has failed; clear it, and then this one"):
        world.wait("2013-02-06")


@pytest.mark.airflow
def test_in_a_backfill_those_after_a_failed_one_fail(metadata: Metadata, supervisor: Supervisor, caplog: Any) -> None:
    world = World(metadata)
    metadata.emit("balance", "2013-02-02")
    world.run("2013-02-03", "running")
    with waits("waits for 2013-02-03", caplog):
        world.wait("2013-02-04", "backfill")
    world.run("2013-02-03", "failed")
    with pytest.raises(AirflowFailException, match="clear it, and then this one"):
        world.wait("2013-02-04", "backfill")


@pytest.mark.airflow
def test_the_runs_that_a_schedule_on_assets_makes_are_in_order(metadata: Metadata, tmp_path: Path) -> None:
    from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags
    from airflow_partitions.engine.timetables.evaluation import refresh_history

    metadata.parse(
        tmp_path,
        files="""
DAYS = PartitionByInterval("@daily", start="2013-02-01")

@asset(schedule="@daily", partition=DAYS)
def sales(partition): ...

@asset(schedule=sales, partition=DAYS, past=1)
def balance(partition): ...
""",
    )
    from airflow.models.dag import DagModel

    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    metadata.emit("sales", "2013-02-01", "2013-02-02", "2013-02-03")

    def evaluations() -> list[tuple[bool, bool]]:
        refresh_history()
        timetable = read_serialized_dags().consumers["balance"]
        days = (timetable.evaluate(f"2013-02-0{day}") for day in (1, 2, 3))
        return [(evaluation.fires, evaluation.may_fire) for evaluation in days]

    assert evaluations() == [(True, True), (False, True), (False, True)]
    metadata.emit("balance", "2013-02-01", at=datetime(2021, 1, 1, tzinfo=UTC))
    assert evaluations()[1:] == [(True, True), (False, True)]


@pytest.mark.airflow
def test_what_is_there_of_the_past_is_asked_for_all_that_wait_at_once(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.dag import DagModel
    from sqlalchemy import event

    from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags
    from airflow_partitions.engine.timetables.evaluation import _history

    metadata.parse(
        tmp_path,
        files="""
DAYS = PartitionByInterval("@daily", start="2013-02-01")

@asset(schedule="@daily", partition=DAYS)
def sales(partition): ...

@asset(schedule=sales, partition=DAYS, past=1)
def balance(partition): ...
""",
    )
    days = [str(day) for day in DAYS.keys("2013-02-01", "2014-02-01")]
    metadata.emit("sales", *days)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
        at.execute(insert(Row), [{"target_dag_id": "balance", "partition_key": day} for day in days])

    def queries(some: list[str]) -> int:
        _history.cache_clear()
        timetable, statements = read_serialized_dags().consumers["balance"], list[str]()
        note = lambda *arguments: statements.append(arguments[2])  # noqa: E731
        event.listen(metadata.engine, "before_cursor_execute", note)
        assert [timetable.evaluate(day).fires for day in some] == [day == days[0] for day in some]
        event.remove(metadata.engine, "before_cursor_execute", note)
        return len(statements)

    assert queries(days) <= queries(days[:10]) + 2


@pytest.mark.airflow
def test_what_holds_a_partition_is_told(metadata: Metadata, tmp_path: Path) -> None:
    from airflow_partitions.operate.states import explain
    from tests.operate.states.world import put_runs

    metadata.parse(
        tmp_path,
        files="""
@asset(schedule=None, partition=PartitionByInterval("@daily", start="2013-02-01"), past=1)
def balance(partition): ...
""",
    )
    began = datetime(2013, 3, 1, tzinfo=UTC)
    put_runs(metadata, "balance", ["2013-02-02"], "failed", began)
    put_runs(metadata, "balance", ["2013-02-03"], "running", began)
    run = f"run balance 2013-02-02 {began.isoformat()} of balance"
    held = f"it needs partition 2013-02-02 before it, which is not there: {run} is failed"
    assert explain("balance", "2013-02-03").reasons[0] == held
    assert "it needs partition 2013-02-03 before it" in explain("balance", "2013-02-04").reasons[0]
    assert not [reason for reason in explain("balance", "2013-02-01").reasons if "before it" in reason]


def test_a_time_schedule_leaves_no_tick_out() -> None:
    from airflow.timetables.base import DagRunInfo, TimeRestriction
    from pendulum import datetime as moment

    last = DagRunInfo(
        run_after=moment(2013, 2, 3), data_interval=None, partition_date=moment(2013, 2, 2), partition_key="2013-02-02"
    )
    restriction = TimeRestriction(earliest=moment(2013, 2, 1), latest=None, catchup=False)
    keys = []
    for past in (0, 1):
        following = Partitioned("@daily", DAYS, past=past).next_dagrun_info_v2(
            last_dagrun_info=last, restriction=restriction
        )
        assert following is not None
        keys.append(following.partition_key)
    assert keys[0] > keys[1] == "2013-02-03"


def test_it_survives_serialization() -> None:
    timetable = Partitioned("@daily", DAYS, past=3)
    again = Partitioned.deserialize(timetable.serialize())
    assert again.past == 3
    assert again.serialize() == timetable.serialize()
    assert [str(key) for key in again.own_past.upstream("2013-02-03")] == ["2013-02-01", "2013-02-02"]


def test_what_makes_no_sense_is_refused() -> None:
    for past in (-1, True, "1"):
        with pytest.raises(InvalidDefinitionError, match="expected how many partitions before it"):
            Partitioned("@daily", DAYS, past=past)
    for partition in (PartitionByInterval("@daily"), PartitionBySequence(["EWR", "JFK"])):
        with pytest.raises(InvalidDefinitionError, match="expected a time dimension with a start="):
            Partitioned("@daily", partition, past=1)
    for other in (None, PartitionAtRuntime(name="x")):
        with pytest.raises(
            InvalidDefinitionError, match=r"refresh, allow_open(, at)?(,| and) past(, batch and limits)? need"
        ):
            asset(schedule="@daily", partition=other, past=1)(made)


def made(partition: Any) -> None:
    """A function at the top of a file."""


@pytest.mark.airflow
def test_airflow_refuses_a_reversed_backfill(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.backfill import InvalidBackfillDirection, ReprocessBehavior, _validate_backfill_params
    from airflow.models.serialized_dag import SerializedDagModel
    from sqlalchemy.orm import Session

    metadata.parse(
        tmp_path,
        files="""
balance = Asset("balance")
with DAG("balances", schedule=Partitioned("@daily", PartitionByInterval("@daily", start="2013-02-01"), asset=balance,
                                          past=1)):
    EmptyOperator(task_id="a") >> EmptyOperator(task_id="b", outlets=[balance])
""",
    )
    first, last = datetime(2013, 2, 1, tzinfo=UTC), datetime(2013, 2, 9, tzinfo=UTC)
    with Session(metadata.engine) as at:
        (row,) = SerializedDagModel.get_latest_serialized_dags(dag_ids=["balances"], session=at)
        with pytest.raises(InvalidBackfillDirection):
            _validate_backfill_params(row.dag, True, first, last, ReprocessBehavior.FAILED)
        _validate_backfill_params(row.dag, False, first, last, ReprocessBehavior.FAILED)
