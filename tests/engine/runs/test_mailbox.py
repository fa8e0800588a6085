"""What tasks find in the state stores of assets after Airflow has thrown them away, over Airflow's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset
from airflow.sdk.exceptions import AirflowRescheduleException
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from airflow_partitions import PartitionAtRuntime
from airflow_partitions.engine.ledger import added_keys
from airflow_partitions.engine.ledger.added_keys import AddingRun
from airflow_partitions.engine.ledger.key_table import listed_keys, take_over_all
from airflow_partitions.engine.runs import mailbox
from airflow_partitions.engine.runs.claim import KEYS_CLAIM, claim, claim_keys, last_claimant
from airflow_partitions.engine.runs.key_list import has_event, keys_asset, read, write
from airflow_partitions.operate.upkeep.mailboxes import restore_notes
from tests.metadata import Metadata
from tests.operate.states.world import put_runs, put_tasks
from tests.orphaned_assets import orphaned_assets, throw_cells_away
from tests.supervisor import Supervisor, supervisor

pytestmark = pytest.mark.airflow
__all__ = ["supervisor"]

DAG_FILE = """
CUSTOMERS = PartitionAtRuntime(name="customers", allowed="[a-z]+")

@asset(schedule="@daily", partition=DAYS)
def days(partition): ...

with DAG("days_too", schedule=Partitioned("@daily", DAYS)):
    EmptyOperator(task_id="days", outlets=[Asset("days")])

@asset(schedule="@hourly", partition=CUSTOMERS)
def models(): ...

@asset(schedule=models, partition=CUSTOMERS)
def predictions(partition): ...
"""
DAY = "2013-02-08"
NOON = datetime(2026, 11, 5, 12, tzinfo=UTC)
DAYS = Asset("days")
CUSTOMERS = PartitionAtRuntime(name="customers", allowed="[a-z]+")


@pytest.fixture
def dags(metadata: Metadata, supervisor: Supervisor, tmp_path: Path) -> Metadata:
    metadata.parse(tmp_path, files=DAG_FILE)
    return metadata


def begin(metadata: Metadata, dag_id: str, key: str | None = DAY, hour: int = 0) -> dict[str, Any]:
    """A run that Airflow's scheduler starts, as its task sees it."""
    from airflow.models.taskinstance import TaskInstance
    from airflow.sdk._shared.state import TaskScope
    from airflow.sdk.execution_time.context import TaskStateStoreAccessor
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    began = NOON + timedelta(hours=hour)
    task_id = "days" if dag_id == "days_too" else dag_id
    put_runs(metadata, dag_id, [str(key)], "queued", began, partition_key=key)
    put_tasks(metadata, dag_id, [str(key)], task_id, "running", began)
    run_id = f"{dag_id} {key} {began.isoformat()}"
    notify(metadata, dag_id, run_id, "running")
    with metadata.engine.connect() as at:
        number = at.scalar(select(TaskInstance.id).where(TaskInstance.run_id == run_id))
    return {
        "dag_run": SimpleNamespace(dag_id=dag_id, run_id=run_id),
        "ti": SimpleNamespace(get_dr_count=RuntimeTaskInstance.get_dr_count),
        "asset_state_store": object(),
        "task_state_store": TaskStateStoreAccessor(
            number, TaskScope(dag_id=dag_id, run_id=run_id, task_id=task_id, map_index=-1)
        ),
    }


def notify(metadata: Metadata, dag_id: str, run_id: str, state: str) -> None:
    """Let the state of a run be another one, as the scheduler does that."""
    from airflow.models.dagbag import DBDagBag
    from airflow.models.dagrun import DagRun
    from airflow.utils.sqlalchemy import prohibit_commit

    with Session(metadata.engine) as at, prohibit_commit(at) as guard:
        run = at.scalars(select(DagRun).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id)).one()
        run.dag = DBDagBag().get_latest_version_of_dag(dag_id, session=at)
        run.state = state
        getattr(mailbox, f"on_dag_run_{state}")(run, "")
        guard.commit()


def end(metadata: Metadata, of: Mapping[str, Any], state: str = "success") -> None:
    notify(metadata, of["dag_run"].dag_id, of["dag_run"].run_id, state)


def works(of: Mapping[str, Any]) -> bool:
    """Whether the run may work on the day, having looked at the claims."""
    try:
        claim(of, DAY, [DAYS])
    except AirflowRescheduleException:
        return False
    return True


def add(metadata: Metadata, of: Mapping[str, Any], *texts: str, succeeds: bool = True, **metadata_of: Any) -> None:
    """What a task does that adds keys; and its events, if it succeeds."""
    claim_keys(of, keys_asset(CUSTOMERS))
    run = AddingRun("models", of["dag_run"].dag_id, of["dag_run"].run_id, datetime.now(UTC))
    write(CUSTOMERS, read(CUSTOMERS).settled(has_event).with_pending(dict.fromkeys(texts) | metadata_of, run))
    if succeeds:
        source = {"source_dag_id": run.dag_id, "source_run_id": run.run_id}
        metadata.emit("models", *texts, at=datetime.now(UTC), **source)


