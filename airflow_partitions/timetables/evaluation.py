"""Evaluation of a partition: whether it is to be made, over all that was ever materialised."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

import attrs
from airflow.serialization.definitions.assets import SerializedAssetAll, SerializedAssetAny, SerializedAssetBase

from airflow_partitions.calendars.instants import utc
from airflow_partitions.dependencies import Selection
from airflow_partitions.errors import InvalidKeyError
from airflow_partitions.keys import Key
from airflow_partitions.timetables.condition import leaves
from airflow_partitions.timetables.rules import write_rule
from airflow_partitions.timetables.run_policy import UpstreamStatus
from airflow_partitions.timetables.upstreams import Upstream, Upstreams

if TYPE_CHECKING:
    from airflow_partitions.history.cache import HistoryCache
    from airflow_partitions.history.dag_runs import RunStatus
    from airflow_partitions.history.events import EventTimes

# The scheduler reads a Dag anew for each of its loops; what is being made is read once for each.
_GOOD_FOR = timedelta(seconds=2)
_MOST_REMEMBERED = 1_000_000


class UpstreamNeeds(NamedTuple):
    """The upstream keys that a downstream partition needs.

    :ivar keys: the same keys, each after the text that its events carry; two may share one.
    """

    selection: Selection
    keys: Sequence[tuple[str, Key]]


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
            if self._size + len(needs.keys) > _MOST_REMEMBERED:
                self._needs.clear()
                self._size = 0
            self._needs[fingerprint, text] = needs
            self._size += len(needs.keys)
        return needs


_NEEDS = NeedsCache()


@attrs.frozen
class Evaluation:
    """The state of one partition, and what follows from it.

    :ivar status: of the upstream partitions it needs.
    :ivar fires: whether a run is to start now.
    :ivar idle: whether nothing is left to do before another upstream partition is materialised.
    :ivar may_fire: whether a run is to start now, or perhaps later without another event: once nothing that it needs
        is being made, or has changed for long enough.
    :ivar started: when its newest run began; ``None`` if none has.
    """

    status: UpstreamStatus
    fires: bool
    idle: bool
    may_fire: bool
    started: datetime | None = None


class Evaluator:
    """Evaluates the partitions of one Dag.

    Texts of keys are parsed here once; the wrapped key goes on.

    :ivar dag_id: the Dag; until it is known, runs of its partitions are not looked for.
    """

    def __init__(self, upstreams: Upstreams) -> None:
        self.dag_id: str | None = None
        self._upstreams = upstreams
        self._in_flight: Mapping[str, Mapping[str, datetime]] = {}
        self._runs: dict[str, RunStatus] = {}
        self._read: datetime | None = None
        self._requests: dict[str, datetime] = {}

    def claim_run(self, text: str) -> bool:
        """Claim the run of the Dag's key *text*, if one is to start now; ``False`` if not, or if it is claimed already.

        One scheduler gets it, once: until the run is there, a second row that asks for the same partition is left
        waiting. The claim is written to the state store of the first upstream, but on SQLite.
        """
        from airflow_partitions.history.run_requests import is_open, request_run

        now = datetime.now(UTC)
        evaluation = self.evaluate(text, now)
        if not evaluation.fires or is_open(self._requests.get(text), evaluation.started, now):
            return False
        self._requests[text] = now
        upstream = next(iter(self._upstreams.leaves))
        return self.dag_id is None or request_run(self.dag_id, text, upstream, evaluation.started)

    def evaluate(self, text: str, now: datetime) -> Evaluation:
        """Evaluate the Dag's key *text*.

        :raises InvalidKeyError: if the Dag's definition has no such key.
        """
        key = self._upstreams.downstream.parse(text)
        status = self._status(key, text, now)
        there = status.complete or status.enough
        if status.blocked or not there:
            return Evaluation(status, fires=False, idle=False, may_fire=there)
        runs, end = self._runs_of(text), self._end(key)
        policy = self._upstreams.run_policy
        fires, idle, may_fire = (
            question(status, runs.started, end, now, queued=runs.queued)
            for question in (policy.fires, policy.idle, policy.settles)
        )
        return Evaluation(status, fires, idle, may_fire, runs.started)

    def needed(self, member: Upstream, key: Key | str) -> Selection:
        """The keys of an upstream that the Dag's *key* needs."""
        return member.dependency.upstream(key, now=datetime.now(UTC) if member.dependency.rule.moving else None)

    def _status(self, key: Key, text: str, now: datetime) -> UpstreamStatus:
        """The status of the upstream partitions that the Dag's *key* needs."""
        if self._read is None or now - self._read > _GOOD_FOR:
            from airflow_partitions.history.dag_runs import in_flight

            names = list(self._upstreams.leaves)
            self._in_flight = in_flight(names)
            self._runs = {}
            if unread := _history().refresh(names):
                self._read_ahead(unread)
            self._read = now
        return self._status_by(self._upstreams.condition, key, text, now)

    def _runs_of(self, text: str) -> RunStatus:
        """The runs of the Dag's key *text*; those of all keys that wait are read at once."""
        from airflow_partitions.history.dag_runs import RunStatus, pending_keys, run_statuses

        if self.dag_id is None:
            return RunStatus(None, queued=False)
        if text not in self._runs:
            self._runs |= run_statuses(self.dag_id, self._upstreams.downstream, {text, *pending_keys(self.dag_id)})
        return self._runs[text]

    def _status_by(self, condition: SerializedAssetBase, key: Key, text: str, now: datetime) -> UpstreamStatus:
        if isinstance(condition, SerializedAssetAll):
            parts = (self._status_by(part, key, text, now) for part in condition.objects)
            return reduce(UpstreamStatus.and_, parts)
        if isinstance(condition, SerializedAssetAny):
            parts = (self._status_by(part, key, text, now) for part in condition.objects)
            return reduce(UpstreamStatus.or_, parts)
        (leaf,) = leaves(condition)
        return self._status_of(self._upstreams.member(leaf.name), key, text, now)

    def _read_ahead(self, names: Iterable[str]) -> None:
        """Ask at once for the history of all partitions that wait, rather than for one after the other."""
        from airflow_partitions.history.dag_runs import pending_keys

        downstream = dict[str, Key]()
        for text in [] if self.dag_id is None else pending_keys(self.dag_id):
            with suppress(InvalidKeyError):  # a row of an older definition
                downstream[text] = self._upstreams.downstream.parse(text)
        for name in names:
            member, keys = self._upstreams.member(name), list[tuple[str, Key]]()
            for text, key in downstream.items():
                with suppress(InvalidKeyError):
                    keys += self._needs(member, key, text).keys
            _history().times(name, member.definition, keys)

    def _needs(self, member: Upstream, key: Key, text: str) -> UpstreamNeeds:
        def compute() -> UpstreamNeeds:
            selection = self.needed(member, key)
            return UpstreamNeeds(selection, [(member.text(each), each) for each in selection])

        moving = member.dependency.rule.moving
        return compute() if moving else _NEEDS.of(self._fingerprints[member.name], text, compute)

    def _status_of(self, member: Upstream, key: Key, text: str, now: datetime) -> UpstreamStatus:
        selection, keys = self._needs(member, key, text)
        blocked = self._blocked(member, selection, now)
        times_by_text = _history().times(member.name, member.definition, keys)
        since = self._since(member, key)
        all_times: list[EventTimes] = []
        for each, _ in keys:
            times = times_by_text[each]
            if times is not None and (since is None or times.last >= since):
                all_times.append(times)
            elif self._upstreams.run_policy.wait is None:  # one that is missing is enough to know
                return UpstreamStatus(complete=False, enough=False, blocked=blocked)
        complete = 0 < len(keys) == len(all_times)
        return UpstreamStatus(
            complete,
            bool(all_times) and self._upstreams.run_policy.enough(len(all_times), len(keys)),
            blocked,
            max((times.last for times in all_times), default=None),
            max(times.first for times in all_times) if complete else None,
        )

    def _blocked(self, member: Upstream, needed: Selection, now: datetime) -> bool:
        """Whether something that is *needed* is being made, and not for too long already."""
        for text, since in self._in_flight[member.name].items():
            if now - since > self._upstreams.run_policy.max_wait:
                continue
            try:
                if any(key in needed for key in member.keys(text)):
                    return True
            except InvalidKeyError:  # a run of an older definition makes nothing that is needed now
                continue
        return False

    def _since(self, member: Upstream, key: Key) -> datetime | None:
        """From when on an upstream without time counts for the Dag's *key*: from the tick that makes it due."""
        interval = self._upstreams.downstream.interval_of(key)
        if not member.dependency.needs_tick or interval is None:
            return None
        tick = member.ticks.after(interval.time_range[1] - 1)
        return None if tick is None else utc(tick)

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


@cache
def _history() -> HistoryCache:
    """The memory of this process."""
    from airflow_partitions.history.cache import HistoryCache

    return HistoryCache()
