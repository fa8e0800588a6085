"""Two schedulers at once, as in production: what one has begun the other leaves alone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from tests.scheduler.conftest import Airflow
from tests.scheduler.test_schedule import yesterday
from tests.scheduler.test_stress import TRIES, post_together, settle
from tests.scheduler.test_upkeep import environment

DATABASES = ("postgresql",)  # SQLite has one writer, and Airflow one scheduler on it
pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("one_day")]


@contextmanager
def another_scheduler(airflow: Airflow) -> Iterator[None]:
    before = alive(airflow)
    log = airflow.home.logs / "another-scheduler.log"
    words = [shutil.which("airflow") or "airflow", "scheduler"]
    with log.open("w") as out, subprocess.Popen(words, env=environment(airflow), stdout=out, stderr=out) as process:
        try:
            airflow.wait(lambda: alive(airflow) > before, "the other scheduler")
            yield
            assert process.poll() is None, log.read_text()[-2000:]
        finally:
            process.terminate()
            try:
                process.wait(60)
            finally:
                process.kill()


def alive(airflow: Airflow) -> int:
    rows = airflow.sql("select id from job where job_type = 'SchedulerJob' and state = 'running'")
    return len(rows)


def test_two_schedulers_make_each_partition_once(airflow: Airflow) -> None:
    definition = PartitionByProduct([PartitionByInterval("@hourly"), PartitionBySequence(["n", "s"])])
    with another_scheduler(airflow):
        airflow.write(
            "shared",
            """
            HOURS, DAYS = PartitionByInterval("@hourly", start="2015-01-01"), PartitionByInterval("@daily")

            @asset(schedule=None, partition=HOURS)
            def port(): ...

            @asset(schedule=None, partition=HOURS)
            def starboard(): ...

            with DAG("shared_both", schedule=Partitioned(port & starboard, HOURS), max_active_runs=200):
                EmptyOperator(task_id="nothing")

            with DAG("shared_days", schedule=Partitioned(port, DAYS), max_active_runs=200):
                EmptyOperator(task_id="nothing")

            with DAG("shared", start_date=LONG_AGO, max_active_runs=100, schedule=Partitioned(
                "@daily", PartitionByProduct([PartitionByInterval("@hourly"), PartitionBySequence(["n", "s"])]))):
                EmptyOperator(task_id="nothing")
            """,
        )
        airflow.wait(lambda: airflow.parsed("shared_both"), "the consumers")
        keys = post_together(airflow, "port", "starboard", "2015-04-01")
        airflow.wait_finished("shared_both", TRIES)
        airflow.wait_finished("shared", 48)
        airflow.wait_finished("shared_days", TRIES // 24)
        settle()
    assert sorted(airflow.keys("shared_both")) == keys
    assert airflow.keys("shared_days") == sorted({key[:10] for key in keys})[: TRIES // 24]
    expected = definition.keys(yesterday(), yesterday() + timedelta(days=1))
    assert airflow.keys("shared") == [str(key) for key in expected]
    workers = airflow.sql(
        "select count(distinct coalesce(creating_job_id, 0)) from dag_run where dag_id in ('shared', 'shared_both')"
    )
    assert workers == [(2,)], "both were to make runs"
