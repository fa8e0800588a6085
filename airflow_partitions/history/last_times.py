"""The last times at which partitions of an asset were materialised, many at once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

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
from airflow_partitions.history.forgotten import FORGOTTEN, Forgotten, read_forgotten
from airflow_partitions.history.ledger import read_progress, read_rows
from airflow_partitions.history.ledger_pages import PROGRESS, LedgerProgress, page_cell, read_instants
from airflow_partitions.history.places import Place, Places
from airflow_partitions.history.state_store import asset_id_of, changed_at, read_cells
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
        #: Number of the partitions on the pages that were read.
        self.size = 0
        self._pages: dict[str, TimesByStart] = {}
        self._newer: TimesByStart = {}
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
            if self._progress is None:  # nothing tells which pages there are
                self._take_in(self._records(at, None))

    def first(self) -> int | None:
        """The start of the first partition that was materialised; ``None`` if none was."""
        for month in self._progress.months if self._progress is not None else ():
            if times := self._read_pages([month]):
                return min([*times, *self._newer])
        return min(self._newer, default=None)

    def between(self, time_range: TimeRange | None) -> TimesByStart:
        """The times of the partitions whose intervals start in *time_range*, or of all without a time dimension."""
        low, high = time_range or (0, 1)
        if low >= high:
            return {}
        first, last = ("", "") if time_range is None else (month_of(low), month_of(high - 1))
        recorded = self._progress.months if self._progress is not None else ()
        times = self._read_pages([month for month in recorded if first <= month <= last])
        times = {start: some for start, some in times.items() if low <= start < high}
        for start, some in self._newer.items():
            if low <= start < high:
                there = times.get(start)
                times[start] = some if there is None else {**there, **_later(some, there)}
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

    def version(self) -> tuple[Any, ...]:
        """What changes with each of the times; no page is read for it."""
        pages = [] if self._progress is None else [page_cell(self._addresses, month) for month in self._progress.months]
        newer = sorted((start, sorted(some.items())) for start, some in self._newer.items())
        if self._asset_id is None:
            return (newer,)
        with session() as at:
            changes = sorted(changed_at(at, self._asset_id, [PROGRESS, FORGOTTEN, *pages]).items())
        return self._asset_id, changes, newer

    def _read_pages(self, months: Iterable[str]) -> TimesByStart:
        """The times on the pages of *months*; those that are not at hand are read at once."""
        cells = {page_cell(self._addresses, month): month for month in months if month not in self._pages}
        if cells and self._asset_id is not None:
            with session() as at:
                forms = read_cells(at, self._asset_id, cells)
                for cell, month in cells.items():
                    name = f"the cell {cell} of asset {self._asset!r}"
                    instants = read_form(forms.get(cell), read_instants, name, log.warning)
                    # Of a lost page the records are there still.
                    self._pages[month] = self._records(at, month) if instants is None else self._page(instants)
        times: TimesByStart = {}
        for month in months:
            times |= self._pages[month]
        return times

    def _page(self, instants: Mapping[str, int]) -> TimesByStart:
        """The times on a page; what is no key of the definition any more is left out."""
        same = self._progress is not None and self._progress.addresses.definition == self.places.definition
        read, times = self.places.read, TimesByStart()
        self.size += len(instants)
        for text, time in instants.items():
            try:
                start, segments = read(text, checked=same)
            except InvalidKeyError:
                continue
            some = times.get(start)
            if some is None:
                times[start] = {segments: time}
            else:
                some[segments] = time
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
                    self._take_in({place.start: {place.segments: instant(time)}})

    def _places_of(self, text: str) -> Iterable[Place]:
        """The places of the keys of an event; none if it is about none of the definition."""
        try:
            if isinstance(self._meaning, KeyFormat):
                return map(self.places.of, keys_of(self._meaning, text))
            return (self.places.read(text),)
        except InvalidKeyError:
            return ()

    def _records(self, at: Session, month: str | None) -> TimesByStart:
        times: TimesByStart = {}
        rows = self._addresses.between(month, month + "32") if month else None
        for key, record in read_rows(at, self._asset_id or 0, self._addresses, rows, self._forgotten, log.warning):
            start, segments = self.places.of(key)
            times.setdefault(start, {})[segments] = instant(record.last)
        return times

    def _take_in(self, times: TimesByStart) -> None:
        """Take in *times* beside those of the pages; the latest count."""
        for start, some in times.items():
            there = self._newer.setdefault(start, some)
            if there is not some:
                there |= _later(some, there)


def _later(times: Mapping[tuple[str, ...], int], others: Mapping[tuple[str, ...], int]) -> dict[tuple[str, ...], int]:
    """*times*, or those of the *others* that are later."""
    return {segments: max(at, others.get(segments, at)) for segments, at in times.items()}
