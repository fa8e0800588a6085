"""Explanation of one partition: what it needs, what is there, who made it, and why it is what it is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import UnknownAssetError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.graph.partitioned_assets import (
    PartitionedAsset,
    asset_dags,
    partitioned_asset,
    upstream_asset,
)
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.engine.ledger.marks import Adoption, Mark
from airflow_partitions.engine.ledger.materializations import materializations
from airflow_partitions.engine.ledger.measures import Measures
from airflow_partitions.engine.ledger.producers import outlets
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.operate.state import MISSING
from airflow_partitions.operate.states.asset_states import AssetStates, Shows
from airflow_partitions.operate.states.pages import states_of
from airflow_partitions.operate.states.reason import Evidence, reasons_of
from airflow_partitions.operate.states.run_details import run_details
from airflow_partitions.operate.states.stretch import Stretch

_MOST_STRETCHES = 20


@attrs.frozen
class Neighbour:
    """Partitions of another asset that a partition needs, or that need it.

    :ivar dag_id: the Dag whose dependency it is.
    :ivar selection: these partitions; of those without an end the ones that are over.
    :ivar stretches: their states, the newest first, up to twenty.
    :ivar more: whether there are others.
    """

    asset: str
    dag_id: str
    selection: Selection
    stretches: tuple[Stretch, ...]
    more: bool

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "asset": self.asset,
            "dag_id": self.dag_id,
            "count": len(self.selection),
            "stretches": [stretch.to_json() for stretch in self.stretches],
            "more": self.more,
        }


@attrs.frozen(kw_only=True)
class Explanation(Evidence):
    """All that is known of one partition.

    :ivar reasons: why it is what it is, each a sentence; the first tells the most.
    :ivar previous: the key before it, along time with the same segments; without time, in the declared order.
    :ivar following: the key after it, if it is there by now.
    """

    reasons: tuple[str, ...]
    previous: Key | None
    following: Key | None
    upstream: tuple[Neighbour, ...]
    downstream: tuple[Neighbour, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "asset": self.asset,
            "key": str(self.key),
            "now": self.now.isoformat(timespec="seconds"),
            "state": str(self.status.state),
            "provisional": self.status.provisional,
            "reasons": list(self.reasons),
            "start": None if self.start is None else self.start.isoformat(),
            "end": None if self.end is None else self.end.isoformat(),
            "previous": None if self.previous is None else str(self.previous),
            "next": None if self.following is None else str(self.following),
            "events": [_event_form(event) for event in self.events],
            "runs": [run.to_json() for run in self.runs],
            "upstream": [neighbour.to_json() for neighbour in self.upstream],
            "downstream": [neighbour.to_json() for neighbour in self.downstream],
        }


def explain(
    asset: str | PartitionedAsset,
    key: Any,
    *,
    shows: Shows | None = None,
    now: datetime | None = None,
) -> Explanation:
    """All that is known of one partition of an asset, and why it is what it is.

    :param key: wrapped, plain or its text.
    :param shows: whether another asset may be told of; by default all may.
    :param now: aware; the default is the moment.
    :raises UnknownAssetError: if there is no such asset.
    :raises InvalidKeyError: if it has no such partition.
    :raises UnknownVersionError: if another release wrote the ledger.
    """
    of = AssetStates(partitioned_asset(asset) if isinstance(asset, str) else asset, now, shows)
    definition = of.definition
    wrapped = definition.parse(key) if isinstance(key, str) else definition.key(key)
    stretches = of.stretches(Selection.of(definition, wrapped))
    interval = definition.interval_of(wrapped)
    evidence = Evidence(
        asset=of.asset.name,
        key=wrapped,
        status=stretches[0].status if stretches else MISSING,
        start=None if interval is None else interval.start,
        end=None if interval is None else interval.end,
        events=tuple(materializations(of.asset.name, of.asset.meaning, wrapped)),
        runs=tuple(run_details(str(wrapped), of.tasks)),
        now=of.now,
    )
    following = definition.next(wrapped)
    may_tell = shows or (lambda _: True)
    return Explanation(
        **attrs.asdict(evidence, recurse=False),
        reasons=tuple(reasons_of(of, evidence)),
        previous=definition.previous(wrapped),
        following=following if following is not None and of.existing(Selection.of(definition, following)) else None,
        upstream=tuple(_upstream(of, wrapped, may_tell)),
        downstream=tuple(_downstream(of, wrapped, may_tell)),
    )


def _upstream(of: AssetStates, key: Key, shows: Shows) -> Iterator[Neighbour]:
    for dag_id, upstreams in of.asset.upstreams.items():
        for name in upstreams.leaves:
            member = upstreams.member(name)
            dags = asset_dags(name).get(name)
            if dags is not None and shows(dags):
                other = upstream_asset(dags, member.key_format or member.definition)
                yield _neighbour(other, dag_id, member.dependency.upstream(key, now=of.now), shows, of.now)


def _downstream(of: AssetStates, key: Key, shows: Shows) -> Iterator[Neighbour]:
    for dag_id in of.asset.dags.consumers:
        timetable = of.asset.timetables.get(dag_id)
        if not isinstance(timetable, Partitioned) or timetable.upstreams is None:
            continue
        dependency = timetable.upstreams.member(of.asset.name).dependency
        if dependency.needs_tick:
            continue
        selection = dependency.downstream(key, now=of.now)
        for name in outlets(dag_id):
            try:
                other = partitioned_asset(name)
            except UnknownAssetError:
                continue
            if other.definition == selection.definition and shows(other.dags):
                yield _neighbour(other, dag_id, selection, shows, of.now)


def _neighbour(asset: PartitionedAsset, dag_id: str, selection: Selection, shows: Shows, now: datetime) -> Neighbour:
    page = states_of(asset, selection, limit=_MOST_STRETCHES, shows=shows, now=now)
    return Neighbour(asset.name, dag_id, selection, page.stretches, page.cursor is not None)


def _event_form(event: LedgerRecord) -> dict[str, Any]:
    form = {
        "at": event.last.astimezone(UTC).isoformat(),
        "dag_id": event.dag_id,
        "run_id": event.run_id,
        **attrs.asdict(Measures.of(event.extra)),
        "extra": dict(event.extra),
    }
    mark, adoption = Mark.of(event.extra), Adoption.of(event.extra)
    return form | ({"by": mark.by} if mark is not None else {}) | ({"by": adoption.by} if adoption is not None else {})
