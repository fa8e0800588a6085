"""The ledger: the materialized partitions, kept when Airflow purges its events.

It is a projection of the events: written by :func:`update_ledger`, any number of times with the same outcome, and never
needed to know about an event that is still there.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import bindparam, select

from airflow_partitions.core.definitions.whole import UNKEYED, WholeAsset
from airflow_partitions.core.dependencies import KeyFormat, Selection
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.versions import Report
from airflow_partitions.engine.database.connection import open_connection, open_session, portions
from airflow_partitions.engine.database.models import Asset
from airflow_partitions.engine.database.models import Partition as Row
from airflow_partitions.engine.ledger.addresses import Address, Addresses, keys_of
from airflow_partitions.engine.ledger.asset_rows import asset_id_of, is_current, lock_asset, write_asset
from airflow_partitions.engine.ledger.events import EventTimes, about, event_times
from airflow_partitions.engine.ledger.forgotten import Forgotten, read_forgotten
from airflow_partitions.engine.ledger.ledger_pages import LedgerProgress, meaning_form, progress_from
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.engine.ledger.mailbox import note_changed, publish, publish_all
from airflow_partitions.engine.ledger.new_events import SETTLED
from airflow_partitions.engine.ledger.partition_rows import (
    read_records,
    rows_of,
    set_flags,
    stored_records,
    write_records,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select
    from sqlalchemy.orm import Session

    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.core.keys import Key

log = logging.getLogger(__name__)

_AT_ONCE = 5_000
_FLAGS = ("is_orphaned", "is_forgotten")
_PROGRESS = select(Asset.meaning, Asset.event, Asset.until).where(Asset.id == bindparam("asset"))


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


def materialized_times(asset: str, definition: PartitionDefinition, keys: Mapping[str, Key]) -> dict[str, EventTimes]:
    """Times of those of *keys*, in their order, that ever were materialized and not forgotten.

    :param keys: by the texts that their events carry.
    """
    sent = event_times(asset, list(keys))  # first: what is purged after this question is in the ledger
    addresses = Addresses(definition)
    texts: dict[Address, list[str]] = defaultdict(list)
    for text, key in keys.items():
        texts[addresses.of(key)].append(text)
    with open_connection() as connection:
        recorded = stored_records(connection, asset, addresses, texts, forgotten=False)
        forgotten = read_forgotten(connection, asset) if sent else Forgotten()
    all_times = {text: times for text, times in sent.items() if not forgotten.hides(keys[text], times.last_event)}
    for address, record in recorded.items():
        for text in texts[address]:
            all_times[text] = record.times.also(all_times.get(text))
    return {text: all_times[text] for text in keys if text in all_times}


def records(asset: str, selection: Selection) -> Iterator[tuple[Key, LedgerRecord]]:
    """The records of a *selection* of the asset's partitions, by time, as of the last :func:`update_ledger`."""
    with open_connection() as connection:
        asset_id = asset_id_of(connection, asset)
        if asset_id is not None:
            yield from _selected(connection, asset_id, selection)


def current_records(
    asset: str, definition: PartitionDefinition | KeyFormat, selection: Selection
) -> Iterator[tuple[Key, LedgerRecord]]:
    """The :func:`records` of a *selection*, and what events tell that are not in the ledger yet; changes nothing.

    :param definition: of the keys of the asset's events.
    """
    with open_session() as session:
        asset_id = asset_id_of(session, asset)
        if asset_id is not None:
            yield from current_records_of(session, asset_id, definition, selection)


def current_records_of(
    session: Session, asset_id: int, definition: PartitionDefinition | KeyFormat, selection: Selection
) -> Iterator[tuple[Key, LedgerRecord]]:
    """The :func:`current_records` of the asset with that id, active or not."""
    addresses = Addresses(selection.definition)
    newer = newer_records(session, asset_id, definition, addresses)
    entries = {addresses.of(key): (key, record) for key, record in _selected(session, asset_id, selection)}
    for address, record in newer.items():
        key = addresses.key(address)
        if key in selection:
            entries[address] = key, record.after(entries[address][1] if address in entries else None)
    for address in sorted(entries):
        yield entries[address]


def newer_records(
    session: Session, asset_id: int, definition: PartitionDefinition | KeyFormat, addresses: Addresses
) -> dict[Address, LedgerRecord]:
    """What the events of an asset tell that are not in its ledger yet, and nobody has forgotten since; by address."""
    forgotten = read_forgotten(session, asset_id)
    newer: dict[Address, LedgerRecord] = {}
    progress = read_progress(session, asset_id)
    last = progress.event if progress is not None and progress.definition == definition else 0
    while latest := _events(session, asset_id, definition, last):
        for address, record in _records(latest, definition, addresses, {}).items():
            newer[address] = record.after(newer.get(address))
        last = latest[-1].event
    return {
        address: record
        for address, record in newer.items()
        if not forgotten.hides(addresses.key(address), record.event)
    }


