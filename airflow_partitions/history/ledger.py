"""The ledger: the materialised partitions, kept when Airflow purges its events.

It lies in the assets' state store: a cell for each partition, and a page for each month of them. It is a projection of
the events: written by :func:`update_ledger`, any number of times with the same outcome, and never needed to know about
an event that is still there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import select

from airflow_partitions.definitions.whole import UNKEYED
from airflow_partitions.dependencies import KeyFormat, Selection
from airflow_partitions.errors import InvalidKeyError, StorageError, UnknownVersionError
from airflow_partitions.history.addresses import Addresses, keys_of, moment
from airflow_partitions.history.database import connection, portions, session
from airflow_partitions.history.events import EventTimes, about, event_times
from airflow_partitions.history.forgotten import FORGOTTEN, Forgotten, leniently_forgotten, read_forgotten
from airflow_partitions.history.ledger_pages import PROGRESS, LedgerProgress, page_cell, page_text
from airflow_partitions.history.ledger_record import LedgerRecord
from airflow_partitions.history.new_events import SETTLED
from airflow_partitions.history.state_store import (
    asset_id_of,
    form_of,
    lock_cell,
    read_cells,
    read_texts,
    write_cells,
)
from airflow_partitions.versions import Report, read_form

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection
    from sqlalchemy.orm import Session

    from airflow_partitions.definitions import PartitionDefinition
    from airflow_partitions.keys import Key

log = logging.getLogger(__name__)

_AT_ONCE = 5_000
_AFTER_ANY_DAY = "32"


@attrs.frozen
class LedgerUpdate:
    """Outcome of bringing one asset's ledger up to date.

    :ivar events: number of events that were read.
    :ivar records: number of partitions that were written.
    :ivar malformed: keys that are none of the asset's definition, each with the reason.
    """

    asset: str
    events: int
    records: int
    malformed: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def problem(self) -> str:
        """The first of the malformed keys in a sentence, and how many others there are; empty without one."""
        reason = next(iter(self.malformed.values()), "")
        others = len(self.malformed) - 1
        return (
            reason
            if others < 1
            else f"{reason} (and {others:,} more; of an older definition, as doctor tells, or typos)"
        )


def materialised_times(asset: str, definition: PartitionDefinition, keys: Mapping[str, Key]) -> dict[str, EventTimes]:
    """Times of those of *keys* that ever were materialised and not forgotten, by the text their events carry.

    What another release wrote in the ledger is left aside: the scheduler, which asks, must go on.
    """
    sent = event_times(asset, list(keys))  # first: what is purged after this question is in the ledger
    recorded, forgotten = _recorded_times(asset, definition, keys)
    all_times = {text: times for text, times in sent.items() if not forgotten.hides(keys[text], times.last_event)}
    for text, times in recorded.items():
        if not forgotten.hides(keys[text], times.last_event):
            all_times[text] = times.also(all_times.get(text))
    return all_times


def _recorded_times(
    asset: str, definition: PartitionDefinition, keys: Mapping[str, Key]
) -> tuple[dict[str, EventTimes], Forgotten]:
    """Times of those of *keys* that the ledger has, by the texts their events carry, and what is forgotten."""
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    addresses, forgotten = Addresses(definition), Forgotten()
    texts: dict[str, list[str]] = {}
    for text, key in keys.items():
        texts.setdefault(addresses.of(key), []).append(text)
    times: dict[str, EventTimes] = {}
    with connection() as at:
        for portion in portions(list(texts)):
            query = (
                select(Row.key, Row.value)
                .join(AssetModel, AssetModel.id == Row.asset_id)
                .where(AssetModel.name == asset, AssetModel.active.has(), Row.key.in_([*portion, FORGOTTEN]))
            )
            for row, value in at.execute(query):
                if row == FORGOTTEN:
                    forgotten = leniently_forgotten(form_of(value))
                    continue
                try:
                    record = _record(row, value, log.warning)
                except UnknownVersionError as error:
                    log.warning("The record of partition %s of asset %s is left aside: %s", texts[row][0], asset, error)
                else:
                    times |= {} if record is None else dict.fromkeys(texts[row], record.times)
    return times, forgotten


def records(asset: str, selection: Selection) -> Iterator[tuple[Key, LedgerRecord]]:
    """The records of a *selection* of the asset's partitions, by time, as of the last :func:`update_ledger`."""
    with connection() as at:
        asset_id = asset_id_of(at, asset)
        if asset_id is not None:
            yield from _selected(at, asset_id, selection)


