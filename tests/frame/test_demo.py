"""The demo's parts that need no Airflow: what it asks for, what it starts with, and what it makes of the answers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pandas as pd
import psutil
import pytest

from airflow_partitions.demo import backfill, report, services
from airflow_partitions.demo.__main__ import main
from airflow_partitions.demo.errors import DemoError
from airflow_partitions.demo.home import Home
from airflow_partitions.demo.landing import NEW_YORK, partition_of

HOUR = datetime(2013, 2, 8, 5, tzinfo=NEW_YORK)


@pytest.mark.parametrize(("day", "count"), [(date(2013, 3, 10), 23), (date(2013, 2, 8), 24), (date(2013, 11, 3), 25)])
def test_requests_name_every_partition_of_the_day(day: date, count: int) -> None:
    hourly, daily = backfill.requests(day)
    assert len(set(hourly.keys)) == count
    assert daily.keys == (f"{day}|EWR", f"{day}|JFK", f"{day}|LGA")


def test_secrets_are_kept_and_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "demo")
    home.create()
    assert home.secret("jwt") == home.secret("jwt") != home.secret("api")
    assert (home.root / "secrets" / "jwt").stat().st_mode & 0o077 == 0
    assert home.root.stat().st_mode & 0o077 == 0


def test_settings_of_another_airflow_or_spark_are_left_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    outer = {"AIRFLOW__CORE__EXECUTOR": "X", "AIRFLOW__X__Y": "z", "SPARK_CONF_DIR": "/x", "LANG": "C", "PATH": "/bin"}
    inner = home.environment(outer, 8080)
    assert inner["AIRFLOW__CORE__EXECUTOR"] == "LocalExecutor"
    assert inner["LANG"] == "C"
    assert not {"AIRFLOW__X__Y", "SPARK_CONF_DIR"} & set(inner)


def test_a_service_is_known_by_its_start_time() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    try:
        started = psutil.Process(child.pid).create_time()
        assert services.Service("it", child.pid, started).process
        assert {process.pid for process in services.Service("it", child.pid, started).family} == {child.pid}
        assert services.Service("other", child.pid, started - 100).process is None
        assert services.Service("other", child.pid, started - 100).family == set()
    finally:
        child.communicate()


def test_a_taken_port_is_refused_when_asked_for_and_else_left_alone() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(DemoError, match=f"port {taken} is taken"):
            services._free_port(taken, taken)
        assert services._free_port(None, taken) != taken


def test_stop_and_status_without_a_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stop", "--home", str(tmp_path)]) == 0
    assert main(["status", "--home", str(tmp_path)]) == 1
    assert "nothing to stop" in capsys.readouterr().err


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["start", "--help"])
    assert left.value.code == 0
    assert "--day 2013-11-03" in capsys.readouterr().out


def source() -> dict[str, pd.DataFrame]:
    hours = pd.to_datetime([HOUR.astimezone(UTC), HOUR.astimezone(UTC) + timedelta(hours=1)])
    flights = pd.DataFrame({"time_hour": hours, "origin": ["EWR", "EWR"], "carrier": ["UA", "AA"]})
    return {"flights": flights, "weather": pd.DataFrame({"time_hour": hours[:1]})}


def row(**changed: object) -> report.Row:
    counts = {"rows_in": {"flights": 1, "weather": 1}, "rows_out": 1, "files_read": 2, "files_there": 2}
    words = {"asset": "hourly_flights", "partition": "2013-02-08T05:00-05:00", "state": "success", "seconds": 1.0}
    return report.Row(**{**counts, **words, **changed})  # type: ignore[arg-type]


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    for folder, rows in {
        tmp_path / "hourly_flights" / partition_of(HOUR): {"origin": ["EWR"]},
        tmp_path / "airport_days" / "date=2013-02-08" / "airport=EWR": {"carrier": ["AA", "UA"], "flights": [1, 1]},
    }.items():
        folder.mkdir(parents=True)
        pd.DataFrame(rows).to_parquet(folder / "part-0.parquet")
        (folder / "_marker").touch()
    return tmp_path


def test_matching_counts(lake: Path) -> None:
    day = row(asset="airport_days", partition="2013-02-08|EWR", rows_in={"flights": 2}, rows_out=2)
    assert report.differences([row(), day], source(), lake) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rows_in": {"flights": 2, "weather": 1}}, "flights read: 2, pandas counts 1"),
        ({"rows_in": {"flights": 1}}, "weather read: None, pandas counts 1"),
        ({"rows_out": 0}, "rows out: 0, pandas counts 1"),
        ({"state": "failed"}, "the run ended as failed"),
        ({"partition": "2013-02-08T06:00-05:00"}, "rows published: 0, pandas counts 1"),
        ({"asset": "airport_days", "partition": "2013-02-08|EWR", "rows_out": 3}, "rows out: 3, pandas counts 2"),
    ],
)
def test_every_difference_is_told(lake: Path, changed: dict[str, object], words: str) -> None:
    assert any(words in line for line in report.differences([row(**changed)], source(), lake))


def test_a_table_is_wide_enough_for_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    report.show([row()], report.Console(width=40))
    assert "2013-02-08T05:00-05:00" in capsys.readouterr().out


def test_the_demo_is_made_by_make() -> None:
    root = Path(__file__).parents[2]
    told = subprocess.run(
        ["make", "-s", "-C", str(root)], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    for target in ("demo", "demo-stop", "test", "lint", "lock", "bench", "docs"):
        assert f"make {target} " in told.stdout
