"""What failed, by its error: real tasks that fail in a process of their own, on Airflow's tables."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy import text as statement

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import SelectionError, UnknownAssetError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.runs.run_errors import KILLED, NO_TASK
from airflow_partitions.engine.runs.task_error import MOST, TASK_ERROR, TaskError, error_line, on_task_instance_failed
from airflow_partitions.operate.contract.failures import ListFailures
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests.materialize import materialize
from airflow_partitions.operate.requests.progress import progress
from airflow_partitions.operate.states import explain
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.error_pattern import error_pattern
from tests.metadata import Metadata
from tests.operate.states.world import put_runs, put_tasks

#: Runs the tasks of the database as a worker does, with the listeners of all plugins, and ends their runs.
TASKS = """
import sys
from airflow.dag_processing.dagbag import DagBag
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.sdk.definitions.dag import _run_task
from airflow.utils.session import create_session
from sqlalchemy import select, update

bag = DagBag(sys.argv[1])
with create_session() as at:
    instances = at.scalars(select(TaskInstance).order_by(TaskInstance.run_id)).all()
    for each in instances:
        each.dag_run.partition_key
    at.expunge_all()
for each in instances:
    if each.dag_run.partition_key == "2013-03-09":  # its process was killed; Airflow's scheduler is told of it
        with create_session() as at:
            row = at.get(TaskInstance, each.id)
            row.state, row.try_number = "running", 1
            at.flush()
            row.handle_failure(error="Executor reported that the task instance finished with state failed", session=at)
    else:
        _run_task(ti=each, task=bag.get_dag(each.dag_id).get_task(each.task_id))
with create_session() as at:
    at.execute(update(DagRun).values(state="failed", start_date=DagRun.queued_at, end_date=DagRun.queued_at))
"""
DAGS = """
from airflow_partitions.storage import Csv
from airflow_partitions.checks import RowCount
import polars as pl

DAYS = PartitionByInterval("@daily", start="2013-03-01")

@asset(schedule=None, partition=DAYS, is_paused_upon_creation=False)
def loads(partition):
    from airflow.sdk.bases.hook import BaseHook
    password = BaseHook.get_connection("source").password
    raise ConnectionError(f"503 for {{partition}} by {{password}} at postgresql://ann:other@host/db\\x00\\nsecond line")

@asset(schedule=None, partition=DAYS, is_paused_upon_creation=False, storage=Csv({root!r}),
       checks=[RowCount(at_least=2)])
def checked(partition):
    return pl.DataFrame({{"a": [1]}})
