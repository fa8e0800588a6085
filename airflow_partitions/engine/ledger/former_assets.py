"""Assets that Airflow knew by another name: what they had materialized."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.ledger.addresses import Addresses
from airflow_partitions.engine.ledger.ledger import current_records_of, read_progress

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.core.dependencies import KeyFormat
    from airflow_partitions.core.keys import Key
    from airflow_partitions.engine.ledger.ledger_record import LedgerRecord


def former_records(name: str, meaning: PartitionDefinition | KeyFormat) -> dict[Key, LedgerRecord] | None:
    """What the assets called *name*, active or not, have materialized of *meaning*; ``None`` if there never was one.

    :param meaning: of the keys of their events.
    :raises InvalidDefinitionError: if a ledger of them has other partitions.
    """
    from airflow.models.asset import AssetModel

    definition = Addresses.by(meaning).definition
    records: dict[Key, LedgerRecord] = {}
    with open_session() as session:
        asset_ids = session.scalars(select(AssetModel.id).where(AssetModel.name == name).order_by(AssetModel.id)).all()
        for asset_id in asset_ids:
            progress = read_progress(session, asset_id)
            if progress is not None and progress.addresses.family != Addresses(definition).family:
                raise InvalidDefinitionError(
                    f"asset {name!r} had partitions {progress.addresses.definition!r}; expected such as mean the same"
                    f" as {definition!r}"
                )
            for key, record in current_records_of(session, asset_id, meaning, Selection.all(definition)):
                records[key] = record.after(records.get(key))
    return records if asset_ids else None
