"""Requests for partitions of Dags that are paused: they are made, and nothing else is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from airflow.models.dagbag import DagPriorityParsingRequest
from sqlalchemy import select
from sqlalchemy.orm import Session

from airflow_partitions.core.errors import NotReadyError
from airflow_partitions.engine.ledger.holds import held_dags
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.engine.timetables.evaluation import refresh_history
from airflow_partitions.operate.requests.control import cancel, resume, retry
from airflow_partitions.operate.requests.hold import release_ended
from airflow_partitions.operate.requests.request import Request
from airflow_partitions.operate.upkeep.round import one_round
from tests.metadata import Metadata
from tests.operate.requests.test_control import startable
from tests.operate.requests.test_materialize import DAGS, dags, finish, materialize, pause, runs

__all__ = ["dags"]
WHILE_PAUSED = RunOptions(while_paused=True)


@pytest.fixture
def paused(dags: Metadata) -> Metadata:
    pause(dags, "flights", True)
    return dags


def release() -> int:
    problems: list[str] = []
    released = release_ended(problems.append)
    assert problems == []
    return released


def dag_row(metadata: Metadata, dag_id: str = "flights") -> tuple[bool, Any]:
    """Whether it is paused, and when the scheduler makes a run of its own accord."""
    from airflow.models.dag import DagModel

    with metadata.engine.connect() as at:
        query = select(DagModel.is_paused, DagModel.next_dagrun_create_after).where(DagModel.dag_id == dag_id)
        is_paused, due = at.execute(query).one()
        return is_paused, due


def make(text: str, options: RunOptions = WHILE_PAUSED) -> Request:
    return materialize("flights", text, options)


def test_a_paused_dag_makes_what_is_asked_for_and_nothing_else(paused: Metadata, tmp_path: Path) -> None:
    is_paused, due = dag_row(paused)
    assert is_paused
    assert due is not None  # the scheduler would make a run then
    with pytest.raises(NotReadyError, match=r"paused, so none of its runs begins; unpause it first: .*--while-paused"):
        make("2013-03-01", RunOptions())
    request = make("2013-03-01..2013-03-03")
    assert dag_row(paused) == (False, None)
    assert startable(paused) == ["2013-03-01", "2013-03-02"]
    paused.parse(tmp_path, dags=DAGS)  # which asks the timetable anew
    assert dag_row(paused) == (False, None)
    assert held_dags(["flights", "carriers"]) == {"flights": (request.id,)}
    assert release() == 0
    finish(paused)
    assert one_round().problems == ()
    assert (dag_row(paused)[0], held_dags(["flights"])) == (True, {})
    with paused.engine.connect() as at:
        assert at.scalars(select(DagPriorityParsingRequest.bundle_name)).all() == ["dags"]
    paused.parse(tmp_path, dags=DAGS)
    assert dag_row(paused) == (True, due)
    assert [run.partition_key for run in runs(paused)] == ["2013-03-01", "2013-03-02"]
    assert release() == 0


def test_a_dag_that_is_not_paused_stays_as_it_is(dags: Metadata) -> None:
    before = dag_row(dags)
    make("2013-03-01")
    assert (dag_row(dags), held_dags(["flights"])) == (before, {})
    finish(dags)
    assert release() == 0
    assert dag_row(dags) == before


def test_the_hold_ends_with_the_last_request(paused: Metadata) -> None:
    first, second = make("2013-03-01"), make("2013-03-02", RunOptions())  # a Dag that is held works for any request
    assert held_dags(["flights"]) == {"flights": (first.id, second.id)}
    finish(paused, "success", "2013-03-01")
    assert release() == 0
    assert held_dags(["flights"]) == {"flights": (second.id,)}
    finish(paused, "running", "2013-03-02")
    cancel(second.id)
    assert release() == 0  # its run is at work, and would stand in a paused Dag
    finish(paused, "failed", "2013-03-02")
    assert release() == 1
    assert dag_row(paused)[0]
    resumed = make("2013-03-03")
    pause(paused, "flights", True)  # somebody stops all that it does
    assert startable(paused) == []
    resume(resumed.id)
    assert (startable(paused), dag_row(paused)) == (["2013-03-03"], (False, None))


def test_what_failed_is_retried_while_the_dag_is_paused(paused: Metadata) -> None:
    request = make("2013-03-01..2013-03-03")
    finish(paused, "failed", "2013-03-01")
    finish(paused, "success", "2013-03-02")
    assert release() == 1
    retry(request.id)
    assert (startable(paused), dag_row(paused)) == (["2013-03-01"], (False, None))
    finish(paused, "success", "2013-03-01")
    assert release() == 1


def test_a_request_that_stopped_at_a_failure_keeps_the_hold(paused: Metadata) -> None:
    from tests.operate.requests.test_control import fail

    request = make("2013-03-01..2013-03-04", RunOptions(while_paused=True, stop_at_failure=True))
    fail(paused, "2013-03-01")
    assert release() == 0
    assert (dag_row(paused), startable(paused)) == ((False, None), [])
    cancel(request.id)
    assert release() == 1


def test_runs_that_a_pause_has_stopped_are_not_let_go_on(dags: Metadata) -> None:
    materialize("flights", "2013-03-01")
    pause(dags, "flights", True)
    with pytest.raises(NotReadyError, match="paused with 1 runs that have not ended, such as backfill__2013-03-01"):
        make("2013-03-02")
    assert (dag_row(dags)[0], held_dags(["flights"]), len(runs(dags))) == (True, {}, 1)


def test_a_backfill_that_was_deleted_ends_its_hold(paused: Metadata) -> None:
    from airflow.models.backfill import Backfill, BackfillDagRun
    from airflow.models.dagrun import DagRun
    from sqlalchemy import delete

    request = make("2013-03-01")
    with Session(paused.engine) as at:
        at.execute(delete(BackfillDagRun))
        at.execute(delete(DagRun))
        at.execute(delete(Backfill).where(Backfill.id == request.id))
        at.commit()
    assert release() == 1
    assert dag_row(paused)[0]


ASSETS = """
up = Asset("up")
down = Asset("down")
DAYS = PartitionByInterval("@daily", start="2013-01-01")

