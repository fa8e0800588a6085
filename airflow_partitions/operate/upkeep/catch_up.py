"""Events that Airflow did not deliver to a consumer: those sent while it was paused.

For each consumer and upstream asset a row keeps the last event that has been looked at. Where there is none, the
consumer's own pending rows and runs say since when it works as it does now. One that has none is new: it starts at the
newest event, since history is for backfills.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from airflow_partitions.core.definitions.whole import UNKEYED, WholeAsset
from airflow_partitions.core.errors import PartitionError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.database.connection import open_session, portions
from airflow_partitions.engine.graph.serialized_dags import fingerprint
from airflow_partitions.engine.ledger.asset_rows import asset_id_of
from airflow_partitions.engine.ledger.clocks import CLOCKS
from airflow_partitions.engine.ledger.events import about
from airflow_partitions.engine.ledger.marks import Mark
from airflow_partitions.engine.ledger.new_events import SETTLED
from airflow_partitions.engine.ledger.pending_partitions import request_partitions
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.mapper import DependencyMapper
from airflow_partitions.engine.timetables.upstreams import Upstream
from airflow_partitions.operate.upkeep.consumers import digest, last_events, set_last_event

_AT_ONCE = 5_000


class UpstreamEvent(NamedTuple):
    """An event of an upstream asset.

    :ivar run_after: of the run that sent it, if one did.
    :ivar extra: its extra.
    """

    id: int
    key: str
    at: datetime
    run_after: datetime | None
    extra: Any = None

    @property
    def quiet(self) -> bool:
        """Whether nothing is to run for it."""
        mark = Mark.of(self.extra)
        return mark is not None and mark.quiet


class Missed(NamedTuple):
    """What a consumer has missed of the events of its upstreams.

    :ivar requests: by key of the consumer, the events that call for it, each with its asset and the key it has.
    :ivar positions: by the id of an upstream, the event up to which all are looked at once these are asked for.
    :ivar prints: what the consumer waits for.
    :ivar is_cut: whether there are more events than are looked at at once.
    """

    requests: Mapping[str, Mapping[int, tuple[int, str]]]
    positions: Mapping[int, int]
    prints: dict[str, Any]
    is_cut: bool


def catch_up(dag_id: str, timetable: Partitioned, after: Mapping[str, int] | None = None) -> int:
    """Ask for the partitions of a consumer that missed events call for; returns how many.

    :param after: by asset, the event up to which all have been looked at by this process; then no row learns of it.
    :raises InvalidDefinitionError: if an upstream can't be found.
    """
    if timetable.upstreams is None:
        return 0
    with open_session() as session:
        missed = read_missed(session, dag_id, timetable, after)
        request_partitions(session, dag_id, missed.requests, missed.prints)
        for asset_id, event_id in missed.positions.items():
            set_last_event(session, asset_id, dag_id, digest(missed.prints), event_id)
        session.commit()
    return len(missed.requests)


def read_missed(
    session: Session, dag_id: str, timetable: Partitioned, after: Mapping[str, int] | None = None
) -> Missed:
    """What a consumer has missed; the parameters as for :func:`catch_up`."""
    prints = fingerprint(timetable)
    requests: dict[str, dict[int, tuple[int, str]]] = defaultdict(dict)
    new_positions: dict[int, int] = {}
    is_cut, upstreams = False, timetable.upstreams
    if upstreams is None:
        return Missed({}, {}, prints, is_cut)
    positions = last_events(session, dag_id, digest(prints)) if after is None else {}
    for name in upstreams.leaves if after is None else after:
        asset_id = asset_id_of(session, name)
        if asset_id is None:  # nothing of it has ever been there
            continue
        last_event = positions.get(asset_id) if after is None else after[name]
        if last_event is None:
            last_event = new_positions[asset_id] = _first_missed(session, asset_id, dag_id, prints)
        events = _events(session, asset_id, upstreams.member(name), last_event)
        is_cut = is_cut or len(events) == _AT_ONCE
        if after is None and (old := [event.id for event in events if event.at < datetime.now(UTC) - SETTLED]):
            new_positions[asset_id] = max(old)
        mapper = timetable.get_partition_mapper(name=name)
        undelivered = _undelivered(session, dag_id, prints, events)
        for key, event in _reached(mapper, undelivered):
            requests[key][event.id] = (asset_id, event.key)
    evaluations = timetable.evaluate_all(requests)
    may_fire = {key: sent for key, sent in requests.items() if evaluations[key].may_fire}
    return Missed(may_fire, new_positions, prints, is_cut)


def skip_missed(dag_id: str, timetable: Partitioned) -> None:
    """Let nothing be asked for because of what a consumer has missed by now.

    :raises InvalidDefinitionError: if an upstream can't be found.
    """
    from airflow.models.asset import AssetEvent as E

    if timetable.upstreams is None:
        return
    waits_for = digest(fingerprint(timetable))
    with open_session() as session:
        for name in timetable.upstreams.leaves:
            if (asset_id := asset_id_of(session, name)) is not None:
                newest = session.scalar(select(func.max(E.id)).where(E.asset_id == asset_id)) or 0
                set_last_event(session, asset_id, dag_id, waits_for, newest)
        session.commit()


def _reached(mapper: Any, events: Sequence[UpstreamEvent]) -> Iterator[tuple[str, UpstreamEvent]]:
    """The keys of the consumer that *events* may make, each with an event."""
    if not isinstance(mapper, DependencyMapper):
        return
    keys: dict[str, Key] = {}
    by_event: list[tuple[UpstreamEvent, Collection[str]]] = []
    for event in events:
        try:
            reached = mapper.reached(event.key, event.run_after)
        except PartitionError:  # a key of an older definition, or no key at all: Airflow has put it in its log
            continue
        keys |= reached
        by_event.append((event, reached))
    unsettled = set(mapper.unsettled(keys))
    for event, texts in by_event:
        yield from ((text, event) for text in texts if text in unsettled)


def _events(session: Session, asset_id: int, member: Upstream, last_event: int) -> list[UpstreamEvent]:
    from airflow.models.asset import AssetEvent as E
    from airflow.models.dagrun import DagRun

    query = (
        select(E.id, E.partition_key, E.timestamp, DagRun.run_after, E.extra)
        .join(DagRun, (DagRun.dag_id == E.source_dag_id) & (DagRun.run_id == E.source_run_id), isouter=True)
        .where(E.asset_id == asset_id, E.id > last_event, about(whole=isinstance(member.definition, WholeAsset)))
        .order_by(E.id)
        .limit(_AT_ONCE)
    )
    return [UpstreamEvent(number, key or UNKEYED, *rest) for number, key, *rest in session.execute(query)]


def _first_missed(session: Session, asset_id: int, dag_id: str, prints: dict[str, Any]) -> int:
    """The event after which a consumer may have missed some, where nothing says which have been looked at."""
    from airflow.models.asset import AssetEvent as E

    since = _works_since(session, dag_id, prints)
    newest = select(func.max(E.id)).where(E.asset_id == asset_id)
    return session.scalar(newest if since is None else newest.where(E.timestamp < since - CLOCKS)) or 0


def _works_since(session: Session, dag_id: str, prints: dict[str, Any]) -> datetime | None:
    """Since when a consumer waits for what it does now, by its rows and runs; ``None`` if it is new."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.dagrun import DagRun

    since: datetime | None = None
    now = datetime.now(UTC)
    rows = select(Row.rollup_fingerprint, Row.created_at).where(Row.target_dag_id == dag_id).order_by(Row.id.desc())
    for row, created_at in session.execute(rows, execution_options={"yield_per": 1000}):
        if row != prints:  # of what it waited for before
            return since
        since = min(created_at, now)  # one that waits for its time counts as made then
    if since is None:  # made by hand, by a backfill, or purged
        since = session.scalar(select(func.min(DagRun.queued_at)).where(DagRun.dag_id == dag_id))
    return since


def _undelivered(
    session: Session, dag_id: str, prints: Mapping[str, Any], events: list[UpstreamEvent]
) -> list[UpstreamEvent]:
    """Those of *events* that no pending or fired row of the Dag stands for, as it waits now."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    delivered: list[tuple[int, int]] = []
    for portion in portions([event.id for event in events]):
        query = (
            select(Log.asset_event_id, Log.asset_partition_dag_run_id)
            .join(Row, Row.id == Log.asset_partition_dag_run_id)
            .where(Log.target_dag_id == dag_id, Log.asset_event_id.in_(portion))
        )
        delivered += ((event, row) for event, row in session.execute(query))
    others: set[int] = set()
    for portion in portions(sorted({row for _, row in delivered})):
        forms = select(Row.id, Row.rollup_fingerprint).where(Row.id.in_(portion))
        others.update(row for row, form in session.execute(forms) if form != prints)
    known = {event for event, row in delivered if row not in others}
    return [event for event in events if event.id not in known and not event.quiet]
