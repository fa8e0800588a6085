"""The ledger: which partitions were materialised, kept when Airflow purges its events.

It lies in the assets' state store: a cell for each partition, and a page for each month of them. It is a projection of
the events: written by :func:`advance`, any number of times with the same outcome, and never needed to know about an
event that is still there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import select

from airflow_partitions.dependencies import Foreign, Selection
from airflow_partitions.errors import InvalidKeyError, StorageError
from airflow_partitions.history.database import connection, portions, session
from airflow_partitions.history.events import Times, times_of
from airflow_partitions.history.ledger_keys import Addresses, keys_of, moment
from airflow_partitions.history.ledger_pages import MARK, Mark, cell, page_text
from airflow_partitions.history.ledger_record import Record
from airflow_partitions.history.state_store import hold_cell, owner, read_cells, write_cells

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection
    from sqlalchemy.orm import Session

    from airflow_partitions.definitions import PartitionDefinition
    from airflow_partitions.keys import Key

# Events are read again until they are this old: the transaction that registers one may commit late.
_SETTLED = timedelta(hours=1)
_AT_ONCE = 5_000
_AFTER_ANY_DAY = "32"


@attrs.frozen
class Progress:
    """What bringing one asset's ledger up to date did.

    :ivar events: how many events were read.
    :ivar records: how many partitions were written.
    :ivar malformed: keys that are none of the asset's definition, each with the reason.
    """

    asset: str
    events: int
    records: int
    malformed: Mapping[str, str] = attrs.field(factory=dict)


def recorded(asset: str, definition: PartitionDefinition, keys: Mapping[str, Key]) -> dict[str, Times]:
    """When the ledger says that those of *keys* that it knows were materialised, by the text their events carry."""
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    addresses = Addresses(definition)
    texts = {addresses.of(key): text for text, key in keys.items()}
    found: dict[str, Times] = {}
    with connection() as at:
        for some in portions(list(texts)):
            query = (
                select(Row.key, Row.value)
                .join(AssetModel, AssetModel.id == Row.asset_id)
                .where(AssetModel.name == asset, AssetModel.active.has(), Row.key.in_(some))
            )
            found.update({texts[row]: Record.from_text(value).times for row, value in at.execute(query)})
    return found


def made(asset: str, definition: PartitionDefinition, keys: Mapping[str, Key]) -> dict[str, Times]:
    """When those of *keys* that ever were materialised were, by the text their events carry."""
    found = times_of(asset, list(keys))  # first: what is purged after this question is in the ledger
    for text, times in recorded(asset, definition, keys).items():
        found[text] = times.also(found.get(text))
    return found


def records(asset: str, selection: Selection) -> Iterator[tuple[Key, Record]]:
    """The records of a *selection* of the asset's partitions, by time, as of the last :func:`advance`."""
    addresses = Addresses(selection.definition)
    with connection() as at:
        asset_id = owner(at, asset)
        if asset_id is None:
            return
        for span in dict.fromkeys(box.span for box in selection.boxes):
            reach = None if span is None else addresses.reach(*map(moment, span))
            for key, record in _rows(at, asset_id, addresses, reach):
                if key in selection:
                    yield key, record


def advance(asset: str, definition: PartitionDefinition | Foreign, *, anew: bool = False) -> Progress:
    """Bring the ledger of the active *asset* up to date with its events.

    :param definition: what the keys of its events mean.
    :param anew: read all events again, not only the newest, and make all pages again; so it is done by itself when the
        definition has changed.
    :raises StorageError: if Airflow's state store is not in its database.
    """
    _check_backend()
    with session() as at:
        asset_id = owner(at, asset)
        if asset_id is None:
            return Progress(asset, 0, 0)
        mark = _mark(at, asset_id)
        if anew or mark is None or mark.definition != definition:
            mark = _begun(at, asset_id, definition)
            at.commit()
        last, events, written, malformed = mark.event, 0, 0, dict[str, str]()
        while True:
            now = datetime.now(UTC)
            batch = _events(at, asset_id, last)
            complete = len(batch) < _AT_ONCE
            found = _found(batch, definition, mark.addresses, malformed)
            settled = [record.event for record in batch if record.last < now - _SETTLED]
            if settled or mark.until is None or _news(at, asset_id, found):
                hold_cell(at, asset_id, MARK)
                changed = write_cells(at, asset_id, _news(at, asset_id, found))
                mark = _mark(at, asset_id) or mark
                mark = attrs.evolve(mark, event=max([mark.event, *settled]))
                if complete and (settled or mark.until is None):
                    mark = attrs.evolve(mark, until=now - _SETTLED)
                _write_pages(at, asset_id, mark, {mark.addresses.month(row) for row in changed})
                at.commit()
                written += len(changed)
            events += len(batch)
            if complete:
                return Progress(asset, events, written, malformed)
            last = batch[-1].event