def upkeep(report: Callable[[str], object] = print) -> None:
    """What a round of upkeep does when assets are back."""
    take_over_all(report)
    restore_notes([])


def additions() -> list[Any]:
    return [(text, *addition) for text, addition in listed_keys(CUSTOMERS).items()]


def test_eb1_two_runs_never_work_at_once_after_the_clean_up(dags: Metadata) -> None:
    first = begin(dags, "days")
    assert works(first)
    waiting = begin(dags, "days_too", hour=1)
    assert not works(waiting)
    throw_cells_away(dags)
    assert not works(waiting)  # it has noted whom it waits for
    other, same = begin(dags, "days_too", hour=2), begin(dags, "days", hour=3)
    assert not works(other)
    assert not works(same)
    assert works(first)  # it is tried again
    throw_cells_away(dags)
    assert works(first)
    assert not works(waiting)
    end(dags, first)
    assert works(other)
    throw_cells_away(dags)
    upkeep()
    assert [works(each) for each in (waiting, same)] == [False, False]


def test_eb1_a_run_whose_claim_was_thrown_away_keeps_it_before_one_that_began_earlier(dags: Metadata) -> None:
    waiting, first = begin(dags, "days"), begin(dags, "days_too", hour=1)
    assert works(first)
    assert not works(waiting)
    with orphaned_assets(dags):
        third = begin(dags, "days", hour=2)  # its listener writes what the file finds when it is back
    assert not works(third)
    assert not works(waiting)
    assert str(last_claimant("days", DAY)).endswith("days_too")
    assert works(first)


def test_eb1_a_claim_of_a_run_that_is_over_is_not_made_again(dags: Metadata) -> None:
    first = begin(dags, "days")
    assert works(first)
    end(dags, first, "failed")
    throw_cells_away(dags)
    second = begin(dags, "days_too", hour=1)
    assert last_claimant("days", DAY) is None
    assert works(second)


