"""What tasks read of the ledger: cells in the assets' state stores, made from its rows.

A task reaches no database, and the state store is all that it can read of an asset. Airflow throws these cells away
while the asset is in no Dag: nothing is known from them alone, and :func:`publish_missing` makes them again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from typing import TYPE_CHECKING

import attrs
from sqlalchemy import or_, select

from airflow_partitions.core.versions import Report, read_form
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.database.models import Asset
from airflow_partitions.engine.database.models import Partition as Row
from airflow_partitions.engine.ledger.addresses import Addresses, month_of, month_range
from airflow_partitions.engine.ledger.asset_rows import lock_asset, write_asset
from airflow_partitions.engine.ledger.forgotten import Forgotten, read_forgotten
from airflow_partitions.engine.ledger.ledger_pages import (
    FORGOTTEN,
    PROGRESS,
    LedgerProgress,
    checked_month,
    page_cell,
    page_text,
    progress_from,
)
from airflow_partitions.engine.ledger.partition_rows import read_records, rows_of
from airflow_partitions.engine.ledger.state_store import read_cells, write_cells

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

log = logging.getLogger(__name__)


def note_changed(session: Session, asset_id: int, months: Collection[str]) -> None:
    """Note that tasks are to read again what the ledger of an asset, whose row is locked, has of some *months*."""
    if months and (before := _unpublished(session, asset_id)) is not None:
        write_asset(session, asset_id, unpublished=sorted({*before, *months}))


def publish(session: Session, asset_id: int, progress: LedgerProgress, report: Report) -> None:
    """Let tasks read the *progress* of a ledger, and what it has of the months in which it was changed."""
    form = read_cells(session, asset_id, [PROGRESS]).get(PROGRESS)
    published = read_form(form, LedgerProgress.leniently, f"the cell {PROGRESS}", report)
    months = _unpublished(session, asset_id)
    if published is None or published.definition != progress.definition or months is None:
        publish_all(session, asset_id, progress, report)
        return
    _write(session, asset_id, attrs.evolve(progress, months=tuple(sorted({*published.months, *months}))), months)


def publish_all(session: Session, asset_id: int, progress: LedgerProgress, report: Report) -> None:
    """Let tasks read all that the ledger of an asset has."""
    months = _months(session, asset_id, progress.addresses)
    _write(session, asset_id, attrs.evolve(progress, months=tuple(sorted(months))), months)
    if forgotten := read_forgotten(session, asset_id, report):
        publish_forgotten(session, asset_id, forgotten)


def publish_forgotten(session: Session, asset_id: int, forgotten: Forgotten) -> None:
    """Let tasks read what of an asset is *forgotten*."""
    if is_read_by_tasks():
        write_cells(session, asset_id, {FORGOTTEN: json.dumps(forgotten.to_json())})


def publish_missing(report: Report = log.warning) -> list[int]:
    """Make again what Airflow has thrown away of active assets, or a process has left undone; returns their ids."""
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    if not is_read_by_tasks():
        return []
    there = select(Cell.asset_id).where(Cell.asset_id == Asset.id, Cell.key == PROGRESS).exists()
    is_missing = or_(~there, Asset.unpublished.is_not(None))
    query = (
        select(Asset.id)
        .join(AssetModel, AssetModel.id == Asset.id)
        .where(AssetModel.active.has(), Asset.meaning.is_not(None), is_missing)
        .order_by(Asset.id)
    )
    with open_session() as session:
        asset_ids = list(session.scalars(query))
        for asset_id in asset_ids:
            lock_asset(session, asset_id)
            row = session.execute(select(Asset.meaning, Asset.event, Asset.until).where(Asset.id == asset_id)).one()
            if (progress := progress_from(row.meaning, row.event, row.until, report)) is not None:
                publish_all(session, asset_id, progress, report)
            session.commit()
    return asset_ids


def is_read_by_tasks() -> bool:
    """Whether the state store that tasks read is Airflow's own, in its database."""
    from airflow.state import get_state_backend
    from airflow.state.metastore import MetastoreBackend

    return isinstance(get_state_backend(), MetastoreBackend)


def _write(session: Session, asset_id: int, progress: LedgerProgress, months: Collection[str]) -> None:
    """Make the pages of *months*, and the progress that names all months."""
    if is_read_by_tasks():
        for month in months:
            records = read_records(session, asset_id, progress.addresses, month_range(month) if month else None)
            times = {str(key): (record.first, record.last) for key, record in records}
            write_cells(session, asset_id, {page_cell(progress.addresses, month): page_text(times)})
        write_cells(session, asset_id, {PROGRESS: json.dumps(progress.to_json())})
    write_asset(session, asset_id, unpublished=None)


def _unpublished(session: Session, asset_id: int) -> list[str] | None:
    """The months that tasks can't read the newest of; ``None``, so all of them, if that can't be read."""
    try:
        return [
            checked_month(month)
            for month in session.scalar(select(Asset.unpublished).where(Asset.id == asset_id)) or ()
        ]
    except (TypeError, ValueError):
        return None


def _months(session: Session, asset_id: int, addresses: Addresses) -> set[str]:
    """The months in which partitions begin that the ledger has."""
    starts = session.scalars(select(Row.start).where(*rows_of(asset_id, addresses)).distinct())
    return {"" if addresses.definition.time is None else month_of(start) for start in starts}
