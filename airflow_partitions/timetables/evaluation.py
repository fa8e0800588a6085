"""Whether a partition is to be made, over all that was ever materialised."""

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
from airflow_partitions.timetables.run_policy import Upcoming
from airflow_partitions.timetables.upstreams import Upstream, Upstreams

if TYPE_CHECKING:
    from airflow_partitions.history.cache import History
    from airflow_partitions.history.dag_runs import Begun
    from airflow_partitions.history.events import Times

# The scheduler reads a Dag anew for each of its loops; what is being made is read once for each.
_GOOD_FOR = timedelta(seconds=2)
_MOST_REMEMBERED = 1_000_000


class Needs(NamedTuple):
    """The keys that a downstream partition needs.

    :ivar keys: the same keys, each after the text that its events carry; two may share one.
    """

    selection: Selection
    keys: Sequence[tuple[str, Key]]


class NeededKeys:
    """The keys that downstream partitions need, remembered from one loop of the scheduler to the next."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Needs] = {}
        self._size = 0

    def of(self, fingerprint: str, text: str, needs: Callable[[], Needs]) -> Needs:
        """What the downstream key *text* *needs* by the dependency called *fingerprint*."""
        found = self._kept.get((fingerprint, text))
        if found is None:
            found = needs()
            if self._size + len(found.keys) > _MOST_REMEMBERED:
                self._kept.clear()
                self._size = 0
            self._kept[fingerprint, text] = found
            self._size += len(found.keys)
        return found


_NEEDED = NeededKeys()


@attrs.frozen
class Outlook:
    """What is to be done for a partition.

    :ivar upcoming: what is known of the upstream partitions it needs.
    :ivar fires: whether a run is to start now.
    :ivar idle: whether nothing is left to do before another upstream partition is materialised.
    :ivar may_fire: whether a run is to start now, or perhaps later without another event: once nothing that it needs
        is being made, or has changed for long enough.
    :ivar begun: when its newest run began; ``None`` if none has.
    """

    upcoming: Upcoming
    fires: bool
    idle: bool
    may_fire: bool
    begun: datetime | None = None


class Readiness:
    """Answers for one Dag which of its partitions are to be made.

    :ivar dag_id: the Dag; until it is known, runs of its partitions are not looked for.
    """

    def __init__(self, upstreams: Upstreams) -> None:
        self.dag_id: str | None = None
        self._upstreams = upstreams
        self._in_flight: Mapping[str, Mapping[str, datetime]] = {}
        self._begun: dict[str, Begun] = {}
        self._read: datetime | None = None
        self._asked: dict[str, datetime] = {}

    def fires(self, text: str) -> bool:
        """Whether to start a run of the Dag's key *text* now.

        Says so once, to one scheduler: until the run is there, a second row that asks for the same partition is left
        waiting.
        """
        from airflow_partitions.history.run_requests import first_to_ask, is_open

        now = datetime.now(UTC)
        outlook = self.outlook(text, now)
        if not outlook.fires or is_open(self._asked.get(text), outlook.begun, now):
            return False
        self._asked[text] = now
        upstream = next(iter(self._upstreams.leaves))
        return self.dag_id is None or first_to_ask(self.dag_id, text, upstream, outlook.begun)

    def outlook(self, text: str, now: datetime) -> Outlook:
        """What is to be done for the Dag's key *text*."""
        upcoming = self.upcoming(text, now)
        there = upcoming.complete or upcoming.enough
        if upcoming.blocked or not there:
            return Outlook(upcoming, fires=False, idle=False, may_fire=there)
        runs = self.begun(text)
        asked = upcoming, runs.at, self._end(text), now
        firing = self._upstreams.firing
        questions = firing.fires, firing.idle, firing.settles
        fires, idle, may_fire = (question(*asked, queued=runs.queued) for question in questions)
        return Outlook(upcoming, fires, idle, may_fire, runs.at)

    def upcoming(self, text: str, now: datetime) -> Upcoming:
        """What is known of the upstream partitions that the Dag's key *text* needs."""
        if self._read is None or now - self._read > _GOOD_FOR:
            from airflow_partitions.history.dag_runs import in_flight

            names = list(self._upstreams.leaves)
            self._in_flight = in_flight(names)
            self._begun = {}
            if unknown := _history().refresh(names):
                self._read_ahead(unknown)
            self._read = now
        return self._holds(self._upstreams.condition, text, now)

    def needed(self, member: Upstream, text: str) -> Selection:
        """The keys of an upstream that the Dag's key *text* needs."""
        return member.dependency.upstream(text, now=datetime.now(UTC) if member.dependency.rule.moving else None)

    def begun(self, text: str) -> Begun:
        """The runs of the Dag's key *text*; those of all keys that wait are read at once."""
        from airflow_partitions.history.dag_runs import Begun, begun, waiting

        if self.dag_id is None:
            return Begun(None, queued=False)
        if text not in self._begun:
            self._begun |= begun(self.dag_id, self._upstreams.downstream, {text, *waiting(self.dag_id)})
        return self._begun[text]

    def _holds(self, condition: SerializedAssetBase, text: str, now: datetime) -> Upcoming:
        if isinstance(condition, SerializedAssetAll):
            return reduce(Upcoming.and_, (self._holds(part, text, now) for part in condition.objects))
        if isinstance(condition, SerializedAssetAny):
            return reduce(Upcoming.or_, (self._holds(part, text, now) for part in condition.objects))
        (leaf,) = leaves(condition)
        return self._there(self._upstreams.member(leaf.name), text, now)

    def _read_ahead(self, names: Iterable[str]) -> None:
        """Ask at once for the history of all partitions that wait, rather than for one after the other."""
        from airflow_partitions.history.dag_runs import waiting

        texts = [] if self.dag_id is None else waiting(self.dag_id)
        for name in names:
            member, keys = self._upstreams.member(name), list[tuple[str, Key]]()
            for text in texts:
                with suppress(InvalidKeyError):  # a row of an older definition
                    keys += self._needs(member, text).keys
            _history().times(name, member.definition, keys)

    def _needs(self, member: Upstream, text: str) -> Needs:
        def needs() -> Needs:
            selection = self.needed(member, text)
            return Needs(selection, [(member.text(key), key) for key in selection])

        moving = member.dependency.rule.moving
        return needs() if moving else _NEEDED.of(self._fingerprints[member.name], text, needs)

    def _there(self, member: Upstream, text: str, now: datetime) -> Upcoming:
        selection, keys = self._needs(member, text)
        blocked = self._blocked(member, selection, now)
        known = _history().times(member.name, member.definition, keys)
        since = self._since(member, text)
        times: list[Times] = []
        for each, _ in keys:
            made = known[each]
            if made is not None and (since is None or made.last >= since):
                times.append(made)
            elif self._upstreams.firing.wait is None:  # one that is missing is enough to know
                return Upcoming(complete=False, enough=False, blocked=blocked)
        complete = 0 < len(keys) == len(times)
        return Upcoming(
            complete,
            bool(times) and self._upstreams.firing.enough(len(times), len(keys)),
            blocked,
            max((made.last for made in times), default=None),
            max(made.first for made in times) if complete else None,
        )

    def _blocked(self, member: Upstream, needed: Selection, now: datetime) -> bool:
        """Whether something that is *needed* is being made, and not for too long already."""
        for text, since in self._in_flight[member.name].items():
            if now - since > self._upstreams.firing.max_wait:
                continue
            try:
                if any(key in needed for key in member.keys(text)):
                    return True
            except InvalidKeyError:  # a run of an older definition makes nothing that is needed now
                continue
        return False

    def _since(self, member: Upstream, text: str) -> datetime | None:
        """From when on an upstream without time counts for the Dag's key *text*: from the tick that makes it due."""
        interval = self._upstreams.downstream.interval_of(self._upstreams.downstream.parse(text))
        if not member.dependency.needs_tick or interval is None:
            return None
        tick = member.ticks.after(interval.bounds[1] - 1)
        return None if tick is None else utc(tick)

    def _end(self, text: str) -> datetime | None:
        interval = self._upstreams.downstream.interval_of(self._upstreams.downstream.parse(text))
        return None if interval is None else interval.end

    @cached_property
    def _fingerprints(self) -> Mapping[str, str]:
        """Text that is the same for dependencies that need the same keys, by upstream."""
        found = {}
        for name in self._upstreams.leaves:
            member = self._upstreams.member(name)
            foreign = None if member.foreign is None else member.foreign.to_json()
            rule = write_rule(self._upstreams.rule(name))
            forms = [self._upstreams.downstream.to_json(), member.definition.to_json(), rule, foreign]
            found[name] = json.dumps(forms, sort_keys=True)
        return found


@cache
def _history() -> History:
    """The memory of this process."""
    from airflow_partitions.history.cache import History

    return History()
