"""Which tasks of a scheduled run the scheduler skips, by what was made of its partition before."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select, text
from sqlalchemy.orm import Session

from airflow_partitions import PartitionByInterval, Selection
from airflow_partitions.engine.ledger.corrections import forget
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.engine.runs import made_by_hand, run_note
from tests.metadata import Metadata
from tests.operate.states.world import put_runs, put_tasks

pytestmark = pytest.mark.airflow

DAG_FILE = """
from airflow.sdk import AssetAlias
with DAG("days", schedule=Partitioned("@daily", DAYS)):
    EmptyOperator(task_id="load")
    EmptyOperator(task_id="first", outlets=[Asset("one")])
    EmptyOperator(task_id="second", outlets=[Asset("two")])
    EmptyOperator(task_id="both", outlets=[Asset("one"), Asset("two"), AssetAlias("more")])

with DAG("nothing", schedule=Partitioned("@daily", DAYS)):
    EmptyOperator(task_id="load")
"""
TASKS = ("load", "first", "second", "both")
DAYS = PartitionByInterval("@daily")
DAY, END = "2013-02-08", datetime(2013, 2, 9, tzinfo=UTC)
AFTER, NOON = END + timedelta(minutes=1), END + timedelta(hours=12)
OWN = f"Partition {DAY}: {DAY} 00:00 to 2013-02-09 00:00 UTC"


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(tmp_path, files=DAG_FILE)
    return metadata


def emit(dags: Metadata, *assets: str, run: str | None = "manual", at: datetime = AFTER, key: str = DAY) -> None:
    """Events of a day of assets, from a run of that type, which is there unless its type is none of Airflow's."""
    source = {}
    if run is not None:
        run_id = f"days {key} {at.isoformat()}"
        source = {"source_dag_id": "days", "source_run_id": run_id}
        with dags.engine.connect() as connection:
            there = connection.scalar(text("select 1 from dag_run where run_id = :run"), {"run": run_id})
        if run != "deleted" and not there:
            put_runs(dags, "days", [key], "success", at, run_type=run)
    for asset in assets:
        dags.emit(asset, key, at=at, **source)


def begin(
    dags: Metadata, dag_id: str = "days", began: datetime = NOON, run_type: str = "scheduled", **values: Any
) -> str:
    """A run of the day that Airflow's scheduler begins; its id."""
    put_runs(dags, dag_id, [DAY], "queued", began, partition_key=DAY, run_type=run_type, **{"run_after": END} | values)
    for task_id in TASKS if dag_id == "days" else ["load"]:
        put_tasks(dags, dag_id, [DAY], task_id, "scheduled", began, tries=0)
    run_id = f"{dag_id} {DAY} {began.isoformat()}"
    with dags.engine.begin() as at:
        at.execute(text("update task_instance set state = null where run_id = :run"), {"run": run_id})
    notify(dags, run_id)
    return run_id


def notify(dags: Metadata, run_id: str) -> None:
    """Let the run be at work, as the scheduler does that."""
    from airflow.models.dagbag import DBDagBag
    from airflow.models.dagrun import DagRun
    from airflow.utils.sqlalchemy import prohibit_commit

    with Session(dags.engine) as at, prohibit_commit(at) as guard:
        run = at.scalars(select(DagRun).where(DagRun.run_id == run_id)).one()
        run.dag = DBDagBag().get_latest_version_of_dag(run.dag_id, session=at)
        run.state = "running"
        made_by_hand.on_dag_run_running(run, "")
        run_note.on_dag_run_running(run, "")
        guard.commit()


def skipped(dags: Metadata, run_id: str) -> set[str]:
    with dags.engine.connect() as at:
        rows = at.execute(
            text("select task_id, state, end_date from task_instance where run_id = :run"), {"run": run_id}
        )
        tasks = {task_id: (state, end) for task_id, state, end in rows}
    assert all((state == "skipped") == (end is not None) for state, end in tasks.values())
    return {task_id for task_id, (state, _) in tasks.items() if state}


def note(dags: Metadata, run_id: str) -> str:
    query = "select content from dag_run_note n join dag_run r on r.id = n.dag_run_id where r.run_id = :run"
    with dags.engine.connect() as at:
        return str(at.scalar(text(query), {"run": run_id}))


@pytest.fixture(params=["events", "ledger", "purged"])
def upkeep(request: pytest.FixtureRequest, dags: Metadata) -> Callable[[], None]:
    """What upkeep has done by the time at which the run begins: nothing, or its work; then Airflow may have purged."""

    def work() -> None:
        if request.param != "events":
            for asset in ("one", "two"):
                update_ledger(asset, DAYS)
        if request.param == "purged":
            dags.purge()

    return work


@pytest.mark.parametrize("run", ["manual", "backfill", "operator_triggered", None])
def test_a17_no_task_is_begun_if_all_was_made_by_hand(
    dags: Metadata, run: str | None, upkeep: Callable[[], None]
) -> None:
    emit(dags, "one", "two", run=run)
    upkeep()
    run_id = begin(dags)
    assert skipped(dags, run_id) == set(TASKS)
    maker = "an event from outside" if run is None else f"run days {DAY} {AFTER.isoformat()} of days"
    assert note(dags, run_id) == f"{OWN}\nSkipped: partition {DAY} was made already, after its end: {maker}"


