"""The last times at which partitions of an asset were materialised, many at once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from airflow_partitions.calendars.instants import TimeRange, instant
from airflow_partitions.calendars.timeline import FIRST, LAST
from airflow_partitions.database.connection import session
from airflow_partitions.database.models import Partition as Row
from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.definitions.whole import UNKEYED
from airflow_partitions.dependencies import KeyFormat, Selection
from airflow_partitions.errors import InvalidKeyError
from airflow_partitions.history.addresses import Address, Addresses, keys_of, month_of, month_range
from airflow_partitions.history.events import about
from airflow_partitions.history.forgotten import Forgotten, read_forgotten
from airflow_partitions.history.ledger import ledger_head
from airflow_partitions.history.partition_rows import rows_of
from airflow_partitions.history.places import Place, Places

#: Times in microseconds since the epoch, by the start of the interval (0 without time) and the texts of the segments.
TimesByStart: TypeAlias = dict[int, dict[tuple[str, ...], int]]


class LastTimes:
    """The last times of an asset's partitions, as of one moment: from the ledger, and the events after it.

    Events are read once, and a partition of the ledger when one of its month is asked for.

    :param meaning: of the keys of the asset's events.
    """

    def __init__(self, asset: str, meaning: PartitionDefinition | KeyFormat) -> None:
        self._meaning = meaning
        self._addresses = Addresses.by(meaning)
        self.places = Places(self._addresses.definition)
        #: Number of the partitions of the ledger that were read.
        self.size = 0
        self._read: list[TimeRange] = []
        self._times: TimesByStart = {}
        self._starts: list[int] = []
        self._newer: TimesByStart = {}
        self._version: tuple[Any, ...] = ()
        self._is_current = False
        self._asset_id: int | None = None
        with session() as at:
            head = ledger_head(at, asset)
            if head is None:
                return
            self._asset_id, progress = head.asset_id, head.progress
            # Otherwise the rows do not say by themselves which of them the definition has.
            self._is_current = progress is not None and progress.addresses.definition == self.places.definition
            self._version = head.asset_id, head.changes
            forgotten = read_forgotten(at, head.asset_id) if head.corrections else Forgotten()
            self._read_events(at, progress.event if progress and progress.definition == meaning else 0, forgotten)

    def first(self) -> int | None:
        """The start of the first partition that was materialised; ``None`` if none was."""
        newer = min(self._newer, default=None)
        with session() as at:
            query = self._rows(Row.start, Row.segments).order_by(Row.start, Row.segments)
            rows = at.execute(query.limit(1) if self._is_current else query)
            recorded = next((start for start, segments in rows if self._has(start, segments)), None)
        return min((start for start in (recorded, newer) if start is not None), default=None)

    def between(self, time_range: TimeRange | None) -> TimesByStart:
        """The times of the partitions whose intervals start in *time_range*, or of all without a time dimension."""
        low, high = time_range or (0, 1)
        if low >= high:
            return {}
        self._read_rows((0, 1) if time_range is None else _months((low, high)))
        starts = self._starts[bisect_left(self._starts, low) : bisect_left(self._starts, high)]
        times = {start: self._times[start] for start in starts}
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
        """What changes with each of the times; no partition is read for it."""
        return *self._version, sorted((start, sorted(some.items())) for start, some in self._newer.items())

    def _rows(self, *columns: Any) -> Select[Any]:
        """The question for the asset's partitions that count."""
        query = select(*columns).where(*rows_of(self._asset_id or 0, self._addresses), Row.is_forgotten.is_(False))
        return query.where(Row.is_orphaned.is_(False)) if self._asset_id and self._is_current else query

    def _has(self, start: int, segments: str) -> bool:
        """Whether the definition has the partition of a row."""
        return self._is_current or self._addresses.has(Address(start, segments))

    def _read_rows(self, time_range: TimeRange) -> None:
        """Read what the ledger has in a range of time, as far as that is not at hand."""
        if self._asset_id is None or not (gaps := list(_gaps(time_range, self._read))):
            return
        texts: dict[str, tuple[str, ...]] = {}
        with session() as at:
            for low, high in gaps:
                query = self._rows(Row.start, Row.segments, Row.last).where(Row.start >= low, Row.start < high)
                for start, segments, last in at.execute(query):
                    self.size += 1
                    if self._has(start, segments):
                        if segments not in texts:
                            texts[segments] = self._addresses.texts(segments)
                        self._times.setdefault(start, {})[texts[segments]] = last
        self._read = sorted([*self._read, *gaps])
        self._starts = sorted(self._times)

    def _read_events(self, at: Session, last: int, forgotten: Forgotten) -> None:
        """Take in the events after the one called *last*, without what is *forgotten*."""
        from airflow.models.asset import AssetEvent as E

        query = (
            select(E.partition_key, func.max(E.timestamp), func.max(E.id))
            .where(E.asset_id == self._asset_id, E.id > last, about(self._meaning))
            .group_by(E.partition_key)
        )
        for text, time, number in at.execute(query):
            for place in self._places_of(text or UNKEYED):
                if not forgotten or not forgotten.hides(self.places.key(place), number):
                    some = self._newer.setdefault(place.start, {})
                    some[place.segments] = max(instant(time), some.get(place.segments, FIRST))

    def _places_of(self, text: str) -> Iterable[Place]:
        """The places of the keys of an event; none if it is about none of the definition."""
        try:
            if isinstance(self._meaning, KeyFormat):
                return map(self.places.of, keys_of(self._meaning, text))
            return (self.places.read(text),)
        except InvalidKeyError:
            return ()


def _months(time_range: TimeRange) -> TimeRange:
    """A range of time from the start of a month in UTC to the end of one: what is asked for next is often near."""
    low, high = time_range
    first = month_range(month_of(low))[0] if low > FIRST else low
    return first, month_range(month_of(high - 1))[1] if high < LAST else high


def _gaps(time_range: TimeRange, ranges: Iterable[TimeRange]) -> Iterator[TimeRange]:
    """The parts of a range of time that are in none of some *ranges*, which are in order and apart."""
    at, end = time_range
    for low, high in ranges:
        if at < low and at < end:
            yield at, min(low, end)
        at = max(at, high)
    if at < end:
        yield at, end


def _later(times: Mapping[tuple[str, ...], int], others: Mapping[tuple[str, ...], int]) -> dict[tuple[str, ...], int]:
    """*times*, or those of the *others* that are later."""
    return {segments: max(at, others.get(segments, at)) for segments, at in times.items()}
