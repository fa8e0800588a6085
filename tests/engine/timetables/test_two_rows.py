"""Two pending rows for one partition, as Airflow may have them: its run is made once, whoever looks at them when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.engine.ledger import dag_runs, run_requests
from airflow_partitions.engine.ledger.cache import HistoryCache
from airflow_partitions.engine.timetables import evaluation
from tests.engine.timetables.oracle import Consumer, Event, Rule, Run
from tests.engine.timetables.stage import Clock, Stage, clock, timetable_of
from tests.metadata import Metadata, engine, metadata

__all__ = ["clock", "engine", "metadata"]

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily", start="2013-01-01")
ASSETS = ("left", "right")
MEANINGS = {"left": DAYS, "right": DAYS, "both": DAYS}
DAY, BEFORE = "2013-01-02", "2013-01-01"
NOW = datetime(2013, 11, 3, 12, tzinfo=UTC)
MOMENT = timedelta(milliseconds=10)
#: A scheduler looks for new events once a second.
SECOND = timedelta(seconds=1)


class Scheduler:
    """A scheduler: what it remembers of events, and one loop of it after the other."""

    def __init__(self) -> None:
        self._memory = HistoryCache()
        self.begin_loop()

    def begin_loop(self) -> None:
        """Read the consumer anew."""
        rules = dict.fromkeys(ASSETS, Rule())
        consumer = Consumer("both", ("&", *ASSETS), rules, None, "always", timedelta(days=1))
        self._timetable = timetable_of(consumer, MEANINGS)

    def fires(self, key: str, row: str = "left") -> bool:
        """Whether the row of a key starts a run, which an event of the asset *row* has made."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evaluation, "_history", lambda: self._memory)
            mapper: Any = self._timetable.get_partition_mapper(name=row)
            question = {"matched": set[str](), "expected": mapper.to_upstream(key)}
            return bool(mapper.wait_policy.is_satisfied_by_keys(**question).satisfied)


@attrs.define
class World:
    """What happens beside the schedulers, a moment after the other."""

    stage: Stage
    clock: Clock
    events: int = 0
    runs: int = 0

    def tell(self, key: str) -> None:
        """Events of a key, of both assets."""
        for asset in ASSETS:
            self.clock.now += MOMENT
            self.events += 1
            self.stage.commit(self.events, Event(asset, key, self.clock.now), {"both": [key]})

    def begin_run(self, key: str) -> None:
        """A run of the consumer, which has the key."""
        self.clock.now += MOMENT
        self.runs += 1
        self.stage.put(Run(self.runs, "both", key, self.clock.now, self.clock.now))


@pytest.fixture
def world(metadata: Metadata, clock: Clock) -> World:
    clock.now = NOW
    return World(Stage.empty(metadata, list(MEANINGS)), clock)


@pytest.fixture
def schedulers(world: World) -> tuple[Scheduler, Scheduler]:
    if world.stage.metadata.engine.dialect.name == "sqlite":
        pytest.skip("Airflow allows one scheduler on SQLite")
    return Scheduler(), Scheduler()


def test_events_that_come_in_the_middle_of_a_loop_make_one_run(world: World) -> None:
    world.tell(BEFORE)
    scheduler = Scheduler()
    assert scheduler.fires(BEFORE)
    world.tell(DAY)
    assert scheduler.fires(DAY, "left")
    world.begin_run(DAY)
    scheduler.begin_loop()
    world.clock.now += SECOND
    assert not scheduler.fires(DAY, "right")


def test_a_scheduler_that_has_read_less_than_another_makes_no_second_run(
    world: World, schedulers: tuple[Scheduler, Scheduler]
) -> None:
    one, other = schedulers
    world.tell(BEFORE)
    assert other.fires(BEFORE)
    world.tell(DAY)
    assert one.fires(DAY, "left")
    world.begin_run(DAY)
    assert not other.fires(DAY, "right")


def test_a_run_that_begins_while_another_scheduler_looks_at_runs_is_not_made_twice(
    world: World, schedulers: tuple[Scheduler, Scheduler], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = schedulers
    world.tell(DAY)
    assert one.fires(DAY)
    world.begin_run(DAY)
    world.tell(DAY)
    world.clock.now += SECOND
    questions = [(dag_runs, "run_statuses"), (run_requests, "run_requests")]

    def with_run_after(answer: Callable[..., Any]) -> Callable[..., Any]:
        def answered(*arguments: Any) -> Any:
            answers = answer(*arguments)
            if world.runs == 1:  # between the first question and the second
                undo.undo()
                one.begin_loop()
                assert one.fires(DAY, "left")
                world.begin_run(DAY)
            return answers

        return answered

    with monkeypatch.context() as undo:
        for module, name in questions:
            undo.setattr(module, name, with_run_after(getattr(module, name)))
        assert not other.fires(DAY, "right")
    assert world.runs == 2


def test_what_comes_after_the_run_has_begun_makes_another(
    world: World, schedulers: tuple[Scheduler, Scheduler]
) -> None:
    one, other = schedulers
    world.tell(DAY)
    assert one.fires(DAY)
    world.begin_run(DAY)
    world.tell(DAY)
    assert other.fires(DAY)
