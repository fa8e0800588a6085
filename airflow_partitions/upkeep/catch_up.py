"""Events that Airflow did not deliver to a consumer: those sent while it was paused.

For each consumer and upstream asset the state store keeps the last event that has been looked at. Where there is none,
the consumer's own rows and runs say since when it works as it does now. One that has none is new: it starts at the
newest event, since history is for backfills.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from airflow_partitions.definitions.whole import UNKEYED
from airflow_partitions.errors import PartitionError
from airflow_partitions.graph.serialized_dags import fingerprint
from airflow_partitions.history.clocks import CLOCKS
from airflow_partitions.history.database import portions, session
from airflow_partitions.history.events import about
from airflow_partitions.history.marks import Mark
from airflow_partitions.history.new_events import SETTLED
from airflow_partitions.history.state_store import asset_id_of, read_cells, write_cells
from airflow_partitions.timetables import Partitioned
from airflow_partitions.timetables.mapper import DependencyMapper
from airflow_partitions.timetables.upstreams import Upstream
from airflow_partitions.upkeep.last_looked_at import CONSUMER, LastLookedAt
from airflow_partitions.versions import Report, read_form

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


def catch_up(dag_id: str, timetable: Partitioned, report: Report, after: Mapping[str, int] | None = None) -> int:
    """Ask for the partitions of a consumer that missed events call for; returns how many.

    :param after: by asset, the event up to which all have been looked at by this process; then the state store does not
        learn of it.
    :raises InvalidDefinitionError: if an upstream can't be found.
    :raises UnknownVersionError: if another release has looked at the events of an upstream.
    """
    if timetable.upstreams is None:
        return 0
    prints = fingerprint(timetable)
    requests: dict[str, dict[int, tuple[int, str]]] = defaultdict(dict)
    last_events: dict[int, int] = {}
    with session() as at:
        for name in timetable.upstreams.leaves if after is None else after:
            asset_id = asset_id_of(at, name)
            if asset_id is None:
                continue
            last_event = None if after is None else after[name]
            if last_event is None:
                last_event = _last_event(at, asset_id, dag_id, prints, report)
            if last_event is None:
                last_event = last_events[asset_id] = _first_missed(at, asset_id, dag_id, prints)
            events = _events(at, asset_id, timetable.upstreams.member(name), last_event)
            if after is None and (old := [event.id for event in events if event.at < datetime.now(UTC) - SETTLED]):
                last_events[asset_id] = max(old)
            mapper = timetable.get_partition_mapper(name=name)
            for event in _undelivered(at, dag_id, events):
                for key in _reached(mapper, event):
                    requests[key][event.id] = (asset_id, event.key)
        requests = {key: events for key, events in requests.items() if timetable.evaluate(key).may_fire}
        for key, sent in requests.items():
            _request(at, dag_id, key, sent, prints)
        for asset_id, event_id in last_events.items():
            _set_last_event(at, asset_id, dag_id, prints, event_id)
        at.commit()
    return len(requests)


def _reached(mapper: Any, event: UpstreamEvent) -> list[str]:
    if not isinstance(mapper, DependencyMapper):
        return []
    try:
        return mapper.reached(event.key, event.run_after)
    except PartitionError:  # a key of an older definition, or no key at all: Airflow has put it in its log
        return []


def _events(at: Session, asset_id: int, member: Upstream, last_event: int) -> list[UpstreamEvent]:
    from airflow.models.asset import AssetEvent as E
    from airflow.models.dagrun import DagRun

    query = (
        select(E.id, E.partition_key, E.timestamp, DagRun.run_after, E.extra)
        .join(DagRun, (DagRun.dag_id == E.source_dag_id) & (DagRun.run_id == E.source_run_id), isouter=True)
        .where(E.asset_id == asset_id, E.id > last_event, about(member.definition))
        .order_by(E.id)
        .limit(_AT_ONCE)
    )
    return [UpstreamEvent(number, key or UNKEYED, *rest) for number, key, *rest in at.execute(query)]


def _first_missed(at: Session, asset_id: int, dag_id: str, prints: dict[str, Any]) -> int:
    """The event after which a consumer may have missed some, where nothing says which have been looked at."""
    from airflow.models.asset import AssetEvent as E

    since = _works_since(at, dag_id, prints)
    newest = select(func.max(E.id)).where(E.asset_id == asset_id)
    return at.scalar(newest if since is None else newest.where(E.timestamp < since - CLOCKS)) or 0


def _works_since(at: Session, dag_id: str, prints: dict[str, Any]) -> datetime | None:
    """Since when a consumer waits for what it does now, by its rows and runs; ``None`` if it is new."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.dagrun import DagRun

    since: datetime | None = None
    rows = select(Row.rollup_fingerprint, Row.created_at).where(Row.target_dag_id == dag_id).order_by(Row.id.desc())
    for row, created_at in at.execute(rows, execution_options={"yield_per": 1000}):
        if row != prints:  # of what it waited for before
            return since
        since = created_at
    if since is None:  # made by hand, by a backfill, or purged
        since = at.scalar(select(func.min(DagRun.queued_at)).where(DagRun.dag_id == dag_id))
    return since


def _undelivered(at: Session, dag_id: str, events: list[UpstreamEvent]) -> list[UpstreamEvent]:
    """Those of *events* that no pending or fired row of the Dag stands for."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    delivered: set[int] = set()
    for portion in portions([event.id for event in events]):
        query = (
            select(Log.asset_event_id)
            .join(Row, Row.id == Log.asset_partition_dag_run_id)
            .where(Log.target_dag_id == dag_id, Log.asset_event_id.in_(portion))
        )
        delivered.update(at.scalars(query))
    return [event for event in events if event.id not in delivered and not event.quiet]


def _request(at: Session, dag_id: str, key: str, sent: Mapping[int, tuple[int, str]], prints: dict[str, Any]) -> None:
    """Put a pending row where the scheduler looks for it."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    query = select(Row.id).where(
        Row.target_dag_id == dag_id, Row.partition_key == key, Row.created_dag_run_id.is_(None)
    )
    row = at.scalar(query.limit(1))
    if row is None:
        pending = Row(target_dag_id=dag_id, partition_key=key, rollup_fingerprint=prints)
        at.add(pending)
        at.flush()
        row = pending.id
    at.add_all(
        Log(
            asset_id=asset_id,
            asset_event_id=event,
            asset_partition_dag_run_id=row,
            source_partition_key=text,
            target_dag_id=dag_id,
            target_partition_key=key,
        )
        for event, (asset_id, text) in sent.items()
    )


def _last_event(at: Session, asset_id: int, dag_id: str, prints: dict[str, Any], report: Report) -> int | None:
    """The event up to which all is done; ``None`` if there is none for what the consumer waits for now."""
    cell = CONSUMER + dag_id
    form = read_cells(at, asset_id, [cell]).get(cell)
    last = read_form(form, LastLookedAt.from_json, "the last event that it has looked at", report)
    return last.event if last is not None and last.is_of(prints) else None


def _set_last_event(at: Session, asset_id: int, dag_id: str, prints: dict[str, Any], event: int) -> None:
    write_cells(at, asset_id, {CONSUMER + dag_id: json.dumps(LastLookedAt.of(prints, event).to_json())})
