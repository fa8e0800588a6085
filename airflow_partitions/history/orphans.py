"""Materialised partitions that the definition of their asset does not have any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import select

from airflow_partitions.database.connection import session
from airflow_partitions.database.models import Partition as Row
from airflow_partitions.definitions.whole import UNKEYED
from airflow_partitions.dependencies import KeyFormat
from airflow_partitions.errors import InvalidKeyError
from airflow_partitions.history.addresses import Address, Addresses, keys_of
from airflow_partitions.history.asset_rows import asset_id_of
from airflow_partitions.history.events import about
from airflow_partitions.history.forgotten import read_forgotten
from airflow_partitions.history.places import Places

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.definitions import PartitionDefinition


@attrs.frozen
class Orphans:
    """Orphaned partitions of an asset whose keys mean the same.

    :ivar count: how many there are.
    :ivar first: text of the first of them; by time, if they have one.
    :ivar last: text of the last of them.
    """

    count: int
    first: str
    last: str

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return attrs.asdict(self)

    def __str__(self) -> str:
        return f"{self.first} to {self.last} ({self.count:,})" if self.count > 1 else self.first


def orphans(asset: str, meaning: PartitionDefinition | KeyFormat) -> tuple[Orphans, ...]:
    """The materialised partitions of *asset* that are none of its definition (any more), a part for each older one.

    They stay where they are: in the ledger, in storage, and in Airflow's events. Of two definitions that write keys
    alike a text counts as a key of the newer one.

    :param meaning: of the keys of its events, as they are now.
    """
    with session() as at:
        asset_id = asset_id_of(at, asset)
        if asset_id is None:
            return ()
        families: dict[str, list[str]] = defaultdict(list)
        places = Places(Addresses.by(meaning).definition)
        for family, text in _recorded(at, asset_id, meaning):
            if not _is_key(meaning, places, text):
                families[family].append(text)
        recorded = {text for texts in families.values() for text in texts}
        families[""] = [text for text in _sent(at, asset_id, meaning, places) if text not in recorded]
    return tuple(Orphans(len(texts), texts[0], texts[-1]) for texts in families.values() if texts)


def _recorded(at: Session, asset_id: int, meaning: PartitionDefinition | KeyFormat) -> Iterator[tuple[str, str]]:
    """The texts of orphaned records in the order of their addresses, each after the family of its key."""
    addresses, forgotten = Addresses.by(meaning), read_forgotten(at, asset_id)
    query = select(Row.family, Row.start, Row.segments, Row.key, Row.event).where(Row.asset_id == asset_id)
    for family, start, segments, text, event in at.execute(query.order_by(Row.family, Row.start, Row.segments)):
        if family == addresses.family and addresses.has(Address(start, segments)):
            continue
        if not forgotten.hides(text, event):
            yield family, text


def _sent(at: Session, asset_id: int, meaning: PartitionDefinition | KeyFormat, places: Places) -> Iterator[str]:
    """The texts of events that are no keys, in the order in which the first ones came; the ledger may have some."""
    from airflow.models.asset import AssetEvent as E

    forgotten = read_forgotten(at, asset_id)
    query = select(E.partition_key, E.id).where(E.asset_id == asset_id, about(meaning)).order_by(E.id)
    newest: dict[str, int] = {}
    for text, number in at.execute(query):
        newest[text or UNKEYED] = number
    for text, number in newest.items():
        if not _is_key(meaning, places, text) and not forgotten.hides(text, number):
            yield text


def _is_key(meaning: PartitionDefinition | KeyFormat, places: Places, text: str) -> bool:
    try:
        keys_of(meaning, text) if isinstance(meaning, KeyFormat) else places.read(text)
    except InvalidKeyError:
        return False
    return True
