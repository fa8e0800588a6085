"""Many partitions at once, and things that come at a bad moment: nothing is lost, nothing is made twice."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

import pytest

from airflow_partitions import PartitionByInterval
from tests.scheduler.command_line import Command
from tests.scheduler.conftest import Airflow
from tests.scheduler.test_dependencies import emit
from tests.scheduler.test_upkeep import command, environment, ledger, service

DATABASES = ("sqlite", "postgresql")
pytestmark = pytest.mark.airflow

#: How often two events arrive together. SQLite has one writer and one scheduler: there is less to meet.
TRIES = {"sqlite": 60, "postgresql": 200}
#: Registers events as Airflow does when a task succeeds, and keeps the transaction open until it is told to go on.
LATE_EVENTS = """
import sys
from airflow.assets.manager import asset_manager
from airflow.serialization.definitions.assets import SerializedAssetUniqueKey
from airflow.utils.session import create_session

key, *names = sys.argv[1:]
with create_session() as session:
    for name in names:
        asset = SerializedAssetUniqueKey(name=name, uri=name)
        assert asset_manager.register_asset_change(asset=asset, partition_key=key, session=session)
    session.flush()
    print("registered", flush=True)
    sys.stdin.readline()
"""


def hours(day: str) -> list[str]:
    return [f"{day}T{hour:02}:00Z" for hour in range(24)]


@pytest.fixture(scope="module")
def storm(airflow: Airflow) -> str:
    airflow.write(
        "storm",
        """
        HOURS, DAYS = PartitionByInterval("@hourly", start="2015-01-01"), PartitionByInterval("@daily")

        @asset(schedule=None, partition=HOURS, max_active_runs=24)
        def storm_hours(): ...

        @asset(schedule=None, partition=HOURS)
        def left(): ...

        @asset(schedule=None, partition=HOURS)
        def right(): ...

        @asset(schedule=None, partition=HOURS)
        def stray(): ...

        @asset(schedule=None, partition=PartitionByInterval("@yearly"))
        def storm_years(): ...

        def consumer(name, schedule, partition):
            with DAG(name, schedule=Partitioned(schedule, partition), max_active_runs=200) as dag:
                EmptyOperator(task_id="nothing")
            return dag

        storm_days = consumer("storm_days", storm_hours, DAYS)
        both = consumer("both", left & right, HOURS)
        never = consumer("never", storm_hours & storm_years, DAYS)

        with DAG("storm", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: all(map(airflow.parsed, ("storm_days", "both", "never"))), "the consumers")
    return "storm"


