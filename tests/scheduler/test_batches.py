"""Batches under a real scheduler: one task makes the partitions of many runs, and each run keeps its own outcome."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.scheduler.conftest import Airflow
from tests.scheduler.test_requests import command
from tests.scheduler.test_stress import another_scheduler

DATABASES = ("postgresql",)  # the tests of the rows run on both
pytestmark = pytest.mark.airflow

DAG_FILE = """
import os
import pandas as pd
from airflow_partitions.storage import Parquet

LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
HOURS = PartitionByInterval("@hourly", start="2013-01-01")

@asset(
    schedule=None,
    partition=HOURS,
    batch=40,
    storage=Parquet(f"{LAKE}/batched", partition_on={"hour": "%Y-%m-%dT%H"}),
    default_args={"retries": 1, "retry_delay": dt.timedelta(seconds=1)},
)
def batched(partition) -> pd.DataFrame:
    with (OUT / "batched").open("a") as file:
        print(partition.text, os.getpid(), file=file)
    if partition.text == "2013-01-02T05:00Z":
        raise ValueError("not this one")
    return pd.DataFrame({"n": range(partition.start.hour + 1)})

@asset(schedule=batched, partition=PartitionByInterval("@daily", start="2013-01-01"))
def batched_days(partition): ...

@asset(
    schedule=None,
    partition=HOURS,
    batch=30,
    past=1,
    storage=Parquet(f"{LAKE}/slow_batch", partition_on={"hour": "%Y-%m-%dT%H"}),
    default_args={"retries": 1, "retry_delay": dt.timedelta(seconds=1)},
)
def slow_batch(partition) -> pd.DataFrame:
    import time
    time.sleep(0.2)
    while partition.text > "2013-01-02T05" and not (OUT / "cancelled").exists():
        time.sleep(0.1)
    with (OUT / "slow_batch").open("a") as file:
        print(partition.text, os.getpid(), file=file)
    return pd.DataFrame({"n": [1]})

@asset(
    schedule=None,
    partition=HOURS,
    batch=10,
    storage=Parquet(f"{LAKE}/raced", partition_on={"hour": "%Y-%m-%dT%H"}),
)
def raced(partition) -> pd.DataFrame:
    with (OUT / "raced").open("a") as file:
        print(partition.text, os.getpid(), file=file)
    return pd.DataFrame({"n": [1]})

@asset(schedule=raced, partition=PartitionByInterval("@daily", start="2013-01-01"))
def raced_days(partition): ...

@asset(
    schedule=None,
    partition=HOURS,
    batch=40,
    threads=4,
    storage=Parquet(f"{LAKE}/threaded", partition_on={"hour": "%Y-%m-%dT%H"}),
    default_args={"retries": 1, "retry_delay": dt.timedelta(seconds=1)},
)
def threaded(partition) -> pd.DataFrame:
    import threading
    with (OUT / "threaded").open("a") as file:
        print(partition.text, threading.get_ident(), os.getpid(), file=file)
    if partition.text == "2013-01-01T05:00Z":
        raise ValueError("not this one")
    return pd.DataFrame({"n": range(partition.start.hour + 1)})

with DAG("batches", schedule=None):
    EmptyOperator(task_id="nothing")
