"""Which tasks of a scheduled run do nothing, by what was made of its partition since the run began."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, Self

import pytest
from airflow.sdk import Asset
from airflow.sdk.exceptions import AirflowRuntimeError, AirflowSkipException, ErrorType
from airflow.sdk.execution_time import context as airflow_context
from airflow.sdk.execution_time.comms import ErrorResponse

from airflow_partitions import Partition, PartitionByInterval, Partitioned, Selection
from airflow_partitions.engine.ledger.forgotten import Forgetting, Forgotten
from airflow_partitions.engine.ledger.ledger_pages import FORGOTTEN
from airflow_partitions.engine.runs.skip import SKIP_REASON, skip_if_materialized

DAYS, DAY = PartitionByInterval("@daily"), "2013-02-08"
ONE, TWO = Asset("one"), Asset("two")
END, START = datetime(2013, 2, 9, tzinfo=UTC), datetime(2013, 2, 9, 0, 5, tzinfo=UTC)
BEFORE, SINCE = datetime(2013, 2, 9, 0, 1, tzinfo=UTC), datetime(2013, 2, 9, 0, 9, tzinfo=UTC)
LATER = SINCE + timedelta(minutes=1)
TASKS = {"load": [], "first": [ONE], "second": [TWO], "both": [ONE, TWO]}


#: The asset, the time, the run, the key; its id is the place that it has, from 1.
Event = tuple[str, datetime, str | None, str]


class Cells:
    """The state stores of the assets, as a task asks for them."""

    forgotten: Forgotten = Forgotten()

    def __init__(self, name: str) -> None:
        pass

    def get(self, cell: str) -> Any:
        return self.forgotten.to_json() if cell == FORGOTTEN else None


class Events:
    """The events of an asset, as a task asks for them: a page of them, the newest first."""

    events: tuple[Event, ...] = ()
    pages = 0

    def __init__(self, asset_name: str) -> None:
        self._name = asset_name
        self._before = datetime.max.replace(tzinfo=UTC)

    def after(self, moment: str) -> Self:
        self._after = datetime.fromisoformat(moment)
        return self

    def before(self, moment: str) -> Self:
        self._before = datetime.fromisoformat(moment)
        return self

    def ascending(self, *, ascending: bool) -> Self:
        assert not ascending
        return self

    def limit(self, most: int) -> Self:
        self._most = most
        return self

    def __iter__(self) -> Iterator[Any]:
        type(self).pages += 1
        events = [
            SimpleNamespace(
                id=number,
                partition_key=key,
                timestamp=at,
                source_run_id=run_id,
                source_dag_id=run_id and "days",
            )
            for number, (name, at, run_id, key) in enumerate(self.events, 1)
            if name == self._name and self._after <= at <= self._before
        ]
        return iter(sorted(events, key=lambda event: event.timestamp, reverse=True)[: self._most])


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
def test_a17_only_the_tasks_do_not_work_that_write_what_was_made_by_hand_since(
    monkeypatch: pytest.MonkeyPatch, run_id: str | None
) -> None:
    assert skipping(monkeypatch, ("one", SINCE, run_id, DAY)) == {"first"}
    both = ("one", SINCE, run_id, DAY), ("two", SINCE, run_id, DAY)
    assert skipping(monkeypatch, *both) == {"first", "second", "both"}
    assert skipping(monkeypatch, *both, clear_number=1) == set()


@pytest.mark.parametrize("run_id", ["scheduled__x", "asset_triggered__x", "manual__deleted"])
def test_er9_what_a_schedule_made_and_what_was_deleted_is_made(monkeypatch: pytest.MonkeyPatch, run_id: str) -> None:
    assert skipping(monkeypatch, ("one", SINCE, run_id, DAY), ("two", SINCE, run_id, DAY)) == set()


def test_what_was_made_before_the_run_began_was_the_schedulers_to_see(monkeypatch: pytest.MonkeyPatch) -> None:
    assert skipping(monkeypatch, ("one", BEFORE, "mine", DAY), ("two", BEFORE, "mine", DAY)) == set()


def test_what_came_in_the_moment_in_which_the_run_began_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert skipping(monkeypatch, ("one", START - timedelta(seconds=20), "mine", DAY)) == {"first"}
    monkeypatch.setattr(sys.modules[__name__], "START", END + timedelta(seconds=5))
    assert skipping(monkeypatch, ("one", END - timedelta(seconds=1), "mine", DAY)) == set()  # it was open still
    assert skipping(monkeypatch, ("one", END, "mine", DAY)) == {"first"}


def test_what_was_made_by_hand_and_forgotten_since_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = ("one", SINCE, "mine", DAY), ("two", SINCE, "mine", DAY)
    assert skipping(monkeypatch, one, two, forgotten=2) == set()
    assert skipping(monkeypatch, one, two, ("one", LATER, "mine", DAY), forgotten=2) == {"first"}


@pytest.mark.parametrize("apart", [timedelta(0), timedelta(seconds=1)])
def test_eo2_events_of_others_are_read_in_pages_and_not_without_end(
    monkeypatch: pytest.MonkeyPatch, apart: timedelta
) -> None:
    mine: Event = ("one", SINCE, "mine", DAY)
    others: list[Event] = [("one", LATER + apart * i, "mine", f"other {i}") for i in range(5_000)]
    assert skipping(monkeypatch, mine, *others[:450]) == {"first"}
    monkeypatch.setattr(Events, "pages", 0)
    # Those of one instant are read as far as a page goes: it can't be told where the next begins.
    assert skipping(monkeypatch, mine, *others) == (set() if apart else {"first"})
    assert Events.pages <= 3 * 11  # of two tasks that write it, and one that writes the other


def test_what_airflow_can_not_tell_of_keeps_no_task_from_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unreadable(Events):
        def __iter__(self) -> Iterator[Any]:
            error = ErrorResponse(error=ErrorType.API_SERVER_ERROR, detail={"status_code": status})
            raise AirflowRuntimeError(error)

    status = 500
    assert skipping(monkeypatch, ("one", SINCE, None, DAY), ("two", SINCE, None, DAY), reader=Unreadable) == set()
    status = 403
    with pytest.raises(AirflowRuntimeError):
        skipping(monkeypatch, ("one", SINCE, None, DAY), reader=Unreadable)