"""
BEGAN = datetime(2026, 11, 5, 12, tzinfo=UTC)
LATER = BEGAN + timedelta(hours=1)


@pytest.fixture(scope="module")
def secret() -> str:
    return "very-secret-word"


@pytest.mark.airflow
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")
def test_en17_the_last_line_of_an_exception_is_told_of_each_kind_of_failure(
    metadata: Metadata, tmp_path: Path, secret: str
) -> None:
    metadata.prepare_runs()
    dags = tmp_path / "dags"
    dags.mkdir()
    (tmp_path / "lake").mkdir()
    metadata.parse(dags, fails=DAGS.format(root=str(tmp_path / "lake" / "checked")))
    numbers = {}
    for name, *keys in (("loads", "2013-03-08", "2013-03-09", "2013-03-10"), ("checked", "2013-03-10")):
        own = partitioned_asset(name)
        numbers[name] = materialize(own, Selection.of(own.definition, *keys), by="ann").id
    settings = {
        "CORE__LOAD_EXAMPLES": "False",
        "DATABASE__SQL_ALCHEMY_CONN": metadata.engine.url.render_as_string(hide_password=False),
        "CONN_SOURCE": f"http://ann:{secret}@nowhere",
    }
    names = {
        f"AIRFLOW_{name}" if name.startswith("CONN") else f"AIRFLOW__{name}": text for name, text in settings.items()
    }
    names["AIRFLOW_HOME"] = str(tmp_path)
    command = [sys.executable, "-c", TASKS, str(dags)]
    process = subprocess.run(
        command, env=os.environ | names, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert process.returncode == 0, process.stdout + process.stderr
    raised = "ConnectionError: 503 for 2013-03-10 by *** at postgresql://***@host/db second line"
    (run,) = explain("loads", "2013-03-10").runs
    assert run.error == raised
    assert explain("loads", "2013-03-10").reasons[0] == f"task loads failed: {raised}"
    (run,) = explain("loads", "2013-03-09").runs
    assert run.error == "Executor reported that the task instance finished with state failed"
    (run,) = explain("checked", "2013-03-10").runs
    assert run.error is not None
    assert run.error.startswith("CheckError: asset 'checked', partition '2013-03-10': 1 of 1 checks failed")
    assert run.error.endswith("row count: 1 row; expected at least 2")
    assert progress(numbers["checked"]).error == run.error
    assert secret not in str(metadata.task_cells())
    groups = answer(ListFailures())["failures"]
    assert [one["count"] for one in groups] == [2, 1, 1]
    assert (groups[0]["assets"][0]["partitions"], groups[0]["error"]) == ("2013-03-08; 2013-03-10", raised)


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(
        tmp_path,
        flights="""
        @asset(schedule="@daily", partition=PartitionByInterval("@hourly", start="2013-02-01"))
        def flights(partition): ...

        @asset(schedule=flights, partition=PartitionByInterval("@daily", start="2013-02-01"))
        def delays(partition): ...

        @asset(schedule=None, partition=PartitionBySequence(["EWR", "JFK"], name="airport"))
        def airports(partition): ...
        """,
    )
    return metadata


def fail(metadata: Metadata, dag_id: str, errors: dict[str, str], ended: datetime) -> None:
    """A failed run for each key, whose task has noted an error."""
    put_runs(metadata, dag_id, list(errors), "failed", ended, end_date=ended)
    put_tasks(metadata, dag_id, list(errors), dag_id, "failed", ended)
    for key, text in errors.items():
        metadata.put_task_cell(
            f"{dag_id} {key} {ended.isoformat()}", dag_id, TASK_ERROR, TaskError(text, 1, ended).to_json()
        )


def failures(**asked: Any) -> list[tuple[int, str, dict[str, str]]]:
    """Number, error and partitions by asset of each failure."""
    found = answer(ListFailures.of(**asked))["failures"]
    return [
        (one["count"], one["error"], {each["asset"]: each["partitions"] for each in one["assets"]}) for one in found
    ]


@pytest.mark.airflow
def test_failures_over_all_assets_are_grouped_by_their_error(dags: Metadata) -> None:
    hours = {
        f"2013-02-03T0{i}:00Z": f"ConnectionError: no route to 10.0.0.{i} for 2013-02-03T0{i}:00Z" for i in range(3)
    }
    fail(dags, "flights", hours, BEGAN)
    fail(dags, "airports", {"JFK": "ConnectionError: no route to 10.0.0.7 for JFK", "EWR": "KeyError: 'EWR'"}, LATER)
    assert failures() == [
        (4, "ConnectionError: no route to 10.0.0.7 for JFK",
         {"airports": "JFK", "flights": "2013-02-03T00:00Z to 2013-02-03T02:00Z"}),
        (1, "KeyError: 'EWR'", {"airports": "EWR"}),
    ]  # fmt: skip
    page = answer(ListFailures.of(limit=1))
    assert (page["failures"][0]["since"], page["failures"][0]["last"]) == (BEGAN.isoformat(), LATER.isoformat())
    assert page["failures"][0]["tasks"] == ["airports", "flights"]
    rest = answer(ListFailures.of(limit=1, cursor=page["cursor"]))
    assert ([one["error"] for one in rest["failures"]], rest["cursor"]) == (["KeyError: 'EWR'"], None)
    assert failures(since=LATER.isoformat(), asset=["flights"]) == []
    assert [count for count, _, _ in failures(asset=["flights"])] == [3]
    with pytest.raises(SelectionError, match="is of no page"):
        answer(ListFailures.of(cursor="zz"))
    with pytest.raises(UnknownAssetError, match="nearest: flights"):
        answer(ListFailures.of(asset=["flihgts"]))


@pytest.mark.airflow
def test_what_is_made_or_works_again_is_no_failure_any_more(dags: Metadata) -> None:
    fail(dags, "airports", {"JFK": "ValueError: 1", "EWR": "ValueError: 2"}, BEGAN)
    put_runs(dags, "airports", ["JFK"], "running", LATER)
    dags.emit("airports", "EWR", at=LATER)
    assert failures() == []


@pytest.mark.airflow
def test_en17_a_task_that_was_killed_and_a_run_without_a_failed_task_say_so(dags: Metadata) -> None:
    put_runs(dags, "airports", ["JFK", "EWR"], "failed", BEGAN, end_date=BEGAN)
    put_tasks(dags, "airports", ["JFK"], "airports", "failed", BEGAN)
    assert {error for _, error, _ in failures()} == {KILLED, NO_TASK}
    dags.put_task_cell(f"airports JFK {BEGAN.isoformat()}", "airports", TASK_ERROR, {"version": 99})
    assert explain("airports", "JFK").runs[0].error == KILLED
    before = TaskError("ValueError: of the first try", 0, BEGAN).to_json()
    dags.put_task_cell(f"airports JFK {BEGAN.isoformat()}", "airports", TASK_ERROR, before)
    assert explain("airports", "JFK").runs[0].error == KILLED


@pytest.mark.airflow
def test_en17_an_asset_that_can_not_be_read_takes_no_other_with_it(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(dags, "airports", {"JFK": "ValueError: 1"}, BEGAN)
    read = AssetStates.failed_runs

    def broken(of: AssetStates) -> Any:
        if of.asset.name == "flights":
            raise ValueError("no such key")
        return read(of)

    monkeypatch.setattr(AssetStates, "failed_runs", broken)
    found = answer(ListFailures())
    assert [one["error"] for one in found["failures"]] == ["ValueError: 1"]
    assert found["problems"] == ["flights: ValueError: no such key"]


class OddError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("no rows"), "ValueError: no rows"),
        (ValueError(), "ValueError"),
        (OddError(), "OddError"),
        (ValueError("a\n  b\r\nc\x00d"), "ValueError: a b c d"),
        (ValueError("\ud800 x"), "ValueError: x"),
        (ValueError("s3://key:word@host/a"), "ValueError: s3://***@host/a"),
        (
            ValueError(
                'An exception was thrown\nTraceback (most recent call last):\n  File "x"\n    f()\nKeyError: 1\n'
            ),
            "ValueError: An exception was thrown KeyError: 1",
        ),
        (
            ValueError("[DIVIDE] by 0\n\nJVM stacktrace:\norg.x.Y\n\tat org.a.B(B.java:1)\n\t... 3 more"),
            "ValueError: [DIVIDE] by 0 org.x.Y",
        ),
        ("TaskInstance's state was manually set", "TaskInstance's state was manually set"),
    ],
)
def test_en17_an_exception_is_one_line(error: BaseException | str, line: str) -> None:
    assert error_line(error) == line
    assert len(error_line(ValueError("x" * 10_000))) == MOST


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("no file for 2013-02-03", "no file for 2014-12-31", ()),
        ("at 2013-02-03T05:00:00.123Z", "at 2013-02-03 06:00", ()),
        ("id 7f9c2ba4e88f827d", "id 0a9c2ba4e88f8270", ()),
        ("job 6f1b7e5c-1111-4222-8333-444455556666 died", "job 6f1b7e5c-1111-4222-8333-444455556667 died", ()),
        ("timeout after 30s at 10.0.0.7:443", "timeout after 31.5s at 10.0.0.8:443", ()),
        ("no JFK in it", "no EWR in it", ("JFK", "EWR")),
        ("object at 0x7f12", "object at 0xab", ()),
    ],
)
def test_errors_that_differ_by_keys_numbers_and_ids_are_one(one: str, other: str, names: tuple[str, ...]) -> None:
    assert error_pattern(one, names) == error_pattern(other, names)
    assert error_pattern(one, names) != error_pattern(f"something else {one}", names)


def test_names_of_columns_and_words_stay_apart() -> None:
    assert error_pattern("no column 'delay'", {"a"}) == "no column 'delay'"
    assert error_pattern("facade of JFKX", {"JFK"}) == "facade of JFKX"


def test_a_note_that_the_database_refuses_leaves_the_transaction_that_fails_the_task_whole(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is the scheduler's own, which an error of a statement would end with its process."""
    from airflow.models.taskinstance import TaskInstance

    put_runs(dags, "delays", ["2013-03-01"], "running", BEGAN)
    put_tasks(dags, "delays", ["2013-03-01"], "delays", "running", BEGAN)
    monkeypatch.setattr(
        "airflow.utils.sqlalchemy.build_upsert_stmt", lambda *_: statement("INSERT INTO nowhere VALUES (1)")
    )
    with open_session() as session:
        task = session.scalars(select(TaskInstance)).one()
        task.state = "failed"
        on_task_instance_failed(None, task, "Executor reported that it failed")
        session.commit()
    with open_session() as session:
        assert session.scalars(select(TaskInstance.state)).all() == ["failed"]
    assert "could not be noted" in caplog.text