def _selected(session: Session | Connection, asset_id: int, selection: Selection) -> Iterator[tuple[Key, LedgerRecord]]:
    """The records of a *selection*, in order."""
    addresses = Addresses(selection.definition)
    for time_range in dict.fromkeys(box.time_range for box in selection.boxes):
        for key, record in read_records(session, asset_id, addresses, time_range):
            if key in selection:
                yield key, record


def update_ledger(
    asset: str,
    definition: PartitionDefinition | KeyFormat,
    report: Report = log.warning,
    *,
    anew: bool = False,
    after: int | None = None,
    go_on: Callable[[], object] = lambda: None,
) -> LedgerUpdate:
    """Bring the ledger of the active *asset* up to date with its events.

    :param definition: of the keys of its events.
    :param report: is told of what can't be read; it is written anew.
    :param anew: read all events again, not only the newest; so it is done by itself when the definition has changed.
    :param after: the event up to which this process has read all; then the ledger's own progress stays where it is.
    :param go_on: is called after each batch of events; what it raises ends the work, which another call goes on with.
    """
    with open_session() as session:
        asset_id = asset_id_of(session, asset)
        if asset_id is None:
            return LedgerUpdate(asset, 0, 0)
        progress = read_progress(session, asset_id, report)
        if anew or progress is None or progress.definition != definition:
            progress = _start(session, asset_id, definition, report, again=progress is not None)
            session.commit()
            after = None
        last, events, written, malformed = max(progress.event, after or 0), 0, 0, dict[str, str]()
        is_published = not anew  # pages that are damaged are made again, too
        while True:
            now = datetime.now(UTC)
            latest = _events(session, asset_id, definition, last)
            complete = len(latest) < _AT_ONCE
            records = _records(latest, definition, progress.addresses, malformed)
            settled = [record.event for record in latest if after is None and record.last < now - SETTLED]
            changes = settled or progress.until is None or _changes(session, asset_id, progress.addresses, records)[0]
            if changes or (complete and not is_published):
                lock_asset(session, asset_id)
                changed = take_in(session, asset_id, progress.addresses, records, report)
                progress = read_progress(session, asset_id, report) or progress
                progress = attrs.evolve(progress, event=max([progress.event, *settled]))
                if complete and (settled or progress.until is None):
                    progress = attrs.evolve(progress, until=now - SETTLED)
                write_progress(session, asset_id, progress)
                note_changed(session, asset_id, set(map(progress.addresses.month, changed)))
                if is_published := complete:  # once for all of them: a page may change with each batch
                    (publish_all if anew else publish)(session, asset_id, progress, report)
                session.commit()
                written += len(changed)
            events += len(latest)
            if complete:
                return LedgerUpdate(asset, events, written, malformed)
            last = latest[-1].event
            go_on()


def ledger_changes(
    asset: str, definition: PartitionDefinition | KeyFormat, *, go_on: Callable[[], object] = lambda: None
) -> LedgerUpdate:
    """What reading all events of the active *asset* anew would write in its ledger; changes nothing.

    :param definition: of the keys of its events.
    :param go_on: is called after each batch of events; what it raises ends the work.
    """
    addresses, malformed = LedgerProgress(definition).addresses, dict[str, str]()
    last, events, written = 0, 0, 0
    with open_session() as session:
        asset_id = asset_id_of(session, asset)
        if asset_id is None:
            return LedgerUpdate(asset, 0, 0)
        while latest := _events(session, asset_id, definition, last):
            records = _records(latest, definition, addresses, malformed)
            written += len(_changes(session, asset_id, addresses, records)[0])
            events += len(latest)
            last = latest[-1].event
            go_on()
    return LedgerUpdate(asset, events, written, malformed)


def _start(
    session: Session, asset_id: int, definition: PartitionDefinition | KeyFormat, report: Report, *, again: bool
) -> LedgerProgress:
    """Progress of a ledger that takes in all events; what it has of purged events stays.

    :param again: whether it did so before, so that schedulers may remember what is otherwise now.
    """
    progress = LedgerProgress(definition)
    lock_asset(session, asset_id)
    write_progress(session, asset_id, progress)
    addresses, forgotten = progress.addresses, read_forgotten(session, asset_id, report)
    columns = Row.start, Row.segments, Row.event, Row.is_orphaned, Row.is_forgotten
    flags: dict[tuple[str, bool], list[Address]] = defaultdict(list)
    for start, segments, event, *before in session.execute(select(*columns).where(*rows_of(asset_id, addresses))):
        address = Address(start, segments)
        is_orphaned = not addresses.has(address)
        is_forgotten = bool(forgotten) and not is_orphaned and forgotten.hides(addresses.key(address), event)
        for name, old, new in zip(_FLAGS, before, (is_orphaned, is_forgotten), strict=True):
            if old != new:
                flags[name, new].append(address)
    for (name, value), changed in flags.items():
        set_flags(session, asset_id, addresses, changed, **{name: value})
    write_asset(session, asset_id, changes=Asset.changes + 1, corrections=Asset.corrections + int(again))
    publish_all(session, asset_id, progress, report)
    return progress


