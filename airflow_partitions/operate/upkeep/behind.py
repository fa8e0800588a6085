"""The ledgers and consumers that are behind their events, asked for all of them at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
from sqlalchemy import case, func, select

from airflow_partitions.core.definitions import PartitionDefinition, WholeAsset
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.engine.database.models import Asset, Consumer
from airflow_partitions.engine.ledger.ledger_pages import meaning_form
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.operate.upkeep.consumers import digest

if TYPE_CHECKING:
    from sqlalchemy import Select


class LedgerPosition(NamedTuple):
    """How far a ledger is.

    :ivar meaning: JSON form of that by which its events were read; ``None`` if it has not begun.
    :ivar event: id of the event up to which all are in it.
    """

    meaning: Any
    event: int


@attrs.frozen
class EventPositions:
    """How far the ledgers and consumers of all active assets are.

    :ivar newest: id of the newest event of each asset's partitions, by name; 0 if there is none.
    :ivar unkeyed: id of its newest event without a key.
    :ivar ledgers: how far they are, by the name of the asset.
    :ivar consumers: id of the last event that was looked at, by upstream, Dag and what it waits for.
    """

    newest: Mapping[str, int]
    unkeyed: Mapping[str, int]
    ledgers: Mapping[str, LedgerPosition]
    consumers: Mapping[tuple[str, str, str], int]

    def ledgers_behind(self, definitions: Mapping[str, PartitionDefinition | KeyFormat]) -> Iterator[str]:
        """The assets whose ledger is to be looked at."""
        for asset, definition in definitions.items():
            if asset in self.newest:
                ledger = self.ledgers.get(asset)
                newest = self._newest(asset, definition)
                if ledger is None or ledger.event < newest or ledger.meaning != _stored(definition):
                    yield asset

    def is_behind(self, dag_id: str, timetable: Partitioned, prints: Mapping[str, Any]) -> bool:
        """Whether a consumer is to be looked at; *prints* say what it waits for."""
        if (upstreams := timetable.upstreams) is None:
            return False
        waits_for = digest(prints)
        for asset in upstreams.leaves:
            if asset in self.newest:
                last = self.consumers.get((asset, dag_id, waits_for))
                if last is None or last < self._newest(asset, upstreams.member(asset).definition):
                    return True
        return False

    def _newest(self, asset: str, definition: PartitionDefinition | KeyFormat) -> int:
        return (self.unkeyed if isinstance(definition, WholeAsset) else self.newest)[asset]


def read_positions() -> EventPositions:
    """How far all are now."""
    with open_connection() as connection:
        newest = list(connection.execute(_newest_events()))
        keyed, unkeyed = ({row[0]: row[i] or 0 for row in newest} for i in (1, 2))
        return EventPositions(
            keyed,
            unkeyed,
            {asset: LedgerPosition(*rest) for asset, *rest in connection.execute(_ledgers())},
            {(asset, dag_id, waits_for): event for asset, dag_id, waits_for, event in connection.execute(_consumers())},
        )


@cache
def _newest_events() -> Select[str, *tuple[Any, ...]]:
    """The query for the ids of the newest event of each active asset with a key, and without one."""
    from airflow.models.asset import AssetEvent as E
    from airflow.models.asset import AssetModel

    kinds = (E.partition_key.is_not(None), E.partition_key.is_(None))
    return (
        select(AssetModel.name, *(func.max(case((kind, E.id))) for kind in kinds))
        .join(E, E.asset_id == AssetModel.id, isouter=True)
        .where(AssetModel.active.has())
        .group_by(AssetModel.name)
    )


@cache
def _ledgers() -> Select[str, Any, int]:
    from airflow.models.asset import AssetModel

    query = select(AssetModel.name, Asset.meaning, Asset.event).join(Asset, Asset.id == AssetModel.id)
    return query.where(AssetModel.active.has())


@cache
def _consumers() -> Select[str, str, str, int]:
    from airflow.models.asset import AssetModel

    query = select(AssetModel.name, Consumer.dag_id, Consumer.waits_for, Consumer.event)
    return query.join(Consumer, Consumer.asset_id == AssetModel.id).where(AssetModel.active.has())


def _stored(meaning: PartitionDefinition | KeyFormat) -> Any:
    """The form of a *meaning* as a database gives it back."""
    return json.loads(json.dumps(meaning_form(meaning)))
