"""The local loop: one partition made in this process."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.scheduler.command_line import CommandLine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_partitions.authoring.local import Trial

pytestmark = pytest.mark.spark

DAG_FILE = """
import pyarrow as pa

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, asset, spark_asset
from airflow_partitions.checks import NotNull, RowCount
from airflow_partitions.storage import Parquet

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
RAW = Parquet("{lake}/raw", partition=DAYS, partition_on={{"date": "%Y-%m-%d"}}, ownership="read-only")


@asset(schedule="@daily", partition=PartitionBySequence(["eu", "us"]))
def greeting(self, partition, context):
    return f"{{self.name}} {{partition.key}} {{context['partition'].text}}"


@asset(schedule="@daily", partition=DAYS, storage=Parquet("{lake}/counts"), inputs={{"raw": RAW}},
       checks=[RowCount(at_least=1), NotNull("origin", severity="warn")])
def counts(raw: pa.Table) -> pa.Table:
    return raw.group_by("origin").aggregate([([], "count_all")]).sort_by("origin")


@spark_asset(
    schedule="@daily",
    partition=PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK"], name="airport")]),
    storage=Parquet("{lake}/delays", partition_on={{"date": "%Y-%m-%d", "airport": "{{airport}}"}}),
    inputs={{"raw": RAW}},
    strict=True,
)
def delays(spark, partition, raw):
    return raw.where(raw.origin == partition["airport"]).groupBy("carrier").avg("delay")


@spark_asset(schedule="@daily", partition=DAYS, storage=Parquet("{lake}/total"), inputs={{"raw": RAW}}, past=1)
def total(raw, past):
    return raw.select("delay") if past is None else raw.select("delay").union(past.select("delay"))


carriers = spark_asset.script("{lake}/carriers.py", name="carriers", schedule="@daily", partition=DAYS,
                              inputs={{"raw": RAW}}, storage=Parquet("{lake}/carriers"))
"""
PROGRAM = """
from airflow_partitions.spark import job

with job() as j:
    j.write(j.read("raw").groupBy("carrier").count())
