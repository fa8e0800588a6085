"""When partitions are made, by brute force: after docs/concepts/dependencies.md, over all that has happened."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

import attrs

from airflow_partitions import KeyFormat, PartitionByInterval
from airflow_partitions.core.keys import Interval

BEGIN, END = datetime(2013, 10, 31, tzinfo=UTC), datetime(2013, 11, 26, tzinfo=UTC)


@attrs.define(eq=False)
class Event:
    """Something was materialized.

    :ivar at: when the transaction that tells it began, by the clock of the API server.
    :ivar id: the number that the database gives it.
    :ivar began: when it really began.
    :ivar committed: when it ended; ``None`` if it has not yet.
    :ivar kept: whether the ledger knows it.
    :ivar purged: whether Airflow has forgotten it.
    """

    asset: str
    text: str
    at: datetime
    committed: datetime | None = None
    id: int = 0
    began: datetime | None = None
    kept: bool = False
    purged: bool = False

    @property
    def counts(self) -> bool:
        return self.kept or (self.committed is not None and not self.purged)


@attrs.define(eq=False)
class Run:
    """A run of a Dag; each Dag here makes the asset of its own name."""

    id: int
    dag_id: str
    key: str
    queued: datetime
    began: datetime | None = None
    ended: bool = False
    failed: bool = False


@attrs.frozen(slots=False)
class Calendar:
    """All keys that there are, and how events write them."""

    meaning: PartitionByInterval | KeyFormat
    intervals: tuple[Interval, ...]
    spans: tuple[tuple[datetime, datetime], ...]
    texts: Mapping[Interval, str]

    @classmethod
    def of(cls, meaning: PartitionByInterval | KeyFormat) -> Calendar:
        definition: Any = meaning.definition if isinstance(meaning, KeyFormat) else meaning
        intervals = tuple(definition.keys(BEGIN, END))
        spans = tuple((i.start.astimezone(UTC), i.end.astimezone(UTC)) for i in intervals)
        texts = {i: i.start.strftime(meaning.format) if isinstance(meaning, KeyFormat) else str(i) for i in intervals}
        return cls(meaning, intervals, spans, texts)

    @cached_property
    def by_text(self) -> Mapping[str, list[Interval]]:
        """The intervals that each text means: two where the clock repeats and the text has no offset."""
        intervals: dict[str, list[Interval]] = {}
        for interval, text in self.texts.items():
            intervals.setdefault(text, []).append(interval)
        return intervals

    def needed(self, rule: Rule, of: Interval, now: datetime) -> list[Interval]:
        """What a rule says, of a downstream interval."""
        name, before, after = rule
        if name in ("all", "latest"):
            over = [n for n, (_, end) in enumerate(self.spans) if end <= now]
            return [self.intervals[n] for n in (over if name == "all" else over[-1:])]
        low, high = of.start.astimezone(UTC), of.end.astimezone(UTC)
        if name == "window":
            low, high = low - timedelta(hours=before), high + timedelta(hours=after)
        shared = [n for n, (start, end) in enumerate(self.spans) if start < high and low < end]
        if name == "look" and shared:
            shared = [*range(max(0, shared[0] - before), shared[0]), *shared]
        return [self.intervals[n] for n in shared]


class Rule(NamedTuple):
    """A rule by its name, with what it says of the time before and after; ``look`` back 0 intervals is no rule."""

    name: str = "look"
    before: int = 0
    after: int = 0


Condition = str | tuple[Any, ...]  # the name of an asset, or "&" or "|" and conditions


@attrs.frozen
class Consumer:
    """A Dag scheduled on assets.

    :ivar rerun: ``"always"``, ``"never"``, or age and settle.
    :ivar at: a time of day, or so long after the end of the interval, before which nothing begins by itself.
    """

    name: str
    condition: Condition
    rules: Mapping[str, Rule]
    wait: int | None
    rerun: str | tuple[timedelta, timedelta]
    max_wait: timedelta
    at: str | timedelta | None = None

    @property
    def moving(self) -> bool:
        return any(rule.name in ("all", "latest") for rule in self.rules.values())


@attrs.frozen
class Status:
    """A condition that holds: whether with all that is needed, and when each of it last came for the newest run."""

    complete: bool
    last: tuple[datetime, ...]


@attrs.frozen
class Claim:
    """What is noted of a run that a scheduler starts: the newest event, and the newest run of the same partition."""

    event: int
    run: int


@attrs.define
class World:
    """All that has happened."""

    calendars: Mapping[str, Calendar]
    now: datetime
    events: list[Event] = attrs.field(factory=list)
    runs: list[Run] = attrs.field(factory=list)
    paused: set[str] = attrs.field(factory=set)
    claims: dict[tuple[str, str], Claim] = attrs.field(factory=dict)
    clocks: timedelta = timedelta(0)

    def events_of(self, asset: str) -> dict[Interval, list[Event]]:
        """The events of each partition of an asset; malformed ones are about none."""
        calendar, events = self.calendars[asset], dict[Interval, list[Event]]()
        for event in self.events:
            if event.asset == asset and event.counts:
                for interval in calendar.by_text.get(event.text, ()):
                    events.setdefault(interval, []).append(event)
        return events

    def arrival(self, consumer: Consumer, of: Interval, at: datetime, event: int) -> datetime:
        """When an event came, as the newest run of a partition sees it: what it may not have read came after it."""
        text, start = self.calendars[consumer.name].texts[of], self.newest_start(consumer, of)
        runs = [run.id for run in self.runs if run.dag_id == consumer.name and run.key == text and run.began]
        if start is None:
            return at
        claim = self.claims.get((consumer.name, text)) if runs else None
        if claim is not None and claim.run < max(runs) and event <= claim.event:
            return min(at, start)
        clocks = self.clocks if runs else timedelta(0)
        return max(at, start + timedelta(microseconds=1)) if at > start - clocks else at

    def in_flight(self, asset: str, max_wait: timedelta) -> set[str]:
        """The keys that are being made."""
        runs = [] if asset in self.paused else [run for run in self.runs if run.dag_id == asset and not run.ended]
        return {run.key for run in runs if self.now - (run.began or run.queued) <= max_wait}

    def holds(self, consumer: Consumer, condition: Condition, of: Interval) -> Status | None:
        """Whether a condition holds for a downstream interval."""
        if not isinstance(condition, str):
            parts = [self.holds(consumer, part, of) for part in condition[1:]]
            there = [part for part in parts if part is not None]
            both = condition[0] == "&"
            if len(there) < (len(parts) if both else 1):
                return None
            complete = [part.complete for part in there]
            return Status(all(complete) if both else any(complete), tuple(at for part in there for at in part.last))
        calendar, events_by_key = self.calendars[condition], self.events_of(condition)
        needed = calendar.needed(consumer.rules[condition], of, self.now)
        there = [events_by_key[key] for key in needed if key in events_by_key]
        minimum = len(needed) if consumer.wait is None else min(consumer.wait, len(needed))
        in_flight = self.in_flight(condition, consumer.max_wait)
        if not needed or len(there) < minimum or any(calendar.texts[key] in in_flight for key in needed):
            return None
        last = tuple(
            self.arrival(consumer, of, max(event.at for event in events), max(event.id for event in events))
            for events in there
        )
        return Status(len(there) == len(needed), last)

    def was_complete(self, consumer: Consumer, condition: Condition, of: Interval, at: datetime) -> bool:
        """Whether all that is needed now was there at an instant."""
        if not isinstance(condition, str):
            parts = [self.was_complete(consumer, part, of, at) for part in condition[1:]]
            return all(parts) if condition[0] == "&" else any(parts)
        events_by_key = self.events_of(condition)
        needed = self.calendars[condition].needed(consumer.rules[condition], of, self.now)
        if not needed or not all(key in events_by_key for key in needed):
            return False
        first = [min((event.at, event.id) for event in events_by_key[key]) for key in needed]
        return all(self.arrival(consumer, of, *event) <= at for event in first)

    def newest_start(self, consumer: Consumer, of: Interval) -> datetime | None:
        """When the newest run of a partition began; of runs that are no more, when they materialized it."""
        text = self.calendars[consumer.name].texts[of]
        runs = [run for run in self.runs if run.dag_id == consumer.name and run.key == text]
        if runs:
            return max((run.began for run in runs if run.began is not None), default=None)
        return max((event.at for event in self.events_of(consumer.name).get(of, [])), default=None)

    def is_early(self, consumer: Consumer, of: Interval) -> bool:
        """Whether it is too early for a partition to be made; no interval here ends after such a time of day."""
        if consumer.at is None:
            return False
        end = of.end.astimezone(UTC)
        if isinstance(consumer.at, timedelta):
            return self.now < end + consumer.at
        zone, minute = of.end.tzinfo, timedelta(minutes=1)
        while f"{end.astimezone(zone):%H:%M}" != consumer.at:
            end += minute
        return self.now < end

    def fires(self, consumer: Consumer, of: Interval) -> bool:
        """Whether a partition is to be made now."""
        if self.is_early(consumer, of):
            return False
        text = self.calendars[consumer.name].texts[of]
        status = self.holds(consumer, consumer.condition, of)
        runs = [run for run in self.runs if run.dag_id == consumer.name and run.key == text]
        if status is None or any(run.began is None and not run.ended for run in runs):
            return False
        start = self.newest_start(consumer, of)
        if start is None:
            return True
        if not status.complete:
            return False
        if consumer.wait is not None and not self.was_complete(consumer, consumer.condition, of, start):
            return True
        changed = max(status.last)
        if changed <= start or consumer.rerun == "never":
            return False
        if isinstance(consumer.rerun, str):
            return True
        age, settle = consumer.rerun
        return self.now - of.end <= age and self.now - changed >= settle

    def asks(self, consumer: Consumer, of: Interval, since: datetime) -> bool:
        """Whether something a partition needs was told after an instant and after its newest run began."""
        start = self.newest_start(consumer, of)
        texts = {
            (asset, self.calendars[asset].texts[key])
            for asset, rule in consumer.rules.items()
            for key in self.calendars[asset].needed(rule, of, self.now)
        }
        return any(
            event.counts
            and (event.began or event.at) > since
            and (start is None or self.arrival(consumer, of, event.at, event.id) > start)
            for event in self.events
            if (event.asset, event.text) in texts
        )

    def lost(self, consumer: Consumer, of: Interval) -> list[Event]:
        """Changes that came after the newest run of a partition really began, and that it is taken to have read."""
        text = self.calendars[consumer.name].texts[of]
        runs = [run for run in self.runs if run.dag_id == consumer.name and run.key == text and run.began]
        start = max((run.began for run in runs if run.began is not None), default=None)
        needed = {
            event.id: event
            for asset, rule in consumer.rules.items()
            for key in self.calendars[asset].needed(rule, of, self.now)
            for event in self.events_of(asset).get(key, [])
        }
        return [
            event
            for event in needed.values()
            if start and event.began and event.began > start and self.arrival(consumer, of, event.at, event.id) <= start
        ]
