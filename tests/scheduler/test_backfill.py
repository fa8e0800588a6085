"""Airflow's own backfills of partitioned Dags, over its public REST API."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from airflow_partitions import PartitionByInterval
from tests.scheduler.conftest import Airflow

DATABASES = ("sqlite", "postgresql")
pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def hours(airflow: Airflow) -> str:
    """A Dag whose daily tick is about half a day away, so that only backfills make runs of it."""
    away = (datetime.now(ZoneInfo("America/New_York")).hour + 12) % 24
    airflow.write(
        "hours",
        f"""
        with DAG("hours", max_active_runs=50, schedule=Partitioned("0 {away} * * *", PartitionByProduct([
            PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01"),
            PartitionBySequence(["a", "b"])]))):
            EmptyOperator(task_id="nothing")
        """,
    )
    return "hours"


def ask(dag_id: str, start: str, end: str) -> dict[str, object]:
    return {"dag_id": dag_id, "from_date": start, "to_date": end, "max_active_runs": 60}


def test_a15_a_backfill_makes_every_partition_of_a_clock_change_day_once(airflow: Airflow, hours: str) -> None:
    definition = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
    expected = [f"{key}|{s}" for key in definition.keys("2013-11-03", "2013-11-04") for s in "ab"]
    assert len(expected) == 50
    body = ask(hours, "2013-11-03T00:00:00Z", "2013-11-03T23:59:59Z")
    planned = airflow.api.post("backfills/dry_run", body)["backfills"]
    assert [plan["partition_key"] for plan in planned] == expected
    airflow.api.post("backfills", body)
    finished = airflow.wait_finished(hours, 50)
    assert {state for _, state, _ in finished} == {"success"}
    assert sorted(airflow.keys(hours)) == sorted(expected)
    assert any(run_id.startswith("backfill__2013-11-03T01:00-04:00~a") for _, _, run_id in finished)
    assert any(run_id.startswith("backfill__2013-11-03T01:00-05:00~a") for _, _, run_id in finished)


def test_a15_the_command_line_backfills_too(airflow: Airflow, hours: str) -> None:
    active = "select 1 from backfill where dag_id = ? and completed_at is null"
    airflow.wait(lambda: not airflow.sql(active, hours), "the backfill before is marked complete")
    span = ["--from-date", "2013-07-04T10:00:00", "--to-date", "2013-07-04T11:00:00"]
    process = airflow.command("backfill", "create", "--dag-id", hours, *span)
    assert process.returncode == 0, process.stderr
    expected = {f"2013-07-04T{hour}:00-04:00|{segment}" for hour in (10, 11) for segment in "ab"}
    airflow.wait(lambda: expected <= set(airflow.keys(hours)), "the runs")
    airflow.wait_finished(hours, 54)


def test_a_backfill_does_not_move_the_schedule(airflow: Airflow, hours: str) -> None:
    airflow.parse_again(hours)
    (after,) = airflow.sql("select next_dagrun_create_after from dag where dag_id = ?", hours)[0]
    assert datetime.fromisoformat(f"{after}+00:00") > datetime.now(UTC)
    assert not airflow.runs(hours, run_type="scheduled")


def test_a_backfill_stops_at_the_last_closed_partition(airflow: Airflow, hours: str) -> None:
    now = datetime.now(UTC)
    body = ask(
        hours, f"{now - timedelta(hours=30):%Y-%m-%dT%H:%M:%SZ}", f"{now + timedelta(days=9):%Y-%m-%dT%H:%M:%SZ}"
    )
    planned = airflow.api.post("backfills/dry_run", body)["backfills"]
    definition = PartitionByInterval("@hourly", timezone="America/New_York")
    last = definition.parse(planned[-1]["partition_key"].removesuffix("|b"))
    assert last.end <= datetime.now(UTC) < last.end + timedelta(hours=1, minutes=1)


def test_a15_segments_alone_refuse_a_backfill_and_say_why(airflow: Airflow) -> None:
    airflow.write(
        "regions",
        """
        with DAG("regions", schedule=Partitioned(None, PartitionBySequence(["eu", "us"]))):
            EmptyOperator(task_id="nothing")
        """,
    )
    answer = airflow.api.ask("POST", "backfills", ask("regions", "2013-01-01T00:00:00Z", "2013-01-02T00:00:00Z"))
    assert answer.status_code == 422
    assert "no time dimension" in answer.text
