"""Of several schedulers that see the same partition one starts its run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from airflow_partitions.history.run_requests import APPEARS_WITHIN, request_run
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

KEY = "2013-07-01"


@pytest.fixture
def flights(metadata: Metadata) -> Metadata:
    if metadata.engine.dialect.name == "sqlite":
        pytest.skip("Airflow allows one scheduler on SQLite")
    metadata.asset("flights")
    return metadata


def put(metadata: Metadata, requests: dict[str, datetime], version: int = 1) -> None:
    form = {"version": version, "requests": {key: time.isoformat() for key, time in requests.items()}}
    metadata.put("flights", "requests/days", form)


def test_the_second_is_told_no(flights: Metadata) -> None:
    assert request_run("days", KEY, "flights", None)
    assert not request_run("days", KEY, "flights", None)
    assert request_run("days", "2013-07-02", "flights", None)
    assert request_run("weeks", KEY, "flights", None)


def test_a_run_that_began_before_is_another_one(flights: Metadata) -> None:
    before = datetime.now(UTC)
    assert request_run("days", KEY, "flights", None)
    assert not request_run("days", KEY, "flights", before)
    assert request_run("days", KEY, "flights", datetime.now(UTC))


def test_a_scheduler_that_died_holds_nothing_up_for_long(flights: Metadata) -> None:
    long_ago = datetime.now(UTC) - APPEARS_WITHIN - timedelta(seconds=1)
    put(flights, {KEY: long_ago, "2013-07-02": datetime.now(UTC)})
    assert request_run("days", KEY, "flights", None)
    assert not request_run("days", "2013-07-02", "flights", None)


def test_what_was_asked_long_ago_is_not_kept(flights: Metadata) -> None:
    put(flights, {KEY: datetime(2013, 7, 2, tzinfo=UTC)})
    assert request_run("days", "2013-07-02", "flights", None)
    assert list(flights.cells("flights")["requests/days"]["requests"]) == ["2013-07-02"]


def test_requests_of_another_release_are_left_aside(flights: Metadata, caplog: pytest.LogCaptureFixture) -> None:
    put(flights, {KEY: datetime.now(UTC)}, version=2)
    assert request_run("days", KEY, "flights", None)
    assert "has version 2; expected 1" in caplog.text
    assert not request_run("days", KEY, "flights", None)


def test_of_two_at_the_same_moment_one_asks(flights: Metadata) -> None:
    together = Barrier(2)

    def ask(_: int) -> list[bool]:
        answers = []
        for number in range(50):
            together.wait(60)
            answers.append(request_run(f"days_{number % 5}", str(number), "flights", None))
        return answers

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(ask, range(2))
    assert [a + b for a, b in zip(one, other, strict=True)] == [1] * 50
