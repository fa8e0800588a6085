"""Airflow's own backfills, as its UI, REST and command line make them, on a real metadata database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import scoped_session, sessionmaker

from tests.metadata import Metadata, engine, metadata

__all__ = ["engine", "metadata"]

pytestmark = pytest.mark.airflow

DAG_FILE = """
from airflow_partitions import PartitionByProduct

AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")

@asset(schedule="@daily", partition=DAYS)
def flights(partition): ...

@asset(schedule="@daily", partition=PartitionByProduct([DAYS, AIRPORTS]))
def airport_days(partition): ...

@asset(schedule=flights, partition=DAYS)
def delays(partition): ...
"""
DAYS = ["2013-02-08", "2013-02-09", "2013-02-10"]
ALL = {
    "flights": DAYS,
    "delays": DAYS,
    "airport_days": [f"{day}|{airport}" for day in DAYS for airport in ("EWR", "JFK")],
}
FROM, UNTIL = datetime(2013, 2, 8, tzinfo=UTC), datetime(2013, 2, 10, tzinfo=UTC)


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Metadata:
    from airflow import settings

    monkeypatch.setattr(settings, "Session", scoped_session(sessionmaker(metadata.engine, expire_on_commit=False)))
    metadata.parse(tmp_path, files=DAG_FILE)
    metadata.prepare_runs()
    return metadata


def backfill(dag_id: str, *, reverse: bool = False, again: str = "none") -> None:
    from airflow.models.backfill import ReprocessBehavior, _create_backfill

    _create_backfill(
        dag_id=dag_id, from_date=FROM, to_date=UNTIL, max_active_runs=2, reverse=reverse, dag_run_conf=None,
        triggering_user_name="anna", reprocess_behavior=ReprocessBehavior(again),
    )  # fmt: skip


def end(metadata: Metadata, state: str, *keys: str) -> None:
    """End runs, and with them the backfill."""
    from airflow.models.backfill import Backfill
    from airflow.models.dagrun import DagRun

    with metadata.engine.begin() as at:
        at.execute(update(DagRun).where(DagRun.partition_key.in_(keys)).values(state=state))
        at.execute(update(Backfill).values(completed_at=datetime.now(UTC)))


def runs(metadata: Metadata, state: str) -> list[str]:
    """The keys of the runs in a state, in the order in which the scheduler begins them."""
    from airflow.models.backfill import BackfillDagRun
    from airflow.models.dagrun import DagRun

    query = (
        select(DagRun.partition_key)
        .join(BackfillDagRun, BackfillDagRun.dag_run_id == DagRun.id)
        .where(DagRun.state == state)
        .order_by(BackfillDagRun.backfill_id, BackfillDagRun.sort_ordinal)
    )
    with metadata.engine.connect() as at:
        return [str(key) for key in at.scalars(query)]


@pytest.mark.parametrize("dag_id", ALL)
@pytest.mark.parametrize("reverse", [False, True])
def test_a15_each_partition_of_a_range_gets_a_run_in_either_order(
    dags: Metadata, dag_id: str, *, reverse: bool
) -> None:
    backfill(dag_id, reverse=reverse)
    made = runs(dags, "queued")
    assert sorted(made) == sorted(ALL[dag_id])
    days = [key.partition("|")[0] for key in made]
    assert days == sorted(days, reverse=reverse)


@pytest.mark.parametrize("dag_id", ALL)
def test_a15_a_dry_backfill_tells_the_runs_and_makes_none(dags: Metadata, dag_id: str) -> None:
    from airflow.models.backfill import ReprocessBehavior, _do_dry_run
    from airflow.utils.session import create_session

    with create_session() as session:
        infos: list[Any] = list(
            _do_dry_run(
                dag_id=dag_id, from_date=FROM, to_date=UNTIL, reverse=False,
                reprocess_behavior=ReprocessBehavior.NONE, session=session,
            )
        )  # fmt: skip
    assert len(infos) == len(ALL[dag_id])
    assert runs(dags, "queued") == []


@pytest.mark.parametrize("dag_id", ALL)
def test_a15_a_backfill_of_what_failed_leaves_the_others(dags: Metadata, dag_id: str) -> None:
    first, *others = ALL[dag_id]
    backfill(dag_id)
    end(dags, "success", *others)
    end(dags, "failed", first)
    backfill(dag_id, again="failed")
    assert runs(dags, "queued") == [first]
    end(dags, "success", first)
    backfill(dag_id, again="completed")
    assert sorted(runs(dags, "queued")) == sorted(ALL[dag_id])


def test_a_run_whose_partition_airflow_cleared_stops_neither_schedule_nor_states(dags: Metadata) -> None:
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun

    from airflow_partitions.operate.states import State, counts

    backfill("flights")
    end(dags, "success", *DAYS)
    dags.emit("flights", *DAYS)
    with dags.engine.begin() as at:  # what POST …/clearPartitions does
        at.execute(
            update(DagRun).where(DagRun.partition_key == DAYS[2]).values(partition_key=None, partition_date=None)
        )
    with dags.engine.connect() as at:
        assert at.scalar(select(DagModel.next_dagrun_create_after).where(DagModel.dag_id == "flights")) is not None
    assert counts("flights").counts[State.MATERIALIZED] == 3
    end(dags, "success", *DAYS)
    backfill("flights")
    assert runs(dags, "queued") == [DAYS[2]]
