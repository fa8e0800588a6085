"""Which tasks of a scheduled run do nothing, by what was made of its partition before."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset
from airflow.sdk.exceptions import AirflowRuntimeError, AirflowSkipException, ErrorType
from airflow.sdk.execution_time import context as airflow_context
from airflow.sdk.execution_time.comms import ErrorResponse

from airflow_partitions import Partition, PartitionByInterval, Partitioned, Selection
from airflow_partitions.engine.ledger.forgotten import Forgetting, Forgotten
from airflow_partitions.engine.ledger.ledger_pages import FORGOTTEN
from airflow_partitions.engine.runs.skip import SKIP_REASON, skip_if_materialized

DAYS = PartitionByInterval("@daily")
ONE, TWO = Asset("one"), Asset("two")
END, START = datetime(2013, 2, 9, tzinfo=UTC), datetime(2013, 2, 9, 0, 5, tzinfo=UTC)
BEFORE, SINCE = datetime(2013, 2, 9, 0, 1, tzinfo=UTC), datetime(2013, 2, 9, 0, 9, tzinfo=UTC)
TASKS = {"load": [], "first": [ONE], "second": [TWO], "both": [ONE, TWO]}


#: The asset, the time, the run; its id is the place that it has, from 1.
Event = tuple[str, datetime, str | None]


class Cells:
    """The state stores of the assets, as a task asks for them."""

    forgotten: Forgotten = Forgotten()

    def __init__(self, name: str) -> None:
        pass

    def get(self, cell: str) -> Any:
        return self.forgotten.to_json() if cell == FORGOTTEN else None


class Events:
    """The events of an asset, as a task asks for them."""

    events: tuple[Event, ...] = ()

    def __init__(self, asset_name: str, asset_uri: str) -> None:
        self._name = asset_name

    def after(self, moment: str) -> list[Any]:
        return [
            SimpleNamespace(
                id=number,
                partition_key="2013-02-08",
                timestamp=at,
                source_run_id=run_id,
                source_dag_id=run_id and "days",
            )
            for number, (name, at, run_id) in enumerate(self.events, 1)
            if name == self._name and at >= datetime.fromisoformat(moment)
        ]


def skipping(
    monkeypatch: pytest.MonkeyPatch,
    *events: Event,
    clear_number: int = 0,
    forgotten: int = 0,
    reader: type[Events] = Events,
) -> set[str]:
    """The tasks that do nothing, after *events*, of which those up to the one with the id *forgotten* are forgotten."""
    part = Forgetting(Selection.of(DAYS, "2013-02-08"), forgotten, START, "anna")
    monkeypatch.setattr(Cells, "forgotten", Forgotten((part,)))
    monkeypatch.setattr(airflow_context, "AssetStateStoreAccessor", Cells)
    monkeypatch.setattr(Events, "events", events)
    monkeypatch.setattr(airflow_context, "InletEventsAccessor", reader)
    tasks = {name: SimpleNamespace(outlets=outlets) for name, outlets in TASKS.items()}
    skipped = set()
    for name, task in tasks.items():
        reasons: dict[str, str] = {}
        run = SimpleNamespace(run_type="scheduled", clear_number=clear_number, run_after=END, start_date=START)
        context = {
            "partition": Partition(DAYS, "2013-02-08"),
            "dag_run": run,
            "dag": SimpleNamespace(timetable=Partitioned("@daily", DAYS), tasks=tasks.values()),
            "task": task,
            "ti": SimpleNamespace(
                xcom_push=reasons.__setitem__, get_dr_count=lambda dag_id, run_ids: "deleted" not in run_ids[0]
            ),
        }
        with suppress(AirflowSkipException):
            skip_if_materialized(context)
            assert not reasons
        if SKIP_REASON in reasons:
            skipped.add(name)
    return skipped


@pytest.mark.parametrize("run_id", ["manual__x", "mine", "backfill__x", "operator_triggered__x", None])
def test_a17_no_task_works_if_all_was_made_by_hand_before_the_run_began(
    monkeypatch: pytest.MonkeyPatch, run_id: str | None
) -> None:
    events = ("one", BEFORE, run_id), ("two", BEFORE, run_id)
    assert skipping(monkeypatch, *events) == set(TASKS)
    assert skipping(monkeypatch, *events, clear_number=1) == set()


@pytest.mark.parametrize("run_id", ["scheduled__x", "asset_triggered__x", "manual__deleted"])
def test_er9_what_a_schedule_made_and_what_was_deleted_is_made(monkeypatch: pytest.MonkeyPatch, run_id: str) -> None:
    assert skipping(monkeypatch, ("one", BEFORE, run_id), ("two", BEFORE, run_id)) == set()


def test_a17_only_the_tasks_do_not_work_that_write_what_was_made_since(monkeypatch: pytest.MonkeyPatch) -> None:
    assert skipping(monkeypatch, ("one", SINCE, "mine"), ("two", BEFORE, "mine")) == {"first", "second", "both"}
    assert skipping(monkeypatch, ("one", BEFORE, "mine")) == {"first"}


def test_a17_what_was_made_before_the_interval_was_over_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    open_still = datetime(2013, 2, 8, 23, 59, tzinfo=UTC)
    assert skipping(monkeypatch, ("one", open_still, "mine"), ("two", open_still, "mine")) == set()


def test_what_was_made_by_hand_and_forgotten_since_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = ("one", BEFORE, "mine"), ("two", BEFORE, "mine")
    assert skipping(monkeypatch, one, two, forgotten=2) == set()
    assert skipping(monkeypatch, one, two, one, forgotten=2) == {"first"}


def test_what_airflow_can_not_tell_of_keeps_no_task_from_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unreadable(Events):
        def after(self, moment: str) -> Any:
            yield from ()
            error = ErrorResponse(error=ErrorType.API_SERVER_ERROR, detail={"status_code": status})
            raise AirflowRuntimeError(error)

    status = 500
    assert skipping(monkeypatch, ("one", BEFORE, None), ("two", BEFORE, None), reader=Unreadable) == set()
    status = 403
    with pytest.raises(AirflowRuntimeError):
        skipping(monkeypatch, ("one", BEFORE, None), reader=Unreadable)
