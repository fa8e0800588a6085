"""An asset that is to be broken, others beside it that have problems of their own, and all questions about these."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.engine.database.models import (
    BatchMember,
    Consumer,
    Hold,
    LimitedRun,
    RunRequest,
    TaskRequest,
    Upkeep,
)
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.engine.runs.task_error import TASK_ERROR
from airflow_partitions.engine.runs.task_error import TaskError as Noted
from airflow_partitions.engine.runs.task_request import TaskAnswer
from airflow_partitions.engine.runs.task_request import TaskRequest as Asked
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.assets import ListAssets, ShowAsset
from airflow_partitions.operate.contract.board import ShowBoard
from airflow_partitions.operate.contract.changes import ListChanges
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.contract.failures import ListFailures
from airflow_partitions.operate.contract.fill import FillAssets
from airflow_partitions.operate.contract.grid import ShowGrid
from airflow_partitions.operate.contract.keys import ListKeys
from airflow_partitions.operate.contract.late import ListLate
from airflow_partitions.operate.contract.missed import ListMissed
from airflow_partitions.operate.contract.operation import Operation
from airflow_partitions.operate.contract.orphans import ListOrphans
from airflow_partitions.operate.contract.requests import ListRequests, PlanPartitions
from airflow_partitions.operate.contract.states import CountStates, ListMaterializations, ListStates, ShowPartition
from airflow_partitions.operate.contract.tasks import ShowTasks
from airflow_partitions.operate.contract.upkeep import Reconcile
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests.forget import forget
from airflow_partitions.operate.requests.materialize import materialize
from airflow_partitions.operate.requests.runtime_keys import add_runtime_keys
from airflow_partitions.operate.states import overview
from airflow_partitions.operate.upkeep import one_round
from tests.metadata import Metadata
from tests.operate.states.world import put_runs, put_tasks

DAYS = 'PartitionByInterval("@daily", start="2013-01-01", end="2013-01-11")'
LATE = """
from airflow.sdk.definitions.deadline import DeadlineAlert, AsyncCallback
from airflow_partitions import PartitionDeadline
import datetime as dt

async def tell(**kwargs): ...

LATE = DeadlineAlert(reference=PartitionDeadline("10:00"), interval=dt.timedelta(0), callback=AsyncCallback(tell))
"""
BROKEN = f"""
import pandas as pd
from airflow_partitions.storage import Parquet
{LATE}
@asset(schedule="@daily", partition={DAYS}, deadline=LATE,
       storage=Parquet("/nowhere/at/all/broken", conn_id="CONN", partition_on={{"time": "%Y-%m-%d"}}))
def broken(partition) -> pd.DataFrame: ...

@asset(schedule="@daily", partition=PartitionAtRuntime(name="broken_keys"))
def broken_list(): ...
"""
SOUND = f"""
import pandas as pd
from airflow_partitions.storage import Parquet
{LATE}
@asset(schedule="@daily", partition={DAYS}, deadline=LATE)
def sound(): ...

@asset(schedule=sound, partition={DAYS})
def after_sound(): ...

@asset(schedule="@daily", partition={DAYS},
       storage=Parquet("/nowhere/at/all/stored", conn_id="none", partition_on={{"time": "%Y-%m-%d"}}))
def stored(partition) -> pd.DataFrame: ...

with DAG("broken_waits", schedule=Partitioned(Asset.ref(name="sound"), {DAYS})):
    EmptyOperator(task_id="nothing")
"""
SOUND_ASSETS = ("sound", "after_sound", "stored")
MADE = datetime(2013, 2, 1, tzinfo=UTC)
ERROR = "ValueError: no such airport"
#: What is told of the assets beside the broken one by one question of the doctor or another.
KINDS = {"late", "failed-runs", "missed-events", "orphans", "connection", "folder", "request-failed"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the Dag files of the estate lie, for all tests the same: the database names them."""
    return tmp_path_factory.mktemp("estate")


@pytest.fixture(scope="session")
def copy() -> Iterator[sqlite3.Connection]:
    """The database of the estate, once it is made: to copy it takes a hundredth of the time."""
    with closing(sqlite3.connect(":memory:")) as database:
        yield database


@pytest.fixture
def estate(metadata: Metadata, folder: Path, copy: sqlite3.Connection) -> Metadata:
    """One asset to be broken and three others; each table of ours and each kind of cell has something of the one."""
    is_made = copy.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,)
    if not is_made:
        _make(metadata, folder)
    with closing(metadata.engine.raw_connection()) as connection:
        database: Any = connection.driver_connection
        if is_made:
            metadata.write_files(folder, broken=BROKEN, sound=SOUND)
            copy.backup(database)
        else:
            database.backup(copy)
    overview._OVERVIEWS.clear()
    return metadata


def _make(metadata: Metadata, folder: Path) -> None:
    from airflow.models.dag import DagModel

    metadata.parse(folder, broken=BROKEN, sound=SOUND)
    metadata.prepare_runs()
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    for name in ("broken", "sound"):
        metadata.emit(name, "2013-01-01", "2013-01-02", "2013-01-03", "2013-12-31", at=MADE, extra={"rows": 3})
        asset = partitioned_asset(name)
        update_ledger(name, asset.meaning)
        put_runs(metadata, name, ["2013-01-04"], "failed", MADE)
        put_tasks(metadata, name, ["2013-01-04"], name, "failed", MADE)
        noted = Noted(ERROR, 1, MADE).to_json()
        metadata.put_task_cell(f"{name} 2013-01-04 {MADE.isoformat()}", name, TASK_ERROR, noted)
        number = materialize(asset, Selection.of(asset.definition, "2013-01-06"), by="tests").id
        _fail(metadata, number)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).where(DagModel.dag_id == "after_sound").values(is_paused=True))
        _add_rows(at, metadata.asset("sound"), number, partitioned_asset("broken"))
    put_runs(metadata, "after_sound", ["2013-01-09"], "success", MADE - timedelta(days=9))
    add_runtime_keys(partitioned_asset("broken_list"), ["one", "two"], {"since": 2013}, by="tests")
    forget(partitioned_asset("broken"), Selection.of(partitioned_asset("broken").definition, "2013-01-02"), by="tests")


