"""Operate over REST and from the command line, on a real API server and scheduler."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from airflow_partitions.operate.urls import URL_PREFIX, VERSION_PREFIX
from tests.loopback import client_of
from tests.scheduler.conftest import Airflow

DATABASES = ("postgresql",)  # the database has little to do with it
pytestmark = pytest.mark.airflow


SOURCE = """
DAYS = PartitionByInterval("@daily", start="{start}", end="2013-01-11")

@asset(schedule=None, dag_id="operated", partition=DAYS, default_args={{"retries": 2, "retry_delay": 0}})
def operated_days(partition):
    import time
    if partition.text == "2013-01-03" and not (OUT / "mended").exists():
        from airflow.sdk.exceptions import AirflowFailException
        raise AirflowFailException("not yet")
    if partition.text == "2013-01-08":
        (OUT / "begun").touch()
        while not (OUT / "finish").exists():
            time.sleep(0.2)
"""


@pytest.fixture(scope="module")
def operated(airflow: Airflow) -> str:
    airflow.write("operated", SOURCE.format(start="2013-01-01"))
    return "operated_days"


@pytest.fixture
def client(airflow: Airflow) -> Iterator[httpx.Client]:
    with client_of(f"{airflow.services.address}{URL_PREFIX}{VERSION_PREFIX}", token(airflow)) as client:
        yield client


def ask(client: httpx.Client, route: str, **body: Any) -> Any:
    return client.post(f"/assets/operated_days/{route}", json=body).raise_for_status().json()


def counts(client: httpx.Client) -> dict[str, int]:
    answer: dict[str, int] = client.get("/assets/operated_days/counts").raise_for_status().json()["counts"]
    return answer


def token(airflow: Airflow) -> str:
    answer = airflow.api._client.headers["Authorization"]
    return str(answer).removeprefix("Bearer ")


def command(airflow: Airflow, *words: str) -> tuple[int, Any]:
    """Run a command that asks the API server; its exit status and answer."""
    url = ["--output", "json", "--url", airflow.services.address]
    process = airflow.command("asset-partitions", *words, *url, AIRFLOW_CLI_TOKEN=token(airflow))
    assert process.stdout, process.stderr
    return process.returncode, json.loads(process.stdout)


def wait_ended(airflow: Airflow, client: httpx.Client, request: int) -> dict[str, Any]:
    """The request of that number, once it has ended."""

    def ended() -> Any:
        answer = client.get(f"/requests/{request}").raise_for_status().json()
        return answer if answer["state"] in ("done", "failed") else None

    answer: dict[str, Any] = airflow.wait(ended, f"request {request} has ended")
    return answer


def test_a_range_is_filled_seen_and_what_failed_is_made_again(
    airflow: Airflow, operated: str, client: httpx.Client
) -> None:
    assert counts(client) == {"missing": 10}
    (request,) = ask(client, "requests", select="2013-01-02..2013-01-06", label="the first week")["requests"]
    assert wait_ended(airflow, client, request["id"])["runs"] == {"success": 3, "failed": 1}
    assert counts(client) == {"failed": 1, "materialized": 3, "missing": 6}
    assert command(airflow, "status", operated, "2013-01-02..2013-01-06")[0] == 1
    _, why = command(airflow, "explain", operated, "2013-01-03")
    assert why["state"] == "failed"
    (airflow.out / "mended").touch()
    answer = client.post(f"/requests/{request['id']}/retry", json={})
    assert answer.json()["state"] in ("creating", "running")
    assert wait_ended(airflow, client, request["id"])["state"] == "done"
    assert command(airflow, "status", operated, "2013-01-02..2013-01-06")[0] == 0
    assert sorted(airflow.keys("operated")) == ["2013-01-02", "2013-01-03", "2013-01-04", "2013-01-05"]


def test_what_is_missing_is_filled_cancelled_forgotten_and_marked_while_processes_die_and_definitions_change(
    airflow: Airflow, operated: str, client: httpx.Client
) -> None:
    (request,) = ask(client, "requests", select="2013-01-02..2013-01-08", states=["missing"])["requests"]
    assert request["partitions"] == 2
    airflow.kill_scheduler()
    airflow.start_scheduler()
    assert wait_ended(airflow, client, request["id"])["runs"] == {"success": 2}
    (request,) = ask(client, "requests", select="all", states=["missing"], concurrency=1)["requests"]
    assert request["partitions"] == 4  # the first day, and the last three
    airflow.wait((airflow.out / "begun").exists, "the third day from the end is at work")
    assert client.post(f"/requests/{request['id']}/cancel", json={}).json()["state"] == "cancelled"
    (airflow.out / "finish").touch()
    airflow.wait(lambda: counts(client) == {"materialized": 8, "missing": 2}, "what was at work has ended")
    assert ask(client, "forget", select="2013-01-04", reason="rows are missing")["count"] == 1
    assert counts(client) == {"materialized": 7, "missing": 3}
    assert ask(client, "mark", select="2013-01-04", reason="loaded by hand")["count"] == 1
    (request,) = ask(client, "requests", select="all", states=["missing"])["requests"]
    assert (request["partitions"], wait_ended(airflow, client, request["id"])["runs"]) == (2, {"success": 2})
    assert counts(client) == {"materialized": 10}
    airflow.write("operated", SOURCE.format(start="2013-01-03"))
    assert counts(client) == {"materialized": 8}
    days = [f"2013-01-{day:02}" for day in range(1, 11)]
    assert sorted(airflow.keys("operated")) == days
    assert sorted(airflow.events(operated)) == sorted([*days, "2013-01-04"])  # which was marked
