"""A real Airflow for the tests: scheduler, Dag processor, API server and triggerer, started once for each database.

A test file with a constant ``DATABASES`` says on which it runs. The others run on PostgreSQL, and on SQLite only with
the long tests: what they show of the database is held by the models and by the tests of rows, which run on both.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import httpx
import psutil
import psycopg2
import psycopg2.extras
import pytest

from demo import services
from demo.api import Api
from demo.home import USER, Home
from demo.processes import Service, tail
from tests.conftest import CLASSES
from tests.postgres import postgres
from tests.scheduler.command_line import CommandLine

DATABASES = (pytest.param("sqlite", marks=pytest.mark.long), "postgresql")
HEADER = """
import datetime as dt
from pathlib import Path
from airflow.sdk import DAG, Asset, task
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.bash import BashOperator
from airflow_partitions import (
    PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence, PartitionKey, Partitioned, asset,
)
LONG_AGO = dt.datetime(2013, 1, 1, tzinfo=dt.timezone.utc)
OUT = Path({out!r})
"""


@attrs.frozen
class ScratchHome(Home):
    """A home whose Dags are written by the tests."""

    @property
    def classes(self) -> Path:
        return CLASSES

    def create(self) -> None:
        super().create()
        (self.root / "out").mkdir(exist_ok=True)
        (self.root / "other").mkdir(exist_ok=True)

    def environment(self, outer: dict[str, str], port: int = 0) -> dict[str, str]:
        bundles = {"dags-folder": self.dags, "other": self.root / "other"}
        local = "airflow.dag_processing.bundles.local.LocalDagBundle"
        demo = super().environment(outer, port)
        del demo["AIRFLOW_CONN_LAKE"]  # tests have connections of their own of this name
        return demo | {
            "AIRFLOW_CONN_SPARK_DEFAULT": '{"conn_type": "spark", "host": "local[2]"}',
            "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(
                [{"name": name, "classpath": local, "kwargs": {"path": str(path)}} for name, path in bundles.items()]
            ),
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "1",
            "AIRFLOW__DAG_PROCESSOR__BUNDLE_REFRESH_CHECK_INTERVAL": "1",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "AIRFLOW__ASSET_PARTITIONS__LIMITS": '{"crm": 1}',
            "AIRFLOW__CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL": "0",  # a changed file counts at once
            "AIRFLOW__DATABASE__CHECK_MIGRATIONS": "False",  # each service would load all of them
            "AIRFLOW__SCHEDULER__PARSING_CLEANUP_INTERVAL": "5",  # of assets that no file names just now
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "20",
            "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "20",
        }


#: So often a Dag processor is begun anew.
_MOST_BEGUN_ANEW = 3


@attrs.frozen
class Airflow:
    """One running Airflow, used through its REST API and looked into through its database."""

    home: ScratchHome
    api: Api
    command_line: CommandLine
    killed: set[str] = attrs.field(factory=set)
    orphans: list[Service] = attrs.field(factory=list)
    begun_anew: list[str] = attrs.field(factory=list)

    @property
    def services(self) -> services.Services:
        home_services = services.Services.of(self.home)
        assert home_services is not None
        return home_services

    @property
    def out(self) -> Path:
        """Where the tests' tasks leave files."""
        return self.home.root / "out"

    def write(self, dag_id: str, source: str, folder: str = "dags") -> None:
        """Write a Dag file, and wait until the Dag is there.

        :param folder: ``"other"`` for a bundle of its own.
        """
        file = self.home.root / folder / f"{dag_id}.py"
        part = file.with_suffix(".part")
        part.write_text(HEADER.format(out=str(self.out)) + textwrap.dedent(source))
        before = self.parsed(dag_id)
        part.replace(file)
        self.wait(lambda: self.parsed(dag_id) > before, f"{dag_id} parsed")

    def parse_again(self, dag_id: str, name: str | None = None) -> None:
        """Let Airflow read the file of a Dag, which may have another *name*, once more."""
        before = self.parsed(dag_id)
        (self.home.dags / f"{name or dag_id}.py").touch()
        self.wait(lambda: self.parsed(dag_id) > before, f"{dag_id} parsed again")

    def parsed(self, dag_id: str) -> str:
        rows = self.sql("select last_parsed_time from dag where dag_id = ? and not has_import_errors", dag_id)
        return str(rows[0][0]) if rows else ""

    def remove(self, dag_id: str) -> None:
        """Pause a Dag and take its file away."""
        self.api.patch(f"dags/{dag_id}", {"is_paused": True})
        (self.home.dags / f"{dag_id}.py").unlink()

    def remove_all(self) -> None:
        """Take all files of Dags away: scheduler and upkeep would look at each of them until the last test."""
        for folder in (self.home.dags, self.home.root / "other"):
            for file in folder.glob("*.py"):
                file.unlink()

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Rows of Airflow's database; instants and JSON as SQLite gives them, as text."""
        if self.home.database.startswith("sqlite"):
            file = self.home.database.removeprefix("sqlite:///")
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30)) as db:
                return db.execute(statement, values).fetchall()
        with self._postgresql.cursor() as cursor:
            cursor.execute(statement.replace("%", "%%").replace("?", "%s"), values)
            return [tuple(map(_as_text, row)) for row in cursor]

    @cached_property
    def _postgresql(self) -> psycopg2.extensions.connection:
        """One connection for all who wait: to make one takes thirty times as long as to ask."""
        db = psycopg2.connect(self.home.database.replace("+psycopg2", ""))
        db.autocommit = True
        psycopg2.extras.register_default_json(db, loads=str)
        return db

    def runs(self, dag_id: str, **equals: str) -> list[tuple[str, str, str]]:
        """Key, state and run id of each run, oldest first."""
        where = "".join(f" and {column} = ?" for column in equals)
        return self.sql(
            f"select partition_key, state, run_id from dag_run where dag_id = ?{where} order by id",
            dag_id,
            *equals.values(),
        )

    def keys(self, dag_id: str) -> list[str]:
        return [key for key, _, _ in self.runs(dag_id)]

    def events(self, asset: str) -> list[str]:
        """Partition keys of an asset's events, in order."""
        rows = self.sql(
            "select e.partition_key from asset_event e join asset a on a.id = e.asset_id where a.name = ?"
            " order by e.id",
            asset,
        )
        return [key for (key,) in rows]

    def command(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """What ``airflow`` does with *words*, and with further environment *variables*."""
        return self.command_line.run(*words, **variables)

    def trigger(self, dag_id: str, key: str | None) -> httpx.Response:
        """Ask for a run by hand; any answer is returned as it is."""
        return self.api.ask("POST", f"dags/{dag_id}/dagRuns", {"logical_date": None, "partition_key": key})

    def wait(self, until: Callable[[], Any], what: str | Callable[[], str], seconds: float = 600) -> Any:
        """Wait for an answer that counts as true; *what* says in an error what was waited for, as it is then."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if answer := until():
                return answer
            self._check_services()
            time.sleep(0.5)
        raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")

    def _check_services(self) -> None:
        """Raise if one has ended, with what it said last; a Dag processor that Airflow itself has ended is begun anew.

        It ends where the database finds a deadlock (``DagFileProcessorManager.deactivate_stale_dags``), and whatever
        watches over it starts it again.
        """
        running = self.services
        for name in set(running.dead) - self.killed:
            lines = tail(running.log(name), 100)
            error = lines[lines.rfind("Traceback") :].splitlines()
            causes = [line for line in error if "Error" in line or "Exception" in line]
            message = f"{name} has ended: {' | '.join(causes[-3:])}\n{lines}"
            assert name == "dag-processor", message
            assert not any("airflow_partitions" in line for line in error), message
            assert self.begun_anew.count(name) < _MOST_BEGUN_ANEW, message
            print(message)  # noqa: T201
            self.begun_anew.append(name)
            self._start(name)

    def wait_finished(self, dag_id: str, count: int, **equals: str) -> list[tuple[str, str, str]]:
        """Wait until that many runs of the Dag are over."""

        def over() -> Any:
            runs = [run for run in self.runs(dag_id, **equals) if run[1] in ("success", "failed")]
            return runs if len(runs) >= count else None

        return self.wait(over, lambda: f"{count} runs of {dag_id} over; {self._sight(dag_id)}")  # type: ignore[no-any-return]

    def _sight(self, dag_id: str) -> str:
        """How a Dag, its runs, and what failed or is not over anywhere stand, for an error."""
        dag = self.sql("select is_paused, is_stale, has_import_errors from dag where dag_id = ?", dag_id)
        tasks = self.sql(
            "select dag_id, task_id, run_id, state, try_number from task_instance"
            " where state is null or state not in ('success', 'skipped') order by updated_at desc limit 30"
        )
        errors = self.sql("select filename, stacktrace from import_error")
        return (
            f"its runs are {self.runs(dag_id)}, (paused, stale, broken) is {dag}, import errors are {errors};"
            f" tasks that are not over or have failed: {tasks}"
        )

    def kill_scheduler(self) -> None:
        """kill -9, without a chance to clean up.

        Its workers live on and were forked with its connections: to PostgreSQL it is still there, and so are its locks
        if it died within a transaction. Where a machine or a container ends, its connections do, too; so here.
        """
        service = next(s for s in self.services.members if s.name == "scheduler")
        if service.process:
            self.killed.add("scheduler")
            self.orphans.append(service)
            ports = [connection.laddr.port for connection in service.process.net_connections()]
            os.kill(service.pid, signal.SIGKILL)
            if not self.home.database.startswith("sqlite"):
                self.sql("select pg_terminate_backend(pid) from pg_stat_activity where client_port = any(?)", ports)

    def start_scheduler(self) -> None:
        self._start("scheduler")
        self.killed.discard("scheduler")

    def _start(self, name: str) -> None:
        running = self.services
        members = tuple(s for s in running.members if s.name != name)
        environment = self.home.environment(dict(os.environ), running.port)
        service = services._spawn(running, name, environment, self.command_line.spawn)
        attrs.evolve(running, members=(*members, service)).save()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _as_text(value: Any) -> Any:
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f") if isinstance(value, datetime) else value


@pytest.fixture(scope="module")
def one_day() -> None:
    """For files that ask for yesterday: begun far enough from midnight UTC for its tests to mean one day by it."""
    now = datetime.now(UTC)
    remaining = timedelta(days=1) - timedelta(hours=now.hour, minutes=now.minute, seconds=now.second)
    if remaining < timedelta(minutes=10):
        time.sleep(remaining.total_seconds() + 1)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "running_airflow" in metafunc.fixturenames:
        databases = getattr(metafunc.module, "DATABASES", DATABASES)
        metafunc.parametrize("running_airflow", databases, indirect=True, scope="session")


@pytest.fixture(scope="module")
def airflow(running_airflow: Airflow) -> Iterator[Airflow]:
    """The running Airflow, without the Dags of other files of tests."""
    yield running_airflow
    running_airflow.remove_all()


@pytest.fixture(scope="session")
def running_airflow(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Airflow]:
    """Airflow on the database that the test runs on."""
    root = tmp_path_factory.mktemp(request.param)
    with postgres() if request.param == "postgresql" else nullcontext() as server:
        yield from _running(ScratchHome(root, server.url) if server else ScratchHome(root))


def _running(home: ScratchHome) -> Iterator[Airflow]:
    home.create()
    port = _free_port()  # one nobody else takes who starts at this moment
    command_line = CommandLine(home.environment(dict(os.environ), port), home.root)

    def migrate(*_: Any) -> None:
        migration = command_line.run("db", "migrate")
        assert migration.returncode == 0, migration.stderr

    services.start(home, port, print, migrate=migrate, spawn=command_line.spawn)
    try:
        home_services = services.Services.of(home)
        assert home_services is not None
        with Api(home_services.address, USER, home.secret("password")) as api:
            airflow = Airflow(home, api, command_line)
            yield airflow
            for orphan in airflow.orphans:  # the workers of schedulers that were killed
                for process in orphan.family:
                    with suppress(psutil.NoSuchProcess):
                        process.kill()
    finally:
        services.stop(home)
        command_line.end()
        if keep := os.environ.get("KEEP_AIRFLOW_LOGS"):
            shutil.copytree(home.root, Path(keep, home.root.name), dirs_exist_ok=True)
