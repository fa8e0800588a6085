"""Corrections of a ledger by hand: partitions that are forgotten, and partitions that are taken over without events."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import UnknownAssetError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.database.models import Asset
from airflow_partitions.engine.database.models import Partition as Row
from airflow_partitions.engine.ledger.addresses import Address, Addresses
from airflow_partitions.engine.ledger.asset_rows import asset_id_of, lock_asset, write_asset
from airflow_partitions.engine.ledger.forgotten import Forgetting, Forgotten, read_forgotten, write_forgotten
from airflow_partitions.engine.ledger.ledger import read_progress, take_in, write_progress
from airflow_partitions.engine.ledger.ledger_pages import LedgerProgress
from airflow_partitions.engine.ledger.mailbox import note_changed, publish, publish_forgotten
from airflow_partitions.engine.ledger.partition_rows import rows_of, set_flags

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.core.dependencies import KeyFormat
    from airflow_partitions.core.keys import Key
    from airflow_partitions.engine.ledger.ledger_record import LedgerRecord

log = logging.getLogger(__name__)


def forget(asset: str, selection: Selection, *, by: str, reason: str = "") -> Forgetting:
    """Let partitions of *asset* count as missing until a later event tells of them.

    :raises UnknownAssetError: if there is no such asset.
    """
    from airflow.models.asset import AssetEvent as E

    with open_session() as session:
        asset_id = _locked(session, asset)
        newest = session.scalar(select(func.max(E.id)).where(E.asset_id == asset_id)) or 0
        progress = read_progress(session, asset_id)
        newest = max(newest, 0 if progress is None else progress.event)  # Airflow may have purged all
        part = Forgetting(selection, newest, datetime.now(UTC), by, reason)
        _correct(session, asset_id, selection, read_forgotten(session, asset_id).also(part))
        session.commit()
    return part


def remember(asset: str, selection: Selection) -> None:
    """Let what events tell of partitions of *asset* count again.

    :raises UnknownAssetError: if there is no such asset.
    """
    with open_session() as session:
        asset_id = _locked(session, asset)
        _correct(session, asset_id, selection, read_forgotten(session, asset_id).without(selection))
        session.commit()


def take_over(
    asset: str, definition: PartitionDefinition | KeyFormat, records: Mapping[Key, LedgerRecord]
) -> list[Key]:
    """Write *records* that no event of the asset explains into its ledger; what is there and newer stays.

    What was forgotten of these partitions is taken back.

    :param definition: of the keys of the asset's events.
    :return: the keys whose records are new or were changed.
    :raises UnknownAssetError: if there is no such asset.
    """
    addresses = Addresses.by(definition)
    keys = {addresses.of(key): key for key in records}
    with open_session() as session:
        asset_id = _locked(session, asset)
        if forgotten := read_forgotten(session, asset_id):
            selection = Selection.of(addresses.definition, *records)
            _correct(session, asset_id, selection, forgotten.without(selection))
        changed = take_in(
            session, asset_id, addresses, {address: records[key] for address, key in keys.items()}, log.warning
        )
        progress = read_progress(session, asset_id)
        if progress is None:
            progress = LedgerProgress(definition)
            write_progress(session, asset_id, progress)
        if progress.addresses.family == addresses.family:
            note_changed(session, asset_id, set(map(addresses.month, changed)))
            publish(session, asset_id, progress, log.warning)
        write_asset(session, asset_id, corrections=Asset.corrections + 1)
        session.commit()
    return [keys[address] for address in changed]


def _locked(session: Session, asset: str) -> int:
    """The id of the active *asset*, whose ledger nobody else changes until the transaction ends."""
    asset_id = asset_id_of(session, asset)
    if asset_id is None:
        raise UnknownAssetError(f"there is no asset {asset!r} any more", given=asset)
    lock_asset(session, asset_id)
    return asset_id


def _correct(session: Session, asset_id: int, selection: Selection, forgotten: Forgotten) -> None:
    """Keep what is *forgotten* by now, and let the rows of a *selection* say so."""
    write_forgotten(session, asset_id, forgotten)
    addresses = Addresses(selection.definition)
    flags: dict[bool, list[Address]] = {True: [], False: []}
    for time_range in dict.fromkeys(box.time_range for box in selection.boxes):
        where = rows_of(asset_id, addresses, time_range)
        for start, segments, event, before in session.execute(
            select(Row.start, Row.segments, Row.event, Row.is_forgotten).where(*where)
        ):
            address = Address(start, segments)
            if addresses.has(address) and (key := addresses.key(address)) in selection:
                is_forgotten = forgotten.hides(key, event)
                if is_forgotten != before:
                    flags[is_forgotten].append(address)
    for is_forgotten, changed in flags.items():
        set_flags(session, asset_id, addresses, changed, is_forgotten=is_forgotten)
    write_asset(session, asset_id, changes=Asset.changes + 1, corrections=Asset.corrections + 1)
    publish_forgotten(session, asset_id, forgotten)
    progress = read_progress(session, asset_id)
    if progress is not None and progress.addresses.family == addresses.family:
        note_changed(session, asset_id, {addresses.month(address) for changed in flags.values() for address in changed})
        publish(session, asset_id, progress, log.warning)
