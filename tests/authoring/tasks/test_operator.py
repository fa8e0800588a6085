"""The operator that makes partitions of an asset, and the upkeep that answers it, over Airflow's tables."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.models.dag import DagModel
from airflow.sdk.exceptions import AirflowFailException, TaskDeferred
from sqlalchemy import func, insert, select, update

from airflow_partitions import Lookback, Materialize, Partition, PartitionByInterval
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.database.models import TaskRequest
from airflow_partitions.operate.upkeep import answers, one_round
from airflow_partitions.operate.upkeep.cell_check import cell_problems
from tests.metadata import Metadata
from tests.operate.requests.away import take_away
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


def asked(task: Materialize, of_run: dict[str, Any] | None = None) -> Any:
    """The trigger that the task waits by."""
    with pytest.raises(TaskDeferred) as raised:
        task.execute(of_run or context())
    path, kwargs = raised.value.trigger.serialize()
    assert path == "airflow_partitions.authoring.tasks.trigger.AnswerTrigger"
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
    task = Materialize(task_id="make", asset="flights", keys="2013-02-03..2013-02-06", poke_interval=0.05)
    trigger = asked(task)
    assert keys_of_runs(flights) == []
    assert one_round().problems == ()
    assert keys_of_runs(flights) == ["2013-02-03", "2013-02-04", "2013-02-05"]
    one_round()
    assert flights.cells("flights", "answer/").popitem()[1]["state"] == "running"
    end_runs(flights, "success")
    one_round()
    event = asyncio.run(fired(trigger))
    assert event["state"] == "done"
    task.end(context(), event)
    assert backfills(flights) == 1


def test_a_failed_run_fails_the_task(flights: Metadata) -> None:
    task = Materialize(task_id="make", asset="flights", keys="2013-02-03", poke_interval=0.05)
    trigger = asked(task)
    one_round()
    end_runs(flights, "failed")
    one_round()
    with pytest.raises(AirflowFailException, match=r"request \d+ for partitions of flights is failed: 1 failed"):
        task.end(context(), asyncio.run(fired(trigger)))


def test_however_often_it_is_tried_there_is_one_request(flights: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    task = Materialize(task_id="make", asset="flights", keys="2013-02-03", poke_interval=0.05)
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
    asked(Materialize(task_id="make", asset="flights", keys="2013-02-03, 2013-02-04"))
    one_round()
    second = Materialize(task_id="make", asset="flights", keys="2013-02-04, 2013-02-05")
    asked(second, context(cleared=1))
    one_round()
    states = [answer["state"] for answer in flights.cells("flights", "answer/").values()]
    assert sorted(states) == ["running", "waiting"]
    end_runs(flights, "success")
    one_round()
    one_round()
    assert keys_of_runs(flights) == ["2013-02-03", "2013-02-04", "2013-02-05"]


def test_what_can_not_be_made_is_refused_in_words(flights: Metadata) -> None:
    with flights.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=True))
    task = Materialize(task_id="make", asset="flights", keys="2013-02-03", poke_interval=0.05)
    trigger = asked(task)
    assert [problem for problem in one_round().problems if "what task make of again asks for is refused" in problem]
    with pytest.raises(AirflowFailException, match=r"is refused: .*paused"):
        task.end(context(), asyncio.run(fired(trigger)))


def cells(metadata: Metadata, start: str) -> list[Any]:
    return list(metadata.cells("flights", start).values())


def test_eb2_what_a_task_has_asked_for_lives_on_while_the_file_is_away(flights: Metadata, tmp_path: Path) -> None:
    task = Materialize(task_id="make", asset="flights", keys="2013-02-03", poke_interval=0.05)
    trigger = asked(task)
    one_round()
    assert cells(flights, "task-request/") == []  # it is in our table by now
    take_away(flights)
    assert one_round().problems == ()
    end_runs(flights, "success")
    one_round()
    flights.parse(tmp_path, files=DAG_FILE)
    assert one_round().problems == ()
    assert [answer["state"] for answer in cells(flights, "answer/")] == ["done"]
    take_away(flights)  # once more, before the task has looked
    flights.parse(tmp_path, files=DAG_FILE)
    one_round()
    event = asyncio.run(fired(trigger))
    take_away(flights)
    task.end(context(), event)
    assert backfills(flights) == 1


def test_eb2_what_was_thrown_away_before_upkeep_saw_it_is_asked_for_again(flights: Metadata, tmp_path: Path) -> None:
    trigger = asked(Materialize(task_id="make", asset="flights", keys="2013-02-03", poke_interval=0.05))
    take_away(flights)

    async def look(seconds: float) -> Any:
        with suppress(TimeoutError):
            return await asyncio.wait_for(anext(aiter(trigger.run())), seconds)

    assert asyncio.run(look(0.5)) is None  # the asset is not there
    flights.parse(tmp_path, files=DAG_FILE)
    assert asyncio.run(look(0.5)) is None
    assert one_round().problems == ()
    assert keys_of_runs(flights) == ["2013-02-03"]


def test_eb2_a_request_waits_for_the_file_for_an_hour(flights: Metadata) -> None:
    asked(Materialize(task_id="make", asset="flights", keys="2013-02-03"))
    with flights.engine.begin() as at:
        at.execute(update(DagModel).values(is_stale=True))
    assert one_round().problems == ()
    assert [answer["state"] for answer in cells(flights, "answer/")] == ["waiting"]
    with flights.engine.begin() as at:
        (form,) = at.scalars(select(TaskRequest.form))
        long_ago = form | {"at": "2013-02-03T00:00:00+00:00"}
        at.execute(update(TaskRequest).values(form=long_ago))
    assert any("is refused: nothing can be asked of it now" in problem for problem in one_round().problems)
    assert one_round().problems == ()


def test_answers_are_kept_for_a_week(flights: Metadata) -> None:
    asked(Materialize(task_id="make", asset="flights", keys="2013-02-03"))
    one_round()
    end_runs(flights, "success")
    one_round()
    for days, shown, kept in ((0.5, 1, 1), (3, 0, 1), (8, 0, 0)):
        flights.clear_cells("flights")
        with flights.engine.begin() as at:
            at.execute(update(TaskRequest).values(ended=datetime.now(UTC) - timedelta(days=days)))
        one_round()
        with flights.engine.connect() as at:
            assert (len(cells(flights, "answer/")), len(at.scalars(select(TaskRequest.id)).all())) == (shown, kept)


@pytest.mark.parametrize("form", ["nonsense", {"version": 99}, {"version": 1, "id": 7}], ids=repr)
def test_what_cannot_be_read_keeps_no_other_from_being_answered(flights: Metadata, form: Any) -> None:
    flights.put("flights", "task-request/x", form)
    asked(Materialize(task_id="make", asset="flights", keys="2013-02-03"))
    one_round()
    with flights.engine.begin() as at:
        at.execute(insert(TaskRequest).values(id="y", asset="flights", form=form, at=datetime.now(UTC)))
    first, second = one_round().problems, one_round().problems
    assert (len(first), first) == (2, second)
    assert keys_of_runs(flights) == ["2013-02-03"]
    assert [answer["state"] for answer in cells(flights, "answer/")] == ["running"]


@pytest.mark.parametrize("column", [TaskRequest.form, TaskRequest.answer], ids=["form", "answer"])
def test_a_task_request_that_is_no_json_keeps_no_other_from_being_answered(flights: Metadata, column: Any) -> None:
    for day in (3, 4):
        asked(Materialize(task_id="make", asset="flights", keys=f"2013-02-0{day}"), context(cleared=day))
    one_round()
    with flights.engine.begin() as at:
        damaged = at.scalars(select(TaskRequest.id).order_by(TaskRequest.id)).first()
    flights.break_form(column, TaskRequest.id == damaged)
    (problem,) = cell_problems(["flights"])
    assert f"task request {damaged}" in problem.text
    end_runs(flights, "success")
    one_round()
    states = sorted(answer["state"] for answer in cells(flights, "answer/"))
    assert states == (["done", "running"] if column.key == "form" else ["done", "done"])


def test_it_makes_what_its_own_partition_needs_and_what_is_missing_if_so_said(flights: Metadata) -> None:
    flights.emit("flights", "2013-02-03")
    task = Materialize(task_id="make", asset="flights", rule=Lookback(2), only_missing=True)
    asked(task, context("2013-02-04"))
    one_round()
    assert keys_of_runs(flights) == ["2013-02-02", "2013-02-04"]
    there = Materialize(task_id="make", asset="flights", keys="2013-02-03", only_missing=True)
    there.execute(context(cleared=1))
    with pytest.raises(InvalidDefinitionError, match="expected keys=, which partitions are meant, or rule="):
        Materialize(task_id="make", asset="flights", keys="2013-02-03", rule=Lookback(2))


def test_it_need_not_wait(flights: Metadata) -> None:
    Materialize(task_id="make", asset="flights", keys="2013-02-03", wait=False).execute(context())
    one_round()
    assert keys_of_runs(flights) == ["2013-02-03"]