def _begun(at: Session, asset_id: int, definition: PartitionDefinition | Foreign) -> Mark:
    """The mark of a ledger that takes in all events again, with pages of what it has kept of those that are purged."""
    mark = Mark(definition)
    hold_cell(at, asset_id, MARK)
    return _write_pages(at, asset_id, mark, _months(at, asset_id, mark.addresses))


def _found(
    batch: Iterable[Record],
    definition: PartitionDefinition | Foreign,
    addresses: Addresses,
    malformed: dict[str, str],
) -> dict[str, Record]:
    """The newest record of each partition in a *batch* of events, by address; notes those that are *malformed*."""
    found: dict[str, Record] = {}
    for record in batch:
        try:
            keys = keys_of(definition, record.key)
        except InvalidKeyError as error:
            malformed[record.key] = str(error)
            continue
        for key in keys:
            row = addresses.of(key)
            found[row] = record.after(found.get(row))
    return found


def _news(at: Session, asset_id: int, found: Mapping[str, Record]) -> dict[str, str]:
    """What the records *found* change in the ledger, by address."""
    kept = read_cells(at, asset_id, found)
    texts: dict[str, str] = {}
    for row, record in found.items():
        before = kept.get(row)
        texts[row] = record.after(None if before is None else Record.from_text(before)).to_text()
    return {row: text for row, text in texts.items() if text != kept.get(row)}


def _write_pages(at: Session, asset_id: int, mark: Mark, months: Collection[str]) -> Mark:
    """Make the pages of *months* again from the records, and write the mark that names them all."""
    mark = attrs.evolve(mark, months=tuple(sorted({*mark.months, *months})))
    cells = {MARK: json.dumps(mark.to_json())}
    for month in months:
        reach = mark.addresses.reach(month, month + _AFTER_ANY_DAY) if month else None
        rows = _rows(at, asset_id, mark.addresses, reach)
        cells[cell(mark.addresses, month)] = page_text({str(key): record.last for key, record in rows})
    write_cells(at, asset_id, cells)
    return mark


def _rows(
    at: Session | Connection, asset_id: int, addresses: Addresses, reach: tuple[str, str] | None
) -> Iterator[tuple[Key, Record]]:
    """The records between two addresses, or all, in order, with their keys, as far as the definition has them still."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    query = select(Row.key, Row.value).where(Row.asset_id == asset_id, *_bounds(addresses, reach)).order_by(Row.key)
    for row, value in at.execute(query, execution_options={"yield_per": 1000}):
        try:
            key = addresses.key(row)
        except InvalidKeyError:
            continue
        yield key, Record.from_text(value)


def _months(at: Session, asset_id: int, addresses: Addresses) -> set[str]:
    """The months of which there are records."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    query = select(Row.key).where(Row.asset_id == asset_id, *_bounds(addresses, None))
    return set(map(addresses.month, at.scalars(query)))


def _bounds(addresses: Addresses, reach: tuple[str, str] | None) -> list[ColumnElement[bool]]:
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    if reach is None:
        return [Row.key.startswith(addresses.prefix, autoescape=True)]
    return [Row.key >= reach[0], Row.key < reach[1]]


def _events(at: Session, asset_id: int, last: int) -> list[Record]:
    """The next events after the one called *last*."""
    from airflow.models.asset import AssetEvent as E

    query = (
        select(E.partition_key, E.timestamp, E.id, E.source_dag_id, E.source_run_id, E.extra)
        .where(E.asset_id == asset_id, E.id > last, E.partition_key.is_not(None))
        .order_by(E.id)
        .limit(_AT_ONCE)
    )
    return [Record(key, time, time, *rest) for key, time, *rest in at.execute(query)]


def _mark(at: Session, asset_id: int) -> Mark | None:
    found = json.loads(read_cells(at, asset_id, [MARK]).get(MARK, "null"))
    return None if found is None else Mark.from_json(found)


def _check_backend() -> None:
    from airflow.state import get_state_backend
    from airflow.state.metastore import MetastoreBackend

    backend: Any = get_state_backend()
    if not isinstance(backend, MetastoreBackend):
        raise StorageError(
            f"the state store is {type(backend).__name__}; the ledger expected Airflow's own in its database:"
            " leave [state_store] backend as it is, or go without the ledger"
        )