"""


@pytest.fixture(scope="module")
def dag_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("lake")
    file = lake / "delays.py"
    file.write_text(DAG_FILE.format(lake=lake))
    (lake / "carriers.py").write_text(PROGRAM)
    return file


@pytest.fixture(scope="module")
def assets(dag_file: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "delays"}
    import linecache

    source = dag_file.read_text()
    linecache.cache[str(dag_file)] = (len(source), None, source.splitlines(keepends=True), str(dag_file))
    exec(compile(source, str(dag_file), "exec"), names)
    return names


def test_a_python_asset_is_called_with_its_partition(
    partition_trial: Callable[..., Trial], assets: dict[str, Any]
) -> None:
    assert partition_trial(assets["greeting"], "us").value == "greeting us us"


def test_a_spark_asset_runs_here_on_given_rows_and_publishes_nothing(
    partition_trial: Callable[..., Trial], partition_spark: SparkSession, assets: dict[str, Any], dag_file: Path
) -> None:
    raw = partition_spark.createDataFrame(
        [("JFK", "AA", 3.0), ("JFK", "AA", 5.0), ("EWR", "UA", 9.0)], "origin string, carrier string, delay double"
    )
    trial = partition_trial(assets["delays"], "2013-02-08|JFK", inputs={"raw": raw}, explain=True)
    assert [tuple(row) for row in trial.value.collect()] == [("AA", 4.0)]
    assert trial.result is not None
    assert trial.result.written.rows == 1
    assert trial.result.reads["raw"].rows == 3
    assert "HashAggregate" in str(trial.plan)
    assert not (dag_file.parent / "delays").exists()


def test_a_spark_asset_takes_the_partition_before_its_own_if_there_is_one(
    partition_trial: Callable[..., Trial], partition_spark: SparkSession, assets: dict[str, Any]
) -> None:
    raw, past = (partition_spark.createDataFrame([(delay,)], "delay double") for delay in (3.0, 5.0))
    first = partition_trial(assets["total"], "2013-01-01", inputs={"raw": raw})
    assert [row.delay for row in first.value.collect()] == [3.0]
    second = partition_trial(assets["total"], "2013-01-02", inputs={"raw": raw, "past": past})
    assert sorted(row.delay for row in second.value.collect()) == [3.0, 5.0]


def test_a_program_is_submitted_here(
    partition_trial: Callable[..., Trial], assets: dict[str, Any], tmp_path: Path, dag_file: Path
) -> None:
    parquet.write_table(pa.table({"origin": ["EWR", "JFK"], "carrier": ["UA", "UA"]}), tmp_path / "raw.parquet")
    trial = partition_trial(assets["carriers"], "2013-02-08", inputs={"raw": tmp_path / "raw.parquet"})
    assert trial.rows(5) == [{"carrier": "UA", "count": 2}]
    assert not (dag_file.parent / "carriers").exists()


def test_the_second_call_needs_no_new_session(
    partition_trial: Callable[..., Trial], partition_spark: SparkSession, assets: dict[str, Any]
) -> None:
    raw = partition_spark.createDataFrame([("JFK", "AA", 3.0)], "origin string, carrier string, delay double")
    sessions = {
        partition_trial(assets["delays"], key, inputs={"raw": raw}).result.application  # type: ignore[union-attr]
        for key in ("2013-02-08|JFK", "2013-02-09|JFK")
    }
    assert sessions == {partition_spark.sparkContext.applicationId}


def command(command_line: CommandLine, dag_file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command_line.run("asset-partitions", "test", *words, "--dags", str(dag_file))


def test_a_strict_asset_reads_one_file_instead_of_an_input(
    partition_trial: Callable[..., Trial], assets: dict[str, Any], tmp_path: Path
) -> None:
    rows = pa.table({"origin": ["EWR", "JFK"], "carrier": ["UA", "UA"], "delay": [9.0, 1.0]})
    for name in ("sample.parquet", "other.parquet"):
        parquet.write_table(rows, tmp_path / name)
    trial = partition_trial(assets["delays"], "2013-02-08|EWR", inputs={"raw": tmp_path / "sample.parquet"})
    assert [row.asDict() for row in trial.value.collect()] == [{"carrier": "UA", "avg(delay)": 9.0}]
    assert trial.result is not None
    assert (trial.result.reads["raw"].files, trial.result.reads["raw"].rows) == (1, 2)


def test_the_command_shows_the_rows_of_a_file(
    command_line: CommandLine, dag_file: Path, tmp_path: Path, partition_spark: SparkSession
) -> None:
    sample = tmp_path / "sample.parquet"
    partition_spark.createDataFrame([("EWR", "UA", 9.0)], "origin string, carrier string, delay double").write.parquet(
        str(sample)
    )
    process = command(command_line, dag_file, "delays", "2013-02-08|EWR", "--input", f"raw={sample}", "-o", "json")
    assert process.returncode == 0, process.stderr
    shown = json.loads(process.stdout)
    assert shown["partition"] == "2013-02-08|EWR"
    assert shown["rows"] == [{"carrier": "UA", "avg(delay)": 9.0}]
    assert not (command_line.folder / "airflow.db").exists()


def test_the_command_shows_the_rows_of_a_frame(command_line: CommandLine, dag_file: Path, tmp_path: Path) -> None:
    sample = tmp_path / "sample.parquet"
    parquet.write_table(pa.table({"origin": ["EWR", "JFK", "EWR"]}), sample)
    words = ("counts", "2013-02-08", "--input", f"raw={sample}")
    process = command(command_line, dag_file, *words, "-o", "json", "--rows", "1")
    assert process.returncode == 0, process.stderr
    answer = json.loads(process.stdout)
    assert answer["rows"] == [{"origin": "EWR", "count_all": 2}]
    assert (answer["counts"]["rows"], answer["counts"]["reads"]["raw"]["rows"]) == (2, 3)
    process = command(command_line, dag_file, *words)
    assert [line.split() for line in process.stdout.splitlines() if "JFK" in line] == [["│", "JFK", "│", "1", "│"]]
    assert "passed: row count: 2 rows; expected at least 1" in process.stdout.splitlines()


def test_the_command_shows_what_fails_a_check(command_line: CommandLine, dag_file: Path, tmp_path: Path) -> None:
    sample = tmp_path / "sample.parquet"
    parquet.write_table(pa.table({"origin": ["EWR", None]}), sample)
    process = command(command_line, dag_file, "counts", "2013-02-08", "--input", f"raw={sample}", "-o", "json")
    assert process.returncode == 0, process.stderr
    rows, nulls = json.loads(process.stdout)["checks"]
    assert (rows["passed"], nulls["passed"], nulls["severity"]) == (True, False, "warn")
    assert nulls["observed"] == "1 failing row of 2"
    parquet.write_table(pa.table({"origin": pa.array([], pa.string())}), sample)
    process = command(command_line, dag_file, "counts", "2013-02-08", "--input", f"raw={sample}")
    assert process.returncode == 1
    assert "CheckError: asset 'counts', partition '2013-02-08': 1 of 2 checks failed, so nothing was published:" in (
        process.stderr
    )
    assert "row count: 0 rows; expected at least 1" in process.stderr


CHATTY = """
from airflow_partitions import PartitionBySequence, asset
from shop_regions import REGIONS

