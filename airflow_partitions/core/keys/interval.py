"""Half-open intervals of time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, final

from airflow_partitions.core.calendars.clock import Clock
from airflow_partitions.core.calendars.instants import UTC, TimeRange, instant
from airflow_partitions.core.calendars.zones import zone
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys.frozen import Frozen
from airflow_partitions.core.versions import check_version

if TYPE_CHECKING:
    from typing_extensions import Self


class _OpenInterval:
    __slots__ = ("_clock", "_end", "_start")

    _start: int
    _end: int
    _clock: Clock


@final
class Interval(_OpenInterval, Frozen):
    """The time from *start* up to, not including, *end*; the key of a time partition.

    Equality, order and hash follow the instants, so that the two 01:00 hours of a clock-change night differ and the
    same range in another zone is the same interval. ``str()`` is the canonical text of the start.

    :param start: aware datetime.
    :param end: aware datetime after *start*.
    :raises InvalidDefinitionError: if a bound is naive, or *end* is not after *start*.
    """

    __slots__ = ()
    __version__: ClassVar[int] = 1

    def __new__(cls, start: datetime, end: datetime) -> Self:
        low, high = _instant("Interval start", start), _instant("Interval end", end)
        if high <= low:  # Python compares wall clocks within a zone
            raise InvalidDefinitionError(f"Interval end {end.isoformat()} is not after its start {start.isoformat()}")
        return cls.between(low, high, Clock(start.tzinfo or UTC))

    @classmethod
    def between(cls, start: int, end: int, clock: Clock) -> Self:
        """The interval between two instants in microseconds since the epoch, shown by *clock*."""
        interval: Any = _OpenInterval()
        interval._start, interval._end, interval._clock = start, end, clock  # noqa: SLF001
        interval.__class__ = cls
        return interval  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return _between, (self._start, self._end, self._clock)

    def shown_by(self, clock: Clock) -> bool:
        """Whether it was made :meth:`between` instants of this very *clock*, so that its definition knows it."""
        return self._clock is clock

    @property
    def start(self) -> datetime:
        """First instant, aware, in the definition's zone."""
        return self._clock.datetime(self._start)

    @property
    def end(self) -> datetime:
        """First instant after it, aware, in the definition's zone."""
        return self._clock.datetime(self._end)

    @property
    def duration(self) -> timedelta:
        """Real elapsed time. ``end - start`` is another thing: within a zone, Python subtracts what the clocks show."""
        return timedelta(microseconds=self._end - self._start)

    @property
    def time_range(self) -> TimeRange:
        """Start and end as instants in microseconds since the epoch."""
        return self._start, self._end

    def serialize(self) -> dict[str, Any]:
        """What Airflow keeps of it in an XCom; a zone that has no name becomes the offsets of the bounds."""
        return {
            "start": self.start.isoformat(),
            "end": self.end.isoformat(),
            "timezone": getattr(self._clock.zone, "key", None),
            "dates": self._clock.dates,
        }

    @classmethod
    def deserialize(cls, data: dict[str, Any], version: int) -> Interval:
        """The inverse of :meth:`serialize`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version({"version": version}, cls.__version__, "an interval")
        start, end = (datetime.fromisoformat(data[name]) for name in ("start", "end"))
        tzinfo = start.tzinfo or UTC if data["timezone"] is None else zone(data["timezone"])
        return cls.between(instant(start), instant(end), Clock(tzinfo, dates=data["dates"]))

    def overlaps(self, other: Interval) -> bool:
        """Whether the two share an instant."""
        return self._start < other._end and other._start < self._end

    def __contains__(self, moment: datetime) -> bool:
        return self._start <= _instant("moment", moment) < self._end

    def __str__(self) -> str:
        return self._clock.text(self._start)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"Interval({self.start.isoformat()}, {self.end.isoformat()})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        return self._start == other._start and self._end == other._end

    def __hash__(self) -> int:
        return hash((self._start, self._end))

    def __lt__(self, other: object) -> bool:
        return self.time_range < other.time_range if isinstance(other, Interval) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.time_range <= other.time_range if isinstance(other, Interval) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.time_range > other.time_range if isinstance(other, Interval) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.time_range >= other.time_range if isinstance(other, Interval) else NotImplemented


def _between(start: int, end: int, clock: Clock) -> Interval:
    return Interval.between(start, end, clock)


def _instant(what: str, moment: datetime) -> int:
    """The instant of an aware *moment*."""
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise InvalidDefinitionError(
            f"{what}={moment!r} has no UTC offset; expected an aware datetime,"
            " for example datetime(2013, 1, 1, tzinfo=ZoneInfo('America/New_York'))"
        )
    return instant(moment)
