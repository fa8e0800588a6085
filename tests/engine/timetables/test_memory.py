"""What is remembered, and what may yet fire, in cases that random ones seldom meet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from traceback import extract_stack
from typing import Any

import pytest
from sqlalchemy import Select, event

from airflow_partitions import KeyFormat, PartitionByInterval
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.engine.graph.serialized_dags import fingerprint
from airflow_partitions.engine.ledger.addresses import keys_of
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.engine.timetables import Partitioned, evaluation
from airflow_partitions.operate.upkeep.catch_up import catch_up
from airflow_partitions.operate.upkeep.pending_rows import delete_hopeless
from tests.engine.timetables.oracle import Consumer, Event, Rule, Run
from tests.engine.timetables.stage import Clock, Stage, clock, timetable_of
from tests.metadata import Metadata, engine, metadata

__all__ = ["clock", "engine", "metadata"]

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily", start="2013-11-01")
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-11-01")
MEANINGS = {"up": DAYS, "down": DAYS}
DAY = "2013-11-02"
NOON = datetime(2013, 11, 3, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SETTLING = (timedelta(days=7), 30 * MINUTE)


@pytest.fixture
def stage(metadata: Metadata, clock: Clock) -> Stage:
    evaluation._history.cache_clear()
    clock.now = NOON
    return Stage.empty(metadata, list(MEANINGS))


def consumer_timetable(rerun: str | tuple[timedelta, timedelta] = "always") -> Partitioned:
    return timetable_of(Consumer("down", "up", {"up": Rule()}, None, rerun, timedelta(days=1)), MEANINGS)


def tell(stage: Stage, number: int, asset: str, at: datetime, *reached: str) -> None:
    stage.commit(number, Event(asset, DAY, at), {"down": list(reached)})


def run(stage: Stage, number: int, dag_id: str, at: datetime, *, ended: bool = True) -> Run:
    dag_run = Run(number, dag_id, DAY, at, at, ended)
    stage.put(dag_run)
    return dag_run


def test_a_row_that_waits_for_changes_to_settle_stays_however_many_wait(stage: Stage, clock: Clock) -> None:
    tell(stage, 1, "up", NOON - 60 * MINUTE)
    run(stage, 1, "down", NOON - 50 * MINUTE)
    tell(stage, 2, "up", NOON - 15 * MINUTE, DAY)
    assert delete_hopeless({"down": consumer_timetable(SETTLING)}, harmless=0) == 0
    assert consumer_timetable(SETTLING).evaluate(DAY).may_fire
    clock.now += 16 * MINUTE
    assert consumer_timetable(SETTLING).evaluate(DAY).fires
    run(stage, 2, "down", clock.now)
    assert delete_hopeless({"down": consumer_timetable(SETTLING)}, harmless=0) == 1


def test_what_was_missed_is_asked_for_before_it_has_settled(stage: Stage) -> None:
    tell(stage, 1, "up", NOON - 60 * MINUTE)
    run(stage, 1, "down", NOON - 50 * MINUTE)
    catch_up("down", consumer_timetable(SETTLING))
    tell(stage, 2, "up", NOON - 15 * MINUTE)
    assert catch_up("down", consumer_timetable(SETTLING)) == 1
    assert [key for key, _ in stage.pending("down").values()] == [DAY]


def test_what_was_missed_is_asked_for_while_it_is_made_again(stage: Stage, clock: Clock) -> None:
    catch_up("down", consumer_timetable())
    tell(stage, 1, "up", NOON - 15 * MINUTE)
    again = run(stage, 1, "up", NOON, ended=False)
    assert catch_up("down", consumer_timetable()) == 1
    again.ended = True  # and has failed: nothing tells of it
    stage.put(again)
    clock.now += MINUTE
    assert consumer_timetable().evaluate(DAY).fires


def test_er2_a_consumer_paused_before_upkeep_ever_ran_loses_nothing(stage: Stage) -> None:
    stage.prints["down"] = fingerprint(consumer_timetable())
    tell(stage, 1, "up", NOON - 60 * MINUTE, DAY)
    stage.put(
        Run(1, "down", DAY, NOON - 50 * MINUTE, NOON - 50 * MINUTE, ended=True), row=next(iter(stage.pending("down")))
    )
    tell(stage, 2, "up", NOON - 15 * MINUTE)
    assert catch_up("down", consumer_timetable()) == 1
    assert [key for key, _ in stage.pending("down").values()] == [DAY]
    assert catch_up("down", consumer_timetable()) == 0


def test_er2_runs_by_hand_tell_too(stage: Stage) -> None:
    tell(stage, 1, "up", NOON - 60 * MINUTE)
    run(stage, 1, "down", NOON - 50 * MINUTE)
    tell(stage, 2, "up", NOON - 15 * MINUTE)
    assert catch_up("down", consumer_timetable()) == 1


def test_er2_a_new_or_redefined_consumer_starts_nothing_by_itself(stage: Stage) -> None:
    tell(stage, 1, "up", NOON - 60 * MINUTE)
    assert catch_up("down", consumer_timetable()) == 0
    stage._clear()
    stage.prints["down"] = {"other": 1}
    tell(stage, 2, "up", NOON - 60 * MINUTE, DAY)
    stage.put(
        Run(2, "down", DAY, NOON - 50 * MINUTE, NOON - 50 * MINUTE, ended=True), row=next(iter(stage.pending("down")))
    )
    tell(stage, 3, "up", NOON - 15 * MINUTE)
    assert catch_up("down", consumer_timetable()) == 0


@pytest.mark.parametrize("rerun", ["never", SETTLING])
def test_what_was_made_stays_made_when_its_runs_and_events_are_purged(
    stage: Stage, clock: Clock, rerun: str | tuple[timedelta, timedelta]
) -> None:
    tell(stage, 1, "up", NOON)
    dag_run = run(stage, 1, "down", NOON + MINUTE)
    tell(stage, 2, "down", NOON + MINUTE)
    clock.now += timedelta(days=30)
    update_ledger("down", DAYS)
    stage.purge_runs([dag_run])
    stage.metadata.purge()
    tell(stage, 3, "up", clock.now)
    timetable = consumer_timetable(rerun)
    assert not timetable.evaluate(DAY).fires
    assert timetable.get_partition_mapper(name="up").to_downstream(DAY) == []


def test_another_spelling_of_a_key_is_no_key() -> None:
    assert [str(key) for key in keys_of(HOURS, "2013-11-03T01:00-05:00")] == ["2013-11-03T01:00-05:00"]
    for other in ("2013-11-03T06:00Z", "2013-11-03T01:00:00-05:00"):
        with pytest.raises(InvalidKeyError, match="is written '2013-11-03T01:00-05:00'") as error:
            keys_of(HOURS, other)
        assert error.value.nearest == ("2013-11-03T01:00-05:00",)
    assert len(keys_of(KeyFormat(HOURS), "2013-11-03T01:00:00")) == 2


def test_what_a_loop_of_the_scheduler_asks_is_built_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(stage, 1, "up", NOON - 60 * MINUTE, DAY)
    assert consumer_timetable().evaluate(DAY).fires
    init, built, asked = Select.__init__, list[str](), list[str]()

    def build(self: Any, *columns: Any) -> None:
        built.append(" ".join(f"{frame.filename}:{frame.lineno}" for frame in extract_stack(limit=4)[:-1]))
        init(self, *columns)

    def ask(_: Any, __: Any, statement: str, *___: Any) -> None:
        asked.append(statement)

    evaluation._history.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(Select, "__init__", build)
        event.listen(stage.metadata.engine, "before_cursor_execute", ask)
        assert consumer_timetable().evaluate(DAY).fires
        event.remove(stage.metadata.engine, "before_cursor_execute", ask)
    assert asked
    assert built == []