def test_eb1_runs_that_came_at_once_do_not_wait_for_each_other_for_good(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow_partitions.engine.runs import claim as of_claims

    first, second = begin(dags, "days"), begin(dags, "days_too", hour=1)
    note = of_claims.note_of(of_claims.Claimant("days", first["dag_run"].run_id))
    dags.put("days", f"passed|{DAY}", note)  # it has come so far, and somebody else was at the door then
    assert not works(second)
    monkeypatch.setattr(of_claims, "_PASSING", timedelta(0))
    assert works(second)
    assert not works(first)


def test_eb1_keys_that_tasks_add_and_remove_are_as_before_after_the_clean_up(dags: Metadata) -> None:
    first = begin(dags, "models", None)
    add(dags, first, "ann", "bob", cid={"since": 2013})
    expected = [("ann", None, None), ("bob", "ann", None), ("cid", "bob", {"since": 2013})]
    assert additions() == expected  # no upkeep yet
    end(dags, first)
    throw_cells_away(dags)
    assert additions() == expected
    second = begin(dags, "models", None, hour=1)
    assert list(read(CUSTOMERS).added) == ["ann", "bob", "cid"]
    claim_keys(second, keys_asset(CUSTOMERS))
    write(CUSTOMERS, read(CUSTOMERS).settled(has_event).without({"bob"}))
    add(dags, second, "dan", "ann")
    expected = [("cid", "bob", {"since": 2013}), ("dan", "cid", None), ("ann", "dan", None)]
    assert additions() == expected
    upkeep()
    throw_cells_away(dags)
    upkeep()
    assert additions() == expected
    assert list(read(CUSTOMERS).settled(has_event).all) == ["cid", "dan", "ann"]


@pytest.mark.parametrize("at_once", [False, True])
def test_eb1_a_task_that_began_with_an_empty_cell_takes_nothing_off(dags: Metadata, *, at_once: bool) -> None:
    first = begin(dags, "models", None)
    add(dags, first, "ann", "bob")
    end(dags, first)
    second = begin(dags, "models", None, hour=1)
    throw_cells_away(dags)
    before = read(CUSTOMERS)
    assert not before.all
    if at_once:
        upkeep()
    claim_keys(second, keys_asset(CUSTOMERS))
    run = AddingRun("models", "models", second["dag_run"].run_id, datetime.now(UTC))
    write(CUSTOMERS, before.with_pending({"cid": 1, "ann": 2}, run))
    assert [text for text, *_ in additions()] == ["ann", "bob"]  # not confirmed yet
    upkeep()
    assert read(CUSTOMERS).run == run  # and left for the one that waits for it
    dags.emit("models", "cid", at=datetime.now(UTC), source_dag_id="models", source_run_id=run.run_id)
    expected = [("bob", "ann", None), ("cid", "bob", 1), ("ann", "cid", 2)]
    assert additions() == expected
    end(dags, second)
    assert additions() == expected
    assert list(read(CUSTOMERS).added) == ["bob", "cid", "ann"]


def test_eb1_keys_of_a_task_that_was_killed_never_were_there(dags: Metadata) -> None:
    first = begin(dags, "models", None)
    add(dags, first, "ann")
    end(dags, first)
    second = begin(dags, "models", None, hour=1)
    add(dags, second, "bob", succeeds=False)
    upkeep()
    assert [text for text, *_ in additions()] == ["ann"]
    end(dags, second, "failed")
    assert [text for text, *_ in additions()] == ["ann"]
    assert read(CUSTOMERS).run is None
    throw_cells_away(dags)
    upkeep()
    assert list(read(CUSTOMERS).all) == ["ann"]


def test_eb1_a_run_that_adds_keys_keeps_the_list_to_itself_after_the_clean_up(dags: Metadata) -> None:
    from airflow_partitions.core.errors import ConflictError
    from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
    from airflow_partitions.operate.requests.runtime_keys import add_runtime_keys, remove_runtime_keys

    first = begin(dags, "models", None)
    claim_keys(first, keys_asset(CUSTOMERS))
    throw_cells_away(dags)
    with pytest.raises(ConflictError, match="of models is adding keys to 'customers'"):
        add_runtime_keys(partitioned_asset("models"), ["eve"], by="eve")
    throw_cells_away(dags)
    second = begin(dags, "models", None, hour=1)
    with pytest.raises(AirflowRescheduleException):
        claim_keys(second, keys_asset(CUSTOMERS))
    assert KEYS_CLAIM in dags.cells("keys of customers")
    add(dags, first, "ann")
    end(dags, first)
    models = partitioned_asset("models")
    add_runtime_keys(models, ["eve"], {"by": "hand"}, by="eve")
    throw_cells_away(dags)
    remove_runtime_keys(models, ["ann"])
    expected = [("eve", "ann", {"by": "hand"})]
    assert additions() == expected
    claim_keys(second, keys_asset(CUSTOMERS))
    assert list(read(CUSTOMERS).all) == ["eve"]
    throw_cells_away(dags)
    assert additions() == expected


def test_eb1_a_list_of_100000_keys_is_as_before(dags: Metadata) -> None:
    texts = [f"{number:06}".translate(str.maketrans("0123456789", "abcdefghij")) for number in range(100_000)]
    first = begin(dags, "models", None)
    add(dags, first, *texts)
    end(dags, first)
    throw_cells_away(dags)
    second = begin(dags, "models", None, hour=1)
    assert list(read(CUSTOMERS).added) == texts
    claim_keys(second, keys_asset(CUSTOMERS))
    write(CUSTOMERS, read(CUSTOMERS).without(texts[1:-1]))
    end(dags, second)
    assert additions() == [(texts[0], None, None), (texts[-1], texts[-2], None)]


def test_the_lists_of_an_idle_airflow_take_a_few_questions(dags: Metadata, supervisor: Supervisor) -> None:
    add(dags, begin(dags, "models", None), "ann")
    for number in range(20):
        dags.asset(f"keys of list{number}")
        form = added_keys.RuntimeKeys().with_added({"a": None}).to_json()
        dags.put(f"keys of list{number}", added_keys.CELL, form)
    from airflow.models.asset import AssetModel

    with dags.engine.begin() as at:
        at.execute(update(AssetModel).where(AssetModel.name.like("keys of %")).values(group=added_keys.KEYS_GROUP))
    upkeep()
    supervisor.queries.clear()
    upkeep()
    assert len(supervisor.queries) <= 8


def test_what_others_wrote_does_not_keep_a_run_from_beginning(dags: Metadata, caplog: pytest.LogCaptureFixture) -> None:
    from airflow.models.dagrun import DagRun

    add(dags, begin(dags, "models", None), "ann")
    upkeep()
    dags.put("keys of customers", added_keys.CELL, {"version": 99})
    problems: list[str] = []
    upkeep(problems.append)
    assert "version 99; expected 1" in problems[0]
    second = begin(dags, "models", None, hour=1)
    assert "version 99; expected 1" in caplog.text
    second["task_state_store"].set("partition_claims|", {"version": 99})
    third = begin(dags, "models", None, hour=2)
    assert "what its tasks need was not made again" in caplog.text
    with dags.engine.connect() as at:
        query = select(DagRun.state).where(DagRun.run_id == third["dag_run"].run_id)
        assert at.scalar(query) == "running"
    dags.put("keys of customers", added_keys.CELL, ["x"])
    assert [text for text, *_ in additions()] == ["ann"]
