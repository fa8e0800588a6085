"""Measures of many partitions of an asset at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.database.models import Partition as Row
from airflow_partitions.engine.ledger.addresses import Address, Addresses
from airflow_partitions.engine.ledger.asset_rows import asset_id_of
from airflow_partitions.engine.ledger.ledger import newer_records
from airflow_partitions.engine.ledger.measures import Measures
from airflow_partitions.engine.ledger.partition_rows import MEASURES, rows_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.core.definitions import PartitionDefinition


def measured(
    asset: str, meaning: PartitionDefinition | KeyFormat, measure: str, time_range: TimeRange | None
) -> dict[int, dict[tuple[str, ...], float | None]]:
    """A *measure* of the materialized partitions of an *asset*, by start (0 without time) and texts of segments.

    That of the last time; ``None`` where nothing tells it.

    :param meaning: of the keys of the asset's events.
    :param measure: the name of one of :class:`.Measures`.
    :param time_range: only the partitions that start there; all of them without time.
    """
    addresses = Addresses.by(meaning)
    low, high = time_range or (0, 1)
    numbers: dict[Address, float | None] = {}
    with open_session() as session:
        asset_id = asset_id_of(session, asset)
        if asset_id is None or low >= high:
            return {}
        newer = newer_records(session, asset_id, meaning, addresses)  # first: nothing comes between these and the rows
        numbers.update(_recorded(session, asset_id, addresses, measure, (low, high)))
    for address, record in newer.items():
        if low <= address.start < high:
            numbers[address] = _of(record.extra, measure)
    texts: dict[str, tuple[str, ...]] = {}
    by_start: dict[int, dict[tuple[str, ...], float | None]] = {}
    for (start, segments), number in numbers.items():
        if segments not in texts:
            texts[segments] = addresses.texts(segments)
        by_start.setdefault(start, {})[texts[segments]] = number
    return by_start


def _recorded(
    session: Session, asset_id: int, addresses: Addresses, measure: str, time_range: TimeRange
) -> Iterator[tuple[Address, float | None]]:
    """What the ledger has of the partitions that the definition still has, and that nobody has forgotten."""
    own = measure in MEASURES
    query = select(Row.start, Row.segments, getattr(Row, measure) if own else Row.extra)
    query = query.where(*rows_of(asset_id, addresses, time_range), Row.is_forgotten.is_(False))
    for start, segments, value in session.execute(query):
        address = Address(start, segments)
        if addresses.has(address):
            yield address, value if own else _of(value, measure)


def _of(extra: Any, measure: str) -> float | None:
    """A *measure* of what was kept with an event, which may be anything."""
    number: float | None = getattr(Measures.of(extra), measure) if isinstance(extra, Mapping) else None
    return number