"""


@pytest.fixture(scope="module")
def batches(airflow: Airflow) -> Airflow:
    airflow.write("batches", DAG_FILE)
    assets = "batched", "batched_days", "slow_batch", "raced", "raced_days", "threaded"
    airflow.wait(lambda: all(map(airflow.parsed, assets)), "the assets")
    return airflow


def lines(airflow: Airflow, asset: str) -> list[list[str]]:
    """Key and process of each call of the function."""
    file = airflow.out / asset
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def events(airflow: Airflow, asset: str) -> list[tuple[str, str]]:
    """Key and source of each event, by key."""
    query = (
        "select e.partition_key, e.source_run_id from asset_event e join asset a on a.id = e.asset_id"
        " where a.name = ? order by 1"
    )
    return [(key, run) for key, run in airflow.sql(query, asset)]


def test_each_run_of_a_batch_has_its_own_state_event_and_note(batches: Airflow) -> None:
    code, answer = command(batches, "materialize", "batched", "2013-01-01..2013-01-03")
    assert code == 0, answer
    runs = batches.wait_finished("batched", 48)
    assert {key for key, state, _ in runs if state == "failed"} == {"2013-01-02T05:00Z"}
    made = {key: run for key, state, run in runs if state == "success"}
    assert events(batches, "batched") == sorted(made.items())
    extras = batches.sql(
        "select e.partition_key, e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = 'batched'"
    )
    assert {key: json.loads(extra)["rows"] for key, extra in extras} == {key: int(key[11:13]) + 1 for key in made}
    calls = lines(batches, "batched")
    assert len({process for _, process in calls}) <= 6  # of 48 runs
    assert [key for key, _ in calls].count("2013-01-02T05:00Z") == 3  # in the batch, and its own two tries
    assert len(calls) == 50
    assert [(key, state) for key, state, _ in batches.wait_finished("batched_days", 1)] == [("2013-01-01", "success")]
    notes = dict(
        batches.sql(
            "select r.partition_key, n.content from dag_run r join dag_run_note n on n.dag_run_id = r.id"
            " where r.dag_id = 'batched'"
        )
    )
    assert "Made in the batch of run backfill__2013-01-01T00" in notes["2013-01-01T07:00Z"]
    assert notes["2013-01-01T07:00Z"].startswith(
        "Partition 2013-01-01T07:00Z: 2013-01-01 07:00 to 2013-01-01 08:00 UTC"
    )


def test_threads_make_a_batch_of_which_each_keeps_its_own_outcome(batches: Airflow) -> None:
    code, answer = command(batches, "materialize", "threaded", "2013-01-01")
    assert code == 0, answer
    runs = batches.wait_finished("threaded", 24)
    assert {key for key, state, _ in runs if state == "failed"} == {"2013-01-01T05:00Z"}
    assert events(batches, "threaded") == sorted((key, run) for key, state, run in runs if state == "success")
    extras = batches.sql(
        "select e.partition_key, e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = 'threaded'"
    )
    assert {key: json.loads(extra)["rows"] for key, extra in extras} == {
        key: int(key[11:13]) + 1 for key, state, _ in runs if state == "success"
    }
    calls = lines(batches, "threaded")
    assert len({(thread, process) for _, thread, process in calls}) > len({process for *_, process in calls})
    assert len(calls) == 26  # the bad one in the batch, and in its own two tries


def test_a_batch_whose_process_is_killed_loses_nothing_and_makes_nothing_twice(batches: Airflow) -> None:
    status, answer = command(batches, "materialize", "slow_batch", "2013-01-01")
    assert status == 0, answer
    calls = batches.wait(lambda: (told := lines(batches, "slow_batch"))[8:] and told, "some are made")
    os.kill(int(calls[0][1]), signal.SIGKILL)
    runs = batches.wait_finished("slow_batch", 24)
    assert {state for _, state, _ in runs} == {"success"}
    assert events(batches, "slow_batch") == sorted((key, run) for key, _, run in runs)
    calls = lines(batches, "slow_batch")
    assert len({process for _, process in calls}) == 2
    twice = {key for key, _ in calls if [other for other, _ in calls].count(key) > 1}
    # Its own, as any task that is tried again; and one that was made, and not published, when the process was killed.
    assert len(twice) <= 2, calls


def test_cancelling_leaves_what_was_made_with_its_event_and_makes_no_more(batches: Airflow) -> None:
    before = len(lines(batches, "slow_batch"))
    status, answer = command(batches, "materialize", "slow_batch", "2013-01-02")
    assert status == 0, answer
    (request,) = answer["requests"]
    batches.wait(lambda: lines(batches, "slow_batch")[before + 4 :], "some are made")
    command(batches, "cancel", str(request["id"]))
    (batches.out / "cancelled").touch()
    runs = batches.wait_finished("slow_batch", 48)
    states = {key: state for key, state, _ in runs if key.startswith("2013-01-02")}
    assert states["2013-01-02T00:00Z"] == "success"  # the one that led
    assert {state for key, state in states.items() if key > "2013-01-02T01"} == {"failed"}
    made = {key for key, _ in lines(batches, "slow_batch")[before:]}
    assert len(made) < 20
    assert {key for key, _ in events(batches, "slow_batch") if key.startswith("2013-01-02")} == made


def test_two_schedulers_and_runs_of_several_kinds_make_each_partition_once(batches: Airflow) -> None:
    by_hand = [f"2013-01-03T{hour:02}:00Z" for hour in range(24)]
    with another_scheduler(batches) as process:
        status, answer = command(batches, "materialize", "raced", "2013-01-01..2013-01-03")
        assert status == 0, answer
        for key in by_hand:
            assert batches.trigger("raced", key).status_code == 200
        runs = batches.wait_finished("raced", 72)
        assert process.is_running
    assert {state for _, state, _ in runs} == {"success"}
    assert events(batches, "raced") == sorted((key, run) for key, _, run in runs)
    calls = lines(batches, "raced")
    assert sorted(key for key, _ in calls) == sorted(key for key, _, _ in runs)
    assert len({process for _, process in calls}) < 40  # of 72 runs
    assert len(batches.wait_finished("raced_days", 3)) == 3
