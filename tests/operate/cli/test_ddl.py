"""The command that shows the SQL of an asset's storage."""

from __future__ import annotations

import subprocess
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Parquet, ddl
from tests.scheduler.command_line import CommandLine

pytestmark = pytest.mark.airflow

DAG_FILE = """
import pyarrow as pa

from airflow_partitions import PartitionByInterval, asset
from airflow_partitions.storage import Parquet

print("read")
DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")


@asset(schedule="@daily", partition=DAYS, storage=Parquet("{lake}/counts"))
def counts() -> pa.Table:
    return pa.table({{"n": [1]}})


@asset(schedule="@daily", partition=DAYS)
def elsewhere(): ...
"""


@pytest.fixture
def dag_file(tmp_path: Path) -> Path:
    file = tmp_path / "counted.py"
    file.write_text(DAG_FILE.format(lake=tmp_path))
    return file


def command(command_line: CommandLine, dag_file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command_line.run("asset-partitions", "ddl", *words, "--dags", str(dag_file))


def test_an_engine_takes_what_the_command_prints(command_line: CommandLine, dag_file: Path) -> None:
    path = str(dag_file.parent / "counts")
    files = Parquet(path, partition=PartitionByInterval("@daily", start="2013-01-01", name="date"))
    files.save({"2013-02-08": pa.table({"n": [7]})})
    process = command(command_line, dag_file, "counts", "--engine", "duckdb")
    assert process.returncode == 0, process.stderr
    assert process.stdout == ddl(files, "counts", "duckdb")
    with duckdb.connect() as base:
        base.execute(process.stdout)
        assert base.sql("FROM counts").fetchall() == [(7, "2013-02-08")]
    process = command(command_line, dag_file, "counts", "--engine", "trino", "--table", "hive.lake.n")
    assert process.stdout == ddl(files, "hive.lake.n", "trino")


def test_an_asset_without_storage_is_no_table(command_line: CommandLine, dag_file: Path) -> None:
    process = command(command_line, dag_file, "elsewhere")
    assert process.returncode == 1
    assert not process.stdout
    assert "asset 'elsewhere' has no storage, so it is no table; expected storage=" in process.stderr
