"""The operator that makes partitions of an asset, and the upkeep that answers it, over Airflow's tables."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowFailException, TaskDeferred
from sqlalchemy import func, select, update

from airflow_partitions import Lookback, Materialise, Partition, PartitionByInterval
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.upkeep import answers, one_round
from tests.metadata import Metadata
from tests.supervisor import Supervisor

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily", start="2013-02-01")
DAG_FILE = """
@asset(schedule=None, partition=PartitionByInterval("@daily", start="2013-02-01"))
def flights(partition): ...
"""


@pytest.fixture
def flights(metadata: Metadata, supervisor: Supervisor, tmp_path: Path) -> Metadata:
    """A Dag that makes flights by day, and is not paused."""
    from airflow.models.dag import DagModel

    metadata.parse(tmp_path, files=DAG_FILE)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    return metadata


def context(day: str | None = None, cleared: int = 0) -> dict[str, Any]:
    run = SimpleNamespace(dag_id="again", run_id="run", clear_number=cleared, run_after=None)
    of_run = {
        "dag": SimpleNamespace(timetable=None),
        "dag_run": run,
        "task": SimpleNamespace(task_id="make"),
        "ti": SimpleNamespace(map_index=-1),
    }
    return of_run if day is None else of_run | {"partition": Partition(DAYS, day)}


def asked(task: Materialise, of_run: dict[str, Any] | None = None) -> Any:
    """The trigger that the task waits by."""
    with pytest.raises(TaskDeferred) as raised:
        task.execute(of_run or context())
    path, kwargs = raised.value.trigger.serialize()
    assert path == "airflow_partitions.tasks.trigger.AnswerTrigger"
    return type(raised.value.trigger)(**json.loads(json.dumps(kwargs)))


def keys_of_runs(metadata: Metadata) -> list[str]:
    from airflow.models.dagrun import DagRun

    with metadata.engine.connect() as at:
        return sorted(str(key) for key in at.scalars(select(DagRun.partition_key).where(DagRun.dag_id == "flights")))


def end_runs(metadata: Metadata, state: str) -> None:
    from airflow.models.dagrun import DagRun

    with metadata.engine.begin() as at:
        at.execute(update(DagRun).where(DagRun.dag_id == "flights").values(state=state))


def backfills(metadata: Metadata) -> int:
    from airflow.models.backfill import Backfill

    with metadata.engine.connect() as at:
        return at.scalar(select(func.count()).select_from(Backfill)) or 0


async def fired(trigger: Any) -> Any:
    return (await asyncio.wait_for(anext(aiter(trigger.run())), 60)).payload


def test_upkeep_makes_a_run_for_each_partition_and_the_task_ends_with_them(flights: Metadata) -> None:
    task = Materialise(task_id="make", asset="flights", keys="2013-02-03..2013-02-06", poke_interval=0.05)
    trigger = asked(task)
    assert keys_of_runs(flights) == []
    assert one_round().problems == ()
    assert keys_of_runs(flights) == ["2013-02-03", "2013-02-04", "2013-02-05"]
    one_round()
    assert flights.cells("flights", "answer/").popitem()[1]["state"] == "running"
    end_runs(flights, "success")
    one_round()
    assert asyncio.run(fired(trigger)) == {"state": "done"}
    task.end(context(), {"state": "done"})
    assert backfills(flights) == 1


def test_a_failed_run_fails_the_task(flights: Metadata) -> None:
    task = Materialise(task_id="make", asset="flights", keys="2013-02-03", poke_interval=0.05)
    asked(task)
    one_round()
    end_runs(flights, "failed")
    one_round()
    with pytest.raises(AirflowFailException, match=r"request \d+ for partitions of flights is failed: 1 failed"):
        task.end(context(), {"state": "failed"})


def test_however_often_it_is_tried_there_is_one_request(flights: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    task = Materialise(task_id="make", asset="flights", keys="2013-02-03", poke_interval=0.05)
    asked(task)
    asked(task)
    with monkeypatch.context() as patched:  # upkeep is killed before it can say that it has made the request
        patched.setattr(answers, "progress", lambda _: 1 / 0)
        one_round()
    asked(task)
    one_round()
    assert backfills(flights) == 1
    end_runs(flights, "success")
    one_round()
    asked(task)
    one_round()
    assert backfills(flights) == 1
    asked(task, context(cleared=1))  # somebody wants it again
    one_round()
    assert backfills(flights) == 2
    assert keys_of_runs(flights) == ["2013-02-03"]


def test_what_others_are_making_is_waited_for(flights: Metadata) -> None:
    asked(Materialise(task_id="make", asset="flights", keys="2013-02-03, 2013-02-04"))
    one_round()
    second = Materialise(task_id="make", asset="flights", keys="2013-02-04, 2013-02-05")
    asked(second, context(cleared=1))
    one_round()
    states = [answer["state"] for answer in flights.cells("flights", "answer/").values()]
    assert sorted(states) == ["running", "waiting"]
    end_runs(flights, "success")
    one_round()
    one_round()
    assert keys_of_runs(flights) == ["2013-02-03", "2013-02-04", "2013-02-05"]


def test_what_can_not_be_made_is_refused_in_words(flights: Metadata) -> None:
    from airflow.models.dag import DagModel

    with flights.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=True))
    task = Materialise(task_id="make", asset="flights", keys="2013-02-03")
    asked(task)
    assert [problem for problem in one_round().problems if "what task make of again asks for is refused" in problem]
    with pytest.raises(AirflowFailException, match=r"is refused: .*paused"):
        task.end(context(), {"state": "refused"})


def test_it_makes_what_its_own_partition_needs_and_what_is_missing_if_so_said(flights: Metadata) -> None:
    flights.emit("flights", "2013-02-03")
    task = Materialise(task_id="make", asset="flights", rule=Lookback(2), only_missing=True)
    asked(task, context("2013-02-04"))
    one_round()
    assert keys_of_runs(flights) == ["2013-02-02", "2013-02-04"]
    there = Materialise(task_id="make", asset="flights", keys="2013-02-03", only_missing=True)
    there.execute(context(cleared=1))
    with pytest.raises(InvalidDefinitionError, match="expected keys=, which partitions are meant, or rule="):
        Materialise(task_id="make", asset="flights", keys="2013-02-03", rule=Lookback(2))


def test_it_need_not_wait(flights: Metadata) -> None:
    Materialise(task_id="make", asset="flights", keys="2013-02-03", wait=False).execute(context())
    one_round()
    assert keys_of_runs(flights) == ["2013-02-03"]
