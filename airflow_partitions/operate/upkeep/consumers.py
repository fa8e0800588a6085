"""How far the events of upstreams were looked at for the Dags that wait for them.

A Dag that waits for something else now gets rows of its own for that. Those of before are kept for a week, so that an
edit that is taken back misses nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

from sqlalchemy import delete, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from airflow_partitions.engine.database.connection import open_session, portions
from airflow_partitions.engine.database.models import Consumer
from airflow_partitions.engine.ledger.asset_rows import ensure_asset

#: So long rows are kept that are of no use now.
KEEP = timedelta(days=7)
#: Rows in use say so that often.
_TOUCHED = timedelta(days=1)
_AT_ONCE = 300


def digest(prints: Mapping[str, Any]) -> str:
    """A short form of what a consumer waits for, as its *prints* say it."""
    return blake2b(json.dumps(prints, sort_keys=True).encode(), digest_size=8).hexdigest()


def last_events(session: Session, dag_id: str, waits_for: str) -> dict[int, int]:
    """The events up to which all was looked at, by the ids of the upstreams."""
    query = select(Consumer.asset_id, Consumer.event).where(Consumer.dag_id == dag_id, Consumer.waits_for == waits_for)
    return {row.asset_id: row.event for row in session.execute(query)}


class LookedAt(NamedTuple):
    """How far the events of an upstream were looked at.

    :ivar event: id of the last event that was looked at.
    :ivar newest: id of the newest event since; ``None`` if there is none.
    """

    event: int
    newest: int | None


def looked_at(dag_ids: Collection[str]) -> dict[tuple[str, str, str], LookedAt]:
    """How far the events of upstreams were looked at, by Dag, what it waits for, and the name of the upstream."""
    from airflow.models.asset import AssetEvent as E
    from airflow.models.asset import AssetModel

    newest = select(func.max(E.id)).where(E.asset_id == Consumer.asset_id, E.id > Consumer.event).scalar_subquery()
    query = select(Consumer.dag_id, Consumer.waits_for, AssetModel.name, Consumer.event, newest).join(
        AssetModel, AssetModel.id == Consumer.asset_id
    )
    found: dict[tuple[str, str, str], LookedAt] = {}
    with open_session() as session:
        for portion in portions(sorted(dag_ids)):
            for dag_id, waits_for, name, *events in session.execute(query.where(Consumer.dag_id.in_(portion))):
                found[dag_id, waits_for, name] = LookedAt(*events)
    return found


def set_last_event(session: Session, asset_id: int, dag_id: str, waits_for: str, event: int) -> None:
    """Note that all events of an upstream were looked at up to one."""
    key = {"asset_id": asset_id, "dag_id": dag_id, "waits_for": waits_for}
    values = {"event": event, "looked_at": datetime.now(UTC)}
    change = update(Consumer).where(*(getattr(Consumer, name) == value for name, value in key.items())).values(values)
    if session.connection().execute(change).rowcount:
        return
    ensure_asset(session, asset_id)
    try:
        with session.begin_nested():
            session.execute(insert(Consumer).values(key | values))
    except IntegrityError:  # another process has made it in the same moment
        session.connection().execute(change)


def delete_unused(current: Mapping[str, str], keep: timedelta = KEEP) -> int:
    """Delete rows that were of no use for long; returns how many.

    Those of Dags that are paused, or whose file is away, stay.

    :param current: digests of what the Dags wait for that are looked after now, by their ids.
    """
    from airflow.models.dag import DagModel

    now, unused = datetime.now(UTC), list[tuple[int, str, str]]()
    in_use: list[tuple[int, str, str]] = []
    old = select(Consumer.asset_id, Consumer.dag_id, Consumer.waits_for, Consumer.looked_at, DagModel.dag_id).join(
        DagModel, DagModel.dag_id == Consumer.dag_id, isouter=True
    )
    with open_session() as session:
        for asset_id, dag_id, waits_for, looked_at, there in session.execute(
            old.where(Consumer.looked_at < now - _TOUCHED)
        ):
            if current.get(dag_id) == waits_for:
                in_use.append((asset_id, dag_id, waits_for))
            elif (dag_id in current or there is None) and looked_at < now - keep:
                unused.append((asset_id, dag_id, waits_for))
        for condition in _rows(in_use):
            session.execute(update(Consumer).where(condition).values(looked_at=now))
        for condition in _rows(unused):
            session.execute(delete(Consumer).where(condition))
        session.commit()
    return len(unused)


def _rows(keys: Collection[tuple[int, str, str]]) -> Iterator[Any]:
    """Conditions on rows, each for some of the *keys*."""
    for portion in portions(list(keys), _AT_ONCE):
        yield tuple_(Consumer.asset_id, Consumer.dag_id, Consumer.waits_for).in_(portion)