with DAG("up", schedule=Partitioned(None, DAYS, asset=up)):
    EmptyOperator(task_id="make", outlets=[up])

with DAG("down", schedule=Partitioned(up, DAYS, asset=down)):
    EmptyOperator(task_id="make", outlets=[down])
"""


def test_events_begin_nothing_meanwhile_and_are_not_lost(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.serialized_dag import SerializedDagModel

    metadata.parse(tmp_path, dags=ASSETS)
    pause(metadata, "down", True)
    materialize("down", "2013-03-01", WHILE_PAUSED)
    metadata.emit("up", "2013-03-05")
    refresh_history()

    def claims() -> bool:
        with Session(metadata.engine) as at:
            (row,) = SerializedDagModel.get_latest_serialized_dags(dag_ids=["down"], session=at)
            timetable: Any = row.dag.timetable
            return bool(timetable._evaluator.claim_run("2013-03-05"))

    assert not claims()
    finish(metadata)
    assert release() == 1
    assert claims()


def test_of_many_who_ask_at_once_each_keeps_the_hold(paused: Metadata) -> None:
    days = [f"2013-03-0{day}" for day in range(1, 7)]
    with ThreadPoolExecutor(len(days)) as threads:
        requests = list(threads.map(make, days))
    assert held_dags(["flights"]) == {"flights": tuple(sorted(request.id for request in requests))}
    assert sorted(run.partition_key for run in runs(paused)) == days
    with ThreadPoolExecutor(2) as threads:  # two upkeep processes, of which one is about to end
        finish(paused)
        assert sum(threads.map(lambda _: release(), range(2))) == 1
    assert (dag_row(paused)[0], held_dags(["flights"])) == (True, {})
