"""What a loop of the scheduler costs, and what it takes for read when clocks differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.timetables.trigger import CronPartitionTimetable
from sqlalchemy import event as database_event

from airflow_partitions import KeyFormat, PartitionByInterval, Partitioned
from airflow_partitions.engine.ledger.clocks import CLOCKS
from airflow_partitions.engine.timetables import evaluation
from airflow_partitions.operate.upkeep.catch_up import catch_up
from airflow_partitions.operate.upkeep.pending_rows import delete_hopeless
from tests.engine.timetables.oracle import Consumer, Event, Rule, Run
from tests.engine.timetables.stage import Clock, Stage, clock, timetable_of
from tests.metadata import Metadata, engine, metadata

__all__ = ["clock", "engine", "metadata"]

pytestmark = pytest.mark.airflow

HOURS = PartitionByInterval("@hourly", start="2013-01-01")
DAYS = PartitionByInterval("@daily", start="2013-01-01")
MEANINGS = {"up": HOURS, "other": HOURS, "down": DAYS}
NOW = datetime(2013, 11, 3, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
DAY = "2013-01-01"
KEYS = [str(key) for key in HOURS.keys("2013-01-01", "2013-01-09")]
DAY_KEYS = [str(key) for key in DAYS.keys("2013-01-01", "2013-01-09")]


@pytest.fixture
def stage(metadata: Metadata, clock: Clock) -> Stage:
    evaluation._history.cache_clear()
    clock.now = NOW
    return Stage.empty(metadata, list(MEANINGS))


def consumer_timetable(*upstreams: str) -> Partitioned:
    """A consumer as a loop of the scheduler reads it."""
    names = upstreams or ("up",)
    condition = names[0] if len(names) == 1 else ("&", *names)
    rules = dict.fromkeys(names, Rule())
    return timetable_of(Consumer("down", condition, rules, None, "always", timedelta(days=1)), MEANINGS)


def fires(timetable: Partitioned, key: str = DAY, asset: str = "up") -> bool:
    """The scheduler's question."""
    mapper: Any = timetable.get_partition_mapper(name=asset)
    satisfied: bool = mapper.wait_policy.is_satisfied_by_keys(matched=set(), expected=mapper.to_upstream(key)).satisfied
    return satisfied