print("read")


@asset(schedule=None, partition=PartitionBySequence(REGIONS), dag_id="ingest")
def raw(partition):
    import subprocess

    print("made")
    subprocess.run(["echo", "by another program"], check=True)
    return partition["segment"]
"""


def test_eu7_er10_stdout_is_the_answer_alone_also_with_modules_that_dag_files_share(
    command_line: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "shop_regions.py").write_text("REGIONS = ['eu', 'us']")
    file = tmp_path / "raw.py"
    file.write_text(CHATTY)
    process = command(command_line, file, "raw", "eu", "-o", "json")
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout) == {"partition": "eu", "value": "eu"}
    assert all(words in process.stderr for words in ("read", "made", "by another program"))


def test_eu12_the_command_says_what_is_no_file_and_what_is_a_dag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow_partitions.core.errors import InvalidDefinitionError
    from airflow_partitions.operate.cli.test import find_task

    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "shop_regions.py").write_text("REGIONS = ['eu', 'us']")
    (tmp_path / "raw.py").write_text(CHATTY)
    with pytest.raises(InvalidDefinitionError, match=r"there is no file or folder /nope\.py"):
        find_task("raw", "/nope.py")
    with pytest.raises(InvalidDefinitionError, match="'ingest' is the Dag that makes 'raw'"):
        find_task("ingest", str(tmp_path))
    with pytest.raises(InvalidDefinitionError, match="there are: raw"):
        find_task("something", str(tmp_path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("delay", "2013-02-08|EWR"), "nearest: delays"),
        (("delays", "2013-02-08|LGA"), "nearest: 2013-02-08|EWR, 2013-02-08|JFK"),
        (("delays", "2013-02-08|EWR", "--input", "rows=/x"), "delays has: raw"),
        (("delays", "2013-02-08|EWR", "--input", "raw"), "expected NAME=PATH"),
        (("delays", "2013-02-08|EWR"), "expected them to be made first"),
    ],
)
def test_the_command_says_what_is_wrong(
    dag_file: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    from airflow_partitions.operate.cli.commands import get_commands

    (group,) = get_commands()
    command = next(one for one in group.subcommands if one.name == "test")  # type: ignore[union-attr]
    parser = argparse.ArgumentParser()
    for arg in command.args:
        arg.add_to_parser(parser)
    with pytest.raises(SystemExit) as error:
        command.func(parser.parse_args([*words, "--dags", str(dag_file)]))  # type: ignore[union-attr]
    assert message in str(error.value)
