"""Evaluation of a partition: whether it is to be made, over all that was ever materialized."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

import attrs
from airflow.serialization.definitions.assets import SerializedAssetAll, SerializedAssetAny, SerializedAssetBase

from airflow_partitions.core.calendars.instants import utc
from airflow_partitions.core.definitions.whole import UNKEYED, WholeAsset
from airflow_partitions.core.dependencies import Dependency, Selection, Unpartitioned
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.timetables.condition import leaves
from airflow_partitions.engine.timetables.events_read import EventsRead
from airflow_partitions.engine.timetables.rules import write_rule
from airflow_partitions.engine.timetables.run_policy import UpstreamStatus
from airflow_partitions.engine.timetables.upstreams import Upstream, Upstreams

if TYPE_CHECKING:
    from airflow_partitions.engine.ledger.cache import HistoryCache
    from airflow_partitions.engine.ledger.dag_runs import RunStatus
    from airflow_partitions.engine.ledger.events import EventTimes
    from airflow_partitions.engine.ledger.run_requests import RunRequest

_MOST_REMEMBERED = 1_000_000
_NOTHING_READ = EventsRead()


class UpstreamNeeds(NamedTuple):
    """The upstream keys that a downstream partition needs.

    :ivar keys: the same keys, each after the text that its events carry; two may share one.
    :ivar others: further texts that events may carry, by key; another producer's has some soon after a clock change.
    """

    selection: Selection
    keys: Sequence[tuple[str, Key]]
    others: Mapping[Key, Sequence[str]]

    @property
    def texts(self) -> Sequence[tuple[str, Key]]:
        """The keys, each after every text that its events may carry."""
        others = [(text, key) for key, texts in self.others.items() for text in texts]
        return [*self.keys, *others] if others else self.keys

    def times(self, key: Key, text: str, times_by_text: Mapping[str, EventTimes | None]) -> EventTimes | None:
        """The times of one of the keys, whose own text is *text*, among those of all texts."""
        times = times_by_text[text]
        for other in self.others.get(key, ()) if self.others else ():
            if (more := times_by_text[other]) is not None:
                times = more.also(times)
        return times


class NeedsCache:
    """The needs of downstream partitions, remembered from one loop of the scheduler to the next."""

    def __init__(self) -> None:
        self._needs: dict[tuple[str, str], UpstreamNeeds] = {}
        self._size = 0

    def of(self, fingerprint: str, text: str, compute: Callable[[], UpstreamNeeds]) -> UpstreamNeeds:
        """The needs of the downstream key *text* by the dependency called *fingerprint*; new ones are computed."""
        needs = self._needs.get((fingerprint, text))
        if needs is None:
            needs = compute()
            if self._size + len(needs.texts) > _MOST_REMEMBERED:
                self._needs.clear()
                self._size = 0
            self._needs[fingerprint, text] = needs
            self._size += len(needs.texts)
        return needs


_NEEDS = NeedsCache()


@attrs.frozen
class Evaluation:
    """The state of one partition, and what follows from it.

    :ivar status: of the upstream partitions it needs; whether something is being made is only asked if enough is there.
    :ivar fires: whether a run is to start now.
    :ivar idle: whether nothing is left to do before another upstream partition is materialized.
    :ivar may_fire: whether a run is to start now, or perhaps later without another event: once nothing that it needs
        is being made, or has changed for long enough, or it is late enough.
    :ivar runs: of the partition; not asked for before enough is there.
    """

    status: UpstreamStatus
    fires: bool = False
    idle: bool = False
    may_fire: bool = False
    runs: RunStatus | None = None


class Evaluator:
    """Evaluates the partitions of one Dag, as of one moment.

    The scheduler reads a Dag anew for each of its loops, and so gets a new evaluator. What is being made, and which
    runs there are, is read once, when it is first needed. Texts of keys are parsed here once; the wrapped key goes on.

    :param own_past: the dependency of the Dag's partitions on those before them, if there is one.
    :ivar dag_id: the Dag; until it is known, runs of its partitions are not looked for.
    """

    def __init__(self, upstreams: Upstreams, own_past: Dependency | None = None) -> None:
        self.dag_id: str | None = None
        self._upstreams = upstreams
        self._own_past = own_past
        self._in_flight: Mapping[str, Mapping[str, datetime]] | None = None
        self._runs: dict[str, RunStatus] = {}
        self._requests: dict[str, RunRequest] = {}
        self._claims: dict[str, RunRequest] = {}
        self._has_read_ahead = False
        self._next: Collection[str] = ()

    def look_ahead(self, texts: Collection[str]) -> None:
        """Let what is read for one key be read for all of the Dag's keys *texts*: they are asked for next."""
        self._next, self._has_read_ahead = texts, False

    def claim_run(self, text: str) -> bool:
        """Claim the run of the Dag's key *text*, if one is to start now; ``False`` if not, or if it is claimed already.

        One scheduler gets it, once: until the run is there, a second row that asks for the same partition is left
        waiting. The claim is written to our tables, but on SQLite.
        """
        from airflow_partitions.engine.ledger.run_requests import RunRequest, request_run

        now = datetime.now(UTC)
        if self.early_until(text, now) is not None:  # asked again in each loop, perhaps for hours
            return False
        evaluation = self.evaluate(text, now)
        if not evaluation.fires or evaluation.runs is None or self._is_held:
            return False
        started, claimed = evaluation.runs.started, self._claims.get(text)
        if claimed is not None and claimed.is_open(started, now):
            return False
        request = self._claims[text] = RunRequest(now, _history().newest_event(), evaluation.runs.newest)
        return self.dag_id is None or request_run(self.dag_id, text, request, started)

    def evaluate(self, text: str, now: datetime) -> Evaluation:
        """Evaluate the Dag's key *text*.

        :raises InvalidKeyError: if the Dag's definition has no such key.
        """
        key = self._upstreams.downstream.parse(text)
        _history().refresh()
        status = self._status(key, text, now)
        if not (status.complete or status.enough):
            return Evaluation(status)
        in_flight, runs = self._read_in_flight(), self._runs_of(text)
        status = self._status(key, text, now, in_flight, self._events_read(text, runs))
        if status.blocked:
            return Evaluation(status, may_fire=True, runs=runs)
        policy, end = self._upstreams.run_policy, self._end(key)
        fires, idle, may_fire = (
            question(status, runs.started, end, now, queued=runs.queued)
            for question in (policy.fires, policy.idle, policy.settles)
        )
        fires = fires and self._early_until(key, now) is None and self._has_past(key)
        return Evaluation(status, fires, idle, may_fire, runs)

    def early_until(self, text: str, now: datetime) -> datetime | None:
        """The time before which no run of the Dag's key *text* begins by itself; ``None`` once it has come.

        :raises InvalidKeyError: if the Dag's definition has no such key.
        """
        if self._upstreams.run_policy.at is None:
            return None
        return self._early_until(self._upstreams.downstream.parse(text), now)

    def _early_until(self, key: Key, now: datetime) -> datetime | None:
        begins = self._upstreams.run_policy.begins(self._upstreams.downstream.interval_of(key))
        return None if begins is None or begins <= now else begins

    def is_blocked(self, text: str, now: datetime) -> bool:
        """Whether something that the Dag's key *text* needs is being made, be there enough of the rest or not."""
        key = self._upstreams.downstream.parse(text)
        return self._status(key, text, now, self._read_in_flight()).blocked

    def _has_past(self, key: Key) -> bool:
        """Whether the partitions before *key* are there that it needs; they come without an event of an upstream."""
        if self._own_past is None:
            return True
        past = [(str(each), each) for each in self._own_past.upstream(key)]
        times = (_history().times(asset, self._upstreams.downstream, past) for asset in self._own_assets if past)
        return all(by_text[text] is not None for by_text in times for text, _ in past)

    @cached_property
    def _is_held(self) -> bool:
        """Whether the Dag works for requests alone; what has come meanwhile begins when that ends."""
        from airflow_partitions.engine.ledger.holds import is_held

        return is_held(self.dag_id)

    @cached_property
    def _own_assets(self) -> Sequence[str]:
        """The assets that the Dag writes."""
        from airflow_partitions.engine.ledger.producers import outlets

        return [] if self.dag_id is None else outlets(self.dag_id)

    def lacks_unpartitioned(self) -> bool:
        """Whether an upstream without partitions has had no event at all."""
        for name in self._upstreams.leaves:
            definition = self._upstreams.member(name).definition
            if isinstance(definition, WholeAsset):
                key = definition.parse(UNKEYED)
                if _history().times(name, definition, [(UNKEYED, key)])[UNKEYED] is None:
                    return True
        return False

    def needed(self, member: Upstream, key: Key | str) -> Selection:
        """The keys of an upstream that the Dag's *key* needs."""
        return member.dependency.upstream(key, now=datetime.now(UTC) if member.dependency.rule.moving else None)

    def _status(
        self,
        key: Key,
        text: str,
        now: datetime,
        in_flight: Mapping[str, Mapping[str, datetime]] | None = None,
        read: EventsRead = _NOTHING_READ,
    ) -> UpstreamStatus:
        """The status of the upstream partitions that the Dag's *key* needs, as the run that has *read* some sees it."""

        def of(condition: SerializedAssetBase) -> UpstreamStatus:
            if isinstance(condition, SerializedAssetAll):
                return reduce(UpstreamStatus.and_, map(of, condition.objects))
            if isinstance(condition, SerializedAssetAny):
                return reduce(UpstreamStatus.or_, map(of, condition.objects))
            (leaf,) = leaves(condition)
            member = self._upstreams.member(leaf.name)
            needs = self._needs(member, key, text)
            blocked = in_flight is not None and self._is_blocked(in_flight[leaf.name], needs.texts, now)
            return attrs.evolve(self._status_of(member, key, needs, read), blocked=blocked)

        return of(self._upstreams.condition)

    def _read_in_flight(self) -> Mapping[str, Mapping[str, datetime]]:
        """What is being made, by upstream; the newest events are read after it, so that nothing falls between."""
        from airflow_partitions.engine.ledger.dag_runs import in_flight

        if self._in_flight is None:
            self._in_flight = in_flight(list(self._upstreams.leaves))
            _history().refresh(at_once=True)
        return self._in_flight

    def _runs_of(self, text: str) -> RunStatus:
        """The runs of the Dag's key *text*; those of all keys that wait are read at once."""
        from airflow_partitions.engine.ledger.dag_runs import RunStatus, run_statuses
        from airflow_partitions.engine.ledger.run_requests import run_requests

        if self.dag_id is None:
            return RunStatus()
        if text not in self._runs:
            keys = {text, *self._waiting()}
            self._runs |= run_statuses(self.dag_id, self._upstreams.downstream, keys)
            # After the runs: each that has begun has its request, or one for the run after it.
            self._requests |= run_requests(self.dag_id, keys)
        return self._runs[text]

    def _events_read(self, text: str, runs: RunStatus) -> EventsRead:
        from airflow_partitions.engine.ledger.clocks import tolerance

        if not runs.begun:  # what runs that were purged have made is all that tells of them
            return EventsRead(runs.started)
        request = self._requests.get(text)
        # A run that is newer than the request began after it.
        event = request.event if request is not None and request.run < runs.begun else 0
        return EventsRead(runs.started, event if event <= _history().newest_event(event) else 0, tolerance())

    def _read_ahead(self) -> None:
        """Ask at once for the history of all partitions that wait, rather than for one after the other."""
        downstream = dict[str, Key]()
        for text in self._waiting():
            with suppress(InvalidKeyError):  # a row of an older definition
                downstream[text] = self._upstreams.downstream.parse(text)
        for name in self._upstreams.leaves:
            member, keys = self._upstreams.member(name), list[tuple[str, Key]]()
            for text, key in downstream.items():
                with suppress(InvalidKeyError):
                    keys += self._needs(member, key, text).texts
            _history().times(name, member.definition, keys)
        if self._own_past is not None:
            past = {str(each): each for key in downstream.values() for each in self._own_past.upstream(key)}
            for name in self._own_assets:
                _history().times(name, self._upstreams.downstream, past.items())

    def _waiting(self) -> Collection[str]:
        """The Dag's keys that will be asked for: those of its pending rows, and those that were named."""
        from airflow_partitions.engine.ledger.dag_runs import pending_keys

        return {*([] if self.dag_id is None else pending_keys(self.dag_id)), *self._next}

    def _needs(self, member: Upstream, key: Key, text: str) -> UpstreamNeeds:
        def compute() -> UpstreamNeeds:
            selection, keys, others = self.needed(member, key), list[tuple[str, Key]](), dict[Key, Sequence[str]]()
            for each in selection:
                text, *more = member.texts(each)
                keys.append((text, each))
                if more:
                    others[each] = more
            return UpstreamNeeds(selection, keys, others)

        moving = member.dependency.rule.moving
        return compute() if moving else _NEEDS.of(self._fingerprints[member.name], text, compute)

    def _status_of(self, member: Upstream, key: Key, needs: UpstreamNeeds, read: EventsRead) -> UpstreamStatus:
        keys, texts = needs.keys, needs.texts
        if not self._has_read_ahead and _history().lacks(member.name, texts):
            self._has_read_ahead = True
            self._read_ahead()
        times_by_text = _history().times(member.name, member.definition, texts)
        since = self._since(member, key)
        all_times: list[EventTimes] = []
        for text, each in keys:
            times = needs.times(each, text, times_by_text)
            if times is not None and (since is None or times.last >= since):
                all_times.append(times)
            elif self._upstreams.run_policy.wait is None:  # one that is missing is enough to know
                return UpstreamStatus(complete=False, enough=False)
        complete = 0 < len(keys) == len(all_times)
        changing = () if member.dependency.rule == Unpartitioned("nothing") else all_times
        return UpstreamStatus(
            complete,
            bool(all_times) and self._upstreams.run_policy.enough(len(all_times), len(keys)),
            newest=max((read.time(times.last, times.last_event) for times in changing), default=None),
            completed=max(read.time(times.first, times.first_event) for times in all_times) if complete else None,
        )

    def _is_blocked(self, in_flight: Mapping[str, datetime], keys: Sequence[tuple[str, Key]], now: datetime) -> bool:
        """Whether one of the *keys* is being made, and not for too long already."""
        longest = self._upstreams.run_policy.max_wait
        return bool(in_flight) and any(text in in_flight and now - in_flight[text] <= longest for text, _ in keys)

    def _since(self, member: Upstream, key: Key) -> datetime | None:
        """From when on an upstream without time counts for the Dag's *key*: from the tick that makes it due."""
        interval = self._upstreams.downstream.interval_of(key)
        if not member.dependency.needs_tick or interval is None:
            return None
        from airflow_partitions.engine.ledger.clocks import tolerance

        tick = member.ticks.after(interval.time_range[1] - 1)
        return None if tick is None else utc(tick) - tolerance()

    def _end(self, key: Key) -> datetime | None:
        interval = self._upstreams.downstream.interval_of(key)
        return None if interval is None else interval.end

    @cached_property
    def _fingerprints(self) -> Mapping[str, str]:
        """Text that is the same for dependencies that need the same keys, by upstream."""
        fingerprints = {}
        for name in self._upstreams.leaves:
            member = self._upstreams.member(name)
            key_format = None if member.key_format is None else member.key_format.to_json()
            rule = write_rule(self._upstreams.rule(name))
            forms = [self._upstreams.downstream.to_json(), member.definition.to_json(), rule, key_format]
            fingerprints[name] = json.dumps(forms, sort_keys=True)
        return fingerprints


def refresh_history() -> None:
    """Let evaluations of this process count all events that are committed now."""
    _history().refresh(at_once=True)


@cache
def _history() -> HistoryCache:
    """The memory of this process."""
    from airflow_partitions.engine.ledger.cache import HistoryCache

    return HistoryCache()
