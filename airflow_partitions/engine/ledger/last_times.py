"""The last times at which partitions of an asset were materialized, many at once."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Connection, Select, bindparam, case, func, select

from airflow_partitions.core.calendars.instants import TimeRange, instant
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionDefinition, WholeAsset
from airflow_partitions.core.definitions.whole import UNKEYED
from airflow_partitions.core.dependencies import KeyFormat, Selection
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.database.models import Asset
from airflow_partitions.engine.database.models import Partition as Row
from airflow_partitions.engine.ledger.addresses import Address, Addresses, keys_of, month_of, month_range
from airflow_partitions.engine.ledger.forgotten import Forgotten, forgotten_by_asset
from airflow_partitions.engine.ledger.ledger import LedgerHead, ledger_heads
from airflow_partitions.engine.ledger.places import Place, Places

#: Times in microseconds since the epoch, by the start of the interval (0 without time) and the texts of the segments.
TimesByStart: TypeAlias = dict[int, dict[tuple[str, ...], int]]
#: Of the keys of an asset's events.
Meaning: TypeAlias = PartitionDefinition | KeyFormat

_AT_ONCE = 1_000
# Ledgers of so many partitions are read as a whole where many are asked for, and of so many in all.
_SMALL = 2_000
_MOST_ROWS = 200_000


class NewestEvent(NamedTuple):
    """The newest event of a partition.

    :ivar text: the key, as it was sent; ``None`` if the event has none.
    :ivar at: when it was; aware.
    :ivar id: greater than those of the partition's other events.
    """

    text: str | None
    at: datetime
    id: int


class LastTimes:
    """The last times of an asset's partitions, as of one moment: from the ledger, and the events after it.

    Events are read once, and a partition of the ledger when one of its month is asked for.

    :param meaning: of the keys of the asset's events.
    :param head: of its ledger; ``None`` if there is no such asset.
    :param events: the newest of each key that the ledger may not have, without what is *forgotten*.
    """

    def __init__(
        self, meaning: Meaning, head: LedgerHead | None, forgotten: Forgotten, events: Iterable[NewestEvent]
    ) -> None:
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
        #: Of Airflow's row of the asset; ``None`` if there is none.
        self.asset_id: int | None = None
        if head is not None:
            self.asset_id, progress = head.asset_id, head.progress
            # Otherwise the rows do not say by themselves which of them the definition has.
            self._is_current = progress is not None and progress.addresses.definition == self.places.definition
            self._version = head.asset_id, head.changes
            self._take_events(events, forgotten)

    def first(self) -> int | None:
        """The start of the first partition that was materialized; ``None`` if none was."""
        newer = min(self._newer, default=None)
        if not any(_gaps((FIRST, LAST), self._read)):
            recorded = min(self._starts, default=None)
        else:
            with open_connection() as connection:
                rows = connection.execute(_first_starts(is_current=self._is_current), self._own)
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
        """The times of those partitions of a *selection* that were materialized, by place."""
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

    @property
    def _own(self) -> dict[str, Any]:
        """What the asset's partitions are asked for with."""
        return {"asset": self.asset_id or 0, "family": self.family}

    def _has(self, start: int, segments: str) -> bool:
        """Whether the definition has the partition of a row."""
        return self._is_current or self._addresses.has(Address(start, segments))

    def _read_rows(self, time_range: TimeRange) -> None:
        """Read what the ledger has in a range of time, as far as that is not at hand."""
        if self.asset_id is None or not (gaps := list(_gaps(time_range, self._read))):
            return
        with open_connection() as connection:
            for low, high in gaps:
                values = self._own | {"low": low, "high": high}
                self._take_rows(connection.execute(_rows_between(is_current=self._is_current), values))
        self._has_read(gaps)

    def take_all(self, rows: Iterable[tuple[bool, Any]]) -> None:
        """Take all rows of the asset's family, each with whether it is orphaned; what was read before is read again."""
        self.size, self._times, self._read = 0, {}, []
        self._take_rows(row for is_orphaned, row in rows if not (is_orphaned and self._is_current))
        self._has_read([(FIRST, LAST)])

    @property
    def family(self) -> str:
        """The short name of all definitions whose keys mean the same."""
        return self._addresses.family

    def _take_rows(self, rows: Iterable[Any]) -> None:
        texts: dict[str, tuple[str, ...]] = {}
        for start, segments, last in rows:
            self.size += 1
            if self._has(start, segments):
                if segments not in texts:
                    texts[segments] = self._addresses.texts(segments)
                self._times.setdefault(start, {})[texts[segments]] = last

    def _has_read(self, time_ranges: Iterable[TimeRange]) -> None:
        self._read = sorted([*self._read, *time_ranges])
        self._starts = sorted(self._times)

    def _take_events(self, events: Iterable[NewestEvent], forgotten: Forgotten) -> None:
        is_whole = isinstance(self._meaning, WholeAsset)
        for text, time, number in events:
            for place in self._places_of(text or UNKEYED) if (text is None) == is_whole else ():
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


