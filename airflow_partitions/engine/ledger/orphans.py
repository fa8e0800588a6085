"""Materialized partitions that the definition of their asset does not have any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import BigInteger, and_, case, cast, func, null, or_, select, union_all

from airflow_partitions.core.definitions import WholeAsset
from airflow_partitions.core.definitions.whole import UNKEYED
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.engine.database.connection import open_session, portions
from airflow_partitions.engine.database.models import Partition as Row
from airflow_partitions.engine.ledger.addresses import Address, Addresses, keys_of
from airflow_partitions.engine.ledger.forgotten import Forgotten, forgotten_by_asset
from airflow_partitions.engine.ledger.last_times import Meaning
from airflow_partitions.engine.ledger.ledger import LedgerHead, ledger_heads
from airflow_partitions.engine.ledger.places import Places

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_AT_ONCE = 1_000
_STREAMED: Mapping[str, int] = {"yield_per": 1_000}


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


def orphans(asset: str, meaning: Meaning) -> tuple[Orphans, ...]:
    """Those of one *asset*; as :func:`orphans_of`.

    :param meaning: of the keys of its events, as they are now.
    """
    return orphans_of({asset: meaning}).get(asset, ())


def orphans_of(meanings: Mapping[str, Meaning]) -> dict[str, tuple[Orphans, ...]]:
    """The materialized partitions of assets that are none of their definitions (any more), a part for each older one.

    They stay where they are: in the ledger, in storage, and in Airflow's events. Of two definitions that write keys
    alike a text counts as a key of the newer one.

    :param meanings: of the keys of each asset's events, as they are now, by its name.
    :return: by name, without assets that have none.
    """
    parts: dict[str, list[Orphans]] = defaultdict(list)
    with open_session() as session:
        heads = ledger_heads(session, meanings, report=_unheard)
        forgotten = forgotten_by_asset(session, [head.asset_id for head in heads.values() if head.corrections])
        assets = [
            _Asset(name, meanings[name], head, forgotten.get(head.asset_id, Forgotten()))
            for name, head in heads.items()
        ]
        for portion in portions(assets, _AT_ONCE):
            for name, texts in chain(_recorded(session, portion), _sent(session, portion)):
                count, first, last = 0, "", ""
                for count, last in enumerate(texts, 1):
                    first = last if count == 1 else first
                if count:
                    parts[name].append(Orphans(count, first, last))
    return {name: tuple(parts[name]) for name in meanings if name in parts}


class _Asset:
    """An asset, and what is known of its partitions before one is read."""

    def __init__(self, name: str, meaning: Meaning, head: LedgerHead, forgotten: Forgotten) -> None:
        self.name = name
        self.id = head.asset_id
        self.is_whole = isinstance(meaning, WholeAsset)
        self.forgotten = forgotten
        self.addresses = Addresses.by(meaning)
        # Otherwise the rows do not say by themselves which of them the definition has.
        self.is_current = head.progress is not None and head.progress.definition == meaning
        self._meaning = meaning
        self._places = Places(self.addresses.definition)

    def is_key(self, text: str) -> bool:
        try:
            keys_of(self._meaning, text) if isinstance(self._meaning, KeyFormat) else self._places.read(text)
        except InvalidKeyError:
            return False
        return True


def _recorded(session: Session, assets: Sequence[_Asset]) -> Iterator[tuple[str, Iterator[str]]]:
    """The texts of orphaned records of each asset and family of keys, in the order of their addresses."""
    by_family: dict[str, list[int]] = defaultdict(list)
    for asset in assets:
        by_family[asset.addresses.family].append(asset.id)
    family = case(*((Row.asset_id.in_(asset_ids), family) for family, asset_ids in by_family.items()))
    query = (
        select(Row.asset_id, Row.family, Row.start, Row.segments, Row.key, Row.event)
        .where(
            Row.asset_id.in_([asset.id for asset in assets]),
            or_(
                Row.is_orphaned,
                Row.family != family,
                Row.asset_id.in_([asset.id for asset in assets if not asset.is_current]),
            ),
        )
        .order_by(Row.asset_id, Row.family, Row.start, Row.segments)
    )
    by_id = {asset.id: asset for asset in assets}
    rows = session.execute(query, execution_options=_STREAMED)
    for (asset_id, _), records in groupby(rows, key=lambda row: (row.asset_id, row.family)):
        asset = by_id[asset_id]
        yield asset.name, (record.key for record in records if _is_orphan(asset, record))


def _is_orphan(asset: _Asset, record: Any) -> bool:
    own, address = asset.addresses, Address(record.start, record.segments)
    if (record.family == own.family and own.has(address)) or asset.forgotten.hides(record.key, record.event):
        return False
    return not asset.is_key(record.key)


def _sent(session: Session, assets: Sequence[_Asset]) -> Iterator[tuple[str, Iterator[str]]]:
    """The texts of each asset's events that are no keys and not in the ledger, in the order in which the first came."""
    from airflow.models.asset import AssetEvent as E

    whole = [asset.id for asset in assets if asset.is_whole]
    others = [asset.id for asset in assets if not asset.is_whole]
    nothing, key = cast(null(), BigInteger), func.coalesce(E.partition_key, UNKEYED)
    about = or_(
        and_(E.asset_id.in_(whole), E.partition_key.is_(None)),
        and_(E.asset_id.in_(others), E.partition_key.is_not(None)),
    )
    events = select(E.asset_id, key.label("key"), E.id.label("sent"), nothing.label("recorded")).where(about)
    records = select(Row.asset_id, Row.key, nothing, Row.event).where(Row.asset_id.in_([*whole, *others]))
    # Not by a join: without statistics SQLite looks for each event through all records of its asset.
    both = union_all(events, records).subquery().c
    sent, recorded = func.max(both.sent), func.max(both.recorded)
    query = (
        select(both.asset_id, both.key, sent.label("sent"), recorded.label("recorded"))
        .group_by(both.asset_id, both.key)
        .having(sent.is_not(None), or_(recorded.is_(None), sent > recorded))
        .order_by(both.asset_id, func.min(both.sent))
    )
    by_id = {asset.id: asset for asset in assets}
    rows = session.execute(query, execution_options=_STREAMED)
    for asset_id, texts in groupby(rows, key=lambda row: row.asset_id):
        asset = by_id[asset_id]
        yield asset.name, (row.key for row in texts if _is_sent_orphan(asset, row))


def _is_sent_orphan(asset: _Asset, row: Any) -> bool:
    if asset.is_key(row.key) or asset.forgotten.hides(row.key, row.sent):
        return False
    # Else it is told of by its record.
    return row.recorded is None or asset.forgotten.hides(row.key, row.recorded)


def _unheard(_: str) -> None:
    """The doctor tells by itself of definitions that can't be read."""