def _fail(metadata: Metadata, request: int) -> None:
    """Let the runs of a request fail."""
    from airflow.models.dagrun import DagRun

    with metadata.engine.begin() as at:
        failed = {"state": "failed", "start_date": MADE, "end_date": MADE}
        at.execute(update(DagRun.__table__).where(DagRun.backfill_id == request).values(failed))


def _add_rows(at: Any, upstream: int, request: int, broken: Any) -> None:
    """Rows of the broken one where nothing else has put some."""
    from airflow.models.dagrun import DagRun

    waits = TaskAnswer("waiting").to_json()
    asked = Asked("of-a-task", "broken", Selection.of(broken.definition, "2013-01-05"), "a task", MADE)
    at.execute(
        insert(Consumer).values(asset_id=upstream, dag_id="broken_waits", waits_for="0", event=1, looked_at=MADE)
    )
    run = select(DagRun.id).where(DagRun.dag_id == "broken", DagRun.partition_key == "2013-01-04").scalar_subquery()
    at.execute(insert(BatchMember).values(run_id=run, leader_id=0, outcome="failed", error="of the leader"))
    at.execute(insert(LimitedRun).values(run_id=run, name="broken", value="ann", most=1, slots=1))
    at.execute(insert(RunRequest).values(dag_id="broken", key="2013-01-08", at=MADE))
    at.execute(insert(Hold).values(dag_id="broken", request_id=request - 1))
    at.execute(insert(TaskRequest).values(id=asked.id, asset="broken", form=asked.to_json(), at=MADE, answer=waits))
    at.execute(insert(Upkeep).values(host="broken", user="u", started_at=MADE, heartbeat_at=MADE, ended_at=MADE))


def operations() -> Iterator[Operation]:
    """All that is asked of many assets, and of each sound one."""
    yield from (ListAssets(counts=True), ListAssets(), ListAssets(states=["failed"]))
    yield ShowBoard(since="2012-12-20T00:00Z", until="2013-02-01T00:00Z", asset=list(SOUND_ASSETS))
    yield FillAssets(since="2012-12-20T00:00Z", until="2013-02-01T00:00Z", asset=list(SOUND_ASSETS), dry_run=True)
    yield from (ListRequests(), ListFailures(), ListChanges(since="2013-01-01T00:00+00:00"), ListProblems())
    for name in SOUND_ASSETS:
        yield from (ShowAsset(asset=name), CountStates(asset=name), ListStates(asset=name), ShowGrid(asset=name))
        yield from (ListMaterializations(asset=name), ShowPartition(asset=name, key="2013-01-04"), ListKeys(asset=name))
        yield from (ListOrphans(asset=name), ListLate(asset=name), ListMissed(asset=name), ShowTasks(asset=name))
        yield Reconcile(asset=name, dry_run=True)
        yield PlanPartitions(asset=name, select="2013-01-03", downstream=True)


def questions(asker: Asker | None = None) -> dict[str, Any]:
    """What is told of the sound assets, by each question."""
    overview._OVERVIEWS.clear()
    return {str(asked): of_others(answer(asked, asker)) for asked in operations()}


@cache
def sound_answers() -> dict[str, Any]:
    """The same of the estate as it is made, asked once."""
    return questions()


def of_others(form: Any) -> Any:
    """The same without the rows that name what is broken, and without the moment at which it was asked for."""
    if isinstance(form, dict):
        moments = ("now", "version", "progress")
        # A row of the failures has those of several assets: it may be in two parts.
        parts = ("id", "count", "since", "last", "cursor", "error") if "assets" in form and "tasks" in form else ()
        return {name: of_others(one) for name, one in form.items() if name not in (*moments, *parts)}
    if isinstance(form, list):
        rows = [of_others(one) for one in form if not names_broken(one)]
        # Failures are in the order of their numbers, of which some are those of what is broken.
        return sorted(rows, key=str) if any(isinstance(one, dict) and "tasks" in one for one in rows) else rows
    return form


def names_broken(row: Any) -> bool:
    """Whether a *row* is about what is broken, and not about several things."""
    if isinstance(row, dict) and row.get("kind") == "no-upkeep":  # it tells when somebody last was alive
        return True
    if isinstance(row, dict) and "assets" in row:
        return all(names_broken(each) for each in row["assets"])
    if isinstance(row, dict) and (name := row.get("asset") or row.get("name")):
        return str(name).startswith("broken")
    return "broken" in json.dumps(row)


def check_others(
    before: dict[str, Any], damage: Callable[[], object], asker: Asker | None = None
) -> list[dict[str, Any]]:
    """What the doctor says of what is broken; all else is told as *before*, and upkeep goes on with it."""
    damage()
    after = questions(asker)
    assert after.keys() == before.keys()
    for question, told in before.items():
        assert after[question] == told, question
    problems: list[dict[str, Any]] = answer(ListProblems())["problems"]
    assert [one["text"] for one in problems if one["kind"] == "check" and one["asset"] is None] == []
    round_ = one_round()
    assert [text for text in round_.problems if "broken" not in text] == []
    return [one for one in problems if names_broken(one) and one["kind"] != "no-upkeep"]