@contextmanager
def late_events(airflow: Airflow, key: str, *assets: str) -> Iterator[Callable[[], None]]:
    """Events that are registered and not committed, and a function that commits them."""
    with subprocess.Popen(
        [sys.executable, "-c", LATE_EVENTS, key, *assets],
        env=environment(airflow),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "registered\n"

        def commit() -> None:
            process.communicate("go on\n", timeout=60)
            assert process.returncode == 0

        yield commit


def settle(seconds: float = 5) -> None:
    """Give the scheduler several of its loops to do what it must not do."""
    time.sleep(seconds)


def test_a_storm_of_24_hours_made_again_makes_their_day_again_once(airflow: Airflow, storm: str) -> None:
    day = "2015-03-01"
    emit(airflow, "storm_hours", *hours(day))
    airflow.wait_finished("storm_days", 1)
    span = {"from_date": f"{day}T00:00:00Z", "to_date": f"{day}T23:59:59Z"}
    airflow.api.post("backfills", {"dag_id": "storm_hours", "max_active_runs": 24, **span})
    assert {state for _, state, _ in airflow.wait_finished("storm_hours", 24)} == {"success"}
    airflow.wait_finished("storm_days", 2)
    settle()
    assert airflow.keys("storm_days") == [day, day]
    ((day_start,),) = airflow.sql("select max(start_date) from dag_run where dag_id = 'storm_days'")
    ((storm_end,),) = airflow.sql("select max(end_date) from task_instance where dag_id = 'storm_hours'")
    assert day_start > storm_end


def test_a_pause_in_the_middle_of_a_day_is_caught_up(airflow: Airflow, storm: str) -> None:
    day = "2015-03-02"
    emit(airflow, "storm_hours", *hours(day)[:12])
    airflow.api.patch("dags/storm_days", {"is_paused": True})
    emit(airflow, "storm_hours", *hours(day)[12:])
    airflow.api.patch("dags/storm_days", {"is_paused": False})
    airflow.wait(lambda: (day, "success") in [run[:2] for run in airflow.runs("storm_days")], "the day")
    command(airflow, "upkeep")
    settle()
    assert airflow.keys("storm_days").count(day) == 1


@contextmanager
def another_scheduler(airflow: Airflow) -> Iterator[Command]:
    """A second scheduler, as in production."""
    alive = "select count(*) from job where job_type = 'SchedulerJob' and state = 'running'"
    before = airflow.sql(alive)
    log = airflow.home.logs / "another-scheduler.log"
    process = airflow.command_line.start("scheduler", "--skip-serve-logs", file=log)
    try:
        airflow.wait(lambda: airflow.sql(alive) > before, "the second scheduler")
        yield process
    finally:
        process.kill()
        process.wait()


def test_of_two_upstreams_that_arrive_together_none_is_lost_and_none_doubled(airflow: Airflow, storm: str) -> None:
    keys = map(str, PartitionByInterval("@hourly").keys("2015-04-01", "2016-01-01"))
    ids = dict(airflow.sql("select name, id from asset where name in ('left', 'right')"))
    posted: list[str] = []

    def post(side: str, key: str) -> None:
        airflow.api.post("assets/events", {"asset_id": ids[side], "partition_key": key})

    def together(count: int) -> None:
        with ThreadPoolExecutor(2) as pool:
            for key in islice(keys, count):
                for one in [pool.submit(post, side, key) for side in ("left", "right")]:
                    one.result()
                posted.append(key)

    def both_work() -> bool:
        together(5)
        return len(airflow.sql("select distinct creating_job_id from dag_run where dag_id = 'both'")) == 2

    if airflow.home.database.startswith("sqlite"):  # Airflow allows one scheduler on it
        together(TRIES["sqlite"])
    else:
        with another_scheduler(airflow) as process:
            airflow.wait(both_work, "runs made by both schedulers")
            together(TRIES["postgresql"] // 2)
            assert process.is_running
        together(TRIES["postgresql"] // 2)
    airflow.wait_finished("both", len(posted))
    settle()
    assert sorted(airflow.keys("both")) == posted


def test_events_that_commit_in_another_order_than_they_began_are_all_seen(airflow: Airflow, storm: str) -> None:
    if airflow.home.database.startswith("sqlite"):
        pytest.skip("SQLite has one writer: its transactions commit in the order in which they write")
    key, other = "2016-06-01T00:00Z", "2016-06-01T01:00Z"
    with late_events(airflow, key, "left", "stray") as commit:
        emit(airflow, "right", key)
        emit(airflow, "stray", other)
        command(airflow, "upkeep")
        settle()
        assert key not in airflow.keys("both")
        assert ledger(airflow, "stray") == [other]
        commit()
    assert airflow.events("stray") == [key, other]  # in the order of their ids
    airflow.wait(lambda: (key, "success") in [run[:2] for run in airflow.runs("both")], "the one that came late")
    command(airflow, "upkeep")
    assert ledger(airflow, "stray") == [key, other]
    settle()
    assert airflow.keys("both").count(key) == 1


def test_an_upstream_run_that_is_queued_in_a_paused_dag_holds_nothing_up(airflow: Airflow, storm: str) -> None:
    day = "2015-03-03"
    airflow.api.patch("dags/storm_hours", {"is_paused": True})
    assert airflow.trigger("storm_hours", hours(day)[7]).status_code == 200
    emit(airflow, "storm_hours", *hours(day))
    airflow.wait(lambda: (day, "success") in [run[:2] for run in airflow.runs("storm_days")], "the day")
    assert (hours(day)[7], "queued") in [run[:2] for run in airflow.runs("storm_hours")]
    airflow.api.patch("dags/storm_hours", {"is_paused": False})
    airflow.wait_finished("storm_hours", 25)


def test_windows_that_can_never_complete_do_not_keep_the_others(airflow: Airflow, storm: str) -> None:
    query = "select count(*) from asset_partition_dag_run where target_dag_id = 'never' and created_dag_run_id is null"
    emit(airflow, "storm_years", "2016-01-01", "2017-01-01")
    assert airflow.sql(query)[0][0] >= 600  # a loop of the scheduler looks at the oldest 500 of them
    with service(airflow) as reports:
        airflow.wait(reports, "the first round")
        day = "2015-03-04"
        emit(airflow, "storm_hours", *hours(day))
        complete = time.monotonic()
        airflow.wait(lambda: day in airflow.keys("storm_days"), "the day")
        print(f"the day began {time.monotonic() - complete:.1f} s after it was complete")  # noqa: T201
    assert airflow.keys("never") == []
