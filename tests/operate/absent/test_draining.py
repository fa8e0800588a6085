"""Dags that drain: Airflow 3.4 lets their runs end, begins no others, and pauses them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from airflow.models.dag import DagModel
from sqlalchemy import select, update

from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.operations.doctor import list_problems
from airflow_partitions.operate.requests.hold import release_ended
from airflow_partitions.operate.states.explanation import explain
from airflow_partitions.operate.upkeep import one_round
from tests.metadata import Metadata
from tests.operate.requests.test_materialize import dags, finish, materialize, pause
from tests.operate.states.world import put_pending, put_runs

__all__ = ["dags"]
pytestmark = [
    pytest.mark.airflow,
    pytest.mark.skipif(not hasattr(DagModel, "is_draining"), reason="no Dag of this Airflow drains"),
    pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module"),
]

FILE = """
@asset(schedule="@daily", partition=DAYS)
def days(): ...

@asset(schedule=days, partition=DAYS)
def reports(): ...
"""


def drain(metadata: Metadata, dag_id: str) -> None:
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_draining=True))


def test_a_dag_that_drains_is_told_of_and_no_event_is_caught_up_for_it(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, drained=FILE)
    pause(metadata, "days", False)
    pause(metadata, "reports", False)
    put_pending(metadata, "reports", "2013-01-01")
    assert "reports" in read_serialized_dags().consumers
    drain(metadata, "reports")
    assert "reports" not in read_serialized_dags().consumers
    texts = {each["kind"]: each["text"] for each in list_problems(ListProblems(), Asker())["problems"]}
    assert texts["paused-dag"] == (
        "Dag 'reports' is draining, so nothing of it begins: 1 partition waits for upstream partitions"
    )
    assert "Dag reports, which makes it, is draining" in explain("reports", "2013-01-01").reasons


def test_what_it_has_missed_is_told_of_it_as_draining(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, drained=FILE)
    pause(metadata, "reports", False)
    metadata.emit("days", "2013-01-03", at=datetime.now(UTC) - timedelta(days=3))
    put_runs(metadata, "reports", ["2013-01-03"], "success", datetime.now(UTC) - timedelta(days=2))
    one_round()
    drain(metadata, "reports")
    metadata.emit("days", "2013-01-01", "2013-01-02")
    texts = {each["kind"]: each["text"] for each in list_problems(ListProblems(), Asker())["problems"]}
    assert texts["missed-events"].startswith(
        "Dag reports is draining, and events came meanwhile: 2 partitions of 'reports' follow once it is unpaused"
    )


def test_a_held_dag_that_was_told_to_drain_is_paused_when_its_request_has_ended(dags: Metadata) -> None:
    pause(dags, "flights", True)
    materialize("flights", "2013-03-01", RunOptions(while_paused=True))
    drain(dags, "flights")
    finish(dags)
    problems: list[str] = []
    assert (release_ended(problems.append), problems) == (1, [])
    with dags.engine.connect() as at:
        query = select(DagModel.is_paused, DagModel.is_draining).where(DagModel.dag_id == "flights")
        assert tuple(at.execute(query).one()) == (True, False)