@pytest.mark.parametrize("run", ["scheduled", "asset_triggered", "deleted"])
def test_er9_what_a_schedule_made_and_what_was_deleted_is_made(
    dags: Metadata, run: str, upkeep: Callable[[], None]
) -> None:
    emit(dags, "one", "two", run=run)
    upkeep()
    run_id = begin(dags)
    assert skipped(dags, run_id) == set()
    assert note(dags, run_id) == OWN


def test_what_a_schedule_has_made_again_since_is_made(dags: Metadata, upkeep: Callable[[], None]) -> None:
    emit(dags, "one", "two")
    emit(dags, "one", run="scheduled", at=AFTER + timedelta(minutes=1))
    upkeep()
    assert skipped(dags, begin(dags)) == {"second"}


def test_a17_only_the_tasks_are_skipped_that_write_what_was_made(dags: Metadata, upkeep: Callable[[], None]) -> None:
    emit(dags, "one")
    emit(dags, "two", key="2013-02-07")
    upkeep()
    run_id = begin(dags)
    assert skipped(dags, run_id) == {"first"}
    assert note(dags, run_id).startswith(f"{OWN}\nSkipped: partition {DAY}")


def test_a17_what_was_made_before_the_interval_was_over_is_made(dags: Metadata, upkeep: Callable[[], None]) -> None:
    emit(dags, "one", "two", at=END - timedelta(minutes=1))
    upkeep()
    assert skipped(dags, begin(dags)) == set()


def test_a17_what_somebody_asks_for_works(dags: Metadata) -> None:
    emit(dags, "one", "two")
    hours = iter(range(1, 9))
    for values in (
        {"run_type": "manual"}, {"run_type": "backfill"}, {"clear_number": 1},
        {"run_after": END + timedelta(days=1)},  # a refresh
    ):  # fmt: skip
        assert skipped(dags, begin(dags, began=NOON + timedelta(hours=next(hours)), **values)) == set()
    assert skipped(dags, begin(dags, "nothing")) == set()
    put_runs(dags, "days", ["2013-02-29"], "queued", NOON, run_type="scheduled")  # of an older definition
    notify(dags, f"days 2013-02-29 {NOON.isoformat()}")


def test_what_was_made_by_hand_and_forgotten_since_is_made(dags: Metadata, upkeep: Callable[[], None]) -> None:
    emit(dags, "one", "two")
    for asset in ("one", "two"):
        forget(asset, Selection.of(DAYS, DAY), by="anna")
    emit(dags, "one", at=AFTER + timedelta(minutes=1))
    upkeep()
    assert skipped(dags, begin(dags)) == {"first"}


def test_a_note_of_a_person_stays_and_a_task_that_worked_keeps_its_state(dags: Metadata) -> None:
    run_id = begin(dags)
    with dags.engine.begin() as at:
        at.execute(text("update dag_run_note set content = 'look at this'"))
        at.execute(
            text("update task_instance set state = 'success', end_date = :end where task_id = 'first'"), {"end": NOON}
        )
    emit(dags, "one", "two")
    notify(dags, run_id)
    assert note(dags, run_id).startswith("look at this\nSkipped: ")
    with dags.engine.connect() as at:
        states = dict(map(tuple, at.execute(text("select task_id, state from task_instance"))))
    assert states == {"load": "skipped", "first": "success", "second": "skipped", "both": "skipped"}


def test_a_cleared_run_says_nothing_of_what_was_skipped(dags: Metadata) -> None:
    emit(dags, "one", "two")
    run_id = begin(dags)
    with dags.engine.begin() as at:
        at.execute(text("update dag_run set clear_number = 1 where run_id = :run"), {"run": run_id})
        at.execute(text("update task_instance set state = null, end_date = null"))
    notify(dags, run_id)
    assert skipped(dags, run_id) == set()
    assert note(dags, run_id) == OWN


def test_eo2_a_run_that_begins_asks_for_its_own_partition_among_many_marks(dags: Metadata) -> None:
    questions: list[list[str]] = [[]]

    def note_down(_: object, __: object, statement: str, *___: object) -> None:
        questions[-1].append(statement)

    event.listen(dags.engine, "before_cursor_execute", note_down)
    for count, began in (0, NOON), (10_000, NOON + timedelta(hours=1)):
        days = (datetime(1980, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in range(count))
        emit(dags, "one", "two", at=began + timedelta(minutes=1))
        if count:
            dags.emit("one", *(f"{day:%Y-%m-%d}" for day in days), at=began)
        questions.append([])
        assert skipped(dags, begin(dags, began=began)) == set(TASKS)
        questions.append([])
    event.remove(dags.engine, "before_cursor_execute", note_down)
    assert questions[1] == questions[3]
    assert any("asset_event.partition_key IN" in statement for statement in questions[1])
