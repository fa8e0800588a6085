"""The last times at which partitions of an asset were materialised, many at once."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TypeAlias

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from airflow_partitions.calendars.instants import TimeRange, instant
from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.definitions.whole import UNKEYED
from airflow_partitions.dependencies import KeyFormat, Selection
from airflow_partitions.errors import InvalidKeyError
from airflow_partitions.history.addresses import Addresses, keys_of, month_of
from airflow_partitions.history.database import session
from airflow_partitions.history.events import about
from airflow_partitions.history.forgotten import Forgotten, read_forgotten
from airflow_partitions.history.ledger import read_progress, read_rows
from airflow_partitions.history.ledger_pages import LedgerProgress, page_cell, read_instants
from airflow_partitions.history.places import Place, Places
from airflow_partitions.history.state_store import asset_id_of, read_cells
from airflow_partitions.versions import read_form

log = logging.getLogger(__name__)

#: Times in microseconds since the epoch, by the start of the interval (0 without time) and the texts of the segments.
TimesByStart: TypeAlias = dict[int, dict[tuple[str, ...], int]]


class LastTimes:
    """The last times of an asset's partitions, as of one moment: from the ledger's pages, and the events after them.

    Events are read once, a page when a partition of its month is asked for.

    :param meaning: of the keys of the asset's events.
    :raises UnknownVersionError: if another release wrote the ledger.
    """

    def __init__(self, asset: str, meaning: PartitionDefinition | KeyFormat) -> None:
        self._asset = asset
        self._meaning = meaning
        self._addresses = Addresses.by(meaning)
        self.places = Places(self._addresses.definition)
        #: Texts of events and records that are no keys of the definition (any more).
        self.strangers: set[str] = set()
        self._months: dict[str, TimesByStart] = {}
        self._events: dict[str, TimesByStart] = {}
        self._progress: LedgerProgress | None = None
        self._forgotten = Forgotten()
        with session() as at:
            self._asset_id = asset_id_of(at, asset)
            if self._asset_id is None:
                return
            progress = read_progress(at, self._asset_id, log.warning)
            if progress is not None and progress.addresses.family == self._addresses.family:
                self._progress = progress
            self._forgotten = read_forgotten(at, self._asset_id)
            current = progress is not None and progress.definition == meaning
            self._read_events(at, progress.event if progress is not None and current else 0)
            if self._progress is None:
                self._read_records(at)

    def first(self) -> int | None:
        """The start of the first partition that was materialised; ``None`` if none was."""
        recorded = self._progress.months if self._progress is not None else ()
        for month in sorted({*recorded, *self._months, *self._events}):
            if times := self._month(month):
                return min(times)
        return None

    def between(self, time_range: TimeRange | None) -> TimesByStart:
        """The times of the partitions whose intervals start in *time_range*, or of all without a time dimension."""
        if time_range is None:
            return self._month("")
        low, high = time_range
        times: TimesByStart = {}
        if low >= high:
            return times
        recorded = self._progress.months if self._progress is not None else ()
        first, last = month_of(low), month_of(high - 1)
        for month in sorted({*recorded, *self._months, *self._events}):
            if first <= month <= last:
                of_month = self._month(month)
                whole = first < month < last
                times |= of_month if whole else {at: some for at, some in of_month.items() if low <= at < high}
        return times

    def of(self, selection: Selection) -> dict[Place, int]:
        """The times of those partitions of a *selection* that were materialised, by place."""
        return {
            place: at
            for time_range in dict.fromkeys(box.time_range for box in selection.boxes)
            for start, some in self.between(time_range).items()
            for segments, at in some.items()
            if self.places.key(place := Place(start, segments)) in selection
        }

    def _month(self, month: str) -> TimesByStart:
        """The times of a month: of its page, and of newer events."""
        if month not in self._months:
            self._months[month] = self._read_page(month)
        times = self._months[month]
        for start, some in self._events.pop(month, {}).items():
            for segments, at in some.items():
                _note(times, start, segments, at)
        return times

    def _read_page(self, month: str) -> TimesByStart:
        if self._progress is None or month not in self._progress.months or self._asset_id is None:
            return {}
        cell = page_cell(self._addresses, month)
        with session() as at:
            form = read_cells(at, self._asset_id, [cell]).get(cell)
        instants = read_form(form, read_instants, f"the cell {cell} of asset {self._asset!r}", log.warning)
        if instants is None:  # a lost page; the records are there still
            with session() as at:
                return self._records(at, month)
        checked = Addresses.by(self._progress.definition).definition == self.places.definition
        read, times = self.places.read, TimesByStart()
        for text, time in instants.items():
            try:
                start, segments = read(text, checked=checked)
            except InvalidKeyError:
                self.strangers.add(text)
            else:
                times.setdefault(start, {})[segments] = time
        return times

    def _read_events(self, at: Session, last: int) -> None:
        """Take in the events after the one called *last*."""
        from airflow.models.asset import AssetEvent as E

        query = (
            select(E.partition_key, func.max(E.timestamp), func.max(E.id))
            .where(E.asset_id == self._asset_id, E.id > last, about(self._meaning))
            .group_by(E.partition_key)
        )
        for text, time, number in at.execute(query):
            for place in self._places_of(text or UNKEYED):
                if not self._forgotten or not self._forgotten.hides(self.places.key(place), number):
                    self._note(place, instant(time))

    def _places_of(self, text: str) -> Iterable[Place]:
        try:
            if isinstance(self._meaning, KeyFormat):
                return map(self.places.of, keys_of(self._meaning, text))
            return (self.places.read(text),)
        except InvalidKeyError:
            self.strangers.add(text)
            return ()

    def _read_records(self, at: Session) -> None:
        """Take in all records, where nothing tells which pages there are."""
        for start, some in self._records(at, None).items():
            for segments, time in some.items():
                self._note(Place(start, segments), time)

    def _records(self, at: Session, month: str | None) -> TimesByStart:
        times: TimesByStart = {}
        rows = self._addresses.between(month, month + "32") if month else None
        for key, record in read_rows(at, self._asset_id or 0, self._addresses, rows, self._forgotten, log.warning):
            _note(times, *self.places.of(key), instant(record.last))
        return times

    def _note(self, place: Place, time: int) -> None:
        month = "" if self.places.definition.time is None else month_of(place.start)
        _note(self._events.setdefault(month, {}), *place, time)


def _note(times: TimesByStart, start: int, segments: tuple[str, ...], time: int) -> None:
    """Take in one more time; the latest counts."""
    some = times.setdefault(start, {})
    some[segments] = max(time, some.get(segments, time))
