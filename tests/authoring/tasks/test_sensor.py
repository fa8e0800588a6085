"""The sensor for partitions of an asset, and its trigger, over Airflow's tables."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset
from airflow.sdk.exceptions import AirflowFailException, TaskDeferred
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from airflow_partitions import Lookback, MaterializedSensor, Partition, PartitionByInterval, Selection
from airflow_partitions.authoring.tasks import MaterializedTrigger
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.engine.runs.claim import Claimant, note_of
from airflow_partitions.engine.runs.failure import on_dag_run_failed
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, write_extra
from airflow_partitions.operate.upkeep.mailboxes import restore_notes
from tests.metadata import Metadata
from tests.orphaned_assets import throw_cells_away
from tests.supervisor import Supervisor

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily", start="2013-01-01")
HOURS = PartitionByInterval("@hourly", start="2013-01-01")
FLIGHTS = Asset("flights")
write_extra(FLIGHTS, ProducedPartitions(HOURS))
NOON = datetime(2013, 11, 5, 12, tzinfo=UTC)


def hours(day: str, *numbers: int) -> list[str]:
    return [f"{day}T{hour:02}:00Z" for hour in numbers or range(24)]


def context(day: str | None = None) -> dict[str, Any]:
    of_run = {
        "task": SimpleNamespace(task_id="none"),
        "dag": SimpleNamespace(timetable=None),
        "dag_run": SimpleNamespace(run_after=NOON),
    }
    return of_run if day is None else of_run | {"partition": Partition(DAYS, day)}


def deferred(sensor: MaterializedSensor, of_run: dict[str, Any]) -> TaskDeferred:
    with pytest.raises(TaskDeferred) as raised:
        sensor.execute(of_run)
    return raised.value


def test_it_waits_for_what_the_runs_own_partition_needs(metadata: Metadata, supervisor: Supervisor) -> None:
    metadata.emit("flights", *hours("2013-02-08", *range(23)))
    sensor = MaterializedSensor(task_id="hours", asset=FLIGHTS, timeout=600)
    trigger = deferred(sensor, context("2013-02-08")).trigger
    assert [str(key) for key in Selection.from_json(trigger.selection)] == ["2013-02-08T23:00Z"]
    metadata.emit("flights", "2013-02-08T23:00Z")
    assert sensor.execute(context("2013-02-08")) is None
    before = MaterializedSensor(task_id="before", asset=FLIGHTS, rule=Lookback(1))
    trigger = deferred(before, context("2013-02-08")).trigger
    assert [str(key) for key in Selection.from_json(trigger.selection)] == ["2013-02-07T23:00Z"]


@pytest.mark.parametrize(
    "keys",
    [
        "2013-02-08T05:00Z",
        ["2013-02-08T05:00Z", "2013-02-08T06:00Z"],
        "2013-02-08T05:00Z..2013-02-08T07:00Z",
        Selection.of(HOURS, "2013-02-08T05:00Z", "2013-02-08T06:00Z"),
    ],
)
def test_it_waits_for_keys_in_any_dag(metadata: Metadata, supervisor: Supervisor, keys: Any) -> None:
    metadata.asset("flights")
    sensor = MaterializedSensor(task_id="keys", asset=FLIGHTS, keys=keys, deferrable=False)
    assert not sensor.poke(context())
    metadata.emit("flights", *hours("2013-02-08", 5, 6))
    assert sensor.poke(context())


def test_what_makes_no_sense_is_refused(metadata: Metadata, supervisor: Supervisor) -> None:
    metadata.asset("flights")
    with pytest.raises(InvalidDefinitionError, match="expected keys=, which partitions are meant, or rule="):
        MaterializedSensor(task_id="both", asset=FLIGHTS, keys="x", rule=Lookback(1))
    with pytest.raises(InvalidDefinitionError, match="in a Dag without partitions; give keys="):
        MaterializedSensor(task_id="none", asset=FLIGHTS).execute(context())
    with pytest.raises(InvalidKeyError, match="2013-02-08T05"):
        MaterializedSensor(task_id="key", asset=FLIGHTS, keys="2013-02-08T05:30Z").execute(context())
    with pytest.raises(InvalidDefinitionError, match="given a selection of"):
        MaterializedSensor(task_id="days", asset=FLIGHTS, keys=Selection.of(DAYS, "2013-02-08")).execute(context())


def rebuilt(trigger: Any) -> Any:
    """As the triggerer makes it from the database."""
    path, kwargs = trigger.serialize()
    assert path == f"{type(trigger).__module__}.{type(trigger).__name__}"
    return type(trigger)(**json.loads(json.dumps(kwargs)))


async def fired(*triggers: MaterializedTrigger) -> list[Any]:
    """The events of triggers that run side by side."""
    events = await asyncio.wait_for(asyncio.gather(*(anext(aiter(trigger.run())) for trigger in triggers)), 60)
    return [event.payload for event in events]


def test_a_trigger_fires_when_the_ledger_has_all(metadata: Metadata, supervisor: Supervisor) -> None:
    metadata.emit("flights", *hours("2013-02-08", 0, 1))
    update_ledger("flights", HOURS)
    waiting = Selection.of(HOURS, *hours("2013-02-08", 1, 2))

    async def play() -> list[Any]:
        trigger = rebuilt(MaterializedTrigger("flights", waiting.to_json(), 0.1))
        event = asyncio.ensure_future(fired(trigger))
        await asyncio.sleep(1)
        assert not event.done()
        metadata.emit("flights", "2013-02-08T02:00Z")
        update_ledger("flights", HOURS)
        return await event

    assert asyncio.run(play()) == [{"missing": 0}]


def test_an_api_that_is_away_for_a_while_does_not_end_a_trigger(metadata: Metadata, supervisor: Supervisor) -> None:
    from airflow.sdk.exceptions import AirflowRuntimeError
    from airflow.sdk.execution_time.comms import ErrorResponse
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor

    metadata.emit("flights", "2013-02-08T01:00Z")
    update_ledger("flights", HOURS)
    selection = Selection.of(HOURS, "2013-02-08T01:00Z")
    read, failures = AssetStateStoreAccessor.aget, [AirflowRuntimeError(ErrorResponse())] * 3

    async def unreachable(self: AssetStateStoreAccessor, key: str) -> Any:
        if failures:
            raise failures.pop()
        return await read(self, key)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(AssetStateStoreAccessor, "aget", unreachable)
        assert asyncio.run(fired(MaterializedTrigger("flights", selection.to_json(), 0.05))) == [{"missing": 0}]
    assert not failures


def test_it_fails_as_soon_as_a_run_has_if_so_said(metadata: Metadata, supervisor: Supervisor) -> None:
    from tests.operate.states.world import put_runs

    metadata.asset("flights")
    keys = hours("2013-02-08", 1, 2)
    put_runs(metadata, "flights", keys, "failed", NOON)
    note = {"version": 1, "dag_id": "flights", "run_id": f"flights {keys[1]} {NOON.isoformat()}", "at": ""}
    patient, hasty = (
        MaterializedSensor(task_id="both", asset=FLIGHTS, keys=keys, fail_soon=soon) for soon in (False, True)
    )
    trigger = rebuilt(deferred(hasty, context()).trigger)
    trigger.poke_interval = 0.05
    metadata.put("flights", f"claim|{keys[1]}", note)
    assert asyncio.run(fired(trigger)) == [{"missing": 2}]
    with pytest.raises(AirflowFailException, match="which was to make 2013-02-08T02:00Z of flights, has failed"):
        hasty.go_on(context(), {"missing": 2}, NOON.isoformat())
    deferred(patient, context())


def test_eb1_a_run_that_failed_before_its_task_began_is_noticed_until_another_one_begins(
    metadata: Metadata, supervisor: Supervisor, tmp_path: Path
) -> None:
    from airflow.models.dagbag import DBDagBag
    from airflow.models.dagrun import DagRun

    from tests.operate.states.world import put_runs

    source = """
    @asset(schedule=None, partition=PartitionByInterval("@hourly", start="2013-01-01"))
    def flights(): ...
    """
    metadata.parse(tmp_path, flights=source)
    (key,) = hours("2013-02-08", 1)
    hasty = MaterializedSensor(task_id="one", asset=FLIGHTS, keys=key, fail_soon=True)
    for began in (NOON, NOON + timedelta(hours=1)):
        put_runs(metadata, "flights", [key], "failed", began)
        deferred(hasty, context())
        with Session(metadata.engine) as at:
            run = at.scalars(select(DagRun).where(DagRun.run_after == began)).one()
            run.dag = DBDagBag().get_latest_version_of_dag("flights", session=at)
            on_dag_run_failed(run, "")
            at.commit()
        for throw_away in (False, True):
            if throw_away:  # also when Airflow has thrown the note away
                throw_cells_away(metadata)
                restore_notes([metadata.asset("flights")])
            with pytest.raises(AirflowFailException, match="make 2013-02-08T01:00Z of flights, has failed"):
                hasty.execute(context())
        put_runs(metadata, "flights", [key], "running", began + timedelta(minutes=1))
        claimant = Claimant("flights", f"flights {key} {(began + timedelta(minutes=1)).isoformat()}")
        metadata.put("flights", f"claim|{key}", note_of(claimant))
        deferred(hasty, context())
        with metadata.engine.begin() as connection:
            connection.execute(update(DagRun).where(DagRun.run_id == claimant.run_id).values(state="success"))


def test_a_trigger_lets_the_task_look_where_no_upkeep_runs(metadata: Metadata, supervisor: Supervisor) -> None:
    metadata.emit("flights", "2013-02-08T01:00Z")
    sensor = MaterializedSensor(task_id="two", asset=FLIGHTS, keys=hours("2013-02-08", 1, 2), timeout=600)
    first = deferred(sensor, context())
    trigger = MaterializedTrigger("flights", first.trigger.selection, 0.05, patience=0.2)
    (event,) = asyncio.run(fired(trigger))
    assert event == {"missing": 1}
    with pytest.raises(TaskDeferred) as again:
        sensor.go_on(context(), event, **first.kwargs)
    assert again.value.timeout < first.timeout
    metadata.emit("flights", "2013-02-08T02:00Z")
    sensor.go_on(context(), event, **first.kwargs)


def test_the_queries_of_a_triggerer_do_not_grow_with_the_sensors_that_wait(
    metadata: Metadata, supervisor: Supervisor
) -> None:
    metadata.emit("flights", *hours("2013-02-08"))
    update_ledger("flights", HOURS)

    def queries(sensors: int) -> int:
        supervisor.messages.clear()
        supervisor.queries.clear()
        waiting = [Selection.of(HOURS, f"2013-02-{8 + n % 20:02}T05:00Z", "2013-02-08T01:00Z") for n in range(sensors)]
        triggers = [MaterializedTrigger("flights", each.to_json(), 4, patience=0.01) for each in waiting]
        time.sleep(4 - time.monotonic() % 4)  # to the beginning of an interval, so that all look at its end
        payloads = asyncio.run(fired(*triggers))
        assert sum(payload["missing"] for payload in payloads) == sum(n % 20 > 0 for n in range(sensors))
        assert len(supervisor.messages) == 2  # the ledger's progress, and the page of February
        return len(supervisor.queries)

    assert queries(200) == queries(1) > 0