@cache
def _rows(*, is_current: bool) -> Select[int, str, int]:
    """The query for partitions of an asset that count, of one family; of *is_current* see :class:`LastTimes`."""
    own = Row.asset_id == bindparam("asset"), Row.family == bindparam("family"), Row.is_forgotten.is_(False)
    query = select(Row.start, Row.segments, Row.last).where(*own)
    return query.where(Row.is_orphaned.is_(False)) if is_current else query


@cache
def _rows_between(*, is_current: bool) -> Select[int, str, int]:
    return _rows(is_current=is_current).where(Row.start >= bindparam("low"), Row.start < bindparam("high"))


@cache
def _first_starts(*, is_current: bool) -> Select[int, str]:
    """The query for the start and segments of the first; of all, in order, if some may be none of the definition."""
    query = _rows(is_current=is_current).with_only_columns(Row.start, Row.segments).order_by(Row.start, Row.segments)
    return query.limit(1) if is_current else query


def last_times(meanings: Iterable[tuple[str, Meaning]]) -> dict[tuple[str, Meaning], LastTimes]:
    """The last times of several assets' partitions, by a few questions for all of them.

    :param meanings: names of assets, each with what the keys of its events mean.
    """
    of = list(dict.fromkeys(meanings))
    with open_connection() as connection:
        heads = ledger_heads(connection, {name for name, _ in of})
        # First what is forgotten, then the events: these are read once, and rows of the ledger even later.
        forgotten = forgotten_by_asset(connection, [head.asset_id for head in heads.values() if head.corrections])
        unread = {
            heads[name].asset_id
            for name, meaning in of
            if name in heads and ((progress := heads[name].progress) is None or progress.definition != meaning)
        }
        events = _newest_events(connection, [head.asset_id for head in heads.values()], unread)
    nothing = Forgotten()
    return {
        (name, meaning): LastTimes(meaning, None, nothing, ())
        if (head := heads.get(name)) is None
        else LastTimes(meaning, head, forgotten.get(head.asset_id, nothing), events.get(head.asset_id, ()))
        for name, meaning in of
    }


def _newest_events(
    connection: Connection, asset_ids: Collection[int], unread: Collection[int]
) -> dict[int, list[NewestEvent]]:
    """The newest event of each key after those that the assets' ledgers have, by the id of the asset.

    :param unread: the ids of those whose ledgers have none of their events.
    """
    events: dict[int, list[NewestEvent]] = defaultdict(list)
    query = _newest(also_unread=bool(unread))
    for portion in portions(sorted(asset_ids), _AT_ONCE):
        for asset_id, text, time, number in connection.execute(query, {"assets": portion, "unread": list(unread)}):
            events[asset_id].append(NewestEvent(text, time, number))
    return events


@cache
def _newest(*, also_unread: bool) -> Select[int, str | None, datetime, int]:
    from airflow.models.asset import AssetEvent as E

    is_unread = E.asset_id.in_(bindparam("unread", expanding=True))
    after = case((is_unread, 0), else_=func.coalesce(Asset.event, 0)) if also_unread else Asset.event
    return (
        select(E.asset_id, E.partition_key, func.max(E.timestamp), func.max(E.id))
        .join(Asset, Asset.id == E.asset_id, isouter=True)
        .where(E.asset_id.in_(bindparam("assets", expanding=True)), E.id > after)
        .group_by(E.asset_id, E.partition_key)
    )


def read_small_ledgers(times: Iterable[LastTimes]) -> None:
    """Read all that the ledger has of those of *times* that are small, at once; others are left as they are."""
    by_asset: dict[int, list[LastTimes]] = defaultdict(list)
    for each in times:
        if each.asset_id is not None:
            by_asset[each.asset_id].append(each)
    columns = Row.asset_id, Row.family, Row.is_orphaned, Row.start, Row.segments, Row.last
    rows: dict[tuple[int, str], list[tuple[bool, Any]]] = defaultdict(list)
    with open_connection() as connection:
        small = list(_small(connection, sorted(by_asset)))
        for portion in portions(small, _AT_ONCE):
            query = select(*columns).where(Row.asset_id.in_(portion), Row.is_forgotten.is_(False))
            for asset_id, family, is_orphaned, *row in connection.execute(query):
                rows[asset_id, family].append((is_orphaned, row))
    for asset_id in small:
        for each in by_asset[asset_id]:
            each.take_all(rows.get((asset_id, each.family), ()))


def _small(connection: Connection, asset_ids: Sequence[int]) -> Iterator[int]:
    """Those of the assets with some ids that have few partitions, as long as they have not too many together."""
    left = _MOST_ROWS
    for portion in portions(asset_ids, _AT_ONCE):
        sizes = select(Row.asset_id, func.count().label("size")).where(Row.asset_id.in_(portion)).group_by(Row.asset_id)
        numbers = {row.asset_id: row.size for row in connection.execute(sizes)}
        for asset_id in portion:
            if (number := numbers.get(asset_id, 0)) <= min(_SMALL, left):
                left -= number
                yield asset_id


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