@contextmanager
def counted(metadata: Metadata, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How many statements the database gets, and how many texts of keys are parsed."""
    counts = Counter[str]()
    parse = PartitionByInterval.parse

    def counting(self: PartitionByInterval, text: str) -> Any:
        counts["parses"] += 1
        return parse(self, text)

    def remember(*_: Any) -> None:
        counts["queries"] += 1

    database_event.listen(metadata.engine, "before_cursor_execute", remember)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(PartitionByInterval, "parse", counting)
            yield counts
    finally:
        database_event.remove(metadata.engine, "before_cursor_execute", remember)


def test_ea1_what_is_in_flight_costs_a_loop_nothing(
    stage: Stage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, text in enumerate(KEYS[::2], 1):
        stage.commit(number, Event("up", text, NOW - 60 * SECOND), {"down": [text[:10]]})

    def loop() -> Counter[str]:
        clock.now += 5 * SECOND
        timetable = consumer_timetable("up", "other")
        with counted(stage.metadata, monkeypatch) as counts:
            assert not any(fires(timetable, key) for key in DAY_KEYS)
        return counts

    loop()  # the first one reads what was materialized
    before = loop()
    for number, text in enumerate(KEYS, 1):
        stage.put(Run(number, "up", text, NOW))
    assert loop() == before
    assert before["queries"] <= 2
    assert before["parses"] <= 3 * len(DAY_KEYS)


def test_ea1_what_is_in_flight_is_read_once_a_loop_and_looked_up(
    stage: Stage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, text in enumerate(KEYS, 1):
        stage.commit(number, Event("up", text, NOW - 60 * SECOND), {"down": [text[:10]]})

    def loop() -> Counter[str]:
        clock.now += 5 * SECOND
        timetable = consumer_timetable()
        with counted(stage.metadata, monkeypatch) as counts:
            assert not any(fires(timetable, key) for key in DAY_KEYS)
        return counts

    for number, text in enumerate(KEYS[::24], 1):
        stage.put(Run(number, "up", text, NOW))
    loop()
    few = loop()
    for number, text in enumerate(KEYS, 1):
        stage.put(Run(number, "up", text, NOW))
    assert loop() == few
    assert few["queries"] <= 12  # one of them, with each look at new events, for what was forgotten
    assert few["parses"] <= 4 * len(DAY_KEYS)


@pytest.fixture
def shifted(stage: Stage) -> Stage:
    if stage.metadata.engine.dialect.name == "sqlite":
        pytest.skip("SQLite is a file: all processes are on one machine")
    return stage


@pytest.mark.parametrize("ahead", [-30, -8, -1, 0, 1, 8, 30])
def test_ea3_a_change_as_a_run_begins_is_never_lost(shifted: Stage, clock: Clock, ahead: int) -> None:
    """The scheduler's clock is that many seconds ahead of the API server's."""
    difference, stage = ahead * SECOND, shifted

    def tell(number: int, text: str) -> None:
        reached = stage.reached(Event("up", text, clock.now), {"down": consumer_timetable()})
        stage.commit(number, Event("up", text, clock.now - difference), reached)
        clock.now += SECOND

    def begin(number: int) -> None:
        assert fires(consumer_timetable())
        (row,) = stage.pending("down")
        stage.put(Run(number, "down", DAY, clock.now), row=row)
        assert not fires(consumer_timetable())
        clock.now += SECOND
        stage.put(Run(number, "down", DAY, clock.now, clock.now))
        clock.now += SECOND

    for number, text in enumerate(KEYS[:24], 1):
        tell(number, text)
    begin(1)
    assert not consumer_timetable().evaluate(DAY).may_fire  # once, if nothing changes
    assert consumer_timetable().evaluate(DAY).idle
    tell(100, KEYS[7])
    assert delete_hopeless({"down": consumer_timetable()}, harmless=0) == 0
    begin(2)
    clock.now += timedelta(hours=1)
    assert consumer_timetable().evaluate(DAY).idle
    assert not fires(consumer_timetable())


def test_ea3_what_was_missed_as_a_run_began_is_caught_up(shifted: Stage, clock: Clock) -> None:
    stage = shifted
    catch_up("down", consumer_timetable())
    for number, text in enumerate(KEYS[:24], 1):
        stage.commit(number, Event("up", text, NOW - 600 * SECOND), {"down": [DAY]})
    assert fires(consumer_timetable())
    (row,) = stage.pending("down")
    stage.put(Run(1, "down", DAY, NOW, NOW), row=row)
    stage.commit(25, Event("up", KEYS[3], NOW + SECOND - CLOCKS), {})  # while the consumer was paused
    clock.now += 60 * SECOND
    assert catch_up("down", consumer_timetable()) == 1
    assert fires(consumer_timetable())


def test_ek1_what_airflow_writes_after_a_clock_change_is_looked_up_by_all_its_texts(stage: Stage, clock: Clock) -> None:
    """Kathmandu's clock went from 00:00 to 00:15 at New Year of 1986, and Airflow's hours from 23:00 to 00:15."""
    zone = "Asia/Kathmandu"
    year = datetime(1986, 1, 1, tzinfo=UTC)
    airflows = CronPartitionTimetable("0 * * * *", timezone=zone)
    infos = airflows.iter_partition_dagrun_infos(earliest=year - timedelta(hours=6), latest=year + timedelta(hours=1))
    texts = [str(info.partition_key) for info in infos][-3:]
    assert texts == ["1985-12-31T23:00:00", "1986-01-01T00:15:00", "1986-01-01T01:00:00"]
    upstream = KeyFormat(PartitionByInterval("@hourly", timezone=zone))
    meanings = {"up": upstream, "down": upstream.definition}
    hour = "1985-12-31T23:00+05:30"

    def loop() -> Partitioned:
        clock.now += 5 * SECOND
        return timetable_of(Consumer("down", "up", {"up": Rule()}, None, "always", timedelta(days=1)), meanings)

    assert not fires(loop(), hour)
    stage.put(Run(1, "up", texts[1], clock.now))
    event = Event("up", texts[1], clock.now)
    stage.commit(1, event, stage.reached(event, {"down": loop()}))
    assert not fires(loop(), hour)  # it is being made
    stage.put(Run(1, "up", texts[1], clock.now, clock.now, ended=True))
    timetable = loop()
    assert fires(timetable, hour)
    (row,) = stage.pending("down")
    stage.put(Run(2, "down", hour, clock.now, clock.now, ended=True), row=row)
    assert not fires(loop(), hour)
    clock.now += timedelta(hours=1)
    event = Event("up", texts[0], clock.now)
    stage.commit(2, event, stage.reached(event, {"down": loop()}))
    assert fires(loop(), hour)  # the same hour once more, by its other text
