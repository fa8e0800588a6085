"""What a paused Dag has missed is told before it is unpaused, and can be skipped."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.contract.missed import ListMissed, SkipMissed
from airflow_partitions.operate.contract.states import ShowPartition
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.upkeep import one_round
from tests.metadata import Metadata
from tests.operate.states.world import put_runs

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

SHOP = """
DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-31")
@asset(schedule="@daily", partition=DAYS)
def orders(): ...

@asset(schedule=orders, partition=DAYS)
def report(): ...
"""
NOW = datetime.now(UTC)


@pytest.fixture
def paused(metadata: Metadata, tmp_path: Path) -> Metadata:
    """A Dag that has worked, was paused, and missed 21 days."""
    metadata.parse(tmp_path, shop=SHOP)
    pause(metadata, report=False, orders=False)
    metadata.emit("orders", "2013-01-30", at=NOW - timedelta(days=3))
    put_runs(metadata, "report", ["2013-01-30"], "success", NOW - timedelta(days=2))
    one_round()
    pause(metadata, report=True)
    metadata.emit("orders", *(f"2013-01-{day:02}" for day in range(1, 22)), at=NOW - timedelta(hours=5))
    return metadata


def pause(metadata: Metadata, **dags: bool) -> None:
    from airflow.models.dag import DagModel

    with metadata.engine.begin() as at:
        for dag_id, is_paused in dags.items():
            at.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_paused=is_paused))


def told() -> list[dict[str, Any]]:
    return [one for one in answer(ListProblems(records=False))["problems"] if one["kind"] == "missed-events"]


def test_en8_how_many_follow_is_told_before(paused: Metadata) -> None:
    (dag,) = answer(ListMissed(asset="report"))["dags"]
    assert (dag["dag_id"], dag["count"], dag["more"], dag["partitions"]) == (
        "report",
        21,
        False,
        "2013-01-01..2013-01-22",
    )
    (problem,) = told()
    assert "21 partitions of 'report' follow once it is unpaused" in problem["text"]
    assert problem["remedy"]["command"] == "airflow asset-partitions skip-missed report"
    reasons = answer(ShowPartition(asset="report", key="2013-01-05"))["reasons"]
    assert any("21 partitions of 'report' follow" in reason for reason in reasons)
    pause(paused, report=False)
    assert one_round().caught_up == 21


def test_en8_what_was_missed_can_be_skipped(paused: Metadata) -> None:
    tried = answer(SkipMissed(asset="report", dry_run=True))
    assert (tried["dags"][0]["count"], len(told())) == (21, 1)
    assert answer(SkipMissed(asset="report"))["dags"] == tried["dags"]
    assert (told(), answer(ListMissed(asset="report"))["dags"]) == ([], [])
    pause(paused, report=False)
    assert one_round().caught_up == 0


def test_what_views_ask_every_few_seconds_is_worked_out_once(paused: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.operate.operations import missed

    read, looked = missed.read_missed, list[str]()

    def counted(session: Any, dag_id: str, timetable: Any) -> Any:
        looked.append(dag_id)
        return read(session, dag_id, timetable)

    monkeypatch.setattr(missed, "read_missed", counted)
    assert (told(), looked) == (told(), ["report"])
    paused.emit("orders", "2013-01-22", at=NOW - timedelta(hours=4))
    assert ("22 partitions of 'report'" in told()[0]["text"], looked) == (True, ["report"] * 2)
    answer(SkipMissed(asset="report"))
    looked.clear()
    assert (told(), looked) == ([], [])
