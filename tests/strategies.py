"""What the laws are tried on: zones with every kind of clock change, instants close to changes, schedules, values."""

from __future__ import annotations

import string
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from hypothesis import assume
from hypothesis import strategies as st

from airflow_partitions import Interval, PartitionByInterval, PartitionByProduct, PartitionBySequence, PartitionKey
from airflow_partitions.core.definitions import MAX_KEY_LENGTH
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import ProductKey
from airflow_partitions.core.keys.value import Value, text_of
from tests.core.calendars.tzif import changes

ZONES = (
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Asia/Kathmandu",  # a jump of 15 minutes
    "Australia/Lord_Howe",  # half an hour of summer time
    "Pacific/Apia",  # 2011-12-30 does not exist
    "America/Havana",  # midnights that don't exist, and midnights that repeat
    "America/Sao_Paulo",  # midnights that don't exist, evenings that repeat
    "Asia/Beirut",  # the same
    "Africa/Casablanca",  # four changes a year
    "Asia/Tehran",  # half-hour offset, changes at midnight
    "America/St_Johns",  # half-hour offset, changes a minute past midnight
    "Pacific/Chatham",  # changes at a quarter to three
    "Antarctica/Troll",  # two hours of summer time
)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)

zones = st.sampled_from(ZONES)


class Schedule(NamedTuple):
    """A schedule, and a time that surely holds an interval of it."""

    schedule: str | timedelta
    reach: timedelta


_CRONS = {
    2: ("@hourly", "* * * * *", "30 * * * *", "*/15 * * * *", "*/20 */1 * * *", "0 0-23 * * *", "10,50 * * * *"),
    3: ("0 */2 * * *", "30 1,2 * * *", "*/15 0-3 * * *", "0 0,12 * * *", "0 */6 * * *", "15 23,0 * * *"),
    4: ("@daily", "0 1 * * *", "30 2 * * *", "0 2 * * *", "59 23 * * *", "30 0 * * *", "5 1 * * *"),
    16: ("@weekly", "0 0 * * 1-5", "30 2 * * sun", "*/30 0 * * 0", "0 0 * * fri", "15 * * * sat"),
    70: ("@monthly", "0 0 L * *", "0 0 * * sun#1", "0 2 * * L0", "0 0 1,15 * mon", "30 1 30 * *", "0 * 31 * *"),
}
crons = st.sampled_from(
    [Schedule(cron, timedelta(days=days)) for days, some in _CRONS.items() for cron in some]
)  # "@yearly" and longer have examples of their own
timedeltas = st.one_of(
    st.sampled_from([timedelta(minutes=15), timedelta(hours=1), timedelta(hours=7), DAY, timedelta(days=7)]),
    st.integers(60, 40 * 86_400).map(lambda seconds: timedelta(seconds=seconds)),
    st.integers(10**9, 10**12).map(lambda microseconds: timedelta(microseconds=microseconds)),
).map(lambda step: Schedule(step, 2 * step + DAY))
schedules = crons | timedeltas


@cache
def _changes_in(zone: str) -> list[datetime]:
    return [datetime.fromtimestamp(change.at, UTC) for change in changes(zone, first_year=1971)]


@st.composite
def moments(draw: st.DrawFn, zone: str = "UTC") -> datetime:
    """An aware whole minute from 1971 to 2037, in UTC, mostly close to a change of the zone's clock."""
    near = _changes_in(zone)
    if near and draw(st.integers(0, 4)):
        return draw(st.sampled_from(near)) + draw(st.integers(-3_000, 3_000)) * MINUTE
    return datetime(1971, 1, 1, tzinfo=UTC) + draw(st.integers(0, 66 * 365 * 24 * 60)) * MINUTE


class Window(NamedTuple):
    """A calendar and a time in which to look at it."""

    schedule: str | timedelta
    zone: str
    start: datetime
    end: datetime
    reach: timedelta

    @property
    def definition(self) -> PartitionByInterval:
        """The calendar without bounds."""
        return PartitionByInterval(self.schedule, timezone=self.zone)


@st.composite
def windows(draw: st.DrawFn, kinds: st.SearchStrategy[Schedule] = schedules) -> Window:
    zone, (schedule, reach) = draw(zones), draw(kinds)
    start = draw(moments(zone)) - draw(st.sampled_from([0, 1, 2])) * reach / 2
    return Window(schedule, zone, start, start + draw(st.sampled_from([1, 2])) * reach, reach)


@st.composite
def time_definitions(draw: st.DrawFn, name: str = "time", around: datetime | None = None) -> PartitionByInterval:
    """A bounded time definition with at most some hundred keys, about *around* if that is given."""
    zone, (schedule, reach) = draw(zones), draw(schedules)
    middle = draw(moments(zone)) if around is None else around + draw(st.integers(-3_000, 3_000)) * MINUTE
    reach = min(reach, timedelta(days=3)) if isinstance(schedule, str) and schedule.startswith("*") else reach
    return PartitionByInterval(
        schedule,
        timezone=zone,
        start=(middle - reach).astimezone(ZoneInfo(zone)),
        end=middle + draw(st.sampled_from([0, 1, 2])) * reach + MINUTE,
        name=name,
    )


