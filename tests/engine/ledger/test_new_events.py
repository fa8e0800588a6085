"""Events in the order in which they are committed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert

from airflow_partitions.engine.ledger.new_events import SETTLED, NewEvents
from tests.engine.timetables.stage import Clock, clock
from tests.metadata import LONG_AGO, Metadata

__all__ = ["clock"]

pytestmark = pytest.mark.airflow


def put(metadata: Metadata, number: int, asset: str, key: str | None, at: datetime = LONG_AGO) -> None:
    from airflow.models.asset import AssetEvent

    with metadata.engine.begin() as connection:
        row = {"id": number, "asset_id": metadata.asset(asset), "partition_key": key, "timestamp": at}
        connection.execute(insert(AssetEvent), row)


def test_ea10_each_event_is_given_once_whenever_it_is_committed(metadata: Metadata, clock: Clock) -> None:
    put(metadata, 1_005, "flights", "old")
    events = NewEvents()
    assert events.read() == ()
    put(metadata, 1_008, "flights", "three")
    put(metadata, 1_009, "weather", None)
    assert [(event.asset, event.key) for event in events.read()] == [("flights", "three"), ("weather", "")]
    put(metadata, 1_007, "weather", "two")  # began before, and commits after it; by a clock of long ago
    put(metadata, 1_003, "flights", "one")  # began before the first question
    put(metadata, 1_010, "flights", "four", datetime.now(UTC) + timedelta(days=1))
    assert [(event.asset, event.key) for event in events.read()] == [
        ("flights", "one"), ("weather", "two"), ("flights", "four"),
    ]  # fmt: skip
    assert list(events.read()) == []
    assert events.newest == 1_010


def test_ea10_an_id_that_nobody_took_is_not_asked_for_for_ever(metadata: Metadata, clock: Clock) -> None:
    put(metadata, 1, "flights", "one")
    events = NewEvents()
    events.read()
    put(metadata, 1_000_000, "flights", "far")
    assert [event.key for event in events.read()] == ["far"]
    assert 0 < len(events._skipped or {}) <= 1_000
    clock.now += SETTLED
    events.read()
    assert not events._skipped
