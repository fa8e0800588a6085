"""Of several schedulers that see the same partition one starts its run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from airflow_partitions.history.run_requests import APPEARS_WITHIN, first_to_ask
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

KEY = "2013-07-01"


@pytest.fixture
def flights(metadata: Metadata) -> Metadata:
    if metadata.engine.dialect.name == "sqlite":
        pytest.skip("Airflow allows one scheduler on SQLite")
    metadata.asset("flights")
    return metadata


def test_the_second_is_told_no(flights: Metadata) -> None:
    assert first_to_ask("days", KEY, "flights", None)
    assert not first_to_ask("days", KEY, "flights", None)
    assert first_to_ask("days", "2013-07-02", "flights", None)
    assert first_to_ask("weeks", KEY, "flights", None)


def test_a_run_that_began_before_is_another_one(flights: Metadata) -> None:
    before = datetime.now(UTC)
    assert first_to_ask("days", KEY, "flights", None)
    assert not first_to_ask("days", KEY, "flights", before)
    assert first_to_ask("days", KEY, "flights", datetime.now(UTC))


def test_a_scheduler_that_died_holds_nothing_up_for_long(flights: Metadata) -> None:
    long_ago = datetime.now(UTC) - APPEARS_WITHIN - timedelta(seconds=1)
    flights.put("flights", "asked/days", {KEY: long_ago.isoformat(), "2013-07-02": datetime.now(UTC).isoformat()})
    assert first_to_ask("days", KEY, "flights", None)
    assert not first_to_ask("days", "2013-07-02", "flights", None)


def test_what_was_asked_long_ago_is_not_kept(flights: Metadata) -> None:
    flights.put("flights", "asked/days", {KEY: datetime(2013, 7, 2, tzinfo=UTC).isoformat()})
    assert first_to_ask("days", "2013-07-02", "flights", None)
    assert list(flights.cells("flights")["asked/days"]) == ["2013-07-02"]


def test_of_two_at_the_same_moment_one_asks(flights: Metadata) -> None:
    together = Barrier(2)

    def ask(_: int) -> list[bool]:
        answers = []
        for number in range(50):
            together.wait(60)
            answers.append(first_to_ask(f"days_{number % 5}", str(number), "flights", None))
        return answers

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(ask, range(2))
    assert [a + b for a, b in zip(one, other, strict=True)] == [1] * 50
