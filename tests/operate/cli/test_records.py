"""The commands that look, on a real metadata database."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, update

from airflow_partitions import PartitionByInterval
from airflow_partitions.engine.database.models import Asset, Partition, Request
from airflow_partitions.operate.upkeep import one_round
from airflow_partitions.operate.upkeep.leader import Candidate
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

NEW_YORK = PartitionByInterval("@hourly", timezone="America/New_York")
HOURS = [str(hour) for hour in NEW_YORK.keys("2013-11-03", "2013-11-04")]
Say = Callable[..., str]


@pytest.fixture
def say(metadata: Metadata, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    """Run a command on some records, and give what it prints."""
    from airflow.cli.cli_parser import get_parser

    metadata.parse(
        tmp_path,
        flights="""
        @asset(schedule="@daily", partition=PartitionByInterval("@hourly", timezone="America/New_York"))
        def flights(): ...

        @asset(schedule=None, partition=PartitionBySequence(["a[b]", "[red]"]), dag_id="oddities")
        def odd(): ...
        """,
    )
    metadata.emit("flights", *HOURS[:24], source_dag_id="flights", source_run_id="run1", extra={"rows": 7, "files": 1})
    metadata.emit("flights", HOURS[24], "nonsense")
    metadata.emit("odd", "a[b]", "[red]")
    one_round()
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str) -> str:
        args: Any = get_parser().parse_args(["asset-partitions", *words])
        capsys.readouterr()
        args.func(args)
        return capsys.readouterr().out

    return run


def test_the_checks_of_a_partition_are_shown(say: Say, metadata: Metadata) -> None:
    assert "checks" not in say("records", "flights")
    good = {"name": "row count", "passed": True, "severity": "error", "expected": "at least 1", "observed": "7 rows"}
    bad = {**good, "name": "no nulls in origin", "passed": False, "severity": "warn"}
    metadata.emit("flights", HOURS[0], source_dag_id="flights", source_run_id="run1", extra={"checks": [good]})
    metadata.emit("flights", HOURS[1], source_dag_id="flights", source_run_id="run1", extra={"checks": [good, bad]})
    one_round()
    table = say("records", "flights")
    lines = {key: next(line for line in table.splitlines() if key in line) for key in HOURS[:3]}
    assert "passed" in lines[HOURS[0]]
    assert "1 failed" in lines[HOURS[1]]
    assert not any(word in lines[HOURS[2]] for word in ("passed", "failed"))
    records = {row["key"]: row for row in json.loads(say("records", "flights", "--output", "json"))}
    assert records[HOURS[1]]["extra"] == {"checks": [good, bad]}


def test_a_range_is_read_in_the_zone_of_the_partition(say: Say) -> None:
    def keys(*words: str) -> list[str]:
        return [row["key"] for row in json.loads(say("records", "flights", *words, "--output", "json"))]

    assert keys() == HOURS
    assert keys("--from", "2013-11-03", "--until", "2013-11-04") == HOURS
    assert keys("--from", "2013-11-04") == []
    assert keys("--until", "2013-11-03T01:00-04:00") == HOURS[:1]
    assert keys("--from", "2013-11-03T01:00-05:00", "--until", "2013-11-03T03:00-05:00") == HOURS[2:4]


def test_a_record_says_who_made_it(say: Say) -> None:
    first, *_, last = json.loads(say("records", "flights", "--output", "json"))
    assert (first["dag_id"], first["run_id"], first["extra"]) == ("flights", "run1", {"rows": 7, "files": 1})
    assert (last["dag_id"], last["first"], last["last"]) == (None, "2020-01-01T00:00:00+00:00", last["first"])
    table = say("records", "flights")
    assert all(hour in table for hour in HOURS)
    assert len(re.findall(r" 7 +1 +flights *$", table, re.MULTILINE)) == 24
    assert table.rstrip().endswith("outside")


def test_keys_are_shown_as_they_are(say: Say) -> None:
    table = say("records", "odd")
    assert "a[b]" in table
    assert "[red]" in table


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("records", "flihgts"), "no Dag makes or waits for partitions of an asset 'flihgts'; nearest: flights"),
        (("records", "oddities"), "'oddities' is the Dag that makes 'odd'"),
        (("records", "nothing alike"), "there are: flights, odd"),
        (("records", "flights", "--from", "yesterday"), "--from='yesterday' is not a time"),
        (("records", "flights", "--until", "2013-11-03T01:00"), "--until="),
        (("records", "odd", "--until", "2013-11-03"), "--from and --until choose intervals"),
        (("reconcile", "flihgts"), "nearest: flights"),
    ],
)
def test_eu12_what_makes_no_sense_is_refused(say: Say, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(SystemExit) as refused:
        say(*words)
    assert message in str(refused.value)


def test_the_doctor_tells_what_can_never_run(
    say: Say, metadata: Metadata, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as well:
        say("doctor")
    assert well.value.code == 0
    dag_file = "@asset(schedule=Asset.ref(name='nothing'), partition=DAYS)\ndef lonely(): ...\n"
    metadata.parse(tmp_path, lonely=dag_file)
    for words in ((), ("--output", "json")):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ill:
            say("doctor", *words)
        assert ill.value.code == 1
        out = capsys.readouterr().out
        assert "no Dag makes partitions of the asset 'nothing'" in " ".join(out.split())
    assert len(json.loads(out)["problems"]) == 1


def test_eu6_the_doctor_tells_assets_of_several_files_that_share_a_path(
    say: Say, metadata: Metadata, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = (
        f"from airflow_partitions.storage import Parquet\n@spark_asset(schedule=None, partition=DAYS,"
        f" storage=Parquet('{tmp_path}/same'))\ndef {name}(spark):\n    return spark.range(1)\n"
        for name in ("one", "two")
    )
    metadata.parse(tmp_path, one=one, two=two)
    with pytest.raises(SystemExit) as ill:
        say("doctor", "--output", "json")
    assert ill.value.code == 1
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert "assets 'one' and 'two' are both stored at" in problem


def test_the_doctor_notes_what_the_installation_lacks(
    say: Say, metadata: Metadata, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = tmp_path / "file"
    locked.write_text("no folder")
    metadata.parse(
        tmp_path,
        stored=f"""
        from airflow_partitions.storage import Parquet

        @spark_asset(schedule=None, partition=DAYS, storage=Parquet("{locked}/lake"))
        def stored(spark):
            return spark.range(1)
        """,
    )

    def notes() -> str:
        with pytest.raises(SystemExit) as error:
            say("doctor", "--output", "json")
        assert error.value.code == 0
        return "\n".join(json.loads(capsys.readouterr().out)["notes"])

    monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("AIRFLOW__CORE__EXECUTOR", "LocalExecutor")
    monkeypatch.setenv("AIRFLOW__SCHEDULER__TASK_QUEUED_TIMEOUT", "600")
    text = notes()
    assert "no upkeep process is alive" in text
    assert "there is no connection 'spark_default'" in text
    assert "there is no Java on this machine" in text
    assert "task_queued_timeout is 600 seconds" in text
    assert f"the storage of asset 'stored', {locked}/lake, can't be written here" in text
    assert "plugin" not in text
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", "spark://master:7077")
    monkeypatch.setenv("AIRFLOW__SCHEDULER__TASK_QUEUED_TIMEOUT", "86400")
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"21.0.2\" 2024-01-16' >&2\n")
    java.chmod(0o755)
    with Candidate():
        text = notes()
    of_installation = [line for line in text.splitlines() if not line.startswith("asset ")]
    assert of_installation == [line for line in of_installation if line.startswith("the storage of asset")]


def test_the_doctor_notes_a_scheduler_that_makes_no_runs_of_partitioned_dags(
    say: Say, metadata: Metadata, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from airflow.jobs.job import Job
    from airflow.models.dag import DagModel

    def notes() -> list[str]:
        with pytest.raises(SystemExit):
            say("doctor", "--output", "json")
        return [note for note in json.loads(capsys.readouterr().out)["notes"] if "makes no run of Dag" in note]

    def put(dag_id: str, **values: Any) -> None:
        with metadata.engine.begin() as at:
            at.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_paused=False, **values))

    metadata.parse(
        tmp_path,
        due="""
        @asset(schedule="@daily", partition=DAYS)
        def due(partition): ...

        @asset(schedule="@daily", partition=DAYS)
        def not_yet(partition): ...
        """,
    )
    now = datetime.now(UTC)
    put("due", next_dagrun_create_after=now - timedelta(minutes=6), exceeds_max_non_backfill=False)
    put("not_yet", next_dagrun_create_after=now - timedelta(minutes=4), exceeds_max_non_backfill=False)
    assert notes() == []  # no scheduler is alive
    with metadata.engine.begin() as at:
        values = {"job_type": "SchedulerJob", "state": "running", "latest_heartbeat": now}
        at.execute(insert(Job).values(**values, start_date=now - timedelta(minutes=6)))
    (note,) = notes()
    assert note.startswith("the scheduler is alive, and makes no run of Dag 'due', which has been due for 5 minutes")
    put("due", exceeds_max_non_backfill=True)
    assert notes() == []  # it waits for its own runs
    with metadata.engine.begin() as at:
        at.execute(delete(Job).where(Job.job_type == "SchedulerJob"))


def test_the_doctor_says_what_it_has_not_seen(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        say("doctor")
    assert "Not looked at: airflow-partitions in API servers" in " ".join(capsys.readouterr().out.split())


def test_eu5_records_shows_what_upkeep_has_not_noted(say: Say, metadata: Metadata) -> None:
    def keys(*words: str) -> list[str]:
        return [row["key"] for row in json.loads(say("records", "flights", *words, "--output", "json"))]

    later = [str(hour) for hour in NEW_YORK.keys("2013-11-04", "2013-11-05")]
    metadata.emit("flights", *reversed(later[:3]))
    before = metadata.cells("flights")
    assert keys() == [*HOURS, *later[:3]]
    assert keys("--from", "2013-11-04") == later[:3]
    assert metadata.cells("flights") == before
    metadata.clear_rows()  # as if upkeep had never run
    assert keys() == [*HOURS, *later[:3]]


def examine(say: Say, capsys: pytest.CaptureFixture[str]) -> list[str]:
    with pytest.raises(SystemExit):
        say("doctor", "--output", "json")
    problems: list[str] = json.loads(capsys.readouterr().out)["problems"]
    return problems


def test_ea6_the_doctor_tells_records_that_nothing_explains(
    say: Say, metadata: Metadata, capsys: pytest.CaptureFixture[str]
) -> None:
    assert examine(say, capsys) == []
    metadata.write_row(Partition, Partition.key == HOURS[0], event=Partition.event + 10_000)
    metadata.write_row(Partition, Partition.key == HOURS[1], event=Partition.event + 10_000, dag_id="d", run_id="mine")
    problems = examine(say, capsys)
    assert len(problems) == 2
    assert all("no event and no run explains the record of partition" in problem for problem in problems)
    metadata.purge()  # what is older than all that is left may have been purged
    assert examine(say, capsys) == []


def test_the_doctor_tells_requests_that_cant_be_read(
    say: Say, metadata: Metadata, capsys: pytest.CaptureFixture[str]
) -> None:
    metadata.prepare_runs()
    say("materialize", "flights", HOURS[0], "--while-paused")
    metadata.break_form(Request.selection)
    (problem,) = examine(say, capsys)
    assert "of Dag flights can't be read" in problem
    say("cancel", problem.split()[1])
    assert examine(say, capsys) == []


def test_ea2_the_doctor_tells_cells_that_cant_be_read(
    say: Say, metadata: Metadata, capsys: pytest.CaptureFixture[str]
) -> None:
    metadata.write_row(Asset, Asset.name == "flights", meaning={"definition": {"kind": "later"}})
    metadata.put("flights", "task-request/1", {"version": 2})
    metadata.put("flights", "others", "is none of ours")
    unreadable, unknown = sorted(examine(say, capsys), key=lambda problem: "task-request" in problem)
    assert unreadable.startswith("asset 'flights': the definition by which the ledger was read can't be read")
    assert "version 2; expected 1" in unknown
