"""Airflow's asset events: the times at which partitions were materialized."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, func, or_, select

from airflow_partitions.core.definitions.whole import UNKEYED
from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.ledger.asset_rows import is_current

_MOST_SHOWN = 1_000


class EventTimes(NamedTuple):
    """Times at which a partition was materialized.

    :ivar first: the first time; aware.
    :ivar last: the last time; aware.
    :ivar first_event: id of the first event; greater than all ids if it is not known any more.
    :ivar last_event: id of the newest event.
    """

    first: datetime
    last: datetime
    first_event: int
    last_event: int

    def also(self, other: EventTimes | None) -> EventTimes:
        """These and the *other* times."""
        if other is None:
            return self
        first, first_event = min((self.first, self.first_event), (other.first, other.first_event))
        return EventTimes(first, max(self.last, other.last), first_event, max(self.last_event, other.last_event))


@cache
def about(*, whole: bool) -> ColumnElement[bool]:
    """The condition on events that they are about partitions: those with a key, or of a *whole* asset those without."""
    from airflow.models.asset import AssetEvent as E

    return E.partition_key.is_(None) if whole else E.partition_key.is_not(None)


def event_times(asset: str, texts: Sequence[str]) -> dict[str, EventTimes]:
    """Times by key, for those of the keys *texts* that the active *asset* has events of."""
    times: dict[str, EventTimes] = {}
    with open_connection() as connection:
        for portion in portions(texts):
            rows = connection.execute(_times(also_unkeyed=UNKEYED in portion), {"asset": asset, "keys": portion})
            times.update({UNKEYED if key is None else key: EventTimes(*rest) for key, *rest in rows})
    return times


@cache
def _times(*, also_unkeyed: bool) -> Select[*tuple[Any, ...]]:
    from airflow.models.asset import AssetEvent as E
    from airflow.models.asset import AssetModel

    of_keys: ColumnElement[bool] = E.partition_key.in_(bindparam("keys", expanding=True))
    if also_unkeyed:
        of_keys = or_(of_keys, E.partition_key.is_(None))
    return (
        select(E.partition_key, *(of(column) for column in (E.timestamp, E.id) for of in (func.min, func.max)))
        .join(AssetModel, AssetModel.id == E.asset_id)
        .where(AssetModel.name == bindparam("asset"), is_current(), of_keys)
        .group_by(E.partition_key)
    )


def newest_keys(assets: Sequence[str]) -> list[str]:
    """Keys that events of the active *assets* have, the newest first, up to a thousand: for messages."""
    from airflow.models.asset import AssetEvent as E
    from airflow.models.asset import AssetModel

    query = (
        select(E.partition_key)
        .join(AssetModel, AssetModel.id == E.asset_id)
        .where(AssetModel.name.in_(assets), is_current(), E.partition_key.is_not(None))
        .group_by(E.partition_key)
        .order_by(func.max(E.id).desc())
        .limit(_MOST_SHOWN)
    )
    with open_connection() as connection:
        return [str(key) for key in connection.scalars(query)]
