"""Airflow's asset events as they are committed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, func, or_, select

from airflow_partitions.core.definitions.whole import UNKEYED
from airflow_partitions.engine.database.connection import open_connection

if TYPE_CHECKING:
    from sqlalchemy import Select

#: Longer than any transaction that registers an event.
SETTLED = timedelta(minutes=10)
_LOOK_BACK = 1_000


class Event(NamedTuple):
    """One event of an active asset.

    :ivar key: text of the partition's key, as it was sent; empty if the event has none.
    """

    id: int
    asset: str
    key: str
    at: datetime


class NewEvents:
    """The events committed since the last question, each given once; those of before the first one never.

    Ids of events are given out in order, and transactions commit in any. So an id that was skipped is asked for again,
    until no transaction can be that old. No clock but this process's own is asked.

    :ivar newest: the greatest id of an event seen so far.
    """

    def __init__(self) -> None:
        self.newest = 0
        self._skipped: dict[int, datetime] | None = None

    def read(self) -> Sequence[Event]:
        """The events committed since the last question, by id; none the first time."""
        now = datetime.now(UTC)
        if self._skipped is None:
            self._begin(now)
            return ()
        values = {"newest": self.newest, "skipped": list(self._skipped)}
        with open_connection() as db:
            rows = db.execute(_events_after(also_skipped=bool(self._skipped)), values).all()
        self._note([row.id for row in rows], now)
        return [
            Event(number, asset, UNKEYED if key is None else key, time)
            for number, asset, key, time, active in rows
            if active
        ]

    def _begin(self, now: datetime) -> None:
        with open_connection() as connection:
            ids = connection.scalars(_newest_ids()).all()
        self.newest = max(max(ids, default=0) - _LOOK_BACK, 0)
        self._skipped = {}
        self._note(ids, now)

    def _note(self, ids: Iterable[int], now: datetime) -> None:
        numbers = set(ids)
        newest = max(numbers, default=self.newest)
        between = range(max(self.newest, newest - _LOOK_BACK) + 1, newest)
        waiting = {number: since for number, since in (self._skipped or {}).items() if now - since < SETTLED}
        self._skipped = {n: since for n, since in (waiting | dict.fromkeys(between, now)).items() if n not in numbers}
        self.newest = max(self.newest, newest)


@cache
def _newest_ids() -> Select[int]:
    from airflow.models.asset import AssetEvent as E

    newest = select(func.max(E.id)).scalar_subquery()
    return select(E.id).where(E.id > newest - _LOOK_BACK)


@cache
def _events_after(*, also_skipped: bool) -> Select[int, str, str | None, datetime, str]:
    from airflow.models.asset import AssetActive as Active
    from airflow.models.asset import AssetEvent as E
    from airflow.models.asset import AssetModel

    is_new = E.id > bindparam("newest")
    return (
        select(E.id, AssetModel.name, E.partition_key, E.timestamp, Active.name)
        .join(AssetModel, AssetModel.id == E.asset_id, isouter=True)
        .join(Active, (Active.name == AssetModel.name) & (Active.uri == AssetModel.uri), isouter=True)
        .where(or_(is_new, E.id.in_(bindparam("skipped", expanding=True))) if also_skipped else is_new)
        .order_by(E.id)
    )
