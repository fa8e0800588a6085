"""Time schedules on a real scheduler."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from tests.scheduler.conftest import Airflow

DATABASES = ("postgresql",)  # the database has little to do with it
pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("one_day")]


def yesterday() -> datetime:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=1)


def test_a3_a6_daily_tick_of_hours_by_two_segments_makes_48_runs_across_parses_and_a_killed_scheduler(
    airflow: Airflow,
) -> None:
    definition = PartitionByProduct([PartitionByInterval("@hourly"), PartitionBySequence(["eu", "us|asia"])])
    expected = [str(key) for key in definition.keys(yesterday(), yesterday() + timedelta(days=1))]
    airflow.write(
        "many",
        """
        with DAG("many", start_date=LONG_AGO, max_active_runs=100, schedule=Partitioned(
            "@daily", PartitionByProduct([PartitionByInterval("@hourly"), PartitionBySequence(["eu", "us|asia"])]))):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: len(airflow.runs("many")) >= 10, "the first runs")
    airflow.kill_scheduler()
    before = airflow.keys("many")
    airflow.start_scheduler()
    airflow.parse_again("many")
    airflow.wait(lambda: len(airflow.runs("many")) >= 48, "all runs")
    airflow.wait_finished("many", 48)
    assert len(before) < 48, "the scheduler was to die in the middle"
    assert airflow.keys("many") == expected
    assert {state for _, state, _ in airflow.runs("many")} == {"success"}
    next_key, next_date = airflow.sql(
        "select next_dagrun_partition_key, next_dagrun_create_after from dag where dag_id='many'"
    )[0]
    assert next_key == str(next(definition.keys(yesterday() + timedelta(days=1), yesterday() + timedelta(days=2))))
    assert next_date.startswith(f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}")


def test_a18_run_ids_tell_the_partition(airflow: Airflow) -> None:
    ids = [run_id for _, _, run_id in airflow.runs("many")]
    assert len(set(ids)) == 48
    assert all(run_id.startswith(f"scheduled__{yesterday():%Y-%m-%d}T") for run_id in ids)
    assert sum("Z~eu__" in run_id for run_id in ids) == sum("Z~us~~asia~" in run_id for run_id in ids) == 24


def test_a4_hourly_ticks_make_a_day_once_also_if_the_scheduler_was_down_when_it_ended(airflow: Airflow) -> None:
    # A zone in which midnight was two to three hours ago: the newest tick (this hour's) makes nothing due.
    hours = (datetime.now(UTC).hour - 2) % 24
    zone = f"Etc/GMT{'+' if hours <= 12 else '-'}{hours if hours <= 12 else 24 - hours}"
    airflow.kill_scheduler()
    airflow.write(
        "down",
        f"""
        with DAG("down", start_date=LONG_AGO,
                 schedule=Partitioned("@hourly", PartitionByInterval("@daily", timezone="{zone}"))):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.start_scheduler()
    closed = PartitionByInterval("@daily", timezone=zone).last(datetime.now(UTC))
    runs = airflow.wait_finished("down", 1)
    assert [(key, state) for key, state, _ in runs] == [(str(closed), "success")]
    airflow.parse_again("down")
    assert airflow.keys("down") == [str(closed)]


def test_a5_a_sequence_makes_one_run_per_segment_and_survives_a_changed_definition(airflow: Airflow) -> None:
    source = """
        with DAG("segments", start_date=LONG_AGO, max_active_runs={limit},
                 schedule=Partitioned("@daily", PartitionBySequence({values}))):
            {task}
        """
    slow = 'BashOperator(task_id="wait", bash_command="sleep 20")'
    airflow.write("segments", source.format(limit=1, values=["a", "b", "c", "d"], task=slow))
    airflow.wait(lambda: airflow.keys("segments") == ["a"], "the first run")
    airflow.write("segments", source.format(limit=9, values=["b", "c", "e"], task='EmptyOperator(task_id="nothing")'))
    airflow.wait_finished("segments", 1)
    # "a" is gone and with it the place after it: the tick starts over with the new sequence. Until the scheduler has
    # read that, it goes on with the old one.
    airflow.wait(lambda: "e" in airflow.keys("segments"), "the new sequence")
    airflow.parse_again("segments")
    counts = Counter(airflow.keys("segments"))
    assert {key: count for key, count in counts.items() if key != "d"} == {"a": 1, "b": 1, "c": 1, "e": 1}
    assert counts["d"] <= 1


def test_refresh_makes_the_intervals_before_again(airflow: Airflow) -> None:
    airflow.write(
        "refreshed",
        """
        with DAG("refreshed", start_date=LONG_AGO, max_active_runs=9,
                 schedule=Partitioned("@daily", PartitionByInterval("@daily"), refresh=2)):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait_finished("refreshed", 3)
    airflow.parse_again("refreshed")
    assert airflow.keys("refreshed") == [f"{yesterday() - timedelta(days=n):%Y-%m-%d}" for n in (2, 1, 0)]
