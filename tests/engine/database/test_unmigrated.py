"""A package that was installed into a running Airflow, before ``airflow db migrate``: a sentence at each door."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from airflow.exceptions import InvalidPartitionKeyError
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from airflow_partitions.core.errors import NotMigratedError
from airflow_partitions.engine.database.connection import open_session, revision
from airflow_partitions.engine.database.revision import COMMAND, REVISION, problem
from airflow_partitions.engine.timetables.evaluation import _history
from airflow_partitions.engine.timetables.upstreams import _produced
from tests.engine.database.conftest import OURS, Database
from tests.metadata import Metadata

DAGS = """
@asset(schedule="@daily", partition=DAYS)
def days(): ...

@asset(schedule=days, partition=DAYS)
def sums(): ...

@asset(schedule=None, partition=PartitionAtRuntime(name="customers"))
def customers(): ...

@asset(schedule=customers, partition=PartitionAtRuntime(name="customers"))
def welcome(): ...
"""
SENTENCE = str(problem(None))
#: Those that ask the database.
COMMANDS = (
    ("list",),
    ("status", "days"),
    ("explain", "days", "2024-01-01"),
    ("records", "days"),
    ("keys", "days"),
    ("keys", "customers", "--add", "ann"),
    ("plan", "days", "2024-01-01"),
    ("materialize", "days", "2024-01-01"),
    ("requests",),
    ("pause", "1"),
    ("cancel", "1"),
    ("mark", "days", "2024-01-01"),
    ("forget", "days", "2024-01-01"),
    ("remember", "days", "2024-01-01"),
    ("adopt", "days", "--from-asset", "sums"),
    ("reconcile",),
    ("reconcile", "days"),
    ("maintain",),
    ("upkeep",),
    ("upkeep", "--check"),
)


@pytest.fixture
def unmigrated(migrated: Database) -> Database:
    """An Airflow that was there before us, with our Dag files."""
    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")
    forget()
    return migrated


def forget() -> None:
    """Let this process know as little as a new one."""
    _history.cache_clear()
    _produced.cache_clear()


def parsed(database: Database, folder: Path) -> Metadata:
    metadata = Metadata(database.engine)
    metadata.parse(folder, dags=DAGS)
    return metadata


def next_runs(database: Database) -> dict[str, Any]:
    from airflow.models.dag import DagModel

    with database.engine.connect() as at:
        return {row.dag_id: row.next_dagrun_create_after for row in at.execute(select(DagModel.__table__))}


def test_the_sentence_names_the_command() -> None:
    assert SENTENCE.endswith(COMMAND)


def test_a_session_is_refused(unmigrated: Database) -> None:
    assert revision() is None
    with pytest.raises(NotMigratedError, match=re.escape(SENTENCE)):
        open_session()
    unmigrated.airflow("db", "migrate")
    open_session().close()


def test_each_command_says_it(unmigrated: Database, tmp_path: Path) -> None:
    parsed(unmigrated, tmp_path)
    said = {}
    for words in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            unmigrated.airflow("asset-partitions", *words)
        said[words] = ended.value.code
    assert said == dict.fromkeys(COMMANDS, SENTENCE)


def test_doctor_has_it_among_its_problems(unmigrated: Database, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        unmigrated.airflow("asset-partitions", "doctor", "--output", "json")
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out.strip().splitlines()[-1])["problems"] == [SENTENCE]


def test_dag_files_are_read_and_nothing_begins_until_the_tables_are_there(
    unmigrated: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        parsed(unmigrated, tmp_path)
    assert next_runs(unmigrated)["days"] is None
    assert f"Dag 'days' makes nothing: {SENTENCE}" in caplog.text
    unmigrated.airflow("db", "migrate")
    parsed(unmigrated, tmp_path)
    assert next_runs(unmigrated)["days"] is not None


def test_the_scheduler_goes_on_and_makes_what_waited_once_the_tables_are_there(
    unmigrated: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from airflow.assets.manager import asset_manager
    from airflow.jobs.job import Job
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
    from airflow.models.asset import AssetModel
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun

    parsed(unmigrated, tmp_path).prepare_runs()
    with Session(unmigrated.engine) as at:
        at.execute(update(DagModel).values(is_paused=False))
        asset = at.scalars(select(AssetModel).where(AssetModel.name == "days")).one()
        asset_manager.register_asset_change(asset=asset.to_serialized(), partition_key="2024-01-01", session=at)
        at.commit()

    def loop() -> list[Any]:
        """The runs that are there after a loop of the scheduler."""
        forget()
        with Session(unmigrated.engine) as at:
            runner = SchedulerJobRunner(job=Job())
            runner._create_dagruns_for_partitioned_asset_dags(at)
            at.commit()
            return [tuple(row) for row in at.execute(select(DagRun.dag_id, DagRun.partition_key))]

    with caplog.at_level(logging.WARNING):
        assert loop() == []
    assert f"Partitions on assets wait: {SENTENCE}" in caplog.text
    assert "Traceback" not in caplog.text
    unmigrated.airflow("db", "migrate")
    assert loop() == [("sums", "2024-01-01")]


def test_a_run_that_is_asked_for_by_hand_is_refused_in_a_sentence(unmigrated: Database, tmp_path: Path) -> None:
    from airflow.models.serialized_dag import SerializedDagModel

    parsed(unmigrated, tmp_path)
    with Session(unmigrated.engine) as at:
        dag = SerializedDagModel.get_dag("welcome", session=at)
    assert dag is not None
    with pytest.raises(InvalidPartitionKeyError, match=re.escape(SENTENCE)):
        dag.timetable.resolve_partition_date("ann")


def test_a_run_fails_as_ever(unmigrated: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A listener works in Airflow's own transaction, which a question for a table that is not there would end."""
    from airflow.models.backfill import Backfill
    from airflow.models.dagrun import DagRun
    from airflow.models.serialized_dag import SerializedDagModel
    from airflow.utils.state import DagRunState
    from airflow.utils.types import DagRunType

    parsed(unmigrated, tmp_path).prepare_runs()
    now = datetime.now(UTC)
    with Session(unmigrated.engine) as at:
        values = {"dag_id": "days", "from_date": now, "to_date": now, "is_paused": False, "max_active_runs": 1}
        (number,) = at.connection().execute(insert(Backfill).values(**values)).inserted_primary_key or ()
        run = DagRun(dag_id="days", run_id="one", run_type=DagRunType.BACKFILL_JOB, partition_key="2024-01-01",
                     run_after=now, backfill_id=number, state=DagRunState.RUNNING)  # fmt: skip
        at.add(run)
        at.flush()
        run.dag = SerializedDagModel.get_dag("days", session=at)
        with caplog.at_level(logging.WARNING):
            run.set_state(DagRunState.FAILED)
            run.notify_dagrun_state_changed(msg="task_failure")
        at.commit()
    assert f"Whether a request stops at this failure is not looked at: {SENTENCE}" in caplog.text
    with Session(unmigrated.engine) as at:
        assert at.scalars(select(DagRun.state)).all() == [DagRunState.FAILED]


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        (None, "are not in Airflow's database yet; run: airflow db migrate"),
        ("ffffffffffff", f"of a newer release (revision ffffffffffff, expected {REVISION})"),
    ],
)
def test_what_is_wrong_is_told_apart(stored: str | None, words: str) -> None:
    assert words in str(problem(stored))


def test_nothing_is_wrong_with_the_tables_of_this_release(migrated: Database) -> None:
    assert migrated.tables >= OURS
    assert problem(revision()) is None
