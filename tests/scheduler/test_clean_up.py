"""A Dag file that is away for a while, on a real scheduler, which cleans up after it every five seconds."""

from __future__ import annotations

import time
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.engine.database.models import PREFIX
from tests.scheduler.conftest import Airflow
from tests.scheduler.test_dependencies import emit
from tests.scheduler.test_upkeep import cells, command, ledger, purge, service

pytestmark = pytest.mark.airflow

HOURS = [str(key) for key in PartitionByInterval("@hourly").keys("2014-05-01", "2014-05-02")]
#: Far longer than the scheduler takes to notice it, and than several rounds of upkeep.
AWAY = 30
DAYS = "2014-05-01..2014-05-03"
ASSETS = ("away_hours", "away_days", "away_slow")


def states(airflow: Airflow, asset: str) -> Any:
    return command(airflow, "records", asset)


def paused(airflow: Airflow, dag_id: str) -> bool:
    return bool(airflow.api.ask("GET", f"dags/{dag_id}").json()["is_paused"])


def test_eb1_eb2_a_file_that_is_away_takes_nothing_with_it(airflow: Airflow) -> None:
    airflow.write(
        "away_hours",
        """
        HOURS, DAYS = (PartitionByInterval(step, start="2014-05-01") for step in ("@hourly", "@daily"))

        @asset(schedule=None, partition=HOURS)
        def away_hours(): ...

        @asset(schedule=away_hours, partition=DAYS)
        def away_days(): ...

        @asset(schedule=None, partition=DAYS, is_paused_upon_creation=True)
        def away_slow():
            import time
            while not (OUT / "away_go").exists():
                time.sleep(0.2)
        """,
    )
    airflow.wait(lambda: all(airflow.parsed(name) for name in ASSETS), "all Dags of the file")
    emit(airflow, "away_hours", *HOURS)
    airflow.wait_finished("away_days", 1)
    command(airflow, "upkeep")
    command(airflow, "forget", "away_hours", HOURS[5], "--reason", "wrong")
    purge(airflow)
    with service(airflow):
        (request,) = command(airflow, "materialize", "away_slow", DAYS, "--while-paused", "--concurrency", "1")[
            "requests"
        ]
        airflow.wait(lambda: any(state == "running" for _, state, _ in airflow.runs("away_slow")), "a run works")
        before, read = states(airflow, "away_hours"), cells(airflow, "away_hours")
        assert len(before) == len(HOURS) - 1
        file = airflow.home.dags / "away_hours.py"
        file.rename(file.with_suffix(".away"))
        began = time.monotonic()
        airflow.wait(lambda: not any(cells(airflow, name) for name in ASSETS), "the scheduler has cleaned up")
        assert len(ledger(airflow, "away_hours")) == len(HOURS)
        while time.monotonic() - began < AWAY:
            time.sleep(5)
            (shown,) = [each for each in command(airflow, "requests")["requests"] if each["id"] == request["id"]]
            assert shown["state"] == "running"
        assert airflow.sql(f"select request_id from {PREFIX}hold where dag_id = 'away_slow'") == [(request["id"],)]
        file.with_suffix(".away").rename(file)
        airflow.wait(lambda: cells(airflow, "away_hours") == read, "what tasks read is there again")
        assert states(airflow, "away_hours") == before
        assert not paused(airflow, "away_slow")
        (airflow.out / "away_go").touch()
        airflow.wait_finished("away_slow", 2)
        airflow.wait(lambda: paused(airflow, "away_slow"), "its Dag is paused again")
    assert [(key, state) for key, state, _ in airflow.runs("away_slow")] == [
        ("2014-05-01", "success"),
        ("2014-05-02", "success"),
    ]
    assert airflow.keys("away_days") == ["2014-05-01"]
    emit(airflow, "away_hours", HOURS[5])
    airflow.wait_finished("away_days", 2)
    assert len(states(airflow, "away_hours")) == len(HOURS)
