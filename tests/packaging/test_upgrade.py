"""An Airflow with data of the release before is upgraded, goes on, and goes back; what is known stays known."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from airflow_partitions.engine.database.revision import VERSION_TABLE
from tests.packaging.stranger import PATIENCE, ROOT, Stranger, beside, uv

#: The first state that had all of its tables; of it, until there are releases.
FIRST = "4278a1f7a"
STORED = ("folders", "logged", "table")
DAG_FILE = '''
"""Assets of each kind of storage, one that waits for another, one that is slow, and keys that a task adds."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep

import pyarrow as pa

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, asset
from airflow_partitions.storage import Iceberg, Parquet

LAKE = Path(__file__).parents[1] / "lake"
DAYS = PartitionByInterval("@daily", name="date", start="2024-01-01", end="2024-03-01")
CUSTOMERS = PartitionAtRuntime(name="customers")
START = datetime(2024, 1, 1, tzinfo=UTC)
TABLE = Iceberg("lake.numbers", catalog="catalog", schema={"date": "date", "number": "bigint"}, create=True)


def numbers():
    return pa.table({"number": pa.array([1, 2, 3], pa.int64())})


@asset(schedule=None, partition=DAYS, start_date=START, storage=Parquet(str(LAKE / "folders")))
def folders(partition):
    return numbers()


@asset(schedule=None, partition=DAYS, start_date=START, storage=Parquet(str(LAKE / "logged"), log=str(LAKE / "log")))
def logged(partition):
    return numbers()


@asset(schedule=None, partition=DAYS, start_date=START, storage=TABLE)
def table(partition):
    return numbers()


@asset(schedule=folders, partition=PartitionByInterval(timedelta(days=3), start="2024-01-01"), start_date=START)
def three_days(partition):
    print(partition)


@asset(schedule=None, partition=DAYS, start_date=START)
def slow(partition):
    sleep(2)


@asset(schedule=None, partition=CUSTOMERS, start_date=START)
def customers(partition):
    print(partition)


STORED = [folders, logged, table]
'''


def wheel_of(folder: Path, out: Path) -> Path:
    uv("build", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(out), folder=folder)
    (file,) = out.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the newest release, built of its commit."""
    releases: dict[str, str] = tomllib.loads((ROOT / "releases.toml").read_text())
    commit = releases[max(releases, key=Version)] if releases else FIRST
    source = tmp_path_factory.mktemp("source")
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"this clone has no history: {archive.stderr.decode()}")
    subprocess.run(["tar", "--extract"], cwd=source, input=archive.stdout, check=True)
    return wheel_of(source, tmp_path_factory.mktemp("older"))


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(ROOT, tmp_path_factory.mktemp("newer"))


@pytest.fixture
def stranger(older: Path, tmp_path: Path) -> Iterator[Stranger]:
    with beside(tmp_path, older, DAG_FILE) as stranger:
        yield stranger


def install(stranger: Stranger, wheel: Path) -> None:
    stranger.install(wheel, "--no-deps", "--reinstall")
    stranger.airflow("db", "migrate")
    stranger.airflow("dags", "reserialize")


def ask(stranger: Stranger, *words: str) -> Any:
    return stranger.json_of("asset-partitions", *words, "--output", "json")


def counts(stranger: Stranger) -> dict[str, dict[str, int]]:
    """Of each asset, how many of its partitions are in each state."""
    return {asset["name"]: asset["counts"]["counts"] for asset in ask(stranger, "list")["assets"]}


def requests(stranger: Stranger) -> dict[int, tuple[str, str, dict[str, int]]]:
    """Of each request its selection, its state and its runs."""
    return {
        request["id"]: (request["selection"], request["state"], request["runs"])
        for request in ask(stranger, "requests")["requests"]
    }


def select(stranger: Stranger, statement: str, *values: str) -> list[Any]:
    """Rows of the database, without a process of Airflow, each of which takes some seconds."""
    with closing(sqlite3.connect(f"file:{stranger.folder}/home/airflow.db?mode=ro", uri=True)) as database:
        return database.execute(statement, values).fetchall()


def revision(stranger: Stranger) -> str:
    ((version,),) = select(stranger, f"SELECT version_num FROM {VERSION_TABLE}")
    return str(version)


def materialize(stranger: Stranger, days: str, total: int) -> None:
    """Ask for the *days* in each kind of storage, and wait until so many of its runs have ended well."""
    for name in STORED:
        ask(stranger, "materialize", name, days)
    wait(stranger, lambda: all(made(stranger, name) == total for name in STORED))


def made(stranger: Stranger, dag_id: str) -> int:
    """How many runs of a Dag have ended well."""
    runs = dict(select(stranger, "SELECT state, count(*) FROM dag_run WHERE dag_id = ? GROUP BY 1", dag_id))
    assert "failed" not in runs, stranger.log
    return int(runs.get("success", 0))


def wait(stranger: Stranger, done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline, stranger.log
        time.sleep(1)


def rows(stranger: Stranger) -> list[int]:
    """How many rows a reader of each kind of storage finds."""
    program = "from dags.stranger import STORED; print(*[len(a.storage.read(as_='arrow')) for a in STORED])"
    process = stranger.command_line.run_program(program)
    assert process.returncode == 0, process.stderr
    return [int(word) for word in process.stdout.split()[-3:]]


def test_an_upgrade_keeps_what_is_known_goes_on_and_goes_back(stranger: Stranger, newer: Path, older: Path) -> None:
    stranger.call("python", "dags/stranger.py")
    stranger.airflow("db", "migrate")
    stranger.airflow("dags", "reserialize")
    before = revision(stranger)
    with stranger.services() as commands:
        materialize(stranger, "2024-01-01..2024-01-05", 4)
        wait(stranger, lambda: made(stranger, "three_days") == 1)
        ask(stranger, "materialize", "slow", "2024-01-01..2024-01-13", "--concurrency", "1")
        ask(stranger, "mark", "slow", "2024-02-02")
        ask(stranger, "forget", "folders", "2024-01-02")
        ask(stranger, "keys", "customers", "--add", "ann")
        wait(stranger, lambda: made(stranger, "slow") > 3)
        for command in commands:
            command.kill()  # in the middle of a request
    known = counts(stranger), requests(stranger), rows(stranger)
    assert known[0]["folders"] == {"materialized": 3, "missing": 57}
    assert known[0]["customers"] == {"materialized": 1}
    assert known[2] == [12, 12, 12]

    install(stranger, newer)
    assert (counts(stranger), requests(stranger), rows(stranger)) == known
    with stranger.services():
        ask(stranger, "remember", "folders", "2024-01-02")
        materialize(stranger, "2024-01-05..2024-01-08", 7)
        wait(stranger, lambda: made(stranger, "slow") == 12)
        wait(stranger, lambda: made(stranger, "three_days") == 2)  # of a day from before the upgrade, and two of after
    assert {state for _, state, _ in requests(stranger).values()} == {"done"}
    assert ask(stranger, "doctor")["problems"] == []

    known = counts(stranger), requests(stranger), rows(stranger)
    assert known[2] == [21, 21, 21]
    if before != revision(stranger):
        stranger.airflow("asset-partitions", "downgrade", "--to-revision", before, "--yes")
    install(stranger, older)
    assert (counts(stranger), requests(stranger), rows(stranger)) == known
    with stranger.services():
        materialize(stranger, "2024-01-08..2024-01-09", 8)
    assert rows(stranger) == [24, 24, 24]