def current_records(
    asset: str, definition: PartitionDefinition | KeyFormat, selection: Selection
) -> Iterator[tuple[Key, LedgerRecord]]:
    """The :func:`records` of a *selection*, and what events tell that are not in the ledger yet; changes nothing.

    :param definition: of the keys of the asset's events.
    :raises UnknownVersionError: if another release wrote a part of the ledger.
    """
    with session() as at:
        asset_id = asset_id_of(at, asset)
        if asset_id is not None:
            yield from current_records_of(at, asset_id, definition, selection)


def current_records_of(
    at: Session, asset_id: int, definition: PartitionDefinition | KeyFormat, selection: Selection
) -> Iterator[tuple[Key, LedgerRecord]]:
    """The :func:`current_records` of the asset with that id, active or not."""
    addresses, forgotten = Addresses(selection.definition), read_forgotten(at, asset_id)
    newer: dict[str, LedgerRecord] = {}
    progress = read_progress(at, asset_id, log.warning)
    last = progress.event if progress is not None and progress.definition == definition else 0
    while latest := _events(at, asset_id, definition, last):
        for row, record in _records(latest, definition, addresses, {}).items():
            newer[row] = record.after(newer.get(row))
        last = latest[-1].event
    entries = {addresses.of(key): (key, record) for key, record in _selected(at, asset_id, selection)}
    for row, record in newer.items():
        key = addresses.key(row)
        if key in selection and not forgotten.hides(key, record.event):
            entries[row] = key, record.after(entries[row][1] if row in entries else None)
    for row in sorted(entries):
        yield entries[row]


def _selected(at: Session | Connection, asset_id: int, selection: Selection) -> Iterator[tuple[Key, LedgerRecord]]:
    """The records of a *selection*, in order."""
    addresses, forgotten = Addresses(selection.definition), read_forgotten(at, asset_id)
    for time_range in dict.fromkeys(box.time_range for box in selection.boxes):
        rows = None if time_range is None else addresses.between(*map(moment, time_range))
        for key, record in read_rows(at, asset_id, addresses, rows, forgotten, log.warning):
            if key in selection:
                yield key, record


def update_ledger(
    asset: str,
    definition: PartitionDefinition | KeyFormat,
    report: Report = log.warning,
    *,
    anew: bool = False,
    after: int | None = None,
) -> LedgerUpdate:
    """Bring the ledger of the active *asset* up to date with its events.

    :param definition: of the keys of its events.
    :param report: is told of cells that can't be read; they are written anew.
    :param anew: read all events again, not only the newest, and make all pages again; so it is done by itself when the
        definition has changed.
    :param after: the event up to which this process has read all; then the ledger's own progress stays where it is.
    :raises StorageError: if Airflow's state store is not in its database.
    :raises UnknownVersionError: if another release wrote a part of the ledger.
    """
    check_backend()
    with session() as at:
        asset_id = asset_id_of(at, asset)
        if asset_id is None:
            return LedgerUpdate(asset, 0, 0)
        progress = read_progress(at, asset_id, report)
        if anew or progress is None or progress.definition != definition:
            progress = _start(at, asset_id, definition, report)
            at.commit()
            after = None
        last, events, written, malformed = max(progress.event, after or 0), 0, 0, dict[str, str]()
        while True:
            now = datetime.now(UTC)
            latest = _events(at, asset_id, definition, last)
            complete = len(latest) < _AT_ONCE
            records = _records(latest, definition, progress.addresses, malformed)
            settled = [record.event for record in latest if after is None and record.last < now - SETTLED]
            if settled or progress.until is None or changes(at, asset_id, records, report):
                lock_cell(at, asset_id, PROGRESS)
                changed = write_cells(at, asset_id, changes(at, asset_id, records, report))
                progress = read_progress(at, asset_id, report) or progress
                progress = attrs.evolve(progress, event=max([progress.event, *settled]))
                if complete and (settled or progress.until is None):
                    progress = attrs.evolve(progress, until=now - SETTLED)
                months = {progress.addresses.month(row) for row in changed}
                write_pages(at, asset_id, progress, months, report)
                at.commit()
                written += len(changed)
            events += len(latest)
            if complete:
                return LedgerUpdate(asset, events, written, malformed)
            last = latest[-1].event


def _start(at: Session, asset_id: int, definition: PartitionDefinition | KeyFormat, report: Report) -> LedgerProgress:
    """Progress of a ledger that takes in all events again, with pages of its records of purged events."""
    progress = LedgerProgress(definition)
    lock_cell(at, asset_id, PROGRESS)
    return write_pages(at, asset_id, progress, _months(at, asset_id, progress.addresses), report)


