"""Partitions asked for from the command line, made by a real scheduler."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airflow_partitions.operate.cli.materialize import FAILED, STANDS_STILL
from tests.scheduler.conftest import Airflow
from tests.scheduler.test_upkeep import service

DATABASES = ("postgresql",)  # the tests of requests ask both
pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def asked(airflow: Airflow) -> Airflow:
    airflow.write(
        "asked_hours",
        """
        @asset(schedule=None, partition=PartitionByInterval("@hourly", start="2013-01-01"))
        def asked_hours(partition): ...

        @asset(schedule=asked_hours, partition=PartitionByInterval("@daily", start="2013-01-01"))
        def asked_days(partition): ...
        """,
    )
    airflow.write(
        "asked_fail",
        """
        @asset(schedule=None, partition=PartitionByInterval("@daily", start="2013-01-01"))
        def asked_fail(partition):
            if partition.text == "2013-02-02" and not (OUT / "asked_mended").exists():
                raise ValueError("not today")
        """,
    )
    airflow.write(
        "asked_minutes",
        """
        MINUTES = PartitionByInterval("* * * * *", start="2013-01-01")

        @asset(schedule="* * * * *", is_paused_upon_creation=True, partition=MINUTES)
        def asked_minutes(partition): ...

        @asset(schedule=asked_minutes, is_paused_upon_creation=True, partition=MINUTES)
        def asked_copies(partition):
            import time
            while not (OUT / "asked_finish").exists():
                time.sleep(0.2)
        """,
    )
    return airflow


def command(airflow: Airflow, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit status and JSON of a command."""
    process = airflow.command("asset-partitions", *arguments, "--output", "json")
    assert process.stdout, process.stderr
    return process.returncode, json.loads(process.stdout.splitlines()[-1])


def test_missing_upstream_is_made_first_and_the_rest_follows_by_events(asked: Airflow) -> None:
    status, answer = command(
        asked, "materialize", "asked_days", "2013-02-01..2013-02-02", "--upstream", "--label", "first days", "--wait"
    )
    (request,) = answer["requests"]
    assert (status, request["asset"], request["state"], request["runs"]) == (0, "asked_hours", "done", {"success": 24})
    runs = asked.wait_finished("asked_days", 1)
    assert [(key, state) for key, state, _ in runs] == [("2013-02-01", "success")]
    notes = asked.sql("select content from dag_run_note n join dag_run r on r.id = n.dag_run_id where r.dag_id = ?",
                      "asked_hours")  # fmt: skip
    assert {note.splitlines()[-1] for (note,) in notes} == {f"Request {request['id']}: first days"}
    tasks = asked.sql("select distinct try_number from task_instance where dag_id = ?", "asked_hours")
    assert tasks == [(1,)]


def test_a_failure_stops_what_follows_until_it_is_mended_and_retried(asked: Airflow) -> None:
    status, answer = command(
        asked,
        "materialize",
        "asked_fail",
        "2013-02-01..2013-02-06",
        "--concurrency",
        "1",
        "--stop-at-failure",
        "--wait",
    )
    (request,) = answer["requests"]
    assert (status, request["state"]) == (STANDS_STILL, "stopped")
    assert [key for key, state, _ in asked.runs("asked_fail") if state == "queued"] == [
        "2013-02-03", "2013-02-04", "2013-02-05"
    ]  # fmt: skip
    assert asked.events("asked_fail") == ["2013-02-01"]  # in order
    (asked.out / "asked_mended").touch()
    command(asked, "retry", str(request["id"]))
    asked.wait_finished("asked_fail", 5, state="success")
    assert len(asked.events("asked_fail")) == 5
    assert [key for key, _, _ in asked.runs("asked_fail")] == [f"2013-02-0{day}" for day in range(1, 6)]
    _, answer = command(asked, "requests", "asked_fail")
    assert answer["requests"][0]["runs"] == {"success": 5}


def test_a_partition_that_was_made_is_made_again_by_a_new_try(asked: Airflow) -> None:
    status, _ = command(asked, "materialize", "asked_hours", "2013-02-01T05:00Z", "--wait")
    assert status == 0
    assert len(asked.runs("asked_hours")) == 24
    assert asked.events("asked_hours").count("2013-02-01T05:00Z") == 2
    assert asked.sql("select max(try_number) from task_instance where dag_id = ?", "asked_hours") == [(2,)]


def test_failed_runs_show_in_the_exit_status(asked: Airflow) -> None:
    (asked.out / "asked_mended").unlink(missing_ok=True)
    status, answer = command(asked, "materialize", "asked_fail", "2013-02-02", "--wait")
    assert (status, answer["requests"][0]["state"]) == (FAILED, "failed")


def test_partitions_of_a_paused_dag_are_made_and_its_schedule_still_stands(asked: Airflow) -> None:
    """Both Dags would begin at once when they are unpaused: one by its clock, the other by events of the first."""

    def is_paused(dag_id: str) -> bool:
        return bool(asked.api.ask("GET", f"dags/{dag_id}").json()["is_paused"])

    due = "select next_dagrun_create_after from dag where dag_id = 'asked_minutes'"
    asked.wait(lambda: asked.sql(due) != [(None,)], "the paused Dag is due")
    with service(asked):
        status, _ = command(asked, "materialize", "asked_copies", "2013-02-02T00:00Z", "--while-paused")
        assert (status, is_paused("asked_copies")) == (0, False)
        status, answer = command(
            asked, "materialize", "asked_minutes", "2013-02-01T00:00Z..2013-02-01T00:06Z", "--while-paused", "--wait"
        )
        assert (status, answer["requests"][0]["runs"]) == (0, {"success": 6})
        asked.wait(lambda: is_paused("asked_minutes"), "upkeep has paused it again")
        (asked.out / "asked_finish").touch()
        asked.wait(lambda: is_paused("asked_copies"), "upkeep has paused the other one again")
    assert asked.events("asked_copies") == ["2013-02-02T00:00Z"]
    assert sorted(asked.events("asked_minutes")) == [f"2013-02-01T00:0{minute}Z" for minute in range(6)]
    assert len(asked.runs("asked_minutes")) == 6
    assert {state for _, state, _ in asked.runs("asked_copies")} <= {"success", "queued"}  # what came meanwhile waits
    asked.wait(lambda: asked.sql(due) != [(None,)], "the paused Dag is due again")
