"""Ledgers, paused consumers and pending rows, kept in order by the command that users run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.upkeep.turn import JOB_TYPE
from tests.scheduler.conftest import Airflow
from tests.scheduler.test_dependencies import emit

pytestmark = pytest.mark.airflow

HOURS = [str(key) for key in PartitionByInterval("@hourly").keys("2014-03-01", "2014-03-03")]
AIRFLOW = shutil.which("airflow") or "airflow"


def environment(airflow: Airflow) -> dict[str, str]:
    return airflow.home.environment(dict(os.environ), airflow.services.port)


def command(airflow: Airflow, *words: str) -> Any:
    """What ``airflow asset-partitions`` prints as JSON."""
    done = subprocess.run(
        [AIRFLOW, "asset-partitions", *words, "--output", "json"],
        env=environment(airflow), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def service(airflow: Airflow) -> Iterator[Callable[[], list[Any]]]:
    """The command as a service, and what it has said so far."""
    file = airflow.home.root / f"upkeep-{os.urandom(4).hex()}.log"
    words = [AIRFLOW, "asset-partitions", "upkeep", "--loop", "--interval", "1", "--output", "json"]
    with file.open("w") as log, subprocess.Popen(words, env=environment(airflow), stdout=log, text=True) as process:
        try:
            yield lambda: [json.loads(line) for line in file.read_text().splitlines() if line.startswith("{")]
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0


def jobs(airflow: Airflow, state: str) -> list[int]:
    rows = airflow.sql("select id from job where job_type = ? and state = ? order by id", JOB_TYPE, state)
    return [number for (number,) in rows]


def ledger(airflow: Airflow, asset: str) -> list[Any]:
    rows = airflow.sql(
        "select s.value from asset_state_store s join asset a on a.id = s.asset_id where a.name = ?"
        " and s.key like 'made/%' order by s.key",
        asset,
    )
    return [json.loads(value) for (value,) in rows]


@pytest.fixture(scope="module")
def tended(airflow: Airflow) -> str:
    airflow.write(
        "tended",
        """
        HOURS, DAYS = PartitionByInterval("@hourly"), PartitionByInterval("@daily")

        @asset(schedule=None, partition=HOURS)
        def meters(): ...

        @asset(schedule=meters, partition=DAYS)
        def meter_days(): ...

        with DAG("tended", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: airflow.parsed("meter_days"), "the consumer")
    return "tended"


def test_what_was_materialised_outlives_airflows_events(airflow: Airflow, tended: str) -> None:
    emit(airflow, "meters", *HOURS[:23], "nonsense")
    done = command(airflow, "upkeep")
    assert done["working"]
    assert any("'nonsense'" in problem and "meters" in problem for problem in done["problems"])
    assert [record["key"] for record in ledger(airflow, "meters")] == HOURS[:23]
    assert command(airflow, "upkeep")["records"] == 0
    purge = ["db", "clean", "--tables", "asset_event", "--clean-before-timestamp", "2100-01-01", "--skip-archive", "-y"]
    subprocess.run([AIRFLOW, *purge], env=environment(airflow), check=True, capture_output=True, timeout=120)
    assert airflow.events("meters") == []
    emit(airflow, "meters", HOURS[23])
    assert airflow.wait_finished("meter_days", 1)[0][:2] == ("2014-03-01", "success")


def test_a_wiped_ledger_is_made_again(airflow: Airflow, tended: str) -> None:
    (asset,) = airflow.sql("select id from asset where name = 'meters'")
    command(airflow, "upkeep")
    before = [record["key"] for record in ledger(airflow, "meters")]
    response = airflow.api._client.delete(f"/api/v2/assets/{asset[0]}/state-store")
    assert response.status_code in (200, 204), response.text
    assert ledger(airflow, "meters") == []
    (found,) = command(airflow, "reconcile", "meters")
    assert found["asset"] == "meters"
    assert found["written"] == len(ledger(airflow, "meters")) == 1
    assert before[-1] == ledger(airflow, "meters")[0]["key"]


def test_what_came_during_a_pause_is_caught_up(airflow: Airflow, tended: str) -> None:
    command(airflow, "upkeep")  # from now on it knows the consumer
    with service(airflow) as said:
        airflow.wait(lambda: jobs(airflow, "running"), "the service")
        airflow.api.patch("dags/meter_days", {"is_paused": True})
        emit(airflow, "meters", *HOURS[24:])
        airflow.api.patch("dags/meter_days", {"is_paused": False})
        airflow.wait(lambda: "2014-03-02" in airflow.keys("meter_days"), "the day after the pause")
        airflow.wait(lambda: sum(line.get("caught_up", 0) for line in said()) == 1, "it is told")
    airflow.wait_finished("meter_days", 2)
    assert airflow.keys("meter_days").count("2014-03-02") == 1


def test_a_consumer_that_is_new_or_redefined_starts_nothing_by_itself(airflow: Airflow, tended: str) -> None:
    for definition in ('PartitionByInterval("@daily")', 'PartitionByInterval("0 12 * * *")'):
        airflow.write(
            "newcomer",
            f"""
            with DAG("newcomer", schedule=Partitioned(Asset.ref(name="meters"), {definition})):
                EmptyOperator(task_id="nothing")
            """,
        )
        for _ in range(2):
            assert command(airflow, "upkeep")["caught_up"] == 0
    assert airflow.keys("newcomer") == []


def test_one_works_the_others_stand_by_and_take_over(airflow: Airflow, tended: str) -> None:
    with service(airflow) as first:
        airflow.wait(lambda: jobs(airflow, "running"), "the first")
        with service(airflow) as second:
            airflow.wait(lambda: len(jobs(airflow, "running")) == 2, "the second")
            emit(airflow, "meters", HOURS[0])
            airflow.wait(lambda: any(line.get("records") for line in first()), "the first works")
            assert not any(line.get("records") for line in second())
            assert not command(airflow, "upkeep")["working"]
            alive = [AIRFLOW, "asset-partitions", "upkeep", "--check"]
            subprocess.run(alive, env=environment(airflow), check=True, capture_output=True, timeout=120)
    assert jobs(airflow, "running") == []


def test_rows_that_have_nothing_to_do_are_taken_away(airflow: Airflow, tended: str) -> None:
    lonely = [f"20{year}-01-01T00:00Z" for year in range(20, 26)]
    emit(airflow, "meters", *lonely)

    def waiting() -> set[str]:
        rows = airflow.sql(
            "select partition_key from asset_partition_dag_run where target_dag_id = 'meter_days'"
            " and created_dag_run_id is null"
        )
        return {key for (key,) in rows}

    assert {key[:10] for key in lonely} <= waiting()
    command(airflow, "upkeep")
    assert {key[:10] for key in lonely} <= waiting()