def _records(
    events: Iterable[LedgerRecord],
    definition: PartitionDefinition | KeyFormat,
    addresses: Addresses,
    malformed: dict[str, str],
) -> dict[str, LedgerRecord]:
    """The newest record of each partition in *events*, by address; notes those that are *malformed*."""
    records: dict[str, LedgerRecord] = {}
    for record in events:
        try:
            keys = keys_of(definition, record.key)
        except InvalidKeyError as error:
            malformed[record.key] = str(error)
            continue
        for key in keys:
            row = addresses.of(key)
            records[row] = record.after(records.get(row))
    return records


def changes(at: Session, asset_id: int, records: Mapping[str, LedgerRecord], report: Report) -> dict[str, str]:
    """The texts that *records* change in the ledger, by address."""
    stored = read_texts(at, asset_id, records)
    texts = {row: record.after(_record(row, stored.get(row), report)).to_text() for row, record in records.items()}
    return {row: text for row, text in texts.items() if text != stored.get(row)}


def write_pages(
    at: Session, asset_id: int, progress: LedgerProgress, months: Collection[str], report: Report
) -> LedgerProgress:
    """Make the pages of *months* again from the records, and write the progress that names them all."""
    progress = attrs.evolve(progress, months=tuple(sorted({*progress.months, *months})))
    cells, forgotten = {PROGRESS: json.dumps(progress.to_json())}, read_forgotten(at, asset_id, report)
    for month in months:
        addresses = progress.addresses.between(month, month + _AFTER_ANY_DAY) if month else None
        rows = read_rows(at, asset_id, progress.addresses, addresses, forgotten, report)
        cells[page_cell(progress.addresses, month)] = page_text({str(key): record.last for key, record in rows})
    write_cells(at, asset_id, cells)
    return progress


def read_rows(
    at: Session | Connection,
    asset_id: int,
    addresses: Addresses,
    between: tuple[str, str] | None,
    forgotten: Forgotten,
    report: Report,
) -> Iterator[tuple[Key, LedgerRecord]]:
    """The records between two addresses, or all, in order, with their keys, as far as the definition has them still.

    Without those that are *forgotten*.
    """
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    where = [Row.asset_id == asset_id, *_rows_between(addresses, between)]
    query = select(Row.key, Row.value).where(*where).order_by(Row.key)
    for row, value in at.execute(query, execution_options={"yield_per": 1000}):
        try:
            key = addresses.key(row)
        except InvalidKeyError:
            continue
        record = _record(row, value, report)
        if record is not None and not forgotten.hides(key, record.event):
            yield key, record


def _months(at: Session, asset_id: int, addresses: Addresses) -> set[str]:
    """The months of which there are records."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    query = select(Row.key).where(Row.asset_id == asset_id, *_rows_between(addresses, None))
    return set(map(addresses.month, at.scalars(query)))


def _rows_between(addresses: Addresses, between: tuple[str, str] | None) -> list[ColumnElement[bool]]:
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    if between is None:
        return [Row.key.startswith(addresses.prefix, autoescape=True)]
    return [Row.key >= between[0], Row.key < between[1]]


def _events(at: Session, asset_id: int, definition: PartitionDefinition | KeyFormat, last: int) -> list[LedgerRecord]:
    """The next events about partitions of *definition* after the one called *last*."""
    from airflow.models.asset import AssetEvent as E

    query = (
        select(E.partition_key, E.timestamp, E.id, E.source_dag_id, E.source_run_id, E.extra)
        .where(E.asset_id == asset_id, E.id > last, about(definition))
        .order_by(E.id)
        .limit(_AT_ONCE)
    )
    return [LedgerRecord(key or UNKEYED, time, time, *rest) for key, time, *rest in at.execute(query)]


def read_progress(at: Session, asset_id: int, report: Report) -> LedgerProgress | None:
    """How far the ledger of an asset is; ``None`` if it has not begun.

    :raises UnknownVersionError: if another release wrote it.
    """
    form = read_cells(at, asset_id, [PROGRESS]).get(PROGRESS)
    return read_form(form, LedgerProgress.from_json, "the progress of the ledger", report)


def _record(row: str, text: str | None, report: Report) -> LedgerRecord | None:
    form = None if text is None else form_of(text)
    return read_form(form, LedgerRecord.from_json, f"the record {row}", report)


def check_backend() -> None:
    """Refuse a state store that is not in Airflow's database.

    :raises StorageError: naming the setting.
    """
    from airflow.state import get_state_backend
    from airflow.state.metastore import MetastoreBackend

    backend: Any = get_state_backend()
    if not isinstance(backend, MetastoreBackend):
        raise StorageError(
            f"the state store is {type(backend).__name__}; the ledger expected Airflow's own in its database:"
            " leave [state_store] backend as it is, or go without the ledger"
        )