class Position(PartitionKey):
    x: int
    y: float


class Location(PartitionKey):
    name: str
    since: date
    at: Position
    tags: tuple[str, ...]

    def __str__(self) -> str:
        return f"the place {self.name}"


texts = st.text(
    st.sampled_from(string.ascii_letters + string.digits + "|\\,=:-/%.é ✓"), min_size=1, max_size=12
).filter(lambda text: text == text.strip() and text.isprintable())
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
dates = st.dates(date(1900, 1, 1), date(2100, 1, 1))
datetimes = st.datetimes(
    datetime(1900, 1, 1),  # noqa: DTZ001
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45)), timezone(-timedelta(hours=5))]),
)
positions = st.builds(Position, x=st.integers(), y=numbers.map(float))
plain_values = st.one_of(texts, numbers, dates, datetimes)
places = st.builds(
    Location, name=texts, since=dates, at=positions, tags=st.lists(texts, max_size=3).map(tuple).filter(bool)
)
values = st.one_of(
    plain_values,
    st.lists(plain_values, min_size=1, max_size=3).map(tuple),
    st.tuples(texts, st.tuples(numbers, dates)),
    positions,
    places,
)


def _fits(values: list[Value]) -> bool:
    return all(len(text_of(value)) <= MAX_KEY_LENGTH for value in values)


def sequences(name: str = "segment", of: st.SearchStrategy[Value] = values) -> st.SearchStrategy[PartitionBySequence]:
    some = st.lists(of, min_size=1, max_size=5, unique_by=text_of).filter(_fits)
    return some.map(lambda chosen: PartitionBySequence(chosen, name=name))


@st.composite
def products(draw: st.DrawFn, around: datetime | None = None) -> PartitionByProduct:
    """Two or three dimensions, in any order, with time or without."""
    dimensions = [draw(sequences("region", of=texts)), draw(sequences("kind"))]
    if draw(st.booleans()):
        dimensions[draw(st.integers(0, 1))] = draw(time_definitions(around=around))  # type: ignore[call-overload]
    if draw(st.booleans()):
        dimensions.append(draw(sequences("size", of=st.integers(1, 9))))
    return PartitionByProduct(draw(st.permutations(dimensions)))


@st.composite
def combinations(draw: st.DrawFn, full: PartitionByProduct) -> list[tuple[Any, ...]]:
    """Some combinations of a product, each as an author writes it: a range of time, and plain values."""
    some: list[tuple[Any, ...]] = []
    intervals = [] if full.time is None else list(full.time.keys())
    for _ in range(draw(st.integers(1, 6))):
        parts: list[Any] = []
        for dimension in full.dimensions.values():
            if isinstance(dimension, PartitionBySequence):
                parts.append(draw(st.sampled_from(dimension.values)))
                continue
            low, high = (draw(st.sampled_from(intervals)) for _ in range(2))
            low, high = min(low, high), max(low, high)
            start, end = (one.start.isoformat() for one in (low, high))
            parts.append(draw(st.sampled_from([low, f"{start}..{end}", f"{start}..", f"..{end}", ".."])))
        some.append(tuple(parts))
    return some


def exists(full: PartitionByProduct, some: list[tuple[Any, ...]], key: ProductKey) -> bool:
    """Whether a key of the full product is one of *some* :func:`combinations`: by looking at each of them."""
    return any(
        all(_is_meant(given, key[name]) for name, given in zip(full.dimensions, one, strict=True)) for one in some
    )


def _is_meant(given: Any, part: Any) -> bool:
    if not isinstance(part, Interval) or isinstance(given, Interval):
        return bool(type(given) is type(part) and given == part)
    start, _, end = given.partition("..")
    low, high = (datetime.fromisoformat(bound) if bound else None for bound in (start, end))
    begin = part.start.astimezone(UTC)  # within a zone Python compares what clocks show
    return (low is None or begin >= low.astimezone(UTC)) and (high is None or begin < high.astimezone(UTC))


@st.composite
def sparse_products(draw: st.DrawFn, around: datetime | None = None) -> PartitionByProduct:
    """A product that has some of its combinations, at some times."""
    full = draw(products(around).filter(lambda full: full.time is None or full.time.count() > 0))
    return draw(sparse(full))


@st.composite
def sparse(draw: st.DrawFn, full: PartitionByProduct) -> PartitionByProduct:
    """A product that has some combinations of a *full* one, at some times."""
    some = draw(combinations(full))
    try:
        return PartitionByProduct([*full.dimensions.values()], only=some)
    except InvalidDefinitionError:
        assume(condition=False)  # a range without an interval, and nothing else
        raise
