"""Of several schedulers that see the same partition one starts its run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest

from airflow_partitions.history.run_requests import APPEARS_WITHIN, RunRequest, request_run, run_requests
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

KEY = "2013-07-01"


@pytest.fixture
def flights(metadata: Metadata) -> Metadata:
    if metadata.engine.dialect.name == "sqlite":
        pytest.skip("Airflow allows one scheduler on SQLite")
    metadata.asset("flights")
    return metadata


def request(dag_id: str, key: str, started: datetime | None = None) -> bool:
    return request_run(dag_id, key, "flights", RunRequest(datetime.now(UTC), 7, 3), started)


def put(metadata: Metadata, at: datetime, version: int = 1) -> None:
    form = RunRequest(at, 7, 3).to_json() | {"version": version}
    metadata.put("flights", f"request/days/{KEY}", form)


def test_the_second_is_told_no(flights: Metadata) -> None:
    assert request("days", KEY)
    assert not request("days", KEY)
    assert request("days", "2013-07-02")
    assert request("weeks", KEY)


def test_a_request_tells_what_its_run_will_have_read(flights: Metadata) -> None:
    assert run_requests("days", [KEY], "flights") == {}
    assert request("days", KEY)
    (one,) = run_requests("days", [KEY, "2013-07-02"], "flights").values()
    assert (one.event, one.run) == (7, 3)


def test_a_run_that_began_before_is_another_one(flights: Metadata) -> None:
    before = datetime.now(UTC)
    assert request("days", KEY)
    assert not request("days", KEY, before)
    assert request("days", KEY, datetime.now(UTC))


def test_a_scheduler_that_died_holds_nothing_up_for_long(flights: Metadata) -> None:
    put(flights, datetime.now(UTC) - APPEARS_WITHIN - timedelta(seconds=1))
    assert request("days", KEY)


def test_ea4_a_request_of_the_future_holds_nothing_up(flights: Metadata) -> None:
    put(flights, datetime.now(UTC) + timedelta(days=9))
    assert request("days", KEY)


def test_requests_of_another_release_are_left_aside(flights: Metadata, caplog: pytest.LogCaptureFixture) -> None:
    put(flights, datetime.now(UTC), version=2)
    assert request("days", KEY)
    assert "has version 2; expected 1" in caplog.text
    assert not request("days", KEY)


@pytest.mark.parametrize(
    "form", ["x", 7, [], {}, {"version": 1}, {"version": 1, "at": 5, "event": 1, "run": 1}], ids=repr
)
def test_ea2_a_request_that_cant_be_read_counts_as_not_there(
    flights: Metadata, caplog: pytest.LogCaptureFixture, form: Any
) -> None:
    flights.put("flights", f"request/days/{KEY}", form)
    assert run_requests("days", [KEY], "flights") == {}
    assert request("days", KEY)
    assert "can't be read, and counts as not there" in caplog.text
    assert not request("days", KEY)


def test_of_two_at_the_same_moment_one_asks(flights: Metadata) -> None:
    together = Barrier(2)

    def ask(_: int) -> list[bool]:
        answers = []
        for number in range(50):
            together.wait(60)
            answers.append(request(f"days_{number % 5}", str(number)))
        return answers

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(ask, range(2))
    assert [a + b for a, b in zip(one, other, strict=True)] == [1] * 50
