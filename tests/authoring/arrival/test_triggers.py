"""The triggers, run in an event loop as the triggerer runs them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from airflow_partitions import PartitionByInterval, Selection
from airflow_partitions.authoring.arrival import ArrivalTrigger, PartitionTrigger
from airflow_partitions.authoring.arrival.arrivals import Arrivals
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consumers.ready import Ready

HOURS = PartitionByInterval("@hourly", name="hour", start="2013-01-01")
ON = {"hour": "%Y-%m-%dT%H"}


@pytest.fixture
def files(tmp_path: Path) -> Parquet:
    return Parquet(f"{tmp_path}/landing", partition=HOURS, partition_on=ON, ownership="read-only")


def land(files: Parquet, *hours: int) -> None:
    for hour in hours:
        folder = Path(files.path) / f"hour=2013-02-08T{hour:02}"
        folder.mkdir(parents=True)
        (folder / "part-0.parquet").touch()


def arrivals(files: Parquet, tmp_path: Path, **more: Any) -> Arrivals:
    return Arrivals(files, "test", Ready(), f"{tmp_path}/state", **more)


def play(trigger: Any, *steps: Callable[[], object]) -> list[Any]:
    """Run *trigger*: after each event the next step is done; ``None`` stands for an event that did not come."""

    async def run() -> list[Any]:
        events: AsyncIterator[TriggerEvent] = trigger.run()
        payloads: list[Any] = []
        for step in steps:
            step()
            next_event = asyncio.ensure_future(anext(events, None))  # type: ignore[arg-type]
            finished, _ = await asyncio.wait({next_event}, timeout=20 if step is not nothing else 1)
            if not finished:
                next_event.cancel()
                await asyncio.wait({next_event})
                payloads.append(None)
                break
            event = next_event.result()
            payloads.append(None if event is None else event.payload)
        await events.aclose()  # type: ignore[attr-defined]
        return payloads

    return asyncio.run(run())


def nothing() -> None:
    """No step: no event is expected."""


def rebuilt(trigger: Any) -> Any:
    """As the triggerer makes it from the database."""
    path, kwargs = trigger.serialize()
    assert path == f"{type(trigger).__module__}.{type(trigger).__name__}"
    return type(trigger)(**json.loads(json.dumps(kwargs)))


def test_it_fires_when_all_are_there(files: Parquet) -> None:
    selection = Selection.between(HOURS, *_span("2013-02-08T00:00+00:00", "2013-02-08T03:00+00:00"))
    trigger = rebuilt(PartitionTrigger(files.to_json(), selection.to_json(), Ready().to_json(), 0.05))
    land(files, 0, 1)
    assert play(trigger, nothing) == [None]
    assert play(trigger, lambda: land(files, 2)) == [{"partitions": 3}]


def _span(start: str, end: str) -> tuple[Any, Any]:
    from datetime import datetime

    return datetime.fromisoformat(start), datetime.fromisoformat(end)


def test_it_fires_for_new_partitions_and_not_again(files: Parquet, tmp_path: Path) -> None:
    landings = arrivals(files, tmp_path)
    trigger = rebuilt(ArrivalTrigger(landings.to_json(), 0.05))
    events = play(trigger, lambda: land(files, 0, 1), lambda: land(files, 2), nothing)
    assert [event and event["partitions"] for event in events] == [2, 3, None]
    landings.consumer().take().confirm()
    assert play(trigger, nothing) == [None]
    assert play(trigger, lambda: land(files, 3))[0]["first"] == "hour=2013-02-08T03"


def test_it_fires_again_while_some_of_many_are_left(files: Parquet, tmp_path: Path) -> None:
    landings = arrivals(files, tmp_path)
    events = play(
        ArrivalTrigger(landings.to_json(), 0.05),
        lambda: land(files, 0, 1, 2),
        lambda: landings.consumer().take(limit=2).confirm(),
        lambda: landings.consumer().take(limit=1).confirm() or land(files, 5),
        nothing,
    )
    assert [event and event["partitions"] for event in events] == [3, 1, 1, None]


def test_it_fires_again_for_what_nobody_reported(files: Parquet, tmp_path: Path) -> None:
    landings = arrivals(files, tmp_path, lease=timedelta(seconds=0.5))
    events = play(ArrivalTrigger(landings.to_json(), 0.05), lambda: land(files, 0), lambda: None)
    assert [event["partitions"] for event in events] == [1, 1]


def test_a_file_system_that_is_away_does_not_end_it(files: Parquet, tmp_path: Path) -> None:
    land(files, 0)
    state = tmp_path / "state" / "test" / f"{1:020}.json"
    state.parent.mkdir(parents=True)
    state.write_text("half of it, for a whi")

    def back() -> None:
        state.unlink()

    trigger = ArrivalTrigger(arrivals(files, tmp_path).to_json(), 0.05)
    assert play(trigger, nothing) == [None]
    assert play(trigger, back)[0]["partitions"] == 1


def test_equal_watchers_are_one_trigger(files: Parquet, tmp_path: Path) -> None:
    hashes = {
        BaseEventTrigger.hash(*ArrivalTrigger(arrivals(files, tmp_path).to_json(), 60).serialize()) for _ in range(3)
    }
    assert len(hashes) == 1


def test_json_round_trip(files: Parquet, tmp_path: Path) -> None:
    landings = arrivals(files, tmp_path, lease=timedelta(seconds=90))
    assert Arrivals.from_json(json.loads(json.dumps(landings.to_json()))) == landings


def test_the_state_of_external_data_needs_a_place(files: Parquet) -> None:
    with pytest.raises(InvalidDefinitionError, match="give state="):
        Arrivals(files, "test").consumer()
