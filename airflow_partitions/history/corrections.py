"""Corrections of a ledger by hand: partitions that are forgotten, and partitions that are taken over without events."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from airflow_partitions.dependencies import Selection
from airflow_partitions.errors import UnknownAssetError
from airflow_partitions.history.addresses import Addresses
from airflow_partitions.history.database import session
from airflow_partitions.history.forgotten import FORGOTTEN, Forgetting, Forgotten, read_forgotten
from airflow_partitions.history.ledger import changes, check_backend, read_progress, write_pages
from airflow_partitions.history.ledger_pages import PROGRESS, LedgerProgress, months_with
from airflow_partitions.history.state_store import asset_id_of, lock_cell, write_cells

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.definitions import PartitionDefinition
    from airflow_partitions.dependencies import KeyFormat
    from airflow_partitions.history.ledger_record import LedgerRecord
    from airflow_partitions.keys import Key

log = logging.getLogger(__name__)


def forget(asset: str, selection: Selection, *, by: str, reason: str = "") -> Forgetting:
    """Let partitions of *asset* count as missing until a later event tells of them.

    :raises UnknownAssetError: if there is no such asset.
    :raises StorageError: if Airflow's state store is not in its database.
    :raises UnknownVersionError: if another release wrote a part of the ledger.
    """
    from airflow.models.asset import AssetEvent as E

    check_backend()
    with session() as at:
        asset_id = _locked(at, asset)
        newest = at.scalar(select(func.max(E.id)).where(E.asset_id == asset_id)) or 0
        progress = read_progress(at, asset_id, log.warning)
        newest = max(newest, 0 if progress is None else progress.event)  # Airflow may have purged all
        part = Forgetting(selection, newest, datetime.now(UTC), by, reason)
        _write(at, asset_id, read_forgotten(at, asset_id).also(part))
        _write_pages(at, asset_id, selection)
        at.commit()
    return part


def remember(asset: str, selection: Selection) -> None:
    """Let what events tell of partitions of *asset* count again; errors as for :func:`forget`."""
    check_backend()
    with session() as at:
        asset_id = _locked(at, asset)
        _write(at, asset_id, read_forgotten(at, asset_id).without(selection))
        _write_pages(at, asset_id, selection)
        at.commit()


def take_over(
    asset: str, definition: PartitionDefinition | KeyFormat, records: Mapping[Key, LedgerRecord]
) -> list[Key]:
    """Write *records* that no event of the asset explains into its ledger; what is there and newer stays.

    What was forgotten of these partitions is taken back.

    :param definition: of the keys of the asset's events.
    :return: the keys whose records are new or were changed.
    :raises UnknownAssetError: if there is no such asset.
    :raises StorageError: if Airflow's state store is not in its database.
    :raises UnknownVersionError: if another release wrote a part of the ledger.
    """
    check_backend()
    addresses = Addresses.by(definition)
    keys = {addresses.of(key): key for key in records}
    with session() as at:
        asset_id = _locked(at, asset)
        progress = read_progress(at, asset_id, log.warning) or LedgerProgress(definition)
        forgotten = read_forgotten(at, asset_id)
        texts = changes(at, asset_id, {row: records[key] for row, key in keys.items()}, log.warning)
        changed = write_cells(at, asset_id, texts)
        if forgotten:
            _write(at, asset_id, forgotten.without(Selection.of(addresses.definition, *records)))
        if progress.addresses.family == addresses.family:
            write_pages(at, asset_id, progress, {addresses.month(row) for row in keys}, log.warning)
        at.commit()
    return [keys[row] for row in changed]


def _locked(at: Session, asset: str) -> int:
    """The id of the active *asset*, whose ledger nobody else changes until the transaction ends."""
    asset_id = asset_id_of(at, asset)
    if asset_id is None:
        raise UnknownAssetError(f"there is no asset {asset!r} any more", given=asset)
    lock_cell(at, asset_id, PROGRESS)
    return asset_id


def _write_pages(at: Session, asset_id: int, selection: Selection) -> None:
    """Make the pages again on which partitions of a *selection* may be."""
    progress = read_progress(at, asset_id, log.warning)
    if progress is not None and progress.addresses.family == Addresses(selection.definition).family:
        write_pages(at, asset_id, progress, set(months_with(selection, progress.months)), log.warning)


def _write(at: Session, asset_id: int, forgotten: Forgotten) -> None:
    write_cells(at, asset_id, {FORGOTTEN: json.dumps(forgotten.to_json())})
