"""Rows of materialized partitions: the ledger itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select, update

from airflow_partitions.core.calendars.instants import TimeRange, instant, utc
from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.database.models import Partition
from airflow_partitions.engine.ledger.addresses import Address, Addresses
from airflow_partitions.engine.ledger.asset_rows import id_of
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select
    from sqlalchemy.orm import Session

    from airflow_partitions.core.keys import Key

#: What of an event's extra has a column of its own, where it is a count.
MEASURES = ("rows", "files", "bytes")
#: In place of an event's extra that can't be read.
UNREADABLE = "unreadable"
_LARGEST = 2**63 - 1
_AT_ONCE = 4_000
_RECORD = (
    Partition.start, Partition.segments, Partition.key, Partition.first, Partition.last, Partition.event,
    Partition.dag_id, Partition.run_id, Partition.rows, Partition.files, Partition.bytes, Partition.extra,
)  # fmt: skip


def read_records(
    session: Session | Connection, asset_id: int, addresses: Addresses, time_range: TimeRange | None = None
) -> Iterator[tuple[Key, LedgerRecord]]:
    """The records of the keys that start in a range of time, or of all, in order, with their keys.

    Those that the definition has still, and that are not forgotten.
    """
    low, high = time_range or (None, None)
    values = {"asset": asset_id, "family": addresses.family, "low": low, "high": high}
    query = _in_order(ranged=time_range is not None)
    for start, segments, *columns in session.execute(query, values, execution_options={"yield_per": 1000}):
        address = Address(start, segments)
        if addresses.has(address):
            yield addresses.key(address), _record(columns)


@cache
def _in_order(*, ranged: bool) -> Select[Any]:
    """The query for the records of an asset and a family of keys, or for those *ranged* from ``low`` to ``high``."""
    own = Partition.asset_id == bindparam("asset"), Partition.family == bindparam("family")
    query = select(*_RECORD).where(*own, Partition.is_forgotten.is_(False))
    if ranged:
        query = query.where(Partition.start >= bindparam("low"), Partition.start < bindparam("high"))
    return query.order_by(Partition.start, Partition.segments)


def stored_records(
    session: Session | Connection,
    asset: int | str,
    addresses: Addresses,
    wanted: Collection[Address],
    *,
    forgotten: bool = True,
) -> dict[Address, LedgerRecord]:
    """The records at addresses.

    :param asset: the id of an asset, or the name of the current one.
    :param forgotten: also those that are.
    """
    query = _at_addresses(by_name=isinstance(asset, str), forgotten=forgotten)
    records = {}
    for portion in portions(sorted(wanted), _AT_ONCE):
        starts, texts = ({address[i] for address in portion} for i in (0, 1))
        values = {"asset": asset, "family": addresses.family, "starts": starts, "segments": texts}
        for start, segments, *columns in session.execute(query, values):
            if (address := Address(start, segments)) in wanted:
                records[address] = _record(columns)
    return records


def write_records(
    session: Session,
    asset_id: int,
    addresses: Addresses,
    records: Mapping[Address, LedgerRecord],
    stored: Collection[Address],
    forgotten: Collection[Address] = (),
) -> None:
    """Write *records*, of keys that the definition has.

    :param stored: those of their addresses that have a row.
    :param forgotten: those of their addresses that count as missing.
    """
    rows = {
        address: _columns(record) | {"is_orphaned": False, "is_forgotten": address in forgotten}
        for address, record in records.items()
    }
    own = {"asset_id": asset_id, "family": addresses.family}
    new = [own | address._asdict() | row for address, row in rows.items() if address not in stored]
    if new:
        session.execute(insert(Partition), new)
    changed = [
        {"at_start": address.start, "at_segments": address.segments, **row}
        for address, row in rows.items()
        if address in stored
    ]
    if changed:
        where = Partition.start == bindparam("at_start"), Partition.segments == bindparam("at_segments")
        one = update(Partition).where(*rows_of(asset_id, addresses), *where)
        session.connection().execute(one, changed)


def set_flags(
    session: Session, asset_id: int, addresses: Addresses, at_addresses: Iterable[Address], **flags: bool
) -> None:
    """Set ``is_orphaned`` or ``is_forgotten`` of rows at addresses."""
    by_start: dict[Any, list[Any]] = defaultdict(list)
    by_segments: dict[Any, list[Any]] = defaultdict(list)
    for start, segments in at_addresses:
        by_start[start].append(segments)
        by_segments[segments].append(start)
    few, same, others = (
        (by_segments, Partition.segments, Partition.start)
        if len(by_segments) <= len(by_start)
        else (by_start, Partition.start, Partition.segments)
    )
    change: Any = update(Partition).values(flags).execution_options(synchronize_session=False)
    for value, rest in few.items():
        for portion in portions(rest, _AT_ONCE):
            session.execute(change.where(*rows_of(asset_id, addresses), same == value, others.in_(portion)))


def rows_of(
    asset_id: int, addresses: Addresses, time_range: TimeRange | None = None
) -> tuple[ColumnElement[bool], ...]:
    """The conditions on rows that they are of an asset, of one family, and start in a range of time."""
    own = Partition.asset_id == asset_id, Partition.family == addresses.family
    return own if time_range is None else (*own, Partition.start >= time_range[0], Partition.start < time_range[1])


@cache
def _at_addresses(*, by_name: bool, forgotten: bool) -> Select[Any]:
    """The query for the rows at addresses, and perhaps for others with parts of these addresses."""
    query = select(*_RECORD).where(
        Partition.asset_id == id_of(by_name=by_name),
        Partition.family == bindparam("family"),
        Partition.start.in_(bindparam("starts", expanding=True)),
        Partition.segments.in_(bindparam("segments", expanding=True)),
    )
    return query if forgotten else query.where(Partition.is_forgotten.is_(False))


def _record(columns: Iterable[Any]) -> LedgerRecord:
    key, first, last, event, dag_id, run_id, *counts, extra = columns
    measures = {name: count for name, count in zip(MEASURES, counts, strict=True) if count is not None}
    rest = extra if isinstance(extra, dict) else {} if extra is None else {UNREADABLE: str(extra)}
    return LedgerRecord(key, utc(first), utc(last), event, dag_id, run_id, measures | rest)


def _columns(record: LedgerRecord) -> dict[str, Any]:
    measures = {name: record.extra[name] for name in MEASURES if _is_count(record.extra.get(name))}
    return {
        "key": record.key,
        "first": instant(record.first),
        "last": instant(record.last),
        "event": record.event,
        "dag_id": record.dag_id,
        "run_id": record.run_id,
        **{name: measures.get(name) for name in MEASURES},
        "extra": {name: value for name, value in record.extra.items() if name not in measures} or None,
    }


def _is_count(value: Any) -> bool:
    return type(value) is int and -_LARGEST <= value <= _LARGEST
