"""The Dags around the one that makes an asset, and which of their partitions go together with its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import reduce
from graphlib import TopologicalSorter
from operator import and_, or_

from airflow.serialization.definitions.assets import SerializedAssetAll, SerializedAssetAny, SerializedAssetBase

from airflow_partitions.core.calendars.timeline import FIRST
from airflow_partitions.core.dependencies import Selection, Unpartitioned
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import NotReadyError, UnknownAssetError
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.engine.ledger.producers import outlets
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.condition import leaves
from airflow_partitions.engine.timetables.run_policy import Within
from airflow_partitions.engine.timetables.upstreams import Upstream, look_up
from airflow_partitions.operate.requests.producer import Producer
from airflow_partitions.operate.states import State
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.slabs import selection_of
from airflow_partitions.operate.states.waiting import span_of

#: Partitions that Dags make, by the Dag's id.
PartitionsOfDags = dict[str, Selection]


class Surroundings:
    """What is up- and downstream of some Dags, as of one moment; each asset is read once, when it is asked about.

    :param makers: assets, each with the Dag that makes it.
    :param dags: the only others that are looked at; all if not given.
    :param states: of assets, by name, as far as they have been read as of then.
    :ivar lacking: upstream partitions that are needed, not there, and made by no Dag that could be asked, by asset.
    :ivar stays: downstream partitions that become stale, since ``rerun`` of their Dag does not make them again.
    """

    def __init__(
        self,
        makers: Sequence[tuple[PartitionedAsset, Producer]],
        now: datetime,
        dags: Collection[str] | None = None,
        states: Mapping[str, AssetStates] | None = None,
    ) -> None:
        self.lacking: dict[str, Selection] = {}
        self.stays: PartitionsOfDags = {}
        self._now = now
        self._dags = dags
        self._coming: PartitionsOfDags = {}
        self._assets = {asset.name: asset for asset, _ in makers}
        self._producers: dict[str, Producer | None] = {asset.name: producer for asset, producer in makers}
        self._timetables: dict[str, Partitioned] = {producer.dag_id: producer.timetable for _, producer in makers}
        self._states: dict[str, AssetStates] = dict(states or {})
        look_up((each.upstreams for each in self._timetables.values() if each.upstreams is not None), {})

    def asset(self, name: str) -> PartitionedAsset:
        """The asset of that *name*.

        :raises UnknownAssetError: if there is none.
        """
        if name not in self._assets:
            self._assets[name] = partitioned_asset(name)
        return self._assets[name]

    def upstream(self, dag_id: str, partitions: Selection) -> PartitionsOfDags:
        """What is to be made first, so that all that *partitions* of a Dag need is there; the first ones first.

        What is being made already is not among it.
        """
        planned: PartitionsOfDags = {}
        edges: dict[str, set[str]] = {dag_id: set()}
        new = [(dag_id, partitions)]
        while new:
            downstream, some = new.pop()
            for name, lacking in self._needs(downstream, some):
                producer = self._producer(name)
                if producer is None:
                    _add(self.lacking, name, lacking)
                    continue
                upstream = producer.dag_id
                if upstream == downstream:  # its own past
                    continue
                edges[downstream].add(upstream)
                edges.setdefault(upstream, set())
                coming = self._at_work(name, lacking)
                _add(self._coming, upstream, coming)
                if more := _add(planned, upstream, lacking - coming):
                    new.append((upstream, more))
        order = TopologicalSorter(edges).static_order()
        return {each: planned[each] for each in order if planned.get(each)}

    def downstream(self, dag_id: str, partitions: Selection) -> PartitionsOfDags:
        """What events make, also again, once *partitions* of a Dag have been made; those that come first first."""
        planned: PartitionsOfDags = {dag_id: partitions}
        edges: dict[str, set[str]] = {dag_id: set()}
        new = [(dag_id, partitions)]
        while new:
            upstream, some = new.pop()
            for name, downstream in self._consumers(upstream):
                edges.setdefault(downstream, set()).add(upstream)
                reached = self._reached(name, downstream, some)
                completed = self.complete(downstream, reached, planned)
                stays = self._staying(downstream, completed)
                _add(self.stays, downstream, stays)
                if more := _add(planned, downstream, completed - stays):
                    new.append((downstream, more))
        order = TopologicalSorter(edges).static_order()
        return {each: planned[each] for each in order if each != dag_id and (planned.get(each) or self.stays.get(each))}

    def complete(self, dag_id: str, partitions: Selection, planned: Mapping[str, Selection] | None = None) -> Selection:
        """Those *partitions* of a Dag for which all that they need is there, or *planned*."""
        upstreams = self._timetables[dag_id].upstreams
        if upstreams is None or not partitions:
            return partitions

        def of(condition: SerializedAssetBase) -> Selection:
            if isinstance(condition, SerializedAssetAll | SerializedAssetAny):
                join = and_ if isinstance(condition, SerializedAssetAll) else or_
                return reduce(join, map(of, condition.objects))
            (leaf,) = leaves(condition)
            member = upstreams.member(leaf.name)
            if not _is_waited_for(member):
                return partitions
            needed = member.dependency.upstream(partitions, now=self._now)
            missing = needed - self.there(member.name, needed)
            if planned and (producer := self._producer(member.name)) and producer.dag_id in planned:
                missing -= planned[producer.dag_id]
            return partitions - member.dependency.downstream(missing, now=self._now) if missing else partitions

        return of(upstreams.condition)

    def follows(self, dag_id: str, partitions: Selection, planned: Mapping[str, Selection]) -> Selection:
        """Those *partitions* of a Dag that events make, once what is *planned* upstream, or at work, has been made."""
        follows = Selection(partitions.definition)
        for member in self._members(dag_id):
            producer = self._producer(member.name)
            for some in (planned, self._coming):
                if producer is not None and producer.dag_id != dag_id and (upstream := some.get(producer.dag_id)):
                    follows |= member.dependency.downstream(upstream, now=self._now) & partitions
        return follows

    def note_lacking(self, dag_id: str, partitions: Selection, planned: Mapping[str, Selection]) -> None:
        """Note what *partitions* of a Dag need that is not there, not *planned*, and not at work."""
        for name, needed in self._needs(dag_id, partitions) if partitions else ():
            producer = self._producer(name)
            coming = planned.get(producer.dag_id) if producer is not None else None
            if lacking := needed - (self._at_work(name, needed) if coming is None else coming):
                _add(self.lacking, name, lacking)

    def there(self, name: str, partitions: Selection) -> Selection:
        """Those *partitions* of an asset that were materialized."""
        times = self.states(name).times.between(span_of(partitions))
        return selection_of(partitions.definition, times) & partitions

    def number_there(self, name: str, partitions: Selection) -> int:
        """How many of the *partitions* of an asset were materialized: :meth:`there` takes long where gaps are many."""
        if partitions.definition.only is not None and partitions.definition.time is None:  # boxes may be very many
            return len(self.there(name, partitions))
        times = self.states(name).times.between(span_of(partitions))
        dimensions = [one for one in partitions.definition.dimensions.values() if one.time is None]
        starts, number = sorted(times), 0
        for box in partitions.boxes:
            low, high = box.time_range or (0, 1)
            some = (times[start] for start in starts[bisect_left(starts, low) : bisect_left(starts, high)])
            if not box.segments:
                number += sum(map(len, some))
                continue
            chosen = [{part.text for part in box.segments[one.name]} if one.name in box.segments else None
                      for one in dimensions]  # fmt: skip
            number += sum(
                all(texts is None or text in texts for text, texts in zip(segments, chosen, strict=True))
                for of_interval in some
                for segments in of_interval
            )
        return number

    def states(self, name: str) -> AssetStates:
        """The states of the partitions of an asset."""
        if name not in self._states:
            self._states[name] = AssetStates(self.asset(name), self._now)
        return self._states[name]

    def outlet(self, dag_id: str) -> str | None:
        """An asset with the partitions of a Dag's runs; ``None`` if it makes none."""
        if self._timetables[dag_id].adds_keys:
            return None
        producer = self.producer_of(dag_id)
        return next(iter(outlets(dag_id)), None) if producer is None else producer.asset

    def producer_of(self, dag_id: str) -> Producer | None:
        """The Dag of that id, if it was found to be one that can be asked."""
        producers = filter(None, self._producers.values())
        return next((producer for producer in producers if producer.dag_id == dag_id), None)

    def _needs(self, dag_id: str, partitions: Selection) -> Iterator[tuple[str, Selection]]:
        """The upstream partitions that *partitions* of a Dag wait for, by asset."""
        members = list(self._members(dag_id))
        incomplete = partitions - self.complete(dag_id, partitions) if members else ()
        for member in members if incomplete else ():
            needed = member.dependency.upstream(incomplete, now=self._now)
            if lacking := needed - self.there(member.name, needed):
                yield member.name, lacking

    def _members(self, dag_id: str) -> Iterator[Upstream]:
        """The upstreams of a Dag whose partitions its own wait for."""
        upstreams = self._timetables[dag_id].upstreams
        if upstreams is not None:
            for name in upstreams.leaves:
                member = upstreams.member(name)
                if _is_waited_for(member):
                    yield member

    def _producer(self, name: str) -> Producer | None:
        """The Dag that can be asked for partitions of an asset."""
        if name not in self._producers:
            try:
                producer = self._producers[name] = Producer.of(self.asset(name))
            except (NotReadyError, UnknownAssetError):
                self._producers[name] = None
            else:
                self._timetables[producer.dag_id] = producer.timetable
                if self._dags is not None and producer.dag_id not in self._dags:
                    self._producers[name] = None
        return self._producers[name]

    def _consumers(self, dag_id: str) -> Iterator[tuple[str, str]]:
        """The assets that a Dag makes, each with a Dag that waits for it; which keys it adds nobody can tell."""
        for name in () if self._timetables[dag_id].adds_keys else outlets(dag_id):
            asset = self.asset(name)
            for consumer in asset.dags.consumers:
                timetable = asset.timetables.get(consumer)
                hidden = consumer == dag_id or (self._dags is not None and consumer not in self._dags)
                if not hidden and isinstance(timetable, Partitioned):
                    self._timetables[consumer] = timetable
                    if any(member.name == name for member in self._members(consumer)):
                        yield name, consumer

    def _reached(self, name: str, dag_id: str, upstream: Selection) -> Selection:
        """The partitions of a Dag, over by now, that need some of those *upstream*, of an asset."""
        member = next(member for member in self._members(dag_id) if member.name == name)
        return _over(member.dependency.downstream(upstream, now=self._now), self._now)

    def _staying(self, dag_id: str, partitions: Selection) -> Selection:
        """Those *partitions* of a Dag that were made before, and that no change upstream makes again."""
        upstreams, name = self._timetables[dag_id].upstreams, self.outlet(dag_id)
        rerun = "always" if upstreams is None else upstreams.run_policy.rerun
        if rerun == "always" or name is None or not partitions:
            return Selection(partitions.definition)
        there = self.there(name, partitions)
        if not isinstance(rerun, Within):
            return there
        return Selection(there.definition) if there.definition.time is None else _over(there, self._now - rerun.age)

    def _at_work(self, name: str, partitions: Selection) -> Selection:
        """Those *partitions* of an asset that are queued or running."""
        stretches = self.states(name).stretches(partitions)
        boxes = (one.box for one in stretches if one.state in (State.QUEUED, State.RUNNING))
        return Selection(partitions.definition, tuple(boxes))


def _is_waited_for(member: Upstream) -> bool:
    """Whether partitions of an upstream are waited for: not where it comes with the tick, or has none."""
    return not member.dependency.needs_tick and not isinstance(member.dependency.rule, Unpartitioned)


def _over(partitions: Selection, by: datetime) -> Selection:
    """Those *partitions* whose intervals are over at an instant."""
    definition = partitions.definition
    if definition.time is None:
        return partitions
    last = definition.time.last(by)
    return partitions & Selection(definition, () if last is None else (Box((FIRST, last.time_range[1])),))


def _add(partitions: dict[str, Selection], name: str, more: Selection) -> Selection:
    """Take in *more* partitions of a Dag or an asset; those that are new."""
    before = partitions.get(name)
    new = more if before is None else more - before
    partitions[name] = new if before is None else before | new
    return new
