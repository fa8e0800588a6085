"""When partitions are made, compared with brute force, while all that can happen does happen in any order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, cast

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from airflow_partitions import KeyFormat, Partitioned
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.keys import Interval
from airflow_partitions.engine.graph.serialized_dags import fingerprint
from airflow_partitions.engine.ledger.clocks import CLOCKS
from airflow_partitions.engine.ledger.ledger import records, update_ledger
from airflow_partitions.engine.timetables import evaluation
from airflow_partitions.operate.upkeep.catch_up import catch_up
from airflow_partitions.operate.upkeep.pending_rows import delete_hopeless, postpone_early
from tests.engine.timetables.oracle import BEGIN, END, Claim, Consumer, Event, Rule, Run, World
from tests.engine.timetables.scenes import CALENDARS, DAYS_TOLD, GAPS, MEANINGS, START, WATCHED, WRONG, consumers
from tests.engine.timetables.stage import Clock, Stage, clock, timetable_of
from tests.hunt import effort
from tests.metadata import Metadata, engine, metadata

__all__ = ["clock", "engine", "metadata"]

pytestmark = pytest.mark.airflow

MINUTE = timedelta(minutes=1)
# What is known of what was purged unseen may be an hour old.
FORGET = 60 * MINUTE + timedelta(seconds=5)


class Model(RuleBasedStateMachine):
    """Airflow, the package, and the oracle beside them."""

    def __init__(self, metadata: Metadata, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.stage = Stage.empty(metadata, list(MEANINGS))
        self.on_one_machine = metadata.engine.dialect.name == "sqlite"
        self.world = World(CALENDARS, START, clocks=timedelta(0) if self.on_one_machine else CLOCKS)
        self.skew = timedelta(0)
        self.consumers: dict[str, Consumer] = {}
        self.numbers = count(1)
        self.open: list[tuple[int, Event, dict[str, list[str]]]] = []
        self.since: dict[str, datetime] = {}
        self.marked: set[str] = set()
        self.damaged = False
        self.unsure: dict[str, datetime] = {}
        evaluation._history.cache_clear()
        self.tick(timedelta(0))

    # --- what the machine knows

    def tick(self, step: timedelta) -> None:
        self.world.now += step + timedelta(seconds=1)
        self.clock.now = self.world.now

    def fresh(self, name: str) -> Partitioned:
        """A consumer as a loop of the scheduler reads it."""
        return timetable_of(self.consumers[name], MEANINGS)

    def awake(self) -> dict[str, Partitioned]:
        return {name: self.fresh(name) for name in self.consumers if name not in self.world.paused}

    def sure(self, name: str) -> bool:
        return all(self.world.now > self.unsure.get(each, START) for each in (name, *self.consumers[name].rules))

    # --- what happens

    @initialize(
        one=consumers("one"),
        two=consumers("two"),
        assets=st.sampled_from(["abc", "abc", "abc", ""]),
        skew=st.sampled_from([timedelta(0), CLOCKS, -CLOCKS, CLOCKS / 4, -CLOCKS / 4]),
    )
    def define(self, one: Consumer, two: Consumer, assets: str, skew: timedelta) -> None:
        self.skew = timedelta(0) if self.on_one_machine else skew
        for consumer in (one, two):
            self.redefine(consumer)
        self.emit_most(assets, WATCHED[1], set())
        self.schedule(begins=True)

    @rule(
        consumer=st.one_of(consumers("one"), consumers("two")),
        really=st.sampled_from([False] * 4 + [True]),
        upkeep=st.booleans(),
    )
    def redefine(self, consumer: Consumer, really: bool = True, upkeep: bool = True) -> None:
        name = consumer.name
        if not really:  # seldom: it starts from nothing
            return
        self.consumers[name] = consumer
        self.stage.forget(name)
        for _, _, reached in self.open:
            reached.pop(name, None)
        self.stage.prints[name] = fingerprint(self.fresh(name))
        self.since.pop(name, None)
        self.marked.discard(name)
        if upkeep:
            self.catch_up(name, self.fresh(name))
        self.tick(timedelta(0))

    def catch_up(self, name: str, timetable: Partitioned) -> None:
        """Upkeep knows the consumer from now on, if it did not before."""
        catch_up(name, timetable)
        self.since.setdefault(name, self.world.now)
        self.marked.add(name)

    def begin(self, asset: str, text: str) -> None:
        number = next(self.numbers)
        event = Event(asset, text, self.world.now + self.skew, id=number, began=self.world.now)
        self.world.events.append(event)
        self.open.append((number, event, self.stage.reached(event, self.awake())))
        self.tick(timedelta(0))

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        self.close(data.draw(st.integers(0, len(self.open) - 1)))
        self.tick(timedelta(0))

    def close(self, index: int) -> None:
        number, event, reached = self.open.pop(index)
        self.stage.commit(number, event, reached)
        event.committed = self.world.now
        for name in (name for name, keys in reached.items() if keys):
            self.since.setdefault(name, self.world.now)  # a row of its own tells that it is not new

    def tell(self, asset: str, text: str) -> None:
        self.begin(asset, text)
        self.close(-1)

    @rule(asset=st.sampled_from("abc"), day=DAYS_TOLD, number=st.integers(-9, 24), at_once=st.booleans())
    def emit(self, asset: str, day: Interval, number: int, at_once: bool) -> None:
        keys = CALENDARS[asset].needed(Rule(), day, self.world.now)
        text = CALENDARS[asset].texts[keys[number % len(keys)]] if number >= 0 else WRONG[number % len(WRONG)]
        (self.tell if at_once else self.begin)(asset, text)

    @rule(assets=st.sampled_from(["abc", "abc", "a", "b", "c"]), day=DAYS_TOLD, without=GAPS)
    def emit_most(self, assets: str, day: Interval, without: set[int]) -> None:
        """All that a day needs, or almost."""
        for asset in assets:
            for number, key in enumerate(CALENDARS[asset].needed(Rule(), day, self.world.now)):
                if number not in without:
                    self.tell(asset, CALENDARS[asset].texts[key])

    @rule(asset=st.sampled_from(list(MEANINGS)), day=DAYS_TOLD, number=st.integers(0, 24))
    def queue(self, asset: str, day: Interval, number: int) -> None:
        keys = CALENDARS[asset].needed(Rule(), day, self.world.now)
        self.start(asset, CALENDARS[asset].texts[keys[number % len(keys)]])

    def start(self, dag_id: str, key: str, row: int | None = None) -> None:
        run = Run(next(self.numbers), dag_id, key, self.world.now)
        self.world.runs.append(run)
        self.stage.put(run, row=row)
        self.tick(timedelta(0))

    @precondition(lambda self: any(not run.ended for run in self.world.runs))
    @rule(data=st.data(), succeeds=st.booleans())
    def step(self, data: st.DataObject, succeeds: bool) -> None:
        """Queued runs begin, and those that have begun end."""
        at_work = [run for run in self.world.runs if not run.ended]
        for run in data.draw(st.sampled_from([at_work, at_work[-1:], at_work[:1]])):
            if run.began is None:
                run.began = self.world.now
            else:
                run.ended, run.failed = True, not succeeds
                if succeeds:
                    self.tell(run.dag_id, run.key)
            self.stage.put(run)
            self.tick(timedelta(0))

    @rule(begins=st.sampled_from([True, True, False]))
    def schedule(self, begins: bool) -> None:
        """A loop of the scheduler; the runs that it starts may begin at once."""
        for name, timetable in {name: self.fresh(name) for name in self.consumers}.items():
            for row, (key, assets) in self.stage.pending(name).items():
                of = next(interval for interval, text in CALENDARS[name].texts.items() if text == key)
                expected = self.world.fires(self.consumers[name], of)
                answers = []
                for asset in assets:
                    mapper: Any = timetable.get_partition_mapper(name=asset)
                    question = {"matched": set[str](), "expected": mapper.to_upstream(key)}
                    answers.append(mapper.wait_policy.is_satisfied_by_keys(**question).satisfied)
                if self.sure(name):
                    assert any(answers) == expected, (name, key)
                if any(answers):
                    self.claim(name, key)
                    self.start(name, key, row)
                    if begins:
                        run = self.world.runs[-1]
                        run.began = self.world.now
                        self.stage.put(run)
                        self.tick(timedelta(0))

    def claim(self, name: str, key: str) -> None:
        if not self.on_one_machine:
            events = (event.id for event in self.world.events if event.committed is not None)
            runs = (run.id for run in self.world.runs if run.dag_id == name and run.key == key)
            self.world.claims[name, key] = Claim(max(events, default=0), max(runs, default=0))

    def keep(self) -> None:
        """What bringing the ledgers up to date does."""
        for asset, meaning in MEANINGS.items():
            update_ledger(asset, meaning)
        for event in self.world.events:
            event.kept = event.kept or (event.committed is not None and not event.purged)

    @rule(harmless=st.sampled_from([0, 200]))
    def upkeep(self, harmless: int) -> None:
        self.keep()
        working = self.awake()
        for name, timetable in working.items():
            self.catch_up(name, timetable)
        delete_hopeless(working, harmless)
        postpone_early(working, harmless)
        self.tick(timedelta(0))

    @rule(events=st.booleans(), runs=st.booleans())
    def purge(self, events: bool, runs: bool) -> None:
        """What ``airflow db clean`` does."""
        before = {name: self.newest_starts(name) for name in self.consumers}
        if events:
            self.stage.metadata.purge()
            for event in self.world.events:
                if event.committed is not None and not event.purged:
                    event.purged = True
                    if not event.kept:
                        self.unsure[event.asset] = self.world.now + FORGET
        if runs:
            runs_to_purge = [run for run in self.world.runs if run.ended and not run.failed]
            self.stage.purge_runs(runs_to_purge)
            self.world.runs = [run for run in self.world.runs if run not in runs_to_purge]
            for name in set(self.since) - self.marked:
                del self.since[name]  # it may have lost all that tells that it is not new
        for name in self.since:
            if name in self.world.paused or self.newest_starts(name) != before[name]:
                self.since[name] = self.world.now  # nothing tells any more what it has missed or made
                self.unsure[name] = self.world.now + MINUTE  # a run that was asked for may yet appear
        self.tick(timedelta(0))

    def newest_starts(self, name: str) -> list[datetime | None]:
        return [self.world.newest_start(self.consumers[name], of) for of in WATCHED]

    @rule(data=st.data(), form=st.sampled_from(["x", 7, [], {"version": 1}, None]))
    def damage(self, data: st.DataObject, form: Any) -> None:
        """Somebody writes into a cell what is none of ours; it says nothing any more."""
        assets = [asset for asset in MEANINGS if "ledger" in self.stage.metadata.cells(asset)]
        if assets:
            self.stage.metadata.put(data.draw(st.sampled_from(assets)), "ledger", form)
            self.damaged = True
        self.tick(timedelta(0))

    @rule(dag_id=st.sampled_from(list(MEANINGS)))
    def pause(self, dag_id: str) -> None:
        self.world.paused ^= {dag_id}
        self.stage.pause(dag_id, paused=dag_id in self.world.paused)
        if dag_id in self.consumers and dag_id not in self.world.paused:
            self.catch_up(dag_id, self.fresh(dag_id))
        self.tick(timedelta(0))

    @rule(minutes=st.sampled_from([1, 2, 4, 31, 61, 130, 8 * 60, 24 * 60]))
    def wait(self, minutes: int) -> None:
        while self.open and minutes > 5:  # no transaction takes so long
            self.close(0)
        if self.world.now < datetime(2013, 11, 20, tzinfo=UTC):
            self.tick(minutes * MINUTE)

    # --- what holds

    @invariant()
    def agrees(self) -> None:
        for name, consumer in self.consumers.items():
            timetable, pending = self.fresh(name), {key for key, _ in self.stage.pending(name).values()}
            for of in WATCHED:
                evaluate, fires = timetable.evaluate(str(of)), self.world.fires(consumer, of)
                if not self.sure(name):
                    continue
                assert evaluate.fires == fires, (name, str(of), evaluate)
                assert not self.world.lost(consumer, of)
                if fires and name not in self.world.paused and not consumer.moving and name in self.since:
                    asks = self.world.asks(consumer, of, self.since[name])
                    assert str(of) in pending or not asks, (name, str(of), "nobody looks at it")

    def teardown(self) -> None:
        for keep in (True,) if self.damaged else (False, True):  # a ledger that was damaged is mended by upkeep
            if keep:
                self.keep()
            for asset, meaning in MEANINGS.items():
                definition = meaning.definition if isinstance(meaning, KeyFormat) else meaning
                times = {
                    str(key): [event.at for event in events] for key, events in self.world.events_of(asset).items()
                }
                expected = {key: (min(at), max(at)) for key, at in times.items()}
                assert self.materialized(asset) == {key: last for key, (_, last) in expected.items()}
                if keep:
                    ledger = records(asset, Selection.between(definition, BEGIN, END))
                    assert {str(key): (record.first, record.last) for key, record in ledger} == expected

    def materialized(self, asset: str) -> dict[str, datetime]:
        """What a task is told: what is on the pages, and of the events since."""
        times, since = self.stage.pages_and_events(asset)
        for text, at in since:
            for key in map(str, CALENDARS[asset].by_text.get(text, ())):
                times[key] = max(at, times.get(key, at))
        return times


def test_what_is_made_is_what_brute_force_says(metadata: Metadata, clock: Clock) -> None:
    examples = 40 if metadata.engine.dialect.name == "sqlite" else 8
    run_state_machine_as_test(lambda: Model(metadata, clock), settings=effort(examples, 30))


class First:
    """Draws the first of whatever there is."""

    def draw(self, _: Any) -> int:
        return 0


def test_ek1_what_the_ledger_knows_of_a_key_holds_for_all_its_texts(metadata: Metadata, clock: Clock) -> None:
    """The hour that comes twice: two keys with one text, one of them with another text too."""
    model, first = Model(metadata, clock), cast("st.DataObject", First())
    plain, long = Rule(), timedelta(days=1)
    one = Consumer("one", "a", {"a": plain}, None, "always", long)
    either = {"c": plain, "a": Rule("look", 1), "b": plain}
    two = Consumer("two", ("&", "c", ("|", "a", "b")), either, 3, "always", long)
    model.define(one=one, two=two, assets="abc", skew=timedelta(0))
    model.upkeep(harmless=0)
    model.emit(asset="a", at_once=False, day=WATCHED[1], number=0)
    model.commit(data=first)
    model.upkeep(harmless=0)
    model.purge(events=True, runs=False)
    model.wait(minutes=130)
    model.agrees()
