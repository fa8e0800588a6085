"""Of several schedulers that see the same partition one starts its run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import insert

from airflow_partitions.engine.database.models import RunRequest as Row
from airflow_partitions.engine.ledger.run_requests import (
    APPEARS_WITHIN,
    RunRequest,
    delete_run_requests,
    request_run,
    run_requests,
)
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

KEY = "2013-07-01"


@pytest.fixture
def flights(metadata: Metadata) -> Metadata:
    if metadata.engine.dialect.name == "sqlite":
        pytest.skip("Airflow allows one scheduler on SQLite")
    return metadata


def request(dag_id: str, key: str, started: datetime | None = None) -> bool:
    return request_run(dag_id, key, RunRequest(datetime.now(UTC), 7, 3), started)


def put(metadata: Metadata, at: datetime) -> None:
    with metadata.engine.begin() as connection:
        connection.execute(insert(Row).values(dag_id="days", key=KEY, at=at, event=7, run=3))


def test_the_second_is_told_no(flights: Metadata) -> None:
    assert request("days", KEY)
    assert not request("days", KEY)
    assert request("days", "2013-07-02")
    assert request("weeks", KEY)


def test_a_request_tells_what_its_run_will_have_read(flights: Metadata) -> None:
    assert run_requests("days", [KEY]) == {}
    assert request("days", KEY)
    (one,) = run_requests("days", [KEY, "2013-07-02"]).values()
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


def test_they_are_deleted_once_their_runs_are_there(flights: Metadata) -> None:
    put(flights, datetime.now(UTC) - timedelta(days=2))
    assert request("days", "2013-07-02")
    delete_run_requests(datetime.now(UTC) - timedelta(days=1))
    assert list(run_requests("days", [KEY, "2013-07-02"])) == ["2013-07-02"]
