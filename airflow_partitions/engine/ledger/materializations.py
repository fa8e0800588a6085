"""The materializations of one partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.ledger.addresses import Addresses
from airflow_partitions.engine.ledger.asset_rows import asset_id_of
from airflow_partitions.engine.ledger.forgotten import Forgetting, read_forgotten
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.engine.ledger.partition_rows import stored_records

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.core.keys import Key

_MOST = 20


def materializations(asset: str, meaning: PartitionDefinition | KeyFormat, key: Key) -> list[LedgerRecord]:
    """What events tell of a partition, the newest first, up to twenty; after them what only the ledger still knows.

    What is forgotten is not among them.

    :param meaning: of the keys of the asset's events.
    """
    from airflow.models.asset import AssetEvent as E

    texts = meaning.texts(key) if isinstance(meaning, KeyFormat) else (str(key),)
    with open_session() as session:
        asset_id = asset_id_of(session, asset)
        if asset_id is None:
            return []
        forgotten = read_forgotten(session, asset_id)
        query = (
            select(E.partition_key, E.timestamp, E.id, E.source_dag_id, E.source_run_id, E.extra)
            .where(E.asset_id == asset_id, E.partition_key.in_(texts))
            .order_by(E.timestamp.desc(), E.id.desc())
            .limit(_MOST)
        )
        events = [LedgerRecord(str(text), time, time, *rest) for text, time, *rest in session.execute(query)]
        addresses = Addresses.by(meaning)
        address = addresses.of(key)
        record = stored_records(session, asset_id, addresses, [address]).get(address)
    if record is not None and record.event not in {event.event for event in events}:
        events.append(record)
    return [event for event in events if not forgotten.hides(key, event.event)]


def forgetting_of(asset: str, key: Key) -> Forgetting | None:
    """Who has forgotten a partition, and why; ``None`` if nobody has."""
    with open_session() as session:
        asset_id = asset_id_of(session, asset)
        return None if asset_id is None else read_forgotten(session, asset_id).part_of(key)
