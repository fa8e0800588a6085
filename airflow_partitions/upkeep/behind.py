"""The ledgers and consumers that are behind their events, asked for all of them at once."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from sqlalchemy import case, func, or_, select

from airflow_partitions.definitions import PartitionDefinition, WholeAsset
from airflow_partitions.dependencies import KeyFormat
from airflow_partitions.errors import UnknownVersionError
from airflow_partitions.history.database import connection
from airflow_partitions.history.ledger_pages import PROGRESS, LedgerProgress
from airflow_partitions.history.state_store import form_of
from airflow_partitions.timetables import Partitioned
from airflow_partitions.upkeep.last_looked_at import CONSUMER, LastLookedAt
from airflow_partitions.versions import read_form

log = logging.getLogger(__name__)


@attrs.frozen
class Positions:
    """How far the ledgers and consumers of all active assets are.

    :ivar newest: id of the newest event of each asset's partitions, by name; 0 if there is none.
    :ivar unkeyed: id of its newest event without a key.
    :ivar cells: the forms of the cells that say it, by asset and name.
    """

    newest: Mapping[str, int]
    unkeyed: Mapping[str, int]
    cells: Mapping[tuple[str, str], Any]

    def ledgers_behind(self, definitions: Mapping[str, PartitionDefinition | KeyFormat]) -> Iterator[str]:
        """The assets whose ledger is to be looked at."""
        for asset, definition in definitions.items():
            if asset in self.newest:
                progress = self._read(asset, PROGRESS, LedgerProgress.from_json)
                newest = self._newest(asset, definition)
                if progress is None or progress.definition != definition or progress.event < newest:
                    yield asset

    def is_behind(self, dag_id: str, timetable: Partitioned, prints: Mapping[str, Any]) -> bool:
        """Whether a consumer is to be looked at; *prints* say what it waits for."""
        if (upstreams := timetable.upstreams) is None:
            return False
        for asset in upstreams.leaves:
            if asset in self.newest:
                last = self._read(asset, CONSUMER + dag_id, LastLookedAt.from_json)
                newest = self._newest(asset, upstreams.member(asset).definition)
                if last is None or not last.is_of(prints) or last.event < newest:
                    return True
        return False

    def _newest(self, asset: str, definition: PartitionDefinition | KeyFormat) -> int:
        return (self.unkeyed if isinstance(definition, WholeAsset) else self.newest)[asset]

    def _read(self, asset: str, cell: str, read: Any) -> Any:
        try:
            return read_form(self.cells.get((asset, cell)), read, cell, log.debug)
        except UnknownVersionError:  # is told when it is looked at
            return None


def read_positions() -> Positions:
    """How far all are now."""
    from airflow.models.asset import AssetEvent as E
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    kinds = (E.partition_key.is_not(None), E.partition_key.is_(None))
    events = (
        select(AssetModel.name, *(func.max(case((kind, E.id))) for kind in kinds))
        .join(E, E.asset_id == AssetModel.id, isouter=True)
        .where(AssetModel.active.has())
        .group_by(AssetModel.name)
    )
    cells = (
        select(AssetModel.name, Cell.key, Cell.value)
        .join(AssetModel, AssetModel.id == Cell.asset_id)
        .where(AssetModel.active.has(), or_(Cell.key == PROGRESS, Cell.key.startswith(CONSUMER, autoescape=True)))
    )
    with connection() as at:
        newest = list(at.execute(events))
        keyed, unkeyed = ({row[0]: row[i] or 0 for row in newest} for i in (1, 2))
        return Positions(keyed, unkeyed, {(asset, cell): form_of(text) for asset, cell, text in at.execute(cells)})
