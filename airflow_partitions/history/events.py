"""Airflow's asset events: the times at which partitions were materialised."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select

from airflow_partitions.history.database import connection, portions


class EventTimes(NamedTuple):
    """Times at which a partition was materialised, the first and the last; aware."""

    first: datetime
    last: datetime

    def also(self, other: EventTimes | None) -> EventTimes:
        """These and the *other* times."""
        return self if other is None else EventTimes(min(self.first, other.first), max(self.last, other.last))


class Event(NamedTuple):
    """One event of a partition.

    :ivar key: text of the partition's key, as it was sent.
    """

    asset: str
    key: str
    at: datetime


def event_times(asset: str, texts: Sequence[str]) -> dict[str, EventTimes]:
    """Times by key, for those of the keys *texts* that the active *asset* has events of."""
    from airflow.models.asset import AssetEvent, AssetModel

    times: dict[str, EventTimes] = {}
    with connection() as at:
        for portion in portions(texts):
            query = (
                select(AssetEvent.partition_key, func.min(AssetEvent.timestamp), func.max(AssetEvent.timestamp))
                .join(AssetModel, AssetModel.id == AssetEvent.asset_id)
                .where(AssetModel.name == asset, AssetModel.active.has(), AssetEvent.partition_key.in_(portion))
                .group_by(AssetEvent.partition_key)
            )
            times.update({key: EventTimes(first, last) for key, first, last in at.execute(query) if key is not None})
    return times


def events_since(assets: Collection[str], since: datetime) -> Iterator[Event]:
    """The events of the active *assets* at or after an aware instant, in the order they were registered in."""
    from airflow.models.asset import AssetEvent, AssetModel

    query = (
        select(AssetModel.name, AssetEvent.partition_key, AssetEvent.timestamp)
        .join(AssetModel, AssetModel.id == AssetEvent.asset_id)
        .where(
            AssetModel.name.in_(assets),
            AssetModel.active.has(),
            AssetEvent.timestamp >= since,
            AssetEvent.partition_key.is_not(None),
        )
        .order_by(AssetEvent.id)
    )
    with connection() as at:
        for name, key, timestamp in at.execute(query):
            yield Event(name, str(key), timestamp)