def _records(
    events: Iterable[LedgerRecord],
    definition: PartitionDefinition | KeyFormat,
    addresses: Addresses,
    malformed: dict[str, str],
) -> dict[Address, LedgerRecord]:
    """The newest record of each partition in *events*, by address; notes those that are *malformed*."""
    records: dict[Address, LedgerRecord] = {}
    for record in events:
        try:
            keys = keys_of(definition, record.key)
        except InvalidKeyError as error:
            malformed[record.key] = str(error)
            continue
        for key in keys:
            address = addresses.of(key)
            records[address] = record.after(records.get(address))
    return records


def take_in(
    session: Session, asset_id: int, addresses: Addresses, records: Mapping[Address, LedgerRecord], report: Report
) -> Collection[Address]:
    """Write *records* into the ledger of an asset whose row is locked; what is there and newer stays.

    :return: the addresses of those that are new or were changed.
    """
    changed, stored = _changes(session, asset_id, addresses, records)
    if changed:
        forgotten = read_forgotten(session, asset_id, report)
        hidden = (
            {address for address, record in changed.items() if forgotten.hides(addresses.key(address), record.event)}
            if forgotten
            else ()
        )
        write_records(session, asset_id, addresses, changed, stored, hidden)
        write_asset(session, asset_id, changes=Asset.changes + 1)
    return changed


def _changes(
    session: Session, asset_id: int, addresses: Addresses, records: Mapping[Address, LedgerRecord]
) -> tuple[dict[Address, LedgerRecord], Collection[Address]]:
    """What *records* change in the ledger, and those of their addresses that are there."""
    stored = stored_records(session, asset_id, addresses, records)
    merged = {address: record.after(stored.get(address)) for address, record in records.items()}
    return {address: record for address, record in merged.items() if record != stored.get(address)}, stored


def _events(
    session: Session, asset_id: int, definition: PartitionDefinition | KeyFormat, last: int
) -> list[LedgerRecord]:
    """The next events about partitions of *definition* after the one called *last*."""
    query = _events_after(whole=isinstance(definition, WholeAsset))
    rows = session.connection().execute(query, {"asset": asset_id, "last": last, "most": _AT_ONCE})
    return [
        LedgerRecord(key or UNKEYED, time, time, number, dag_id, run_id, extra or {})
        for key, time, number, dag_id, run_id, extra in rows
    ]


@cache
def _events_after(*, whole: bool) -> Select[*tuple[Any, ...]]:
    from airflow.models.asset import AssetEvent as E

    return (
        select(E.partition_key, E.timestamp, E.id, E.source_dag_id, E.source_run_id, E.extra)
        .where(E.asset_id == bindparam("asset"), E.id > bindparam("last"), about(whole=whole))
        .order_by(E.id)
        .limit(bindparam("most"))
    )


@attrs.frozen
class LedgerHead:
    """What is known of a ledger before any partition is read.

    :ivar progress: how far it is; ``None`` if it has not begun.
    :ivar changes: how often its partitions have been written.
    :ivar corrections: how often something was changed that no event tells of; 0 if nothing was ever forgotten.
    """

    asset_id: int
    progress: LedgerProgress | None
    changes: int
    corrections: int


def ledger_heads(
    session: Session | Connection, assets: Collection[str], report: Report = log.warning
) -> dict[str, LedgerHead]:
    """The heads of the ledgers of *assets*, by their names.

    :param report: is told of a definition that can't be read: it counts as another one.
    """
    heads = {}
    for names in portions(sorted(assets)):
        rows = session.execute(_heads(), {"assets": names})
        for name, asset_id, meaning, event, until, changes, corrections in rows:
            progress = progress_from(meaning, event, until, report)
            heads[name] = LedgerHead(asset_id, progress, changes or 0, corrections or 0)
    return heads


@cache
def _heads() -> Select[Any]:
    from airflow.models.asset import AssetModel

    columns = Asset.meaning, Asset.event, Asset.until, Asset.changes, Asset.corrections
    return (
        select(AssetModel.name, AssetModel.id, *columns)
        .join(Asset, Asset.id == AssetModel.id, isouter=True)
        .where(AssetModel.name.in_(bindparam("assets", expanding=True)), is_current())
    )


def read_progress(session: Session | Connection, asset_id: int, report: Report = log.warning) -> LedgerProgress | None:
    """How far the ledger of an asset is; ``None`` if it has not begun; the *report* as for :func:`ledger_heads`."""
    row = session.execute(_PROGRESS, {"asset": asset_id}).one_or_none()
    return None if row is None else progress_from(row.meaning, row.event, row.until, report)


def write_progress(session: Session, asset_id: int, progress: LedgerProgress) -> None:
    """Keep how far the ledger of an asset is."""
    form = meaning_form(progress.definition)
    write_asset(session, asset_id, meaning=form, event=progress.event, until=progress.until)
